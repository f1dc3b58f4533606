/** The tools' inputs: they accept nothing that the relay would refuse for its size. */
import assert from "node:assert/strict";
import { TOOLS } from "../../../src/mcp/tools.ts";
import { PushRequest } from "../../../src/protocol/push.ts";

Deno.test("svc_ask accepts as many options as a question has room for, and says how long they may be", () => {
  const input = TOOLS.find(({ name }) => name === "svc_ask")?.input ?? assert.fail("there is no svc_ask");
  const optionsOf = (count: number): string[] =>
    Array.from({ length: count }, (_, n) => `${n} `.padEnd(200, "x"));
  const parse = (count: number) => input.safeParse({ question: "Which?", options: optionsOf(count) });
  const most = Array.from({ length: 21 }, (_, n) => n).findLast((count) => parse(count).success) ?? 0;
  assert.ok(most >= 15, `${most} options`);
  assert.match(JSON.stringify(parse(20).error?.issues), /together at most \d+ bytes/);
  const data = { kind: "ask", options: optionsOf(most), multiple: true, timeoutSeconds: 3_600 };
  const replyTo = "dev_script_0a1b2c3d4e5f60718293a4b5c6d7e8f9";
  assert.equal(
    PushRequest.safeParse({ type: "ask", body: "Which?", data: { ...data, replyTo } }).success,
    true,
  );
});

Deno.test("svc_input accepts as many fields as a question has room for, and says how long they may be", () => {
  const input = TOOLS.find(({ name }) => name === "svc_input")?.input ?? assert.fail("there is no svc_input");
  const fieldsOf = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `n${n}`, type: "text", label: "x".repeat(200) }));
  const parse = (count: number) => input.safeParse({ question: "Which?", fields: fieldsOf(count) });
  const most = Array.from({ length: 21 }, (_, n) => n).findLast((count) => parse(count).success) ?? 0;
  assert.ok(most >= 12, `${most} fields`);
  assert.match(JSON.stringify(parse(20).error?.issues), /together at most \d+ bytes/);
  const replyTo = "dev_script_0a1b2c3d4e5f60718293a4b5c6d7e8f9";
  const data = { kind: "input", fields: fieldsOf(most), timeoutSeconds: 3_600, replyTo };
  assert.equal(PushRequest.safeParse({ type: "ask", body: "Which?", data }).success, true);
});
