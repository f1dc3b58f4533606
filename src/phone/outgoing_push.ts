/** The push that carries a message to a session, or an answer to a question: sealed for a paired host, plain for others. */
import { RelayError } from "../client/relay_error.ts";
import { answerOf } from "../protocol/ask.ts";
import type { PushRequestInput } from "../protocol/push.ts";
import { encodeAnswer } from "../protocol/sealed_text.ts";
import type { Message } from "./message.ts";
import type { Sealing } from "./sealing.ts";

export async function commandPush(message: Message, sealing: Sealing): Promise<PushRequestInput> {
  const type = "agent.command";
  const { id, deviceId, session, sendAnyway } = message;
  const content = await sealing.contentOf({ ...message, type });
  const target = deviceId === "" ? {} : { targetDeviceId: deviceId };
  const anyway = sendAnyway ? { data: { sendAnyway } } : {};
  return { id, type, ...target, agentSessionName: session, ...content, ...anyway };
}

/** Sealed where the question was. Throws RelayError where that cannot be done any more. */
export async function answerPush(
  { id, body, answers }: Message,
  sealing: Sealing,
): Promise<PushRequestInput> {
  const type = "ask.answer";
  const { question = "", data, sealTo } = answers ?? {};
  const plain = data ? { data } : { body };
  const answer = answerOf(plain);
  if (sealTo === undefined || answer === undefined) return { id, type, inReplyTo: question, ...plain };
  const text = encodeAnswer(question, answer);
  const { sealed } = await sealing.contentOf({ id, type, ...sealTo, body, text });
  if (sealed !== undefined) return { id, type, inReplyTo: question, sealed };
  const why = `Cannot seal the answer for "${sealTo.deviceId}": it is paired no more; pair this phone again`;
  throw new RelayError(why, { code: "unsealable" });
}
