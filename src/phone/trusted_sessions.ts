/** What the relay's list may say of a paired host: its name is the proven one, and a session is called what its name says. */
import { sessionLabel, sessionName } from "../protocol/names.ts";
import type { DeviceSessions, SessionEntry } from "../protocol/session.ts";
import type { PairedHost } from "../client/claim_pairing.ts";

/** `host` is undefined for one that is not paired: of it the relay says what it likes. */
export function trustedSessions(
  device: DeviceSessions,
  host: Pick<PairedHost, "host"> | undefined,
): DeviceSessions {
  if (host === undefined) return device;
  return { ...device, host: host.host, sessions: device.sessions.map(trustedEntry) };
}

/** A label that is not the name's would lead what is sealed for one session to another. */
function trustedEntry(entry: SessionEntry): SessionEntry {
  const { name, project, agentLabel, ordinal } = entry;
  const isNamed = sessionName(project, ordinal) === name;
  return {
    ...entry,
    label: isNamed && agentLabel !== "" ? sessionLabel(project, agentLabel, ordinal) : name,
  };
}
