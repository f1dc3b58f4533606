/** Opens a stored message that a phone sealed for this host, and judges whether it may still be acted on. */
import type { SealedKeys } from "../home/sealed_keys.ts";
import { type MessagePlace, openMessage, type SealedContent } from "../crypto/stored_message.ts";
import { answerText } from "../protocol/ask.ts";
import { carriedAnswer, lateAnswerId } from "../protocol/late_answer.ts";
import { TTL_MAX_SECONDS } from "../protocol/limits.ts";
import { Body, type Push } from "../protocol/push.ts";
import { decodeAnswer } from "../protocol/sealed_text.ts";
import { type Outcome, refused } from "./outcome.ts";

export interface UnsealHost extends Pick<SealedKeys, "deviceId" | "identity" | "secretOf"> {
  now(): number;
  log(line: string): void;
}

/** Clocks of phone and host may differ by this much. */
const SKEW_MS = 600_000;

/** The push with its text, or how it ends. A text beside the sealed one is not looked at. */
export async function unseal(push: Push, host: UnsealHost): Promise<Push | Outcome> {
  try {
    const content = await open(push, host);
    if (typeof content === "object") return await judge(push, content, host.now());
    host.log(`push ${push.id}: sealed by "${push.from}" and not opened: ${content}`);
  } catch (error) {
    host.log(`push ${push.id}: sealed, and this host's keys cannot be read: ${error}`);
  }
  return refused("unsealable");
}

/** The content, or why there is none. */
async function open(push: Push, host: UnsealHost): Promise<SealedContent | string> {
  const { sealed, from } = push;
  const keyPair = await host.identity();
  if (sealed === undefined || keyPair === undefined) return "this host was never paired";
  const secret = sealed.mode === "psk" ? await host.secretOf(from) : undefined;
  if (sealed.mode === "psk" && secret === undefined) return "this host is not paired with it";
  const content = await openMessage(sealed, { place: placeOf(push, host.deviceId), keyPair, secret });
  return content ?? "it is damaged, forged, or sealed for another place";
}

async function judge(
  push: Push,
  { body: text, notAfter }: SealedContent,
  now: number,
): Promise<Push | Outcome> {
  const age = ageOf(notAfter, now);
  if (age !== "fresh") return age === "old" ? { state: "expired" } : refused("unsealable");
  const body = carriedAnswer(push) === undefined ? text : await lateAnswer(push, text);
  if (body === undefined) return refused("unsealable");
  return Body.safeParse(body).success ? { ...push, body } : refused("invalid_body");
}

/** The words of a sealed answer that comes as a message; undefined when the relay put it before another question. */
async function lateAnswer(push: Push, text: string): Promise<string | undefined> {
  const sealed = decodeAnswer(text);
  const id = await lateAnswerId(carriedAnswer(push) ?? "");
  const isMeant = sealed?.question === push.inReplyTo && push.id === id;
  return sealed !== undefined && isMeant ? answerText(sealed.answer) : undefined;
}

/** The target is this listener, whatever the relay wrote. */
function placeOf(push: Push, deviceId: string): MessagePlace {
  const answer = carriedAnswer(push);
  return {
    id: answer ?? push.id,
    type: answer === undefined ? push.type : "ask.answer",
    from: push.from,
    targetDeviceId: deviceId,
    agentSessionName: push.agentSessionName ?? "",
    sendAnyway: push.data?.sendAnyway === true,
  };
}

/** The journal knows ids for longer than the longest life: an older message could be a second delivery. */
function ageOf(notAfter: number, now: number): "fresh" | "old" | "too far" {
  if (now > notAfter + SKEW_MS) return "old";
  return notAfter > now + TTL_MAX_SECONDS * 1_000 + SKEW_MS ? "too far" : "fresh";
}
