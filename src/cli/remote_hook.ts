/** `svc remote-hook <agent>`: the agents' hook of a submitted prompt. Loads no option parser: it runs at every prompt. */
import { remoteHook } from "../hooks/remote_hook.ts";
import { UsageError } from "./exit.ts";
import { callHook } from "./hook_call.ts";

export async function run(args: readonly string[]): Promise<number> {
  const [kind, mark] = args;
  if (kind === "--help" || kind === "-h") return await help();
  if (kind === undefined) {
    throw new UsageError("Name the agent whose hook this is. See: svc remote-hook --help");
  }
  return await callHook({ hook: remoteHook, kind, mark });
}

async function help(): Promise<number> {
  const { defineCommand, parseWords } = await loadCommand();
  const command = defineCommand({
    name: "remote-hook",
    summary: "What an agent's prompt hook runs: reads its JSON on stdin, tells the model who drives.",
    examples: [
      `echo '{"session_id":"1","cwd":"/work/app","prompt":"go on"}' | svc remote-hook codex`,
    ],
  })
    .argument("<agent>", "the kind of agent, as in svc --help")
    .argument("[gates]", "the agent was set up to ask before each tool call");
  parseWords(command, ["--help"]);
  return 0;
}

const loadCommand = (): Promise<typeof import("./command.ts")> => import("./command.ts");
