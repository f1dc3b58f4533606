/** Questions and their answers over HTTP: the first answer closes its question, in one write with it. */
import {
  AnswerData,
  AskData,
  SealedAskData,
  type SentAnswer,
  sentAnswerFault,
  sentAnswerOf,
} from "../protocol/ask.ts";
import { fieldFaults } from "../protocol/faults.ts";
import { ASK_RETURN_MS } from "../protocol/limits.ts";
import type { PushAccepted, PushRequest } from "../protocol/push.ts";
import type { AnswerOutcome, NewPush } from "../store/store.ts";
import { answeredBy, type AnswerRoute, type Question, questionOf, routeAnswer } from "./asks_decision.ts";
import { lateCommand, typeLate } from "./asks_late.ts";
import { Refusal } from "./problems.ts";
import {
  acceptPush,
  contentDigest,
  firstAnswer,
  knownAnswer,
  passOn,
  pushOf,
  repeated,
  type Sent,
} from "./pushes.ts";
import { queuedReceipt } from "./receipt_transition.ts";
import { tellReceipt } from "./receipts.ts";
import { routePush } from "./routing.ts";
import type { Services } from "./services.ts";

type Fault = { pointer: string; detail: string };

/** A question goes to every phone. */
export function acceptAsk(services: Services, sent: Sent): Promise<PushAccepted> {
  const faults = askFaults(sent.request);
  if (faults.length > 0) return Promise.reject(badAsk("question", faults));
  return acceptPush(services, sent);
}

/** The asker, or the session, gets the answer; every phone learns that the question is closed. */
export async function acceptAnswer(services: Services, sent: Sent): Promise<PushAccepted> {
  const known = await knownAnswer(services, sent);
  if (known !== undefined) return known;
  const answer = sentAnswerOf(sent.request);
  if (answer === undefined) throw badAsk("answer", answerFaults(sent.request));
  const question = await findQuestion(services, sent);
  const fault = sentAnswerFault(question.data, answer);
  if (fault !== undefined) throw badAsk("answer", [fault]);
  const now = services.clock.now();
  const route = await findRoute(services, { sent, question, answer, now });
  const stored = newAnswer(sent, { route, now });
  const outcome = await services.store.insertAnswer(stored, {
    id: question.push.id,
    close: ({ receipt }) => answeredBy(receipt, { id: stored.push.id, now }),
  });
  return accepted(services, { sent, outcome, route });
}

/** Nothing is stored that could go nowhere: a late answer's session must be one that can be found. */
async function findRoute(
  { store }: Services,
  { sent, question, answer, now }: { sent: Sent; question: Question; answer: SentAnswer; now: number },
): Promise<Exclude<AnswerRoute, { to: "nobody" }>> {
  const { account } = sent;
  const { replyTo } = question.data;
  const asker = replyTo === undefined ? undefined : await store.findDevice({ account, id: replyTo });
  const route = routeAnswer(question, { asker, now });
  if (route.to === "nobody") throw closed(route.why);
  if (route.to === "session") {
    const { id = "" } = sent.request;
    await routePush(store, { account, push: lateCommand(question, { id, answer }) });
  }
  return route;
}

function newAnswer(sent: Sent, { route, now }: { route: AnswerRoute; now: number }): NewPush {
  const { account, request } = sent;
  const target = route.to === "asker" ? route.device : undefined;
  // Until then the asker may take it; from then on the session gets it.
  const expiresAt = target === undefined ? now : now + ASK_RETURN_MS;
  const push = { ...pushOf(sent, now), expiresAt };
  return { account, target, digest: contentDigest(request), push, receipt: queuedReceipt(now) };
}

function accepted(
  services: Services,
  { sent, outcome, route }: { sent: Sent; outcome: AnswerOutcome; route: AnswerRoute },
): PushAccepted {
  switch (outcome.kind) {
    case "duplicate":
      return repeated(services, { stored: outcome.answer, request: sent.request });
    case "closed":
      throw closed("just_now");
    case "stored":
      services.metrics.pushes.add({ outcome: "accepted" });
      passOn(services, { stored: outcome.answer, route: { phones: true } });
      tellReceipt(services, outcome.question);
      // Where this fails the upkeep does it: the answer is stored, and that is what the 202 says.
      if (route.to === "session") services.tasks.run(typeLate(services, outcome.answer));
      return firstAnswer(outcome.answer);
  }
}

async function findQuestion({ store }: Services, { account, request }: Sent): Promise<Question> {
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

function askFaults({ data, body, sealedFor, targetDeviceId }: PushRequest): Fault[] {
  const parsed = sealedFor === undefined ? AskData.safeParse(data) : SealedAskData.safeParse(data);
  return [
    ...(parsed.success ? [] : fieldFaults(parsed.error).map(inData)),
    ...((body === undefined) === (sealedFor === undefined)
      ? [{ pointer: "/body", detail: "exactly one of body and sealedFor for ask" }]
      : []),
    ...(targetDeviceId === undefined ? [] : [{ pointer: "/targetDeviceId", detail: "not for ask" }]),
  ];
}

function answerFaults({ data }: PushRequest): Fault[] {
  const parsed = AnswerData.safeParse(data ?? {});
  if (!parsed.success) return fieldFaults(parsed.error).map(inData);
  return [{ pointer: "", detail: "exactly one of body, data.choices, data.values and sealed" }];
}

const inData = ({ pointer, detail }: Fault): Fault => ({ pointer: `/data${pointer}`, detail });

function badAsk(what: "question" | "answer", errors: Fault[]): Refusal {
  return new Refusal("invalid_push", `Cannot take the ${what}: some fields are not accepted`, { errors });
}

const WHY_CLOSED = {
  just_now: "it was answered or taken back a moment ago",
  answered: "somebody answered it first",
  withdrawn: "the agent does not ask any more",
  expired: "it is too old",
  no_session: "the agent stopped waiting, and runs in no session that an answer could be typed into",
};

function closed(why: keyof typeof WHY_CLOSED): Refusal {
  return new Refusal("ask_closed", `Cannot take the answer: ${WHY_CLOSED[why]}`);
}
