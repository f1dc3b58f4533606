/** Starts or replaces the daemon for a wrapper run; loaded only when a quick look found that it must be. */
import { errorText } from "../async/error_text.ts";
import { listenerApiKey, resolveWsUrl } from "../home/addresses.ts";
import { loadConfig } from "../home/config.ts";
import { carryOut, decisionNotice, planDaemon } from "../home/daemon.ts";
import type { DaemonHost } from "../home/observe_daemon.ts";
import type { DaemonOptions } from "../home/start_daemon.ts";
import type { ListenerCheck } from "./listener_check.ts";

const NOT_SET_UP = "The phone is not set up on this machine: run svc up.";

/** Never throws: an agent starts also where the phone is not set up, or where its configuration is broken. */
export async function wakeListener(host: DaemonHost, options: DaemonOptions): Promise<ListenerCheck> {
  try {
    const inputs = { config: await loadConfig(host.files, options.paths), env: options.env };
    if (!listenerApiKey(inputs) || !resolveWsUrl(inputs)) return quiet(NOT_SET_UP);
    const decision = await planDaemon(host, options);
    return {
      notice: decisionNotice(decision, options.version),
      work: () => carryOut(host, options, decision).then(() => undefined, errorText),
    };
  } catch (error) {
    return quiet(errorText(error));
  }
}

function quiet(notice: string): ListenerCheck {
  return { notice, work: () => Promise.resolve(undefined) };
}
