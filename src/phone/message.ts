/** A message from this or another device, as the session view shows it. */
import { type AnswerData, answerFields, answerOf, answerText } from "../protocol/ask.ts";
import { type Later, laterOf, type PushAccepted, type PushRecord } from "../protocol/push.ts";
import type { PushState, Receipt } from "../protocol/receipt.ts";
import type { SessionName } from "./sessions.ts";

/** Types of pushes that ask a host for something other than typing a message. */
export const HOST_REQUESTS = ["agent.start", "agent.end", "project.mute"] as const;
export type HostRequest = (typeof HOST_REQUESTS)[number];

/** The code of a failure of this phone's storage or encryption. */
export const NOT_PREPARED = "not_prepared";

/** Why the relay did not accept a message, or did not get it. */
export interface SendFailure {
  /** A wire code, see `RelayError`, or `NOT_PREPARED`. */
  code: string;
  message: string;
}

/** How far a message got: still here, rejected by the relay, or accepted by the relay and with a receipt. */
export type Progress =
  /** `unsaved`: it would not survive a reload yet. `problem`: why it is still being retried. */
  | { kind: "outbox"; unsaved?: true; problem?: SendFailure }
  | { kind: "failed"; failure: SendFailure }
  /** `unproven`: a later state that the relay claims, but the paired host has not proven. */
  | { kind: "taken"; receipt: KnownReceipt; expiresAt: number; unproven?: PushState };

/** `deliverable`: only the relay claims that the sealed message has ended; its host would still act on it. */
export type KnownReceipt = Receipt & { deliverable?: true };

/** A receipt after its proof was checked; `unproven` if a paired host should have proven it and did not. */
export type CheckedReceipt = KnownReceipt & { unproven?: true };

/** A record with the texts that this phone can read. */
export interface OpenedRecord extends PushRecord {
  /** This phone sealed it, but does not know for which host and session. */
  isUnbound?: true;
}

const NOTHING_PROVEN: Receipt = { state: "queued", final: false, at: {} };

export interface Message {
  /** The push id, chosen here: sending the same id again types nothing twice. */
  id: string;
  deviceId: string;
  session: string;
  body: string;
  /**
   * Sent sealed; `elsewhere`: by another device, so its text is not known here; `unbound`: by this phone, for a session that
   * only the relay names.
   */
  sealed?: "here" | "elsewhere" | "unbound";
  /** Typed even while the local user is typing. */
  sendAnyway?: boolean;
  /** When it is typed, if not at once. */
  later?: Later;
  /** How long it may wait; the relay's default if omitted. */
  ttlSeconds?: number;
  /** Set for a cancellation: the id of the message that it cancels. */
  cancels?: string;
  /** Set for an action on a dialog: the dialog's id. */
  dialog?: string;
  /** Set for a request to a host; its details are in the body. */
  request?: HostRequest;
  /** It is being cancelled, and no longer sent. */
  cancelled?: true;
  /** Once it is cancelled, its text becomes the draft. */
  editing?: true;
  /** Set for an answer to a question. Without `data`, the body is the answer. */
  answers?: { question: string; data?: AnswerData; sealTo?: SessionName };
  /** Set for a late answer that is typed: the id of its question. */
  inReplyTo?: string;
  /** The id of the message whose text this one repeats: if that was sealed, this one is, too. */
  again?: string;
  /** Written on this phone. */
  fromHere?: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
  progress: Progress;
}

/** True if the message is known to be written on this phone: the relay may have made up any other. */
export function isOwn({ fromHere, sealed }: Pick<Message, "fromHere" | "sealed">): boolean {
  return fromHere === true || sealed === "here" || sealed === "unbound";
}

/** True for text that the user wrote, false for a request about a message, a dialog or an agent. */
export function isText({ cancels, dialog, request }: Message): boolean {
  return cancels === undefined && dialog === undefined && request === undefined;
}

/** No longer sent; it is not known whether the relay has it. */
export const NOT_KNOWN: Progress = { kind: "taken", receipt: NOTHING_PROVEN, expiresAt: 0 };

/** Stops sending a message that the relay may have although it did not answer. */
export function withoutSending(message: Message, edit: boolean): Message {
  const { progress } = message;
  const kept = progress.kind === "taken" ? progress : NOT_KNOWN;
  return { ...message, cancelled: true, ...(edit ? { editing: true as const } : {}), progress: kept };
}

/** Marks a message as refused by the relay, unless the relay has reported on it: then another page has sent it. */
export function withFailure(message: Message, failure: SendFailure): Message {
  const { progress } = message;
  const isReported = progress.kind === "taken" && progress !== NOT_KNOWN;
  return isReported ? message : { ...message, progress: { kind: "failed", failure } };
}

/**
 * The relay refuses the cancellation. Unless the relay has reported on the message, it was not sent either and fails.
 */
export function withoutCancelling(message: Message, failure: SendFailure): Message {
  const { cancelled: _cancelled, editing: _editing, ...rest } = message;
  return message.progress === NOT_KNOWN ? { ...rest, progress: { kind: "failed", failure } } : message;
}

/** True if the message is stored on this phone and waits for the link. */
export function waitsForLink({ progress }: Message, isLive: boolean): boolean {
  return !isLive && !(progress.kind === "outbox" && progress.unsaved);
}

/** Resets a message that is sent again. */
export function unsent({ cancelled: _cancelled, editing: _editing, ...message }: Message): Message {
  return { ...message, progress: { kind: "outbox", unsaved: true } };
}

/** True for the answer to a card, whose outcome the host proves. */
export function isCardAnswer(data: AnswerData | undefined): boolean {
  return data?.answers !== undefined || data?.decided !== undefined;
}

/**
 * Marks a message as accepted by the relay. If its host acknowledges it, it is only queued, whatever the relay claims.
 */
export function taken(message: Message, { state: claimed, expiresAt }: PushAccepted): Message {
  const state = message.answers === undefined || isCardAnswer(message.answers.data) ? "queued" : claimed;
  if (message.progress.kind === "taken") return withReceipt(message, message.progress.receipt, expiresAt);
  return withReceipt(message, { state, final: false, at: {} }, expiresAt);
}

/** Adds the reason for which a message is still being retried, which the user may be able to fix. */
export function withProblem(message: Message, problem: SendFailure): Message {
  const { progress } = message;
  return progress.kind === "outbox" ? { ...message, progress: { ...progress, problem } } : message;
}

/** Marks a message as stored: it survives a reload from now on. */
export function saved(message: Message): Message {
  return message.progress.kind === "outbox" ? { ...message, progress: { kind: "outbox" } } : message;
}

/** True if the local user or a draft blocked the message: sending it again types it anyway. */
export function mayInsist({ reason }: Receipt): boolean {
  return reason === "desk_busy" || reason === "phone_draft";
}

/** Undefined for a push that is neither a message to a session nor an answer. */
export function messageOf(record: OpenedRecord): Message | undefined {
  const { push, receipt } = record;
  const { type, targetDeviceId, agentSessionName, body, sealed } = push;
  if (type === "ask.answer") return answerMessageOf(record);
  if (type === "agent.cancel") return cancellationOf(record);
  if (type !== "agent.command" || agentSessionName === undefined) return undefined;
  if (body === undefined && sealed === undefined) return undefined;
  const later = laterOf(push);
  return {
    id: push.id,
    deviceId: targetDeviceId ?? "",
    session: agentSessionName,
    body: body ?? "",
    ...sealOf(record, body),
    ...(push.inReplyTo ? { inReplyTo: push.inReplyTo } : {}),
    ...(later === undefined || later === "invalid" ? {} : { later }),
    createdAt: push.createdAt,
    progress: takenProgress(undefined, receipt, push.expiresAt),
  };
}

function sealOf({ push, isUnbound }: OpenedRecord, text: unknown): Pick<Message, "sealed"> {
  if (push.sealed === undefined) return {};
  return { sealed: text === undefined ? "elsewhere" : isUnbound ? "unbound" : "here" };
}

function cancellationOf({ push, receipt }: PushRecord): Message | undefined {
  const { id, targetDeviceId = "", agentSessionName = "", inReplyTo, createdAt, expiresAt } = push;
  if (inReplyTo === undefined) return undefined;
  return {
    id,
    deviceId: targetDeviceId,
    session: agentSessionName,
    body: "",
    cancels: inReplyTo,
    createdAt,
    progress: takenProgress(undefined, receipt, expiresAt),
  };
}

function answerMessageOf(record: OpenedRecord): Message | undefined {
  const { push, receipt } = record;
  const answer = answerOf(push);
  if ((answer === undefined && push.sealed === undefined) || push.inReplyTo === undefined) return undefined;
  const { data } = answer ? answerFields(answer) : {};
  return {
    id: push.id,
    deviceId: "",
    session: "",
    body: answer ? answerText(answer) : "",
    ...sealOf(record, answer),
    answers: { question: push.inReplyTo, ...(data ? { data } : {}) },
    createdAt: push.createdAt,
    progress: takenProgress(undefined, receipt, push.expiresAt),
  };
}

/** The later of two receipts of one push: an HTTP answer and a live event may overtake each other. */
export function laterReceipt<R extends Receipt>(one: R, other: R): R {
  if (one.final !== other.final) return one.final ? one : other;
  return latest(one) > latest(other) ? one : other;
}

function latest(receipt: Receipt): number {
  return Math.max(0, ...Object.values(receipt.at));
}

/** `message` with `receipt`, unless a later one is already known. */
export function withReceipt(message: Message, receipt: CheckedReceipt, expiresAt?: number): Message {
  const { progress } = message;
  const known = progress.kind === "taken" ? progress : undefined;
  return { ...message, progress: takenProgress(known, receipt, expiresAt ?? known?.expiresAt ?? 0) };
}

/** `known` with the progress and time of the relay's copy: it may have been written before the relay's clock was known. */
export function withRelayCopy(known: Message, { progress, createdAt }: Message): Message {
  if (progress.kind !== "taken") return known;
  const { receipt, expiresAt, unproven } = progress;
  const checked = unproven === undefined ? receipt : { ...receipt, state: unproven, unproven: true as const };
  return { ...withReceipt(known, checked, expiresAt), createdAt };
}

type Taken = Extract<Progress, { kind: "taken" }>;

/** An unproven receipt is kept in addition to the known one and never replaces it. */
function takenProgress(
  known: Taken | undefined,
  { unproven, ...receipt }: CheckedReceipt,
  expiresAt: number,
): Taken {
  const before = known?.receipt;
  if (unproven) {
    const kept: Taken = { kind: "taken", receipt: before ?? NOTHING_PROVEN, expiresAt };
    return kept.receipt.final ? kept : { ...kept, unproven: receipt.state };
  }
  const best = before ? laterReceipt(before, receipt) : receipt;
  const isOpen = known?.unproven !== undefined && !best.final && best.state !== known.unproven;
  return { kind: "taken", receipt: best, expiresAt, ...(isOpen ? { unproven: known.unproven } : {}) };
}

/** Ids of the messages whose text was sent again later, so that sending it again need not be offered. */
export function sentAgain(messages: readonly Message[]): ReadonlySet<string> {
  const newest = new Map<string, number>();
  for (const { body, createdAt } of messages) {
    newest.set(body, Math.max(createdAt, newest.get(body) ?? createdAt));
  }
  const older = messages.filter(({ body, createdAt }) => createdAt < (newest.get(body) ?? createdAt));
  return new Set(older.map(({ id }) => id));
}

/** The `most` newest messages, and older ones that are unsent or being edited. */
export function newestMessages(messages: Map<string, Message>, most: number): Map<string, Message> {
  if (messages.size <= most) return messages;
  const newest = [...messages.values()].sort((one, other) => other.createdAt - one.createdAt);
  const kept = newest.filter(({ progress, editing }, place) =>
    place < most || progress.kind !== "taken" || editing
  );
  return new Map(kept.map((message) => [message.id, message]));
}
