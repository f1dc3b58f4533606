/** An answer that no asker takes becomes a message to the session, once. */
import { answerText, lateAnswerData, lateAnswerId, type SentAnswer, sentAnswerOf } from "../protocol/ask.ts";
import { TTL_DEFAULT_SECONDS } from "../protocol/limits.ts";
import type { PushRequest } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { StoredPush } from "../store/store.ts";
import { type Question, questionOf } from "./asks_decision.ts";
import { Refusal } from "./problems.ts";
import { acceptPush } from "./pushes.ts";
import { changeReceipt } from "./receipts.ts";
import type { Services } from "./services.ts";

/**
 * Types the answer unless its asker took it. May be called again at any time, also after a crash at any step: the
 * asker is shut out first, and the message's id follows from the answer's.
 */
export async function typeLate(services: Services, answer: StoredPush): Promise<void> {
  const { store, clock } = services;
  const push = { account: answer.account, id: answer.push.id };
  const claimed = await changeReceipt(services, {
    push,
    decide: ({ receipt }) => receipt.state === "queued" ? tooLate(receipt, clock.now()) : undefined,
  }) ?? await store.findPush(push);
  if (claimed === undefined || claimed.receipt.final) return;
  const isTyped = await sendCommand(services, claimed);
  await changeReceipt(services, {
    push,
    decide: ({ receipt }) => isTyped ? { ...receipt, final: true } : untypable(receipt, clock.now()),
  });
}

/** The message that stands for a late answer, its own id apart. */
export function lateCommand(
  { push, data }: Question,
  { id, answer }: { id: string; answer: SentAnswer },
): PushRequest {
  const content = answer.kind === "sealed"
    ? { sealed: answer.sealed, data: lateAnswerData(id) }
    : { body: answerText(answer) };
  return {
    type: "agent.command",
    ...(data.listener === undefined ? {} : { targetDeviceId: data.listener }),
    agentSessionName: push.agentSessionName,
    ...content,
    inReplyTo: push.id,
    ttlSeconds: TTL_DEFAULT_SECONDS,
  };
}

/** False when there is no session that it could be typed into. */
async function sendCommand(services: Services, { account, push }: StoredPush): Promise<boolean> {
  const stored = await services.store.findPush({ account, id: push.inReplyTo ?? "" });
  const question = stored && questionOf(stored);
  const answer = sentAnswerOf(push);
  if (question?.push.agentSessionName === undefined || answer === undefined) return false;
  const request = { id: await lateAnswerId(push.id), ...lateCommand(question, { id: push.id, answer }) };
  try {
    await acceptPush(services, { account, from: push.from, request });
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function tooLate({ at }: Receipt, now: number): Receipt {
  return { state: "expired", reason: "too_late", final: false, at: { expired: now, ...at } };
}

function untypable({ at }: Receipt, now: number): Receipt {
  return { state: "refused", reason: "no_such_session", final: true, at: { refused: now, ...at } };
}
