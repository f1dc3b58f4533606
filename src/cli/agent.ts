/** `svc <agent>`: runs the wrapper in this process. */
import { runtime } from "#runtime";
import { loadProfile } from "../agents/registry.ts";
import { systemClock } from "../async/clock.ts";
import type { AgentKind } from "../protocol/names.ts";
import { TmuxError } from "../tmux/server.ts";
import { runWrapper, type WrapperRun } from "../wrapper/run_wrapper.ts";
import { accountPaths, daemonOptions } from "./context.ts";
import { printError } from "./output.ts";

/** For the listener: tmux may still carry out its commands, so it is unknown whether the start has failed. */
const EXIT_UNKNOWN = 128;

export async function runAgent(
  kind: AgentKind,
  args: readonly string[],
  options: Pick<WrapperRun, "detach" | "byListener" | "isNew">,
): Promise<number> {
  const { uid, files, commands, sockets, terminal } = runtime;
  const selfCommand = (): string[] => runtime.selfCommand();
  const run = runWrapper({ uid, files, commands, sockets, terminal, clock: systemClock, selfCommand }, {
    ...daemonOptions(await accountPaths()),
    profile: await loadProfile(kind),
    args,
    ...options,
    cwd: runtime.cwd(),
  });
  return await run.catch((error) => {
    if (!options.byListener || !(error instanceof Error && error.cause instanceof TmuxError)) throw error;
    printError(error.message);
    return EXIT_UNKNOWN;
  });
}
