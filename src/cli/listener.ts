/** `svc listener`: runs, restarts or stops the listener. */
import { runtime } from "#runtime";
import { systemClock, withProgress } from "../async/clock.ts";
import { errorText } from "../async/error_text.ts";
import { resolveWsUrl } from "../home/config.ts";
import {
  BACKGROUND_OPTION,
  otherService,
  restartListener,
  STANDBY_OPTION,
  stopDaemon,
} from "../home/daemon.ts";
import type { HomePaths } from "../home/paths.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths, daemonHost, daemonOptions } from "./context.ts";
import { print, printError, UsageError } from "./output.ts";
import { addressInputs, listenerSettings } from "./settings.ts";

interface ListenerOptions {
  restart?: true | undefined;
  stop?: true | undefined;
  background?: true | undefined;
  standby?: true | undefined;
  wsUrl?: string | undefined;
}

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "listener",
    summary: "Run the listener in the foreground, logging here as in listener.log.",
    examples: ["svc listener", "svc listener --restart", "svc listener --ws-url ws://127.0.0.1:7420/ws"],
  })
    .option("--restart", "restart the daemon on the installed version")
    .option("--stop", "stop the daemon once it has finished the current message")
    .option("--ws-url <url>", "the relay's WebSocket address, for this run")
    .option(BACKGROUND_OPTION, "used by svc itself: no terminal shows the log")
    .option(STANDBY_OPTION, "used by services: wait while another listener runs");
  const options: ListenerOptions = parseOptions(command, args).opts();
  if (options.restart && options.stop) {
    throw new UsageError("--restart and --stop exclude each other. See: svc listener --help");
  }
  checkWsUrl(options.wsUrl);
  const paths = await accountPaths();
  if (options.stop) return await stop(paths);
  return options.restart ? await restart(paths, options) : await runHere(paths, options);
}

/** Throws UsageError. */
function checkWsUrl(option: string | undefined): void {
  try {
    resolveWsUrl({ option, config: {}, env: {} });
  } catch (error) {
    throw new UsageError(errorText(error));
  }
}

async function stop(paths: HomePaths): Promise<number> {
  const wasAlive = await withProgress(stopDaemon(daemonHost(), paths), {
    clock: systemClock,
    show: () => printError("Waiting for the listener to finish its current work …"),
  });
  print(wasAlive ? "The listener has stopped." : "No listener is running.");
  return 0;
}

async function restart(paths: HomePaths, options: ListenerOptions): Promise<number> {
  listenerSettings(paths, await addressInputs(paths, options.wsUrl));
  const other = await otherService(runtime.files, paths, { selfCommand: runtime.selfCommand() });
  if (other !== undefined && options.wsUrl === undefined) {
    throw new Error(
      `Cannot restart the listener on this svc: its service starts another one, "${
        other.at(-1)
      }". Run: svc service install listener`,
    );
  }
  const restarted = restartListener(daemonHost(), daemonOptions(paths, { wsUrl: options.wsUrl }));
  const status = await withProgress(restarted, {
    clock: systemClock,
    show: () => printError("Waiting for the old listener to finish and the new one to answer …"),
  });
  print(`The listener is running: v${status.version}, process ${status.pid}.`);
  return 0;
}

async function runHere(
  paths: HomePaths,
  { wsUrl, background, standby }: ListenerOptions,
): Promise<number> {
  const inputs = await addressInputs(paths, wsUrl);
  const settings = listenerSettings(paths, inputs);
  const { runListener } = await import("./run_listener.ts");
  return await runListener(paths, {
    ...settings,
    config: inputs.config,
    background: background === true,
    standby: standby === true,
  });
}
