/** A message of this phone or of another one, as the session's view shows it. */
import { type AnswerData, answerFields, answerOf, answerText } from "../protocol/ask.ts";
import type { PushRecord } from "../protocol/push.ts";
import type { PushState, Receipt } from "../protocol/receipt.ts";
import type { SessionName } from "./names.ts";

/** Why the relay did not take a message. */
export interface SendFailure {
  /** A wire code, see `RelayError`. */
  code: string;
  message: string;
}

/** How far a message came: still here, refused by the relay, or in the relay's hands with a receipt. */
export type Progress =
  | { kind: "outbox" }
  | { kind: "failed"; failure: SendFailure }
  /** `unproven`: what the relay says beyond it, and a host that is paired has not proven. */
  | { kind: "taken"; receipt: Receipt; expiresAt: number; unproven?: PushState };

/** A receipt as it was heard; `unproven` when only the relay says so, though a paired host would prove it. */
export type HeardReceipt = Receipt & { unproven?: true };

const NOTHING_PROVEN: Receipt = { state: "queued", final: false, at: {} };

export interface Message {
  /** The push's id, chosen here: sending it again types nothing twice. */
  id: string;
  deviceId: string;
  session: string;
  body: string;
  /** Went out sealed; `elsewhere`: by another device, so that its text is not known here. */
  sealed?: "here" | "elsewhere";
  /** Typed also while someone types at the computer. */
  sendAnyway?: boolean;
  /** An answer to a question, not a message to a session; without `data` its text is the answer. */
  answers?: { question: string; data?: AnswerData; sealTo?: SessionName };
  /** The question whose late answer this message is. */
  inReplyTo?: string;
  /** Written on this phone. */
  fromHere?: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
  progress: Progress;
}

/** The message that a push stands for; undefined for a push that is no message to a session and no answer. */
export function messageOf(record: PushRecord): Message | undefined {
  const { push, receipt } = record;
  const { type, targetDeviceId, agentSessionName, body, sealed } = push;
  if (type === "ask.answer") return answerMessageOf(record);
  if (type !== "agent.command" || agentSessionName === undefined) return undefined;
  if (body === undefined && sealed === undefined) return undefined;
  return {
    id: push.id,
    deviceId: targetDeviceId ?? "",
    session: agentSessionName,
    body: body ?? "",
    ...(sealed ? { sealed: body === undefined ? "elsewhere" : "here" } : {}),
    ...(push.inReplyTo ? { inReplyTo: push.inReplyTo } : {}),
    createdAt: push.createdAt,
    progress: takenProgress(undefined, receipt, push.expiresAt),
  };
}

function answerMessageOf({ push, receipt }: PushRecord): Message | undefined {
  const answer = answerOf(push);
  if ((answer === undefined && push.sealed === undefined) || push.inReplyTo === undefined) return undefined;
  const { data } = answer ? answerFields(answer) : {};
  return {
    id: push.id,
    deviceId: "",
    session: "",
    body: answer ? answerText(answer) : "",
    ...(push.sealed ? { sealed: answer ? "here" : "elsewhere" } : {}),
    answers: { question: push.inReplyTo, ...(data ? { data } : {}) },
    createdAt: push.createdAt,
    progress: takenProgress(undefined, receipt, push.expiresAt),
  };
}

/** The later of two receipts of one push: an answer over HTTP may overtake, or be overtaken by, the live one. */
export function laterReceipt(one: Receipt, other: Receipt): Receipt {
  if (one.final !== other.final) return one.final ? one : other;
  return latest(one) > latest(other) ? one : other;
}

function latest(receipt: Receipt): number {
  return Math.max(0, ...Object.values(receipt.at));
}

/** `message` with what `receipt` says, unless more is known already. */
export function withReceipt(message: Message, receipt: HeardReceipt, expiresAt?: number): Message {
  const { progress } = message;
  const known = progress.kind === "taken" ? progress : undefined;
  return { ...message, progress: takenProgress(known, receipt, expiresAt ?? known?.expiresAt ?? 0) };
}

/** `known` with what `told` says, the same message as the relay has it. */
export function withTold(known: Message, { progress }: Message): Message {
  if (progress.kind !== "taken") return known;
  const { receipt, expiresAt, unproven } = progress;
  const heard = unproven === undefined ? receipt : { ...receipt, state: unproven, unproven: true as const };
  return withReceipt(known, heard, expiresAt);
}

type Taken = Extract<Progress, { kind: "taken" }>;

/** What nobody has proven is told beside what is known, and never takes its place. */
function takenProgress(
  known: Taken | undefined,
  { unproven, ...receipt }: HeardReceipt,
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
