/** What every wrapper run does about the daemon: sees that one lives, without holding up the agent. */
import { listenerApiKey, resolveWsUrl } from "../home/addresses.ts";
import { loadConfig } from "../home/config.ts";
import { carryOut, decisionNotice, planDaemon } from "../home/daemon.ts";
import type { DaemonHost } from "../home/observe_daemon.ts";
import type { DaemonOptions } from "../home/start_daemon.ts";

export interface ListenerCheck {
  /** A line for the person, before the agent takes the terminal. */
  notice: string | undefined;
  /** Ends when a daemon answers, with the failure when none does. Never rejects. */
  settled: Promise<string | undefined>;
}

const NOT_SET_UP = "The phone is not set up on this machine: run svc up.";

/** Quick, and never throws: an agent starts also where the phone is not set up, or where its configuration is broken. */
export async function checkListener(host: DaemonHost, options: DaemonOptions): Promise<ListenerCheck> {
  try {
    const inputs = { config: await loadConfig(host.files, options.paths), env: options.env };
    if (!listenerApiKey(inputs) || !resolveWsUrl(inputs)) return quiet(NOT_SET_UP);
    const decision = await planDaemon(host, options);
    const settled = carryOut(host, options, decision).then(() => undefined, messageOf);
    return { notice: decisionNotice(decision, options.version), settled };
  } catch (error) {
    return quiet(messageOf(error));
  }
}

function quiet(notice: string): ListenerCheck {
  return { notice, settled: Promise.resolve(undefined) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
