/** What every wrapper run does about the daemon (spec, section 1, rule 6), without holding up the agent. */
import { delay } from "../async/clock.ts";
import { decideDaemon } from "../home/decide_daemon.ts";
import type { DaemonHost } from "../home/observe_daemon.ts";
import type { DaemonOptions } from "../home/start_daemon.ts";
import type { WrapperRun } from "./types.ts";

export interface ListenerCheck {
  /** A line for the person, before the agent takes the terminal. */
  notice: string | undefined;
  /** Sees that a daemon answers; resolves with the failure when none does. Never rejects. */
  work(): Promise<string | undefined>;
}

/** A daemon that gives no sign in this time is looked at closely, in milliseconds. */
const SIGN_LIMIT_MS = 500;

/**
 * Never throws. Where `listener.version` calls for no restart, all the rest is left to `work`; what loads the schemas is
 * called only where something is to be done: it costs more than all else in a start.
 */
export async function checkListener(
  host: DaemonHost,
  options: DaemonOptions & Pick<WrapperRun, "byListener">,
): Promise<ListenerCheck> {
  if (options.byListener) {
    return { notice: undefined, work: () => givesSign(host, options.paths.socket).then(() => undefined) };
  }
  const recorded = (await host.files.readText(options.paths.version))?.trim();
  const { action } = decideDaemon({ running: recorded, installed: options.version });
  if (action === "start" || action === "restart") return await wake(host, options);
  return { notice: undefined, work: () => wakeUnlessAlive(host, options) };
}

async function wake(host: DaemonHost, options: DaemonOptions): Promise<ListenerCheck> {
  return await (await import("./wake_listener.ts")).wakeListener(host, options);
}

async function wakeUnlessAlive(host: DaemonHost, options: DaemonOptions): Promise<string | undefined> {
  if (await givesSign(host, options.paths.socket)) return undefined;
  const { notice, work } = await wake(host, options);
  return await work() ?? notice;
}

/** Tells the daemon of the new session; any line in answer will do. */
async function givesSign(host: DaemonHost, path: string): Promise<boolean> {
  const connection = await host.sockets.connect(path).catch(() => undefined);
  if (connection === undefined) return false;
  const late = new AbortController();
  try {
    await connection.send(JSON.stringify({ op: "look" }));
    const line = connection.lines[Symbol.asyncIterator]().next();
    const wait = delay(SIGN_LIMIT_MS, { clock: host.clock, signal: late.signal });
    return await Promise.race([line.then(({ done }) => !done), wait.then(() => false, () => false)]);
  } catch {
    return false;
  } finally {
    late.abort();
    connection.close();
  }
}
