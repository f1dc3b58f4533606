/** A push's id and its receipt: the states, the reasons, and what a phone sees live. */
import * as z from "zod/mini";

/** Chosen by the sender and used as the idempotency key. */
export const PushId = z.string().check(
  z.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, "a lower-case UUID"),
);

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

/** Why nothing was typed (`refused`) or why a push waits (`held`), with the sentence shown to the user. */
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
  counter_used: "A sealed message with this number was already accepted.",
  counter_old: "The message is so far behind newer messages from this phone that it could be a replay.",
  answer_taken: "The agent that asked has already received this answer.",
  counter_missing: "This phone numbers its sealed messages, but this one has no number.",
  tmux_failed: "tmux refused the command.",
  start_not_allowed: "This host does not let a phone start agents.",
  unknown_project: "This host does not know the project.",
  ambiguous_project: "This host knows several projects with this name.",
  unknown_agent: "This host does not know the agent.",
  start_failed: "The agent could not be started.",
  agent_starting: "The agent is starting: its input line is not shown yet.",
  agent_working:
    "The agent is working: the message waits until no dialog can interrupt it, at most until the end of the turn.",
  unknown_screen: "The agent does not show its input line: another screen has the keyboard.",
  screen_stale: "The agent's screen did not show the text in its input line in time.",
  approval_change:
    "This may change how the agent asks for approval: it is not on the list of harmless commands.",
  key_not_allowed: "This key opens another program or suspends the agent.",
  not_confirmed: "The text was typed, but nothing showed whether the agent accepted it.",
  not_submitted: "The agent's input line did not accept Enter, so the text was removed from it.",
  dialog_open: "The agent shows a permission or startup dialog.",
  hook_muted: "The hooks of this installation are muted.",
  unknown_type: "This listener does not know the type of this push.",
  dialog_not_allowed: "This host does not let a phone do anything in a dialog.",
  dialog_gone: "The dialog is no longer open, or another one has opened.",
  phone_draft: "What was typed from a phone with Live keys is still in the input line.",
  not_before: "The message is typed at the time that was set.",
  until_idle: "The message is typed when the agent is idle.",
  until_reset: "The message is typed when the agent's usage limit has reset.",
  already_typed: "The message was already typed, or is being typed.",
  too_late: "The agent had stopped waiting: the answer is typed into its session instead.",
} as const;

export type Reason = keyof typeof REASONS;
export const Reason = z.enum(Object.keys(REASONS) as [Reason, ...Reason[]]);

export const ReceiptProof = z.string().check(z.maxLength(100));

/** Phones whose reports one receipt holds. */
export const SHOWN_PHONES_MAX = 50;

/** What a phone was shown of a push to phones: epoch milliseconds by the relay's clock. */
export const Shown = z.object({
  /** The browser's vendor accepted the Web Push message. */
  sent: z.optional(z.number()),
  /** The phone's service worker showed the notification. */
  notified: z.optional(z.number()),
  /** The user tapped it, or the page showed the push while it was visible. */
  seen: z.optional(z.number()),
});
export type Shown = z.infer<typeof Shown>;

/** `at` holds the epoch milliseconds at which each state was first reached. */
export const Receipt = z.object({
  state: PushState,
  reason: z.optional(z.string()),
  /** With `rate_limited`: whole seconds until the next message is taken. */
  retryAfterSeconds: z.optional(z.number()),
  /** With `submitted` of an `agent.start`: the session that the agent runs in. */
  agentSessionName: z.optional(z.string()),
  /** True once the state can no longer change. */
  final: z.boolean(),
  at: z.partialRecord(PushState, z.number()),
  /** The host's proof, for a paired phone, that the state comes from the host. */
  proof: z.optional(ReceiptProof),
  /** With `answered`: the id of the answer. */
  answer: z.optional(PushId),
  /** By the phone's device id. The relay's word: no proof covers it. */
  shown: z.optional(z.record(z.string(), Shown)),
});
export type Receipt = z.infer<typeof Receipt>;
