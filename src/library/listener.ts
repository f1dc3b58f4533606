/** The listener for programs that embed it; its code is loaded when it is started. */

export interface ListenerOptions {
  /** The relay's WebSocket address. */
  wsUrl: string;
  /** A key with the scopes push:read and push:send. */
  apiKey: string;
  /** The folder with its configuration, journal and keys: `SVC_HOME` or `~/.svc` without it. */
  svcHome?: string;
  /** Receives the lines of listener.log. */
  log?(line: string): void;
}

export interface Listener {
  /** Resolves once it has stopped, also when `svc listener --stop` did that. */
  ended: Promise<void>;
  /** Finishes the current injection, then closes every connection. */
  stop(): Promise<void>;
}

/**
 * Starts a listener in this process, on Deno or Node: it types messages into the tmux sessions of this machine, as `svc
 * listener` does. Resolves once it runs, connected or not; rejects when another one uses the same folder.
 */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const [{ runListener }, { accountPaths }, { addressInputs, listenerSettings }] = await Promise.all([
    import("../cli/run_listener.ts"),
    import("../cli/context.ts"),
    import("../cli/settings.ts"),
  ]);
  const paths = await accountPaths(options.svcHome);
  const { config } = await addressInputs(paths);
  const given = { config: { wsUrl: options.wsUrl, apiKey: options.apiKey }, env: {} };
  const stops: (() => void)[] = [];
  const ready = Promise.withResolvers<void>();
  let last = "it ended at once";
  const ending = runListener(paths, {
    ...listenerSettings(paths, given),
    config,
    background: false,
    standby: false,
    show(line) {
      last = line;
      options.log?.(line);
    },
    onSignal: (_signal, stop) => {
      stops.push(stop);
      return () => {};
    },
    started: ready.resolve,
  });
  const ended = ending.then(() => {});
  await Promise.race([ready.promise, ended.then(() => Promise.reject(new Error(last)))]);
  return {
    ended,
    async stop() {
      stops[0]?.();
      await ended;
    },
  };
}
