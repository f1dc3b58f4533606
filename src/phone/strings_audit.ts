/** The texts of a host's audit log. */

export const AUDIT_STRINGS = {
  heading: "Audit log",
  back: "Settings",
  lead: (host: string) =>
    `Everything that was sent to ${host} from elsewhere, newest first. The log never contains the texts.`,
  keys: (state: string) => `Keys: ${state}`,
  file: (state: string) => `File: ${state}`,
  stored: "Stored",
  characters: (count: number) => `${count.toLocaleString("en")} ${count === 1 ? "character" : "characters"}`,
  bytes: (count: number) => `${count.toLocaleString("en")} ${count === 1 ? "byte" : "bytes"}`,
  actions: {
    "agent.start": "start an agent",
    "agent.end": "end the agent",
    "agent.cancel": "cancel a message",
    "dialog.answer": "answer a dialog",
    "project.mute": "mute or unmute the project",
    "ask.answer": "answer a card",
  } as Readonly<Record<string, string>>,
  from: (device: string) => `from ${device}`,
  digest: "SHA-256",
  reading: "Reading…",
  older: "Load older entries",
  all: "There are no older entries.",
  end:
    "These are the oldest entries that can be read here. On the host, svc logs --audit shows the whole file.",
  none: "Nothing was sent to this host yet.",
  failed: "The host did not answer.",
  again: "Try again",
  unpaired: "Only a phone that is paired with this host can read its log.",
  noSession: "The host can be asked while one of its sessions runs. Start an agent, then come back.",
  offline: "The host is offline. This is read when it is back.",
  save: (count: number) =>
    `Save ${count.toLocaleString("en")} ${count === 1 ? "entry" : "entries"} as a file`,
};

export type AuditStrings = typeof AUDIT_STRINGS;
