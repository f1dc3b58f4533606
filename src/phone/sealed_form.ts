/** Seals a message for a paired host, and restores this phone's sealed messages in the relay's records. */
import type { PairedHost } from "../client/claim_pairing.ts";
import { sealMessage } from "../crypto/stored_message.ts";
import { carriedAnswer, lateAnswerId } from "../protocol/late_answer.ts";
import type { Later, Push, PushRecord, SealedBody } from "../protocol/push.ts";
import { HOST_REQUESTS, type HostRequest, type OpenedRecord } from "./message.ts";
import type { PairingStorage, SentForm } from "./pairing_storage.ts";
import { ASKED_MAX_MS } from "./requests.ts";

/**
 * How long a sealed message is valid: a relay that withholds it for longer can no longer deliver it. It is resent as it
 * was sealed, even by a phone that was offline for hours.
 */
export const SEALED_LIFE_MS = 86_400_000;

/** A message or an answer to be sent. */
export interface OutgoingMessage {
  id: string;
  type: "agent.command" | "agent.cancel" | "dialog.answer" | "ask.answer" | HostRequest;
  deviceId: string;
  session: string;
  body: string;
  /** The text to seal, if that is not the body. */
  text?: string;
  /** The host itself acknowledges it, rather than a program that shares no secret with this phone. */
  byHost?: boolean;
  sendAnyway?: boolean | undefined;
  later?: Later | undefined;
  ttlSeconds?: number | undefined;
  /** For a cancellation, the id of the message; for an answer, of the question. */
  inReplyTo?: string | undefined;
  /** The id of the message whose text this one repeats. */
  again?: string | undefined;
}

export async function sealedForm(
  host: PairedHost,
  { message, sentAt, counter }: { message: OutgoingMessage; sentAt: number; counter: number },
): Promise<SentForm> {
  const { id, type, deviceId, session, body, text = body } = message;
  const { sendAnyway, later, inReplyTo, byHost = type !== "ask.answer" } = message;
  const boundTo = {
    id,
    type,
    from: host.phone,
    targetDeviceId: deviceId,
    agentSessionName: session,
    sendAnyway: sendAnyway === true,
    later,
  };
  const notAfter = sentAt + lifeMs(message);
  const { publicKey, secret } = host;
  return {
    id,
    sentAt,
    notAfter,
    form: await sealMessage({ body: text, notAfter, counter }, { boundTo, publicKey, secret }),
    body,
    boundTo: { type, deviceId, session, sendAnyway, later, inReplyTo },
    ...(byHost ? { host: deviceId } : {}),
  };
}

/** A request only waits on this phone for a limited time: the user would not expect it later. */
function lifeMs({ type, ttlSeconds = 0 }: OutgoingMessage): number {
  const isRequest = ["dialog.answer", ...HOST_REQUESTS].includes(type);
  const ttlMs = ttlSeconds * 1_000;
  return isRequest ? ASKED_MAX_MS + ttlMs : Math.max(SEALED_LIFE_MS, ttlMs);
}

type SealedForm = SentForm & { form: SealedBody };

/** `sent`: what this phone has sent under the records' ids. */
export async function withOwnTexts(
  records: readonly PushRecord[],
  { sent, storage }: {
    sent: readonly SentForm[];
    storage: Pick<PairingStorage, "readSent"> | undefined;
  },
): Promise<OpenedRecord[]> {
  const answers = records.flatMap(({ push }) => carriedAnswer(push) ?? []);
  const late = answers.length === 0 ? [] : await storage?.readSent(answers) ?? [];
  const own = new Map([...late, ...sent].map((one) => [one.id, one]));
  return await Promise.all(records.map(async (record) => {
    const form = ownForm(record.push, own) ?? await lateForm(record.push, own);
    return form === undefined ? withoutOthersText(record) : asSealed(record, form);
  }));
}

/** Undefined if the relay lists the message under another type than the one it was sealed for. */
function ownForm({ id, type }: Push, own: ReadonlyMap<string, SentForm>): SealedForm | undefined {
  const sent = own.get(id);
  return sent !== undefined && isSealed(sent) && (sent.boundTo?.type ?? type) === type ? sent : undefined;
}

/**
 * This phone's answer in a message that types it late. An answer to a card, which the host acknowledges, is never
 * typed.
 */
async function lateForm(push: Push, own: ReadonlyMap<string, SentForm>): Promise<SealedForm | undefined> {
  const sent = push.type === "agent.command" ? own.get(carriedAnswer(push) ?? "") : undefined;
  if (sent === undefined || !isSealed(sent) || sent.host !== undefined) return undefined;
  const isAnswer = (sent.boundTo?.type ?? "ask.answer") === "ask.answer";
  return isAnswer && push.id === await lateAnswerId(sent.id) ? sent : undefined;
}

function isSealed(sent: SentForm): sent is SealedForm {
  return sent.form !== "plain";
}

/** Only the times and the sender are taken from the relay. */
function asSealed({ push, receipt }: PushRecord, { body, form, boundTo }: SealedForm): OpenedRecord {
  const { id, type, from, createdAt, expiresAt, data } = push;
  const plain = { id, type, from, createdAt, expiresAt, body, sealed: form };
  if (boundTo === undefined) {
    // Earlier versions did not store it: the text is shown where the relay lists it, and cannot be resent from there.
    const { targetDeviceId, agentSessionName, inReplyTo } = push;
    const place = { targetDeviceId, agentSessionName, inReplyTo };
    return { push: { ...plain, ...place, data: textData(type, data) }, receipt, isUnbound: true };
  }
  const { deviceId, session, sendAnyway, later, inReplyTo } = boundTo;
  const place = { targetDeviceId: deviceId, agentSessionName: session || undefined, inReplyTo };
  return { push: { ...plain, ...place, data: textData(type, { sendAnyway, later }) }, receipt };
}

/** Drops the data of an answer: it would be taken for the answer. */
function textData(type: string, data: Push["data"]): Push["data"] {
  return type === "ask.answer" ? undefined : data;
}

/** Drops plain text next to another device's sealed text: it does not come from that device. */
function withoutOthersText(record: PushRecord): PushRecord {
  const { body: _body, data, ...push } = record.push;
  return push.sealed === undefined
    ? record
    : { ...record, push: { ...push, data: textData(push.type, data) } };
}
