/** Binds the hooks to this process. Exit code 2 would block the prompt in some agents, so it is always 0. */
import { runtime } from "#runtime-lean";
import { homePaths } from "../home/paths.ts";
import type { HookHost } from "../hooks/host.ts";
import { type HookRun, runHook } from "../hooks/run_hook.ts";

export async function callHook(call: Omit<HookRun, "input">): Promise<number> {
  const input = runtime.terminal.readAll().catch(() => "");
  try {
    await runHook(await hookHost(), { ...call, input });
  } catch {
    // No home, no runtime: the agent goes on.
  }
  return 0;
}

async function hookHost(): Promise<HookHost> {
  const { files, sockets, env, terminal } = runtime;
  const paths = await homePaths({
    svcHome: env.get("SVC_HOME"),
    homeDirectory: runtime.homeDirectory(),
    cwd: "/",
    temporaryDirectory: runtime.temporaryDirectory(),
    uid: runtime.uid,
  });
  const print = (text: string): void => terminal.write(`${text}\n`);
  return { files, sockets, paths, now: () => Date.now(), session: env.get("SVC_SESSION"), print };
}
