/** This phone's own sealed messages among what the relay lists: their text and all that it is bound to are as this phone sealed them. */
import { carriedAnswer, lateAnswerId } from "../protocol/late_answer.ts";
import type { Push, PushRecord, SealedBody } from "../protocol/push.ts";
import type { OpenedRecord } from "./message.ts";
import type { PairingStorage, SentForm } from "./pairing_storage.ts";

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

/** Undefined if the relay shows what was sealed as something else. */
function ownForm({ id, type }: Push, own: ReadonlyMap<string, SentForm>): SealedForm | undefined {
  const sent = own.get(id);
  return sent !== undefined && isSealed(sent) && (sent.boundTo?.type ?? type) === type ? sent : undefined;
}

/** The answer in a message that types it late. The answer to a card, which its host acknowledges, is never typed. */
async function lateForm(push: Push, own: ReadonlyMap<string, SentForm>): Promise<SealedForm | undefined> {
  const sent = push.type === "agent.command" ? own.get(carriedAnswer(push) ?? "") : undefined;
  if (sent === undefined || !isSealed(sent) || sent.host !== undefined) return undefined;
  const isAnswer = (sent.boundTo?.type ?? "ask.answer") === "ask.answer";
  return isAnswer && push.id === await lateAnswerId(sent.id) ? sent : undefined;
}

function isSealed(sent: SentForm): sent is SealedForm {
  return sent.form !== "plain";
}

/** Only the times and the sender are the relay's to say. */
function asSealed({ push, receipt }: PushRecord, { body, form, boundTo }: SealedForm): OpenedRecord {
  const { id, type, from, createdAt, expiresAt, data } = push;
  const plain = { id, type, from, createdAt, expiresAt, body, sealed: form };
  if (boundTo === undefined) {
    // An earlier version did not store it: the text is shown where the relay has it, and cannot be sent from there.
    const { targetDeviceId, agentSessionName, inReplyTo } = push;
    const place = { targetDeviceId, agentSessionName, inReplyTo };
    return { push: { ...plain, ...place, data: textData(type, data) }, receipt, isUnbound: true };
  }
  const { deviceId, session, sendAnyway, later, inReplyTo } = boundTo;
  const place = { targetDeviceId: deviceId, agentSessionName: session || undefined, inReplyTo };
  return { push: { ...plain, ...place, data: textData(type, { sendAnyway, later }) }, receipt };
}

/** The data of an answer would be the answer. */
function textData(type: string, data: Push["data"]): Push["data"] {
  return type === "ask.answer" ? undefined : data;
}

/** What stands beside a text that another device sealed is not that device's. */
function withoutOthersText(record: PushRecord): PushRecord {
  const { body: _body, data, ...push } = record.push;
  return push.sealed === undefined
    ? record
    : { ...record, push: { ...push, data: textData(push.type, data) } };
}
