/** How a control client ends if its tmux does not answer, and how its stream becomes blocks and notifications. */
import assert from "node:assert/strict";
import { verbs } from "../../../src/tmux/argv.ts";
import {
  ControlClient,
  type ControlItem,
  ControlParser,
  unescapeOctal,
} from "../../../src/tmux/control_client.ts";
import { REQUEST_LIMIT_MS, TmuxError } from "../../../src/tmux/server.ts";
import { AttachGate } from "../../../src/tmux/attach_gate.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

/** A safety limit for the client's end, whose own time limits run on the fake clock. */
const CLOSE_LIMIT_MS = 10_000;

Deno.test("control client: a tmux that does not answer is killed, whatever its mirror does at the end", async () => {
  const clock = new FakeClock();
  const output = new TransformStream<Uint8Array, Uint8Array>();
  const end = output.writable.getWriter();
  const killed: unknown[] = [];
  const client = new ControlClient({
    stdin: { write: () => Promise.resolve(), close: () => {} },
    stdout: output.readable,
    stderr: new ReadableStream({ start: (controller) => controller.close() }),
    exited: Promise.resolve(0),
    pid: 1,
    kill: (signal) => {
      killed.push(signal);
      void end.close();
    },
  }, {
    socket: "/tmux.sock",
    clock,
    events: {
      output: () => {},
      otherOutput: () => {},
      notified: () => {},
      ended: () => {
        throw new Error("a mirror that fails");
      },
    },
  });
  const asked = client.run(verbs.printPlain("x"));
  const refused = assert.rejects(asked, (error) => error instanceof TmuxError && error.lost);
  assert.throws(() => clock.advance(REQUEST_LIMIT_MS), /a mirror that fails/);
  await refused;
  assert.deepEqual([killed, client.alive], [["SIGKILL"], false]);
  await client.close();
  assert.equal(clock.pending, 0);
});

Deno.test("control client: one that its tmux does not release is killed, and others may attach again [fault-tmux]", async () => {
  const clock = new FakeClock();
  const gate = new AttachGate(clock);
  const exited = Promise.withResolvers<number>();
  const client = new ControlClient({
    stdin: { write: () => Promise.resolve(), close: () => {} },
    // The server keeps it open as well.
    stdout: new ReadableStream(),
    stderr: new ReadableStream(),
    exited: exited.promise,
    pid: 1,
    kill: () => exited.resolve(137),
  }, { socket: "/tmux.sock", clock, gate });
  const closed = client.close();
  await until("the clock", () => {
    clock.advance(REQUEST_LIMIT_MS);
    return gate.isCalm;
  }, CLOSE_LIMIT_MS);
  await closed;
  assert.equal(clock.pending, 0);
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Returns the parser's items for a stream in chunks of `size` bytes. */
function parse(stream: Uint8Array, size: number, pane?: string): ControlItem[] {
  const parser = new ControlParser(pane);
  const items: ControlItem[] = [];
  for (let at = 0; at < stream.length; at += size) {
    parser.feed(stream.subarray(at, at + size), (item) => items.push(item));
  }
  return items;
}

Deno.test("control parser: blocks and notifications, whatever the chunks", () => {
  const text =
    "%begin 1 2 0\none\nzwei é\n%end 1 2 0\n%session-changed $0 a\n%begin 1 3 1\nbad\n%error 1 3 1\n%exit\n";
  const expected = [
    { kind: "block", ok: true, text: "one\nzwei é", asked: false },
    { kind: "notification", line: "%session-changed $0 a" },
    { kind: "block", ok: false, text: "bad", asked: true },
    { kind: "notification", line: "%exit" },
  ];
  for (const size of [1, 2, 7, 1_000]) {
    assert.deepEqual(parse(bytes(text), size), expected);
  }
});

Deno.test("control parser: a pane's line that looks like an end is content unless time and number match", () => {
  const [block] = parse(bytes("%begin 5 9 1\n%end 5 8 1\n%begin 1 1 1\n%end 5 9 1\n"), 1_000);
  assert.deepEqual(block, { kind: "block", ok: true, text: "%end 5 8 1\n%begin 1 1 1", asked: true });
});

Deno.test("control parser: output, blocks and notifications in order, whatever the chunks", () => {
  const stream = bytes(
    "%output %7 a\\015\\012\\134é\n%begin 1 2 1\n%output %7 text\n%end 1 2 1\n%output %70 other\n%layout-change @0\n",
  );
  const expected: ControlItem[] = [
    { kind: "output", bytes: bytes("a\r\n\\é") },
    { kind: "block", ok: true, text: "%output %7 text", asked: true },
    { kind: "other", length: "%output %70 other".length },
    { kind: "notification", line: "%layout-change @0" },
  ];
  for (const size of [1, 3, 16, 1_000]) assert.deepEqual(parse(stream, size, "%7"), expected);
});

Deno.test("control parser: a character split over two lines of output is kept", () => {
  const [first, second] = [[0xe6, 0xbc], [0xa2]];
  const line = (part: number[]): number[] => [...bytes("%output %7 "), ...part, 0x0a];
  const items = parse(new Uint8Array([...line(first ?? []), ...line(second ?? [])]), 1_000, "%7");
  const seen = items.flatMap((item) => item.kind === "output" ? [...item.bytes] : []);
  assert.deepEqual(seen, [0xe6, 0xbc, 0xa2]);
});

Deno.test("control parser: every byte is restored from tmux's octal escapes", () => {
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  const escaped = all.flatMap((byte) =>
    byte < 0x20 || byte === 0x5c ? [...bytes(`\\${byte.toString(8).padStart(3, "0")}`)] : [byte]
  );
  assert.deepEqual([...unescapeOctal(new Uint8Array(escaped))], all);
});
