/** Runs the listener in this process, with the notifier that reports hook events to the phones. */
import { runtime } from "#runtime";
import { loadHooks } from "../agents/registry.ts";
import { createRelayApi } from "../client/api.ts";
import { errorText } from "../async/error_text.ts";
import { systemClock } from "../async/clock.ts";
import { type Config, ensureHookId } from "../home/config.ts";
import { bootId, restoreKept } from "../listener/kept_sessions.ts";
import { isAnyMuted } from "../home/muted.ts";
import type { HomePaths } from "../home/paths.ts";
import { hostKeys, hostSealing } from "../home/host_sealing.ts";
import { toBodyText } from "../hooks/news.ts";
import { startDetached } from "../listener/agent_life.ts";
import { runDaemon } from "../listener/daemon.ts";
import { HookNotifier, withNotifications } from "../listener/hook_notifier.ts";
import { type RunningListener, startListener } from "../listener/listener.ts";
import { isAgentKind } from "../protocol/names.ts";
import { VERSION } from "../protocol/version.ts";
import { keepingHangup } from "../runtime/hangup.ts";
import type { Runtime } from "../runtime/types.ts";
import { tmuxSessions } from "../tmux/discovery.ts";
import { daemonHost, ownEnvironment } from "./context.ts";
import { print } from "./output.ts";
import { type ListenerSettings, pairingHost } from "./settings.ts";

/** Larger transcripts are not read. */
const TRANSCRIPT_MAX_BYTES = 64_000_000;

export interface RunOptions extends ListenerSettings {
  config: Config;
  /** No terminal shows the log. */
  background: boolean;
  /** A service runs it. */
  standby: boolean;
  /** For a program that embeds the listener: its lines and its stops; by default, this process's terminal and signals. */
  show?(line: string): void;
  onSignal?: Runtime["onSignal"];
  /** Called when the listener runs, connected or not. */
  started?(): void;
}

/** Resolves with the exit code once the listener has ended. */
export async function runListener(paths: HomePaths, options: RunOptions): Promise<number> {
  const { config, wsUrl, baseUrl, apiKey, background, standby } = options;
  const { files, commands, sockets, pid, uid } = runtime;
  const host = {
    ...daemonHost(),
    files,
    commands,
    sockets,
    pid,
    uid,
    onSignal: options.onSignal ?? keepingHangup(runtime.onSignal),
    show: options.show ?? print,
  };
  const env = ownEnvironment();
  return await runDaemon(host, {
    paths,
    version: VERSION,
    wsUrl,
    background,
    standby,
    printsOnlyStart: standby && runtime.platform === "darwin",
    async start(log) {
      const started: { listener?: RunningListener } = {};
      const isCovered = async (session: string): Promise<boolean> =>
        await started.listener?.covers(session) ?? false;
      const notifier = await makeHookNotifier(paths, { config, baseUrl, apiKey, log, isCovered });
      const listener = started.listener = await startListener({
        paths,
        config,
        wsUrl,
        baseUrl,
        apiKey,
        version: VERSION,
        env,
        log,
        dialogs: {
          opened: (dialog) => notifier.dialog(dialog),
          closed: (pane, at) => notifier.dialogClosed(pane, at),
        },
      });
      options.started?.();
      if (standby) void restoreSessions(paths, { env, log });
      return withNotifications(listener, notifier);
    },
  });
}

/** Starts the kept sessions. Only a service does so, because only a service starts with the machine. Never rejects. */
async function restoreSessions(
  paths: HomePaths,
  { env, log }: { env: Readonly<Record<string, string>>; log(line: string): void },
): Promise<void> {
  try {
    await restoreKept({
      files: runtime.files,
      paths,
      boot: await bootId(runtime),
      running: async () => (await tmuxSessions()).map(({ name }) => name),
      start: (kept, args) => startDetached({ paths, env }, { ...kept, args, isNew: true }),
      log,
    });
  } catch (error) {
    log(`Cannot start the kept sessions: ${errorText(error)}`);
  }
}

/** Makes the notifier that passes hook reports on to the phones, such as the end of a turn. */
async function makeHookNotifier(
  paths: HomePaths,
  options: {
    config: Config;
    baseUrl: string;
    apiKey: string;
    log(line: string): void;
    isCovered(session: string): Promise<boolean>;
  },
): Promise<HookNotifier> {
  const { files } = runtime;
  const api = createRelayApi(options);
  const sealing = hostSealing(hostKeys(await pairingHost(paths, api)), {
    config: () => Promise.resolve(options.config),
  });
  return new HookNotifier({
    clock: systemClock,
    send: (push, given) => api.sendPush(push, given),
    seal: (push, shown) => sealing.seal(push, shown),
    hookId: () => ensureHookId(files, paths),
    isMuted: (...directories) => isAnyMuted(files, paths, directories),
    isCovered: options.isCovered,
    lastWords,
    log: options.log,
  });
}

async function lastWords(agent: string, transcript: string): Promise<string | undefined> {
  const { files } = runtime;
  const hooks = isAgentKind(agent) ? await loadHooks(agent) : undefined;
  const info = await files.info(transcript);
  if (hooks?.transcript === undefined || !info?.isFile || info.size > TRANSCRIPT_MAX_BYTES) return undefined;
  const text = hooks.transcript.lastMessage(await files.readText(transcript) ?? "");
  return text && toBodyText(text);
}
