/** `svc listener`: the daemon itself, and its restart and end. */
import { runtime } from "#runtime";
import { httpBaseFromWs } from "../client/addresses.ts";
import { resolveBaseUrl } from "../home/addresses.ts";
import { BACKGROUND_OPTION, restartListener, stopDaemon } from "../home/daemon.ts";
import type { HomePaths } from "../home/paths.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths, daemonHost, daemonOptions } from "./context.ts";
import { UsageError } from "./exit.ts";
import { print, withProgress } from "./output.ts";
import { addressInputs, listenerSettings } from "./settings.ts";
import { VERSION } from "../protocol/version.ts";

interface ListenerWords {
  restart?: true | undefined;
  stop?: true | undefined;
  background?: true | undefined;
  wsUrl?: string | undefined;
}

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "listener",
    summary: "Run the listener in the foreground, logging here as in listener.log.",
    examples: ["svc listener", "svc listener --restart", "svc listener --ws-url ws://127.0.0.1:7420/ws"],
  })
    .option("--restart", "restart the daemon on the installed version")
    .option("--stop", "end the daemon, once it finished the message in hand")
    .option("--ws-url <url>", "the relay's WebSocket address, for this run")
    .option(BACKGROUND_OPTION, "as svc itself starts it: nobody watches");
  const words: ListenerWords = parseOptions(command, args).opts();
  if (words.restart && words.stop) {
    throw new UsageError("--restart and --stop exclude each other. See: svc listener --help");
  }
  const paths = await accountPaths();
  if (words.stop) return await stop(paths);
  return words.restart ? await restart(paths, words) : await runHere(paths, words);
}

async function stop(paths: HomePaths): Promise<number> {
  const wasAlive = await withProgress(
    "Waiting until the listener has finished what it has in hand …",
    stopDaemon(daemonHost(), paths),
  );
  print(wasAlive ? "The listener has stopped." : "No listener runs.");
  return 0;
}

async function restart(paths: HomePaths, words: ListenerWords): Promise<number> {
  listenerSettings(paths, await addressInputs(paths, words.wsUrl));
  const status = await withProgress(
    "Waiting until the old listener has finished and the new one answers …",
    restartListener(daemonHost(), daemonOptions(paths, { wsUrl: words.wsUrl })),
  );
  print(`The listener runs: v${status.version}, process ${status.pid}.`);
  return 0;
}

async function runHere(paths: HomePaths, words: ListenerWords): Promise<number> {
  const inputs = await addressInputs(paths, words.wsUrl);
  const settings = listenerSettings(paths, inputs);
  const [{ runDaemon }, { startListener }, { makeHookNotifier }, { withNews }] = await Promise.all([
    import("../listener/daemon.ts"),
    import("../listener/listener.ts"),
    import("./hook_notifier.ts"),
    import("../listener/hook_notifier.ts"),
  ]);
  const { files, commands, sockets, pid, uid } = runtime;
  const host = {
    ...daemonHost(),
    ...{ files, commands, sockets, pid, uid },
    onSignal: runtime.onSignal,
    show: print,
  };
  const env = runtime.env.all();
  return await runDaemon(host, {
    paths,
    version: VERSION,
    wsUrl: settings.wsUrl,
    background: words.background ?? false,
    async start(log) {
      const { config } = inputs;
      const listener = await startListener({ paths, config, ...settings, version: VERSION, env, log });
      const baseUrl = resolveBaseUrl(inputs) ?? httpBaseFromWs(settings.wsUrl);
      return withNews(listener, await makeHookNotifier(paths, { baseUrl, apiKey: settings.apiKey, log }));
    },
  });
}
