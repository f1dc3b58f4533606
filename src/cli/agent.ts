/** `svc <agent>`: runs the wrapper in this process. */
import { runtime } from "#runtime";
import { loadProfile } from "../agents/registry.ts";
import { systemClock } from "../async/clock.ts";
import type { AgentKind } from "../protocol/names.ts";
import { runWrapper, type WrapperRun } from "../wrapper/run_wrapper.ts";
import { accountPaths, daemonOptions } from "./context.ts";

export async function runAgent(
  kind: AgentKind,
  args: readonly string[],
  options: Pick<WrapperRun, "detach" | "byListener" | "isNew">,
): Promise<number> {
  const { uid, files, commands, sockets, terminal } = runtime;
  const selfCommand = (): string[] => runtime.selfCommand();
  return await runWrapper({ uid, files, commands, sockets, terminal, clock: systemClock, selfCommand }, {
    ...daemonOptions(await accountPaths()),
    profile: await loadProfile(kind),
    args,
    ...options,
    cwd: runtime.cwd(),
  });
}
