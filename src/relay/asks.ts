/** Questions: asked, answered once, and the answer delivered to the asker or, when that is too late, typed into the session. */
import {
  AnswerData,
  answerText,
  AskData,
  askDeadline,
  SealedAskData,
  type SentAnswer,
  sentAnswerFault,
  sentAnswerOf,
  type StoredAskData,
  storedAskDataOf,
} from "../protocol/ask.ts";
import { lateAnswerData, lateAnswerId } from "../protocol/late_answer.ts";
import { type FieldFault, fieldFaults } from "../protocol/errors.ts";
import type { EventData } from "../protocol/frames.ts";
import { ASK_RETURN_MS, TTL_DEFAULT_SECONDS } from "../protocol/limits.ts";
import type { Push, PushAccepted, PushRequest } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { AnswerOutcome, DeviceName, DeviceRecord, NewPush, StoredPush } from "../store/store.ts";
import { Refusal, type Services } from "./handler.ts";
import {
  acceptPush,
  answerOf,
  contentDigest,
  firstAnswer,
  type IncomingPush,
  publishPush,
  pushOf,
  repeatedAnswer,
  routePush,
} from "./pushes.ts";
import { changeReceipt, publishReceipt, PUSHES, queuedReceipt, shownOf, withdrawnAt } from "./receipts.ts";

/** Validates a question and sends it to every phone. */
export function acceptAsk(services: Services, incoming: IncomingPush): Promise<PushAccepted> {
  const faults = askFaults(incoming.request);
  if (faults.length > 0) return Promise.reject(badAsk("question", faults));
  return acceptPush(services, incoming);
}

function askFaults({ data, body, sealedFor, targetDeviceId }: PushRequest): FieldFault[] {
  const parsed = sealedFor === undefined ? AskData.safeParse(data) : SealedAskData.safeParse(data);
  return [
    ...(parsed.success ? [] : fieldFaults(parsed.error).map(inData)),
    ...((body === undefined) === (sealedFor === undefined)
      ? [{ pointer: "/body", detail: "exactly one of body and sealedFor for ask" }]
      : []),
    ...(targetDeviceId === undefined ? [] : [{ pointer: "/targetDeviceId", detail: "not for ask" }]),
  ];
}

/** Stores an answer, which closes its question, sends it to the asker or the session, and notifies every phone. */
export async function acceptAnswer(services: Services, incoming: IncomingPush): Promise<PushAccepted> {
  const repeated = await repeatedAnswer(services, incoming);
  if (repeated !== undefined) return repeated;
  const answer = sentAnswerOf(incoming.request);
  if (answer === undefined) throw badAsk("answer", answerFaults(incoming.request));
  const question = await findQuestion(services, incoming);
  checkAnswerer(question.push, incoming.from);
  const fault = sentAnswerFault(question.data, answer);
  if (fault !== undefined) throw badAsk("answer", [fault]);
  if (isItsAnswer(question, incoming)) return completeAnswer(services, { incoming, question });
  const now = services.clock.now();
  const route = await findRoute(services, { incoming, question, answer, now });
  const stored = newAnswer(incoming, { route, now });
  const outcome = await services.store.insertAnswer(stored, {
    id: question.push.id,
    close: ({ receipt }) => answeredBy(receipt, { id: stored.push.id, now }),
  });
  return deliver(services, { incoming, question, outcome, route });
}

function isItsAnswer({ receipt }: Question, { request }: IncomingPush): boolean {
  return receipt.answer !== undefined && receipt.answer === request.id;
}

/**
 * Stores an answer that has closed its question but was not stored, because the store failed between the two. What gets
 * stored is the answer that closed the question, which may have had other content.
 */
async function completeAnswer(
  services: Services,
  { incoming, question }: { incoming: IncomingPush; question: Question },
): Promise<PushAccepted> {
  const answer = newAnswer(incoming, { route: { kind: "session" }, now: services.clock.now() });
  const outcome = await services.store.insertAnswer(answer, {
    id: question.push.id,
    close: () => undefined,
  });
  // The answer has been removed since then.
  if (outcome.kind === "closed") throw askClosed("answered");
  const { target } = outcome.answer;
  const route: OpenRoute = target === undefined ? { kind: "session" } : { kind: "asker", device: target };
  deliver(services, { incoming, question, outcome, route });
  return firstAnswer(services, { stored: outcome.answer, request: incoming.request });
}

/** Throws Refusal if the question is sealed for other devices only: this one cannot read it, and may not close it. */
function checkAnswerer({ id, sealedFor }: Push, from: string): void {
  if (sealedFor === undefined || Object.hasOwn(sealedFor.keys, from)) return;
  throw new Refusal(
    "wrong_role",
    `Cannot accept the answer: the question "${id}" is sealed for other devices, and only they can answer it`,
  );
}

function answerFaults({ data }: PushRequest): FieldFault[] {
  const parsed = AnswerData.safeParse(data ?? {});
  if (!parsed.success) return fieldFaults(parsed.error).map(inData);
  return [{ pointer: "", detail: "exactly one of body, data.choices, data.values and sealed" }];
}

const inData = ({ pointer, detail }: FieldFault): FieldFault => ({ pointer: `/data${pointer}`, detail });

function badAsk(what: "question" | "answer", errors: FieldFault[]): Refusal {
  return new Refusal("invalid_push", `Cannot accept the ${what}: some fields are not valid`, { errors });
}

/** A stored question. */
export interface Question {
  push: Push;
  data: StoredAskData;
  receipt: Receipt;
}

/** Undefined for a push that is not a question. */
export function questionOf({ push, receipt }: Pick<StoredPush, "push" | "receipt">): Question | undefined {
  const data = storedAskDataOf(push);
  return data && { push, receipt, data };
}

async function findQuestion({ store }: Services, { account, request }: IncomingPush): Promise<Question> {
  const { inReplyTo } = request;
  if (inReplyTo === undefined) {
    throw badAsk("answer", [{ pointer: "/inReplyTo", detail: "the id of the question" }]);
  }
  const stored = await store.findPush({ account, id: inReplyTo });
  const question = stored && questionOf(stored);
  if (question === undefined) {
    throw new Refusal(
      "unknown_push",
      `Cannot answer "${inReplyTo}": no question of this account has this id`,
    );
  }
  return question;
}

type AnswerRoute =
  | { kind: "asker"; device: string }
  | { kind: "session" }
  | { kind: "closed"; why: "answered" | "withdrawn" | "expired" | "no_session" | "not_waiting" };

type OpenRoute = Exclude<AnswerRoute, { kind: "closed" }>;

/** Decides where an answer is delivered. `asker` is named by the question; it may have disconnected a moment ago. */
export function routeAnswer(
  { push, data, receipt }: Question,
  { asker, now }: { asker: DeviceRecord | undefined; now: number },
): AnswerRoute {
  if (receipt.state === "answered" || receipt.state === "withdrawn") {
    return { kind: "closed", why: receipt.state };
  }
  if (receipt.final || now >= push.expiresAt) return { kind: "closed", why: "expired" };
  const isInTime = now < askDeadline(push.createdAt, data);
  const isListeners = isAskedByListener(data);
  const kind = isListeners ? "listener" : "script";
  if (isInTime && asker?.kind === kind && isWaiting(asker, now)) return { kind: "asker", device: asker.id };
  // The answer to an agent's own dialog is not a message to the agent.
  if (isListeners) return { kind: "closed", why: "not_waiting" };
  return push.agentSessionName === undefined ? { kind: "closed", why: "no_session" } : { kind: "session" };
}

function isWaiting({ online, lastSeen, revokedAt }: DeviceRecord, now: number): boolean {
  return revokedAt === undefined && (online || now - lastSeen < ASK_RETURN_MS);
}

/** True for an agent's own dialog: the listener applies the answer. */
function isAskedByListener({ replyTo, listener }: StoredAskData): boolean {
  return replyTo !== undefined && replyTo === listener;
}

/**
 * Throws Refusal for an answer that cannot be delivered, so that it is not stored: the session of a late answer must
 * have a listener.
 */
async function findRoute(
  { store }: Services,
  { incoming, question, answer, now }: {
    incoming: IncomingPush;
    question: Question;
    answer: SentAnswer;
    now: number;
  },
): Promise<OpenRoute> {
  const { account } = incoming;
  const { replyTo } = question.data;
  const asker = replyTo === undefined ? undefined : await store.findDevice({ account, id: replyTo });
  const route = routeAnswer(question, { asker, now });
  if (route.kind === "closed") throw askClosed(route.why);
  if (route.kind === "session") {
    const { id = "" } = incoming.request;
    await routePush(store, { account, push: lateCommand(question, { id, answer }) });
  }
  return route;
}

const WHY_CLOSED = {
  just_now: "it was answered or withdrawn a moment ago",
  answered: "it has already been answered",
  withdrawn: "the agent has withdrawn it",
  expired: "it has expired",
  not_waiting: "the agent no longer waits for it",
  no_session: "the agent has stopped waiting and runs in no session that the answer could be typed into",
};

function askClosed(why: keyof typeof WHY_CLOSED): Refusal {
  return new Refusal("ask_closed", `Cannot accept the answer: ${WHY_CLOSED[why]}`);
}

function newAnswer(incoming: IncomingPush, { route, now }: { route: AnswerRoute; now: number }): NewPush {
  const { account, request } = incoming;
  const target = route.kind === "asker" ? route.device : undefined;
  // The asker may take the answer until then; afterwards the session gets it.
  const expiresAt = target === undefined ? now : now + ASK_RETURN_MS;
  const push = { ...pushOf(incoming, now), expiresAt };
  return { account, target, digest: contentDigest(request), push, receipt: queuedReceipt(now) };
}

/** The question's receipt once it is answered; undefined when it is already closed. */
export function answeredBy(receipt: Receipt, answer: { id: string; now: number }): Receipt | undefined {
  if (receipt.final) return undefined;
  const at = { answered: answer.now, ...receipt.at };
  return { state: "answered", final: true, at, answer: answer.id, ...shownOf(receipt) };
}

function deliver(
  services: Services,
  { incoming, question, outcome, route }: {
    incoming: IncomingPush;
    question: Question;
    outcome: AnswerOutcome;
    route: AnswerRoute;
  },
): PushAccepted {
  switch (outcome.kind) {
    case "duplicate":
      return firstAnswer(services, { stored: outcome.answer, request: incoming.request });
    case "closed":
      throw askClosed("just_now");
    case "stored":
      services.metrics.of(PUSHES).add({ outcome: "accepted" });
      publishPush(services, { stored: outcome.answer, to: { phones: true } });
      // Any other asker reads its answer when the question's new receipt names it.
      if (route.kind === "asker" && isAskedByListener(question.data)) {
        publishPush(services, { stored: outcome.answer, to: { listener: route.device } });
      }
      publishReceipt(services, outcome.question);
      services.webPush.withdraw(outcome.question, incoming.from);
      // If this fails, upkeep tries again: the 202 only promises that the answer is stored.
      if (route.kind === "session") services.tasks.run(typeLateAnswer(services, outcome.answer));
      return answerOf(outcome.answer);
  }
}

/**
 * Types the answer into the session unless its asker has taken it. May be called again at any time, also after a crash at
 * any step: the asker is excluded first, and the message's id is derived from the answer's.
 */
export async function typeLateAnswer(services: Services, answer: StoredPush): Promise<void> {
  const { store, clock } = services;
  const push = { account: answer.account, id: answer.push.id };
  const claimed = await changeReceipt(services, {
    push,
    decide: ({ receipt }) => receipt.state === "queued" ? tooLate(receipt, clock.now()) : undefined,
  }) ?? await store.findPush(push);
  if (claimed === undefined || claimed.receipt.final) return;
  const isSent = await sendLateCommand(services, claimed);
  await changeReceipt(services, {
    push,
    decide: ({ receipt }) => isSent ? { ...receipt, final: true } : noSession(receipt, clock.now()),
  });
}

/** False when there is no session to type it into. */
async function sendLateCommand(services: Services, { account, push }: StoredPush): Promise<boolean> {
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

/** The message that carries a late answer, without its own id. */
function lateCommand(
  { push, data }: Question,
  { id, answer }: { id: string; answer: SentAnswer },
): PushRequest {
  const isSealed = answer.kind === "sealed";
  const about: Record<string, unknown> = {
    ...(isSealed && lateAnswerData(id)),
    ...(data.run !== undefined && { run: data.run }),
  };
  return {
    type: "agent.command",
    ...(data.listener === undefined ? {} : { targetDeviceId: data.listener }),
    agentSessionName: push.agentSessionName,
    ...(isSealed ? { sealed: answer.sealed } : { body: answerText(answer) }),
    ...(Object.keys(about).length > 0 && { data: about }),
    inReplyTo: push.id,
    ttlSeconds: TTL_DEFAULT_SECONDS,
  };
}

function tooLate({ at }: Receipt, now: number): Receipt {
  return { state: "expired", reason: "too_late", final: false, at: { expired: now, ...at } };
}

function noSession({ at }: Receipt, now: number): Receipt {
  return { state: "refused", reason: "no_such_session", final: true, at: { refused: now, ...at } };
}

/** Handles an asker's acknowledgement: it received an answer, gives one up, or withdraws its question. */
export async function takeAskerAck(
  services: Services,
  { device, ack }: { device: DeviceName; ack: EventData<"push.ack"> },
): Promise<void> {
  const { store, clock } = services;
  const push = { account: device.account, id: ack.id };
  if (ack.outcome === "ignored") {
    const stored = await store.findPush(push);
    if (stored !== undefined && isAnswerFor(stored, device)) await typeLateAnswer(services, stored);
    return;
  }
  await changeReceipt(services, {
    push,
    decide: (stored) => acknowledgedByAsker(stored, { device, outcome: ack.outcome, now: clock.now() }),
  });
}

/** The receipt of a question that its asker withdraws; undefined for any other push. */
export function withdrawnByAsker(
  stored: StoredPush,
  asker: { id: string; now: number },
): Receipt | undefined {
  return questionOf(stored)?.data.replyTo === asker.id ? withdrawnAt(stored.receipt, asker.now) : undefined;
}

function acknowledgedByAsker(
  stored: StoredPush,
  { device, outcome, now }: { device: DeviceName; outcome: string; now: number },
): Receipt | undefined {
  const { receipt } = stored;
  if (outcome === "withdrawn") return withdrawnByAsker(stored, { id: device.id, now });
  const isTaken = outcome === "delivered" && isAnswerFor(stored, device) && receipt.state === "queued";
  return isTaken ? { state: "delivered", final: true, at: { delivered: now, ...receipt.at } } : undefined;
}

function isAnswerFor({ push, target }: StoredPush, device: DeviceName): boolean {
  return push.type === "ask.answer" && target === device.id;
}
