/** Hostile input for every parser of the wire: each returns a result and never throws. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalText } from "../../src/protocol/canonical.ts";
import { encodeFrame, EVENTS, parseFrame } from "../../src/protocol/frames.ts";
import {
  decodeBinaryFrame,
  decodeSequenced,
  encodeBinaryFrame,
  encodeSequenced,
} from "../../src/protocol/pane_frame.ts";
import { PushRequest } from "../../src/protocol/push.ts";
import { anyText, PARAMETERS } from "./cases.ts";
import { anyValue } from "./near_schema.ts";

const pushLike = fc.record({
  id: fc.oneof(fc.uuid(), anyValue),
  type: fc.oneof(fc.constantFrom("agent.command", "note"), anyValue),
  targetDeviceId: fc.oneof(fc.constant("dev_listener_0a1b2c3d"), anyValue),
  agentSessionName: fc.oneof(fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/), anyText, anyValue),
  body: fc.oneof(anyText, anyValue),
  sealed: anyValue,
  title: fc.oneof(anyText, anyValue),
  data: fc.oneof(fc.object(), anyValue),
  ttlSeconds: fc.oneof(fc.integer(), fc.double(), anyValue),
}, { requiredKeys: [] });

Deno.test("any text as a control frame is accepted or gets a fault [fuzz-wire]", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const frame = parseFrame(text);
      assert.ok("fault" in frame || frame.event in EVENTS);
    }),
    PARAMETERS,
  );
});

Deno.test("any data of a known event is accepted or gets a fault, and accepted frames round-trip [fuzz-wire]", () => {
  const events = fc.constantFrom(...Object.keys(EVENTS));
  fc.assert(
    fc.property(events, fc.oneof(fc.jsonValue(), pushLike), (event, data) => {
      const frame = parseFrame(JSON.stringify({ event, data }, withoutBigInt) ?? "");
      if ("fault" in frame) return;
      assert.deepEqual(parseFrame(encodeFrame(frame.event, frame.data)), frame);
    }),
    PARAMETERS,
  );
});

Deno.test("any value as a push is accepted or refused, and accepted bodies can be typed [fuzz-wire]", () => {
  fc.assert(
    fc.property(fc.oneof(pushLike, anyValue), (value) => {
      const parsed = PushRequest.safeParse(value);
      if (!parsed.success) return assert.ok(parsed.error.issues.length > 0);
      const { body, type, agentSessionName } = parsed.data;
      if (type === "agent.command") assert.match(agentSessionName ?? "", /^[A-Za-z0-9._-]{1,128}$/);
      if (body !== undefined) assert.doesNotMatch(body, /[^\P{Cc}\n\t]/u);
    }),
    PARAMETERS,
  );
});

Deno.test("any bytes as a binary frame are accepted or rejected, and accepted frames round-trip [fuzz-wire]", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const frame = decodeBinaryFrame(bytes);
      if (frame === undefined) return;
      assert.deepEqual(encodeBinaryFrame(frame), bytes);
      const plain = decodeSequenced(frame.payload);
      if (plain !== undefined) assert.deepEqual(encodeSequenced(plain.sequence, plain.bytes), frame.payload);
    }),
    PARAMETERS,
  );
});

Deno.test("any text has a canonical form without control characters [fuzz-wire]", () => {
  fc.assert(
    fc.property(anyText, (text) => assert.doesNotMatch(canonicalText(text), /[\0-\x09\x0b-\x1f\x7f]/)),
    PARAMETERS,
  );
});

function withoutBigInt(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
