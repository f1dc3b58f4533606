/** How svc send gets a message to the relay and reports its receipt. */
import assert from "node:assert/strict";
import { RelayError } from "../../../src/client/relay_error.ts";
import { describe, hasArrived, sendOnce, withMore } from "../../../src/cli/send.ts";
import type { PushAccepted, PushRequestInput } from "../../../src/protocol/push.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

Deno.test("a refusal names the command that helps, if there is one [cli-send]", () => {
  const refusal = { state: "refused", final: true, at: {} } as const;
  assert.match(
    describe({ ...refusal, reason: "muted" }),
    /^refused \(muted\): The project is muted\. .*: svc unmute$/,
  );
  assert.match(describe({ ...refusal, reason: "no_such_session" }), /: svc sessions$/);
  assert.match(describe({ ...refusal, reason: "ambiguous_session" }), /: svc verify\. .*rename-session/);
  assert.match(describe({ ...refusal, reason: "pane_dead" }), /takes no input\.$/);
});

Deno.test("the text added to a receipt is a separate sentence [cli-send]", () => {
  const receipt = { final: false, at: {} } as const;
  assert.equal(withMore({ ...receipt, state: "queued" }, "More."), "queued. More.");
  assert.match(withMore({ ...receipt, state: "held", reason: "desk_busy" }, "More."), /computer\. More\.$/);
  assert.match(withMore({ ...receipt, state: "refused", reason: "unsealable" }, "More."), /FILE\. More\.$/);
});

Deno.test("a message whose Enter is not confirmed when the wait ends does not count as typed: the host may still take its text out [con-send-exit]", () => {
  const outcomes = ["typed", "submitted", "refused", "unknown", "expired"] as const;
  assert.deepEqual(outcomes.filter((state) => hasArrived({ state, final: true })), ["typed", "submitted"]);
  assert.equal(hasArrived({ state: "typed", final: false }), false);
});

const ID = "0b3a1c9e-1111-4222-8333-444455556666";
const PUSH: PushRequestInput = { id: ID, type: "agent.command", agentSessionName: "svc-p", body: "go on" };
const ACCEPTED: PushAccepted = { id: ID, state: "queued", expiresAt: 1 };

/** Sends a message to a relay that gives these answers and repeats the last one; returns what was sent. */
async function sendTo(
  answers: (PushAccepted | RelayError)[],
): Promise<{ sent: PushRequestInput[]; answer: PushAccepted | RelayError }> {
  const clock = new FakeClock();
  const sent: PushRequestInput[] = [];
  const sendPush = (push: PushRequestInput): Promise<PushAccepted> => {
    const answer = answers[Math.min(sent.push(push), answers.length) - 1] ?? ACCEPTED;
    return answer instanceof RelayError ? Promise.reject(answer) : Promise.resolve(answer);
  };
  let answer: PushAccepted | RelayError | undefined;
  sendOnce({ sendPush }, PUSH, clock).then((accepted) => answer = accepted, (error) => answer = error);
  answer = await until("an answer", () => {
    clock.advance(clock.pending > 0 ? 1_000 : 0);
    return answer;
  });
  return { sent, answer };
}

Deno.test("a message whose answer was lost is sent again with the same id, for a few seconds [cli-send]", async () => {
  const lost = new RelayError("Cannot send the push: no relay answers", { code: "unreachable" });
  const { sent, answer } = await sendTo([lost, lost, ACCEPTED]);
  assert.deepEqual([sent.map(({ id }) => id), answer], [[ID, ID, ID], ACCEPTED]);
  const busy = new RelayError("Cannot send the push", {
    code: "overloaded",
    status: 503,
    retryAfterSeconds: 2,
  });
  assert.deepEqual((await sendTo([lost, busy, ACCEPTED])).answer, ACCEPTED);
  const gone = await sendTo([lost]);
  assert.equal(gone.answer, lost);
  assert.ok(gone.sent.length > 4 && new Set(gone.sent.map(({ id }) => id)).size === 1);
});

Deno.test("a message that was refused is not sent again [cli-send]", async () => {
  const full = { code: "over_budget", status: 429, retryAfterSeconds: 3_600 };
  for (const facts of [full, { code: "unknown_device", status: 404 }]) {
    const refused = new RelayError("Cannot send the push", facts);
    assert.deepEqual(await sendTo([refused]), { sent: [PUSH], answer: refused });
  }
});
