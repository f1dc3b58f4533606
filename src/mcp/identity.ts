/** Who asks: the session that a late answer is typed into, and the names under which the relay knows the asker. */
import { sha256Hex } from "../async/sha256.ts";
import { isSessionName, listenerDeviceId } from "../protocol/names.ts";

export interface Identity {
  /** Undefined where the agent runs in no session of svc. */
  session: string | undefined;
  /** The same for every asker of the session, so that the account does not fill with devices. */
  deviceId: string;
  /** The listener that has the session. */
  listener: string;
  /** What lists of devices show. */
  name: string;
}

/** `session` is `SVC_SESSION`, which the wrapper sets for the agent. */
export async function identify(
  { hostname, session }: { hostname: string; session: string | undefined },
): Promise<Identity> {
  const known = session !== undefined && isSessionName(session) ? session : undefined;
  const digest = await sha256Hex(`${hostname}\n${known ?? ""}`);
  return {
    session: known,
    deviceId: `dev_script_${digest.slice(0, 16)}`,
    listener: await listenerDeviceId(hostname),
    name: `svc mcp, ${known ?? "no session"}, ${hostname}`.slice(0, 200),
  };
}
