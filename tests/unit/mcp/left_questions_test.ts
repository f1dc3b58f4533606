/** Questions that nobody waits for: withdrawals are repeated until confirmed, and late answers go to the session. */
import assert from "node:assert/strict";
import { LeftQuestions } from "../../../src/mcp/left_questions.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";

const receipt = (state: Receipt["state"], answer?: string): Receipt => ({
  state,
  final: state !== "delivered",
  at: {},
  ...(answer === undefined ? {} : { answer }),
});

function bench(): { left: LeftQuestions; sent: string[] } {
  const sent: string[] = [];
  const left = new LeftQuestions(({ id, outcome }) => {
    sent.push(`${outcome} ${id}`);
    return true;
  });
  return { left, sent };
}

Deno.test("a withdrawal is repeated after every reconnect until the relay confirms it", () => {
  const { left, sent } = bench();
  left.withdraw("q");
  left.connected();
  left.updated({ id: "q", receipt: receipt("delivered") });
  assert.deepEqual([sent, left.withdrawing], [["withdrawn q", "withdrawn q"], 1]);
  left.updated({ id: "q", receipt: receipt("withdrawn") });
  left.connected();
  assert.deepEqual([sent.length, left.withdrawing], [2, 0]);
});

Deno.test("an answer to a question that nobody waits for is returned at once, and once only [mcp-late]", () => {
  const { left, sent } = bench();
  left.leave("q");
  left.connected();
  left.updated({ id: "other", receipt: receipt("answered", "b") });
  left.updated({ id: "q", receipt: receipt("answered", "a") });
  left.updated({ id: "q", receipt: receipt("answered", "a") });
  left.withdraw("p");
  left.updated({ id: "p", receipt: receipt("answered", "c") });
  assert.deepEqual(sent, ["ignored a", "withdrawn p", "ignored c"]);
});

Deno.test("the list is bounded: the oldest entry is dropped", () => {
  const { left, sent } = bench();
  for (let n = 0; n < 101; n++) left.leave(`q${n}`);
  left.updated({ id: "q0", receipt: receipt("answered", "a0") });
  left.updated({ id: "q1", receipt: receipt("answered", "a1") });
  assert.deepEqual(sent, ["ignored a1"]);
});
