/** The sign next to an answered question. */
import assert from "node:assert/strict";
import { receiptText, type Tone } from "../../../src/phone/receipt_text.ts";
import { answerDraftKey } from "../../../src/phone/state.ts";
import { answeredTone, unsentText } from "../../../src/phone/views/ask_card.tsx";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { messageOf, receiptOf, recordOf, takenWith } from "./samples.ts";

/** Returns the tone of a late answer whose message has this receipt. */
function lateTone(receipt: Receipt): Tone {
  const context = { live: true, hostOnline: true, sentAgain: true, now: 0 };
  return answeredTone("typed", receiptText(messageOf(1, takenWith(receipt)), context).tone);
}

Deno.test("a late answer is shown with the outcome of its message [ux-late, mcp-late]", () => {
  assert.equal(lateTone(receiptOf("submitted", { final: true })), "good");
  assert.equal(lateTone(receiptOf("held", { reason: "dialog_open" })), "held");
  assert.equal(lateTone(receiptOf("refused", { final: true, reason: "no_such_session" })), "bad");
  assert.equal(answeredTone("typed", undefined), "pending", "not loaded yet");
  assert.deepEqual([answeredTone("received", undefined), answeredTone("lost", undefined)], ["good", "bad"]);
});

Deno.test("a closed question shows the unused answer from this phone, even after a reload [ux-no-dead-end]", () => {
  const { push, receipt } = recordOf(9);
  const item = { kind: "question", push, receipt, ask: { kind: "prompt", timeoutSeconds: 60 } } as const;
  const state = { drafts: { [answerDraftKey(push.id)]: "half a text" } };
  assert.equal(unsentText({}, { item, state: { drafts: {} } }), "");
  assert.equal(unsentText({}, { item, state }), "half a text");
  assert.equal(unsentText({ here: true }, { item, state }), "", "another page sent it");
  assert.equal(unsentText({ unsent: messageOf(1) }, { item, state }), "text 1");
});
