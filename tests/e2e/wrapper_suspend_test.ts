/** Suspending and resuming `svc <agent>` in a shell with job control. */
import assert from "node:assert/strict";
import { svcLine } from "../helpers/program.ts";
import { run } from "../helpers/run.ts";
import { until } from "../helpers/until.ts";
import { makeWrapperBench } from "../helpers/wrapper_bench.ts";

/** An interactive shell in a pane of another tmux. */
interface Shell extends AsyncDisposable {
  keys(...names: string[]): Promise<void>;
  shows(text: RegExp): Promise<void>;
  /** Resolves once the shell has its terminal back. */
  isForeground(): Promise<void>;
}

async function openShell(
  { root, project, env }: { root: string; project: string; env: Record<string, string> },
): Promise<Shell> {
  const tmux = async (...args: string[]): Promise<string> => {
    const ran = await run(["tmux", "-f", "/dev/null", "-S", `${root}/outer.sock`, ...args], { env });
    assert.equal(ran.code, 0, ran.stderr);
    return ran.stdout;
  };
  const size = ["-x", "100", "-y", "30"];
  const shell = ["env", "-u", "TMUX", "-u", "TMUX_PANE", "sh", "-i"];
  await tmux("new-session", "-d", "-s", "shell", ...size, "-c", project, "--", ...shell);
  return {
    keys: async (...names) => void await tmux("send-keys", "-t", "=shell:", ...names),
    async shows(text) {
      await until(`${text}`, async () => text.test(await tmux("capture-pane", "-p", "-t", "=shell:")));
    },
    async isForeground() {
      await until("the shell", async () => {
        return await tmux("display-message", "-p", "-t", "=shell:", "#{pane_current_command}") === "sh\n";
      });
    },
    [Symbol.asyncDispose]: async () => void await tmux("kill-server"),
  };
}

Deno.test("tmux's keys for suspending give the terminal back to the shell, and fg returns to the agent [wr-suspend]", async () => {
  await using bench = await makeWrapperBench();
  await using shell = await openShell(bench.sandbox);
  await shell.keys("-l", `${svcLine("cc")}\n`);
  await shell.shows(/agent is ready/);
  await shell.keys("C-b", "C-z");
  await shell.shows(/Stopped/);
  await shell.keys("-l", "echo $((6*7))-here\n");
  await shell.shows(/42-here/);
  await shell.keys("-l", "fg\n");
  await shell.shows(/agent is ready/);
  await shell.keys("-l", "hello\n");
  await shell.shows(/got hello/);
  await shell.keys("-l", "leave\n");
  await until("the session's end", async () => Object.keys(await bench.sessions()).length === 0);
  // Until then tmux still reads the terminal, and drops keys.
  await shell.isForeground();
  await shell.keys("-l", "echo $((6*8))-here\n");
  await shell.shows(/48-here/);
});
