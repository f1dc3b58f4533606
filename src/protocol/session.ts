/** A session as the inventory reports it (docs/specification.md, Inventory), and what else a listener reports. */
import { SESSIONS_MAX } from "./limits.ts";
import { PushId } from "./receipt.ts";
import * as z from "zod/mini";
import { parseJson } from "./json.ts";
import { maxLength } from "./lengths.ts";
import { SealedForPhones } from "./push.ts";

export const AGENT_STATES = ["starting", "working", "waiting", "idle", "exited"] as const;
export const AgentState = z.enum(AGENT_STATES);
export type AgentState = z.infer<typeof AgentState>;

/** One tmux session. Times are epoch milliseconds. Unknown fields are kept, so an older relay works with a newer listener. */
export const SessionEntry = z.looseObject({
  name: z.string().check(maxLength(256)),
  project: z.string(),
  /** Kind of agent (`cc`, `codex`, …); empty for a session that no wrapper created. */
  agent: z.string(),
  agentLabel: z.string(),
  ordinal: z.number(),
  /** `<project> · <Agent>`, from the second on with ` #<n>`. */
  label: z.string(),
  state: AgentState,
  stateSince: z.number(),
  /** The local user has a client attached; control-mode clients do not count. */
  attached: z.boolean(),
  lastActivity: z.number(),
  /** When tmux created the session. */
  createdAt: z.optional(z.number()),
  cwd: z.string(),
  title: z.string(),
  cols: z.number(),
  rows: z.number(),
  muted: z.boolean(),
  /** A message can be typed into it: the name is valid, the pane is alive, and no shell owns it. */
  addressable: z.boolean(),
  /** The agent's version, when the host knows it. */
  agentVersion: z.optional(z.string()),
  /** The newest version that the host's svc was tested with, when the agent is newer. */
  measuredVersion: z.optional(z.string()),
  /** Keys of the host's configuration that extend what a phone may do. */
  widened: z.optional(z.array(z.string())),
  /**
   * The dialog that the agent shows: `id` is the push that has its text, and `can` what a phone may do with it
   * (`DIALOG_ACTIONS`). Unknown actions are ignored.
   */
  dialog: z.optional(z.object({ id: PushId, since: z.number(), can: z.array(z.string()) })),
  /** The agent has reached its usage limit; `resetsAt` is set if the agent shows when it resets. */
  limit: z.optional(z.object({ resetsAt: z.optional(z.number()) })),
});
export type SessionEntry = z.infer<typeof SessionEntry>;

/** Reject the dialog with Esc, interrupt the agent with Ctrl-C, type into the dialog in the terminal. */
export const DIALOG_ACTIONS = ["reject", "interrupt", "type"] as const;
export type DialogAction = (typeof DIALOG_ACTIONS)[number];

/** In `widened`: a phone may end the session's agent. */
export const ALLOW_AGENT_END = "allowAgentEnd";

export const SessionList = z.array(SessionEntry).check(maxLength(SESSIONS_MAX));

/** The type that the sealed details are bound to. */
export const DETAILS_TYPE = "host.details";

export const StartChoices = z.object({
  /** Kinds of agents that the host has. */
  agents: z.array(z.string()),
  projects: z.array(z.object({ project: z.string(), directory: z.string() })),
});
export type StartChoices = z.infer<typeof StartChoices>;

export const MutedProject = z.object({
  directory: z.string(),
  /** True if a phone muted it, so that a phone may unmute it. */
  byPhone: z.optional(z.boolean()),
});
export type MutedProject = z.infer<typeof MutedProject>;

export const HostDetails = z.object({
  /** Epoch milliseconds by the host's clock: a phone never replaces details with older ones. */
  at: z.number(),
  /** What a phone may start; absent if the host lets phones start nothing. */
  start: z.optional(StartChoices),
  /** The muted projects; absent if the host accepts no `project.mute`. */
  muted: z.optional(z.array(MutedProject)),
  /** The last line on the screen of each session, by its name; only sealed. */
  lines: z.optional(z.record(z.string(), z.string())),
});
export type HostDetails = z.infer<typeof HostDetails>;

/** `plain` is set only by a host with which no phone is paired. */
export const ReportedDetails = z.object({
  plain: z.optional(HostDetails),
  sealedFor: z.optional(SealedForPhones),
});
export type ReportedDetails = z.infer<typeof ReportedDetails>;

/** Undefined for a text that is not a host's details. */
export function parseDetails(text: string): HostDetails | undefined {
  return HostDetails.safeParse(parseJson(text)?.value).data;
}

/** Every session of one listener, as phones see them. */
export const DeviceSessions = z.object({
  deviceId: z.string(),
  /** The host's name as the listener reported it. */
  host: z.string(),
  online: z.boolean(),
  lastSeen: z.number(),
  sessions: z.array(SessionEntry),
  /** Absent from a `sessions.changed` if they did not change. */
  details: z.optional(ReportedDetails),
});
export type DeviceSessions = z.infer<typeof DeviceSessions>;

/** `GET /sessions`. */
export const SessionsAnswer = z.object({ devices: z.array(DeviceSessions) });
export type SessionsAnswer = z.infer<typeof SessionsAnswer>;
