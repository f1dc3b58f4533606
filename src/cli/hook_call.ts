/** Binds the hooks to this process. Exit code 2 would block the prompt in some agents, so it is always 0. */
import { runtime } from "#runtime-lean";
import { GATES_WORD } from "../agents/hooks/load.ts";
import { homePaths } from "../home/paths.ts";
import type { HookHost } from "../hooks/host.ts";
import { type HookRun, runHook } from "../hooks/run_hook.ts";

export interface CalledHook extends Omit<HookRun, "input"> {
  /** What follows the agent's kind. */
  mark: string | undefined;
}

export async function callHook({ mark, ...call }: CalledHook): Promise<number> {
  const input = runtime.terminal.readAll().catch(() => "");
  try {
    await runHook(await hookHost(mark === GATES_WORD), { ...call, input });
  } catch {
    // No home, no runtime: the agent goes on.
  }
  return 0;
}

async function hookHost(gates: boolean): Promise<HookHost> {
  const { files, sockets, env, terminal } = runtime;
  const paths = await homePaths({
    svcHome: env.get("SVC_HOME"),
    homeDirectory: runtime.homeDirectory(),
    cwd: "/",
    temporaryDirectory: runtime.temporaryDirectory(),
    uid: runtime.uid,
  });
  const print = (text: string): void => terminal.write(`${text}\n`);
  const [session, pane] = [env.get("SVC_SESSION"), paneId(env.get("TMUX_PANE"))];
  return { files, sockets, paths, now: () => Date.now(), session, pane, gates, print };
}

function paneId(text: string | undefined): string | undefined {
  return text !== undefined && /^%\d{1,9}$/.test(text) ? text : undefined;
}
