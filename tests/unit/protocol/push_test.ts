/** What a sender may put in a push, and what is left for the listener to validate. */
import assert from "node:assert/strict";
import { BODY_MAX_BYTES, DATA_MAX_BYTES, JSON_MAX_DEPTH } from "../../../src/protocol/limits.ts";
import { hostOf, Push, PUSH_TYPES, PushRequest } from "../../../src/protocol/push.ts";

const command = (body: string): unknown => ({ type: "agent.command", agentSessionName: "svc-p", body });
const isTaken = (push: unknown): boolean => PushRequest.safeParse(push).success;

Deno.test("a body has 1 to 16,384 bytes of UTF-8, counted after CRLF becomes LF [proto-body-size, push-body]", () => {
  assert.ok(isTaken(command("x".repeat(BODY_MAX_BYTES))));
  assert.ok(isTaken(command("😀".repeat(BODY_MAX_BYTES / 4))));
  assert.ok(isTaken(command(`x${"\r\n".repeat(BODY_MAX_BYTES - 1)}`)));
  for (const blank of ["", " ", "\n\t\n", "\u3000\ufeff\u00a0"]) assert.ok(!isTaken(command(blank)), blank);
  assert.ok(!isTaken(command("x".repeat(BODY_MAX_BYTES + 1))));
  assert.ok(!isTaken(command("é".repeat(BODY_MAX_BYTES / 2) + "x")));
});

Deno.test("a lone surrogate is refused because it has no UTF-8 encoding", () => {
  assert.ok(!isTaken(command("a\ud83d")));
  assert.ok(!isTaken(command("\udc4db")));
});

Deno.test("only agent.command requires a session and a text, and only agent.start an agent and a project [push-type, proto-push-sealed, type-start]", () => {
  const needy: readonly string[] = [
    "agent.command",
    "agent.start",
    "agent.end",
    "project.mute",
    "agent.cancel",
    "dialog.answer",
  ];
  for (const type of Object.keys(PUSH_TYPES)) assert.equal(isTaken({ type }), !needy.includes(type), type);
  assert.ok(isTaken({ type: "type.of.a.later.version" }));
  assert.ok(!isTaken({ type: { toString: 0, valueOf: 0 } }));
});

Deno.test("a sender's id is a UUID of any version but 8, which late answers have [proto-push-id]", () => {
  const withVersion = (version: number): string => `00000000-0000-${version}000-8000-000000000000`;
  for (const version of [1, 3, 4, 5, 6, 7]) {
    assert.ok(isTaken({ type: "note", id: withVersion(version) }), `version ${version}`);
  }
  assert.ok(!isTaken({ type: "note", id: withVersion(8) }));
  const stored = { id: withVersion(8), type: "agent.command", from: "key_1", createdAt: 1, expiresAt: 2 };
  assert.ok(Push.safeParse(stored).success);
});

Deno.test("data has at most 4 KB and a bounded depth [proto-push-extra]", () => {
  const nested = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels) + "1" + "}".repeat(levels));
  assert.ok(isTaken({ type: "note", data: { a: "x".repeat(DATA_MAX_BYTES - 8) } }));
  assert.ok(!isTaken({ type: "note", data: { a: "x".repeat(DATA_MAX_BYTES - 7) } }));
  assert.ok(isTaken({ type: "note", data: nested(JSON_MAX_DEPTH) }));
  assert.ok(!isTaken({ type: "note", data: nested(JSON_MAX_DEPTH + 1) }));
});

Deno.test("a stored push may contain what the listener refuses", () => {
  const stored = { id: crypto.randomUUID(), from: "key_1", createdAt: 1, expiresAt: 2 };
  assert.ok(
    Push.safeParse({ ...stored, type: "agent.command", agentSessionName: "a b", body: "\x1b" }).success,
  );
  assert.ok(Push.safeParse({ ...stored, type: "agent.command" }).success);
});

Deno.test("a push is its host's that sealed it, whatever its data names; else the named or the sending host's", () => {
  const push = { from: "dev_listener_c", data: { listener: "dev_listener_b" } };
  const sealedFor = { host: "dev_listener_a", nonce: "", ciphertext: "", keys: {} };
  assert.equal(hostOf({ ...push, sealedFor }), "dev_listener_a");
  assert.equal(hostOf(push), "dev_listener_b");
  assert.equal(hostOf({ from: "dev_listener_c" }), "dev_listener_c");
  assert.equal(hostOf({ from: "dev_script_d" }), undefined);
});
