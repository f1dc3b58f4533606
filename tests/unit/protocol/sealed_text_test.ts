/** The plaintext of sealed messages round-trips, and anything else is rejected. */
import assert from "node:assert/strict";
import type { Answer } from "../../../src/protocol/ask.ts";
import { carriedAnswer, lateAnswerData, lateAnswerId } from "../../../src/protocol/late_answer.ts";
import { PushId } from "../../../src/protocol/push.ts";
import {
  decodeAnswer,
  decodePushContent,
  encodeAnswer,
  encodePushContent,
  type PushContent,
} from "../../../src/protocol/sealed_text.ts";

const ID = "0b6f1c52-3d0e-4a63-9a55-7f0f8a1d2c34";

Deno.test("any combination of title, data and body round-trips [seal-answers]", () => {
  const contents: PushContent[] = [
    {},
    { title: 'a "title"' },
    { body: "two\nlines\n" },
    { title: "t", data: { level: "info", list: [1, { a: "\n" }] }, body: '\u2028 {"title":1}' },
  ];
  for (const content of contents) assert.deepEqual(decodePushContent(encodePushContent(content)), content);
  for (const text of ["", "plain words", '{"title":1}', "[]\nbody"]) {
    assert.equal(decodePushContent(text), undefined, text);
  }
});

Deno.test("an answer round-trips with the id of its question [seal-answers]", () => {
  const answers: Answer[] = [
    { kind: "text", text: "one\n\ntwo" },
    { kind: "choices", choices: ["a", "b, c"] },
    { kind: "values", values: { port: 8080, tls: true, name: "x\ny" } },
  ];
  for (const answer of answers) {
    assert.deepEqual(decodeAnswer(encodeAnswer(ID, answer)), { question: ID, answer });
  }
  const none = [
    "yes",
    `{"question":"${ID}"}`,
    '{"question":"x"}\nyes',
    `{"question":"${ID}","data":{"choices":["a"]}}\nyes`,
  ];
  for (const text of none) assert.equal(decodeAnswer(text), undefined, text);
});

Deno.test("the message for a late answer has an id derived from the answer's and names the answer [mcp-late]", async () => {
  const id = await lateAnswerId(ID);
  assert.ok(PushId.safeParse(id).success);
  assert.equal(await lateAnswerId(ID), id);
  assert.notEqual(await lateAnswerId(id), id);
  assert.equal(carriedAnswer({ type: "agent.command", inReplyTo: id, data: lateAnswerData(ID) }), ID);
  for (
    const push of [{ data: lateAnswerData(ID) }, { inReplyTo: id, data: { answer: 1 } }, { inReplyTo: id }]
  ) {
    assert.equal(carriedAnswer({ type: "agent.command", ...push }), undefined);
  }
  // The relay must not be able to turn a user's answer into anything else.
  for (const type of ["agent.start", "agent.end", "project.mute", "dialog.answer", "ask.answer"]) {
    assert.equal(carriedAnswer({ type, inReplyTo: id, data: lateAnswerData(ID) }), undefined);
  }
});
