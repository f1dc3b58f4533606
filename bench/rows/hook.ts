/** How long an agent waits for a hook, compared with the bare runtime running an empty file. */
import { runtime } from "#runtime";
import type { LineConnection } from "../../src/runtime/types.ts";
import { runSvc } from "../../tests/helpers/program.ts";
import { makeSandbox, type Sandbox } from "../../tests/helpers/sandbox.ts";
import { makeBare, RUNTIME } from "../bare.ts";
import { type Row, timed } from "../measure.ts";

/** Serves a control socket like a listener's, which answers every report. */
async function serveDaemon({ svcHome }: Sandbox): Promise<{ close(): void }> {
  await Deno.mkdir(svcHome, { recursive: true });
  return await runtime.sockets.listen(`${svcHome}/listener.sock`, (connection) => void answer(connection));
}

async function answer(connection: LineConnection): Promise<void> {
  for await (const _ of connection.lines) await connection.send('{"ok":true}').catch(() => {});
}

/** Throws when the hook fails: a program that does not start would seem fast. */
async function runHook(
  sandbox: Sandbox,
  { args, stdin }: { args: string[]; stdin: string },
): Promise<void> {
  const { code, stderr } = await runSvc(sandbox, args, { stdin });
  if (code !== 0) throw new Error(`svc ${args.join(" ")} ended with ${code}: ${stderr}`);
}

function hookRow(args: string[], options: { daemon: boolean }): Row {
  return {
    name: `hook: svc ${args.join(" ")}, ${options.daemon ? "with a" : "no"} daemon`,
    beside: `${RUNTIME} running an empty file`,
    aim: "< 1.5",
    samples: 60,
    async open() {
      const sandbox = await makeSandbox();
      const daemon = options.daemon ? await serveDaemon(sandbox) : undefined;
      const bare = await makeBare(sandbox);
      const stdin = JSON.stringify({ session_id: "1", cwd: sandbox.project, prompt: "go on" });
      return {
        ours: () => timed(() => runHook(sandbox, { args, stdin })),
        theirs: () => timed(bare),
        async close() {
          daemon?.close();
          await sandbox[Symbol.asyncDispose]();
        },
      };
    },
  };
}

export const hookRows: Row[] = [
  hookRow(["remote-hook", "codex"], { daemon: false }),
  hookRow(["remote-hook", "codex"], { daemon: true }),
  hookRow(["hook", "Stop", "codex"], { daemon: true }),
  hookRow(["hook", "PreToolUse", "codex", "gates"], { daemon: true }),
];
