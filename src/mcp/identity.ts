/** Who asks: the session that a late answer is typed into, and the names under which the relay knows the asker. */
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
  return {
    session: known,
    deviceId: `dev_script_${await digest(`${hostname}\n${known ?? ""}`)}`,
    listener: await listenerDeviceId(hostname),
    name: `svc mcp, ${known ?? "no session"}, ${hostname}`.slice(0, 200),
  };
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
