/** tmux's control mode, a pane's raw output, and the binary payloads of a stream: any bytes, in any pieces. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { concatBytes, encodeUtf8 } from "../../src/async/encodings.ts";
import { decodeKeyInput, decodeUpload, encodeKeyInput, encodeUpload } from "../../src/protocol/key_input.ts";
import { decodeMirror, encodeMirror } from "../../src/protocol/pane_frame.ts";
import { type ControlItem, ControlParser } from "../../src/tmux/control_client.ts";
import { OutputFilter } from "../../src/tmux/mirror_filter.ts";
import { parseSnapshot } from "../../src/tmux/mirror_snapshot.ts";
import { parseSessions } from "../../src/tmux/sessions.ts";
import { anyText, fuzz } from "./cases.ts";

const CONTROL = [
  ...[
    "%begin 1 2 1\n",
    "%end 1 2 1\n",
    "%error 1 2 1\n",
    "%begin 1 2 0\n",
    "%end 1 3 1\n",
    "%begin \n",
    "%end \n",
  ],
  ...[
    "%output %1 ",
    "%output %10 ",
    "%output ",
    "%extended-output %1 0 : ",
    "%exit\n",
    "\n",
    "\r",
    "\\",
    "\\015",
  ],
  ...["\\7", "\\999", "é", "\ufeff", "%session-renamed $0 x\n", "%%", "\0"],
];
const SEQUENCES = [
  ...[
    "\u001b[",
    "\u001b]0;",
    "\u001bP",
    "\u001b_",
    "\u001b\\",
    "\u0007",
    "\u001b[?1049h",
    "\u001b[2147483647b",
  ],
  ...[
    "\u001b[38;5;",
    "1;",
    "m",
    "H",
    "\u001bk",
    "\u001b(0",
    "\u000e",
    "\u000f",
    "👩‍👩‍👧",
    "e\u0301",
    "漢",
    "\u009b",
    "\t",
  ],
];

const bytes = (texts: readonly string[]): fc.Arbitrary<Uint8Array> =>
  fc.array(
    fc.oneof(
      fc.constantFrom(...texts).map(encodeUtf8),
      fc.uint8Array({ maxLength: 4 }),
      anyText.map(encodeUtf8),
    ),
    { maxLength: 20 },
  ).map((parts) => concatBytes(parts));

/** A stream and the places where it is cut into pieces. */
const pieces = (texts: readonly string[]): fc.Arbitrary<[Uint8Array, number[]]> =>
  fc.tuple(bytes(texts), fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 10 }));

function* cut(stream: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < stream.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield stream.subarray(at, at + size);
    at += size;
  }
}

function itemsOf(stream: Uint8Array, sizes: readonly number[]): ControlItem[] {
  const parser = new ControlParser("%1");
  const items: ControlItem[] = [];
  for (const part of cut(stream, sizes)) parser.feed(part, (item) => items.push(item));
  return items;
}

function shownOf(stream: Uint8Array, sizes: readonly number[]): Uint8Array {
  const filter = new OutputFilter();
  return concatBytes([...cut(stream, sizes)].map((part) => filter.pass(part)));
}

Deno.test("tmux's control mode is read the same in any pieces [fuzz-100k]", () => {
  fuzz("control mode", pieces(CONTROL), {
    holds: ([stream, sizes]) => assert.deepEqual(itemsOf(stream, sizes), itemsOf(stream, [1_000_000])),
  });
});

Deno.test("a pane's output passes the same in any pieces, and is unchanged by a second pass [fuzz-100k]", () => {
  fuzz("pane output", pieces(SEQUENCES), {
    holds: ([stream, sizes]) => {
      const shown = shownOf(stream, [1_000_000]);
      assert.deepEqual(shownOf(stream, sizes), shown);
      assert.ok(shown.length <= stream.length + 8, "the output grows");
    },
  });
});

Deno.test("any answer of tmux is a snapshot, a list of sessions, or neither [fuzz-100k]", () => {
  const line = fc.array(fc.oneof(fc.constantFrom("pane", "client", "\t", "\u001f", "1", "%1", "$0"), anyText))
    .map((parts) => parts.join("\t"));
  fuzz("tmux answers", fc.array(line, { maxLength: 9 }), {
    holds: (texts) => {
      parseSnapshot("%1", texts);
      assert.ok(Array.isArray(parseSessions("/tmp/s", texts.join("\n"))));
    },
  });
});

Deno.test("any bytes are a payload of a stream or not, and what was accepted can be sent again [fuzz-100k]", () => {
  const head = fc.constantFrom(
    "S",
    "O",
    "R",
    "T",
    "K",
    "P",
    "U",
    "\0",
    "\u0001",
    '{"type":"text","text":"',
    "{}",
  );
  const payload = fc.tuple(head, fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.json().map(encodeUtf8)))
    .map(([first, rest]) => concatBytes([encodeUtf8(first), rest]));
  fuzz("stream payloads", payload, {
    holds: (given) => {
      const [mirror, key, upload] = [decodeMirror(given), decodeKeyInput(given), decodeUpload(given)];
      if (mirror !== undefined) assert.deepEqual(decodeMirror(encodeMirror(mirror)), mirror);
      if (key !== undefined) assert.deepEqual(decodeKeyInput(encodeKeyInput(key)), key);
      if (upload !== undefined) assert.deepEqual(decodeUpload(encodeUpload(upload)), upload);
    },
  });
});
