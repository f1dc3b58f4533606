/** Control frames beyond the samples, and the file that lists them. */
import assert from "node:assert/strict";
import { encodeFrame, EVENTS, parseFrame } from "../../../src/protocol/frames.ts";
import { CHECKOUT } from "../../helpers/sources.ts";

Deno.test("a frame carries its own id and the id of the frame it answers [ws-control]", () => {
  const text = encodeFrame("listener.stored", { count: 3 }, { id: "b", re: "a" });
  assert.deepEqual(parseFrame(text), { event: "listener.stored", id: "b", re: "a", data: { count: 3 } });
});

Deno.test("a frame without data equals a frame with empty data", () => {
  assert.deepEqual(parseFrame('{"event":"ping","id":"1"}'), {
    event: "ping",
    id: "1",
    re: undefined,
    data: {},
  });
});

Deno.test("an event of a later version is unknown rather than malformed, and its name is truncated", () => {
  const fault = parseFrame(JSON.stringify({ event: `later.${"x".repeat(500)}`, data: 1 }));
  assert.deepEqual(fault, { fault: "unknown_event", detail: `later.${"x".repeat(58)}` });
});

Deno.test("unknown fields do not make a frame malformed", () => {
  const frame = parseFrame(
    '{"event":"push.ack","data":{"id":"00000000-0000-4000-8000-000000000000",' +
      '"outcome":"typed","final":true,"later":1},"trace":"x"}',
  );
  assert.ok(!("fault" in frame));
  assert.ok(!("later" in frame.data));
});

Deno.test("all events are in one file with a one-line comment each [style-one-page]", async () => {
  const source = await Deno.readTextFile(`${CHECKOUT}src/protocol/frames.ts`);
  const [table = ""] = /export const EVENTS[^]*?\n\} as const/.exec(source) ?? [];
  assert.ok(table.split("\n").length <= 110, "the table of events is longer than a page");
  for (const event of Object.keys(EVENTS)) {
    const key = event.includes(".") ? `"${event}"` : event;
    assert.match(source, new RegExp(String.raw`\*/\n  ${key.replaceAll(".", "\\.")}:`), event);
  }
});
