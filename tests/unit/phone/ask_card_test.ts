/** The sign beside an answered question. */
import assert from "node:assert/strict";
import { receiptText, type Tone } from "../../../src/phone/receipt_text.ts";
import { answeredTone } from "../../../src/phone/views/ask_card.tsx";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { messageOf, receiptOf, takenWith } from "./samples.ts";

/** Of a late answer whose message has this receipt. */
function lateTone(receipt: Receipt): Tone {
  const context = { live: true, hostOnline: true, sentAgain: true, now: 0 };
  return answeredTone("typed", receiptText(messageOf(1, takenWith(receipt)), context).tone);
}

Deno.test("a late answer is shown as well as its message went [ux-late, mcp-late]", () => {
  assert.equal(lateTone(receiptOf("submitted", { final: true })), "good");
  assert.equal(lateTone(receiptOf("held", { reason: "dialog_open" })), "held");
  assert.equal(lateTone(receiptOf("refused", { final: true, reason: "no_such_session" })), "bad");
  assert.equal(answeredTone("typed", undefined), "pending", "not loaded yet");
  assert.deepEqual([answeredTone("received", undefined), answeredTone("lost", undefined)], ["good", "bad"]);
});
