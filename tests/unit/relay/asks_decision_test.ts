/** Where an answer goes, by time, connection and what became of the question. */
import assert from "node:assert/strict";
import { ASK_RETURN_MS } from "../../../src/protocol/limits.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import {
  answeredBy,
  type Question,
  questionOf,
  routeAnswer,
  withdrawnAt,
} from "../../../src/relay/asks_decision.ts";
import { aDevice, aPush } from "../../contract/store_samples.ts";

const { push } = aPush(1);
const { createdAt, expiresAt } = push;
const open: Receipt = { state: "delivered", final: false, at: {} };

function question(fields: Partial<Question["push"]> = {}, receipt = open): Question {
  const data = { kind: "prompt", timeoutSeconds: 30, replyTo: "dev_script_1" };
  const found = questionOf({
    push: { ...push, type: "ask", agentSessionName: "svc-p", data, ...fields },
    receipt,
  });
  return found ?? assert.fail("no question");
}

const here = aDevice("dev_script_1", { kind: "script", online: true });
const gone = (since: number) => aDevice("dev_script_1", { kind: "script", lastSeen: since });
const inTime = createdAt + 29_999;
const late = createdAt + 30_000;

Deno.test("an answer in time goes to the asker that waits, or lost its connection a moment ago [type-answer]", () => {
  const toAsker = { to: "asker", device: "dev_script_1" };
  assert.deepEqual(routeAnswer(question(), { asker: here, now: inTime }), toAsker);
  const left = gone(inTime - ASK_RETURN_MS + 1);
  assert.deepEqual(routeAnswer(question(), { asker: left, now: inTime }), toAsker);
});

Deno.test("an answer goes into the session when the time is over, or the asker gone [mcp-late]", () => {
  const askers = {
    late: { asker: here, now: late },
    gone: { asker: gone(inTime - ASK_RETURN_MS), now: inTime },
    unknown: { asker: undefined, now: inTime },
    revoked: { asker: { ...here, revokedAt: 1 }, now: inTime },
    "no asker": { asker: aDevice("dev_script_1", { kind: "listener", online: true }), now: inTime },
  };
  for (const [name, when] of Object.entries(askers)) {
    assert.deepEqual(routeAnswer(question(), when), { to: "session" }, name);
  }
});

Deno.test("an answer that could go nowhere is for nobody", () => {
  const why = (asked: Question, now: number): unknown => {
    const route = routeAnswer(asked, { asker: here, now });
    return route.to === "nobody" ? route.why : route;
  };
  assert.equal(why(question({ agentSessionName: undefined }), late), "no_session");
  assert.equal(why(question({}, { state: "answered", final: true, at: {} }), inTime), "answered");
  assert.equal(why(question({}, { state: "withdrawn", final: true, at: {} }), inTime), "withdrawn");
  assert.equal(why(question({}, { state: "expired", final: true, at: {} }), inTime), "expired");
  assert.equal(why(question(), expiresAt), "expired");
});

Deno.test("a question is closed once, and says by what", () => {
  const answered = answeredBy(open, { id: push.id, now: 5 });
  assert.deepEqual(answered, { state: "answered", final: true, at: { answered: 5 }, answer: push.id });
  assert.equal(withdrawnAt(open, 5)?.state, "withdrawn");
  for (const closed of [answered, withdrawnAt(open, 5)]) {
    assert.ok(closed !== undefined);
    assert.equal(answeredBy(closed, { id: push.id, now: 6 }), undefined);
    assert.equal(withdrawnAt(closed, 6), undefined);
  }
});
