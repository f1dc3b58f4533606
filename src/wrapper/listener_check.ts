/** What every wrapper run does about the listener (docs/specification.md, "Wrapper and daemon transitions"), without delaying the agent. */
import { delay } from "../async/clock.ts";
import { errorText } from "../async/error_text.ts";
import type { DaemonHost, DaemonOptions } from "../home/daemon.ts";
import { decideDaemon } from "../home/daemon_decision.ts";

export interface ListenerCheck {
  /** A line for the user, before the agent takes the terminal. */
  notice: string | undefined;
  /** Makes sure that a listener answers; resolves with an error message when none does. Never rejects. */
  work(): Promise<string | undefined>;
}

const NOT_SET_UP = "The phone is not set up on this machine: run svc up.";

/** A listener that gives no sign of life in this time is checked thoroughly, in milliseconds. */
const SIGN_LIMIT_MS = 500;

/**
 * Never throws. Unless `listener.version` calls for a restart, everything is left to `work`. What loads the schemas is
 * called only where there is something to do: it takes longer than everything else in a start.
 */
export async function checkListener(
  host: DaemonHost,
  options: DaemonOptions & { byListener?: boolean },
): Promise<ListenerCheck> {
  if (options.byListener) {
    return { notice: undefined, work: () => givesSign(host, options.paths.socket).then(() => undefined) };
  }
  const recorded = (await host.files.readText(options.paths.version))?.trim();
  const { action } = decideDaemon({ running: recorded, installed: options.version });
  if (action === "start" || action === "restart") return await wakeListener(host, options);
  return { notice: undefined, work: () => wakeUnlessAlive(host, options) };
}

async function wakeUnlessAlive(host: DaemonHost, options: DaemonOptions): Promise<string | undefined> {
  if (await givesSign(host, options.paths.socket)) return undefined;
  const { notice, work } = await wakeListener(host, options);
  return await work() ?? notice;
}

/** Starts or replaces the listener. Never throws: the agent starts even when the phone is not set up or the configuration is broken. */
async function wakeListener(host: DaemonHost, options: DaemonOptions): Promise<ListenerCheck> {
  const [
    { listenerApiKey, loadConfig, resolveWsUrl },
    { carryOut, decisionNotice, planDaemon },
  ] = await Promise.all([
    import("../home/config.ts"),
    import("../home/daemon.ts"),
  ]);
  try {
    const inputs = { config: await loadConfig(host.files, options.paths), env: options.env };
    if (!listenerApiKey(inputs) || !resolveWsUrl(inputs)) return onlyNotice(NOT_SET_UP);
    const decision = await planDaemon(host, options);
    return {
      notice: decisionNotice(decision, options.version),
      work: () => carryOut(host, options, decision).then(() => undefined, errorText),
    };
  } catch (error) {
    return onlyNotice(errorText(error));
  }
}

function onlyNotice(notice: string): ListenerCheck {
  return { notice, work: () => Promise.resolve(undefined) };
}

/** Reports to the listener that there is a new session; any line in answer is a sign of life. */
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
