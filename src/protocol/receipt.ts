/** What became of a push: its states, the reasons, and the receipt a phone sees live. */
import * as z from "zod/mini";
import { PushId } from "./push_id.ts";

export const PUSH_STATES = [
  "queued",
  "delivered",
  "held",
  "typed",
  "submitted",
  "refused",
  "expired",
  "unknown",
  "ignored",
  "answered",
  "withdrawn",
] as const;
export const PushState = z.enum(PUSH_STATES);
export type PushState = z.infer<typeof PushState>;

/** Why nothing was typed (`refused`), or why it waits (`held`), with the sentence a person reads. */
export const REASONS = {
  shell_in_pane: "The agent is gone: a shell or another program owns the pane.",
  no_such_session: "No tmux session has this name.",
  ambiguous_session: "Two tmux servers have a session with this name.",
  invalid_session_name: "The session name has characters outside A-Z a-z 0-9 . _ -.",
  pane_dead: "The pane is dead, stopped, or takes no input.",
  rate_limited: "More than 30 messages a minute for this session.",
  shell_escape: "A message that begins with ! would run a shell command in the agent.",
  desk_busy: "Someone is typing at the computer.",
  muted: "The project is muted.",
  invalid_body: "The text is empty, too long, or has control characters.",
  sealed_required: "This host takes sealed messages only.",
  unsealable: "The sealed message could not be opened.",
  counter_used: "A sealed message with this number was taken before.",
  counter_old: "So many newer messages of this phone came first that it may be a repetition.",
  answer_taken: "The agent that asked has taken this answer already.",
  counter_missing: "This phone numbers its sealed messages, and this one has no number.",
  tmux_failed: "tmux refused the command.",
  start_not_allowed: "This host does not let a phone start agents.",
  unknown_project: "This host knows no such project.",
  ambiguous_project: "This host knows several projects of this name.",
  unknown_agent: "This host knows no such agent.",
  start_failed: "The agent could not be started.",
  agent_starting: "The agent is starting: it shows no input line yet.",
  agent_working:
    "The agent is working: the message waits until no dialog can open meanwhile, at the latest for the end of the turn.",
  unknown_screen: "The agent does not show its input line: another screen has the keys.",
  screen_stale: "The agent's screen did not show the text in its input line in time.",
  approval_change:
    "This may change how the agent asks for approval: it is not on the list of what changes nothing.",
  key_not_allowed: "This key opens another program or suspends the agent.",
  not_confirmed: "The text was typed, and nothing showed whether the agent took it.",
  not_submitted: "The agent's input line did not take Enter, and the text was removed from it.",
  dialog_open: "The agent shows a permission or start dialog.",
  hook_muted: "The hooks of this installation are muted.",
  unknown_type: "This listener does not know the type of this push.",
  too_late: "The agent had stopped waiting: the answer is typed into its session instead.",
} as const;

export type Reason = keyof typeof REASONS;
export const Reason = z.enum(Object.keys(REASONS) as [Reason, ...Reason[]]);

export const ReceiptProof = z.string().check(z.maxLength(100));

/** `at` holds the epoch milliseconds at which each state was reached first. */
export const Receipt = z.object({
  state: PushState,
  reason: z.optional(z.string()),
  /** With `rate_limited`: whole seconds until the next message is taken. */
  retryAfterSeconds: z.optional(z.number()),
  /** With `submitted` of an `agent.start`: the session in which the agent runs. */
  agentSessionName: z.optional(z.string()),
  /** True once nothing more will happen to the push. */
  final: z.boolean(),
  at: z.partialRecord(PushState, z.number()),
  /** Of the host, for a phone that it is paired with: that the state is its own word. */
  proof: z.optional(ReceiptProof),
  /** With `answered`: the push that answered. */
  answer: z.optional(PushId),
});
export type Receipt = z.infer<typeof Receipt>;
