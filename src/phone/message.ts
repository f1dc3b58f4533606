/** A message of this phone or of another one, as the session's view shows it. */
import { type AnswerData, answerFields, answerOf, answerText } from "../protocol/ask.ts";
import type { PushRecord } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
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
  | { kind: "taken"; receipt: Receipt; expiresAt: number };

export interface Message {
  /** The push's id, chosen here: sending it again types nothing twice. */
  id: string;
  deviceId: string;
  session: string;
  body: string;
  /** Went out sealed; `elsewhere`: by another device, so that its text is not known here. */
  sealed?: "here" | "elsewhere";
  /** Typed also while someone types at the desk. */
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
    progress: { kind: "taken", receipt, expiresAt: push.expiresAt },
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
    progress: { kind: "taken", receipt, expiresAt: push.expiresAt },
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
export function withReceipt(message: Message, receipt: Receipt, expiresAt?: number): Message {
  const { progress } = message;
  const known = progress.kind === "taken" ? progress : undefined;
  return {
    ...message,
    progress: {
      kind: "taken",
      receipt: known ? laterReceipt(known.receipt, receipt) : receipt,
      expiresAt: expiresAt ?? known?.expiresAt ?? 0,
    },
  };
}
