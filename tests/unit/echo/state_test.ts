/** The echo agent's input line, work and dialog; the same bytes give the same keys, wherever the chunks are cut. */
import assert from "node:assert/strict";
import {
  type EchoEvent,
  type EchoState,
  type Effect,
  IDLE,
  type Key,
  KeyReader,
  QUEUE_MAX,
  step,
} from "../../../src/echo/state.ts";
import fc from "fast-check";

/** Returns the state after the events, and all their effects. */
function after(
  events: readonly EchoEvent[],
  from: EchoState = IDLE,
): { state: EchoState; effects: Effect[] } {
  return events.reduce<{ state: EchoState; effects: Effect[] }>((before, event) => {
    const { state, effects } = step(before.state, event);
    return { state, effects: [...before.effects, ...effects] };
  }, { state: from, effects: [] });
}

const typed = (text: string): EchoEvent => ({ kind: "text", text });
const pasted = (text: string): EchoEvent => ({ kind: "paste", text });
const ENTER: EchoEvent = { kind: "enter" };
const ESCAPE: EchoEvent = { kind: "escape" };
const submitted = (prompt: string): Effect => ({ kind: "submit", prompt });

Deno.test("echo state: Enter submits exactly the draft, typed and pasted [show-echo]", () => {
  const { state, effects } = after([typed("a "), pasted("b\nc;"), typed("\n"), typed("d "), ENTER]);
  assert.deepEqual(effects, [submitted("a b\nc;\nd ")]);
  assert.equal(state.draft, "");
});

Deno.test("echo state: an empty line submits nothing; anything but a known command is a prompt", () => {
  assert.deepEqual(after([ENTER]).effects, []);
  for (const prompt of ["/nosuch", "/work hard", "/exit now", " /exit", "/work 1\n2", "!ls"]) {
    assert.deepEqual(after([pasted(prompt), ENTER]).effects, [submitted(prompt)]);
  }
});

Deno.test("echo state: Backspace deletes a whole character, Ctrl-U the line; a second Ctrl-C quits", () => {
  assert.equal(after([typed("a👍"), { kind: "backspace" }]).state.draft, "a");
  assert.equal(after([pasted("a\nb"), { kind: "clear" }]).state.draft, "");
  const once = after([typed("a"), { kind: "interrupt" }]);
  assert.deepEqual([once.state.draft, once.effects], ["", []]);
  assert.deepEqual(after([{ kind: "interrupt" }, typed("x"), { kind: "interrupt" }]).effects, []);
  assert.deepEqual(after([{ kind: "interrupt" }, { kind: "interrupt" }]).effects, [{ kind: "quit" }]);
  assert.deepEqual(after([typed("/exit"), ENTER]).effects.at(-1), { kind: "quit" });
});

Deno.test("echo state: prompts wait while it works, and are submitted in order when it is done [show-echo]", () => {
  const busy = after([typed("/work 3"), ENTER, typed("one"), ENTER, typed("two"), ENTER]);
  assert.deepEqual(busy.effects, [{ kind: "command", command: "/work 3" }, { kind: "work", seconds: 3 }]);
  assert.deepEqual(busy.state.queue, ["one", "two"]);
  const done = after([{ kind: "worked" }], busy.state);
  assert.deepEqual(done.effects, [
    { kind: "stopWork", interrupted: false },
    submitted("one"),
    submitted("two"),
  ]);
  assert.deepEqual(done.state, IDLE);
});

Deno.test("echo state: Esc interrupts work and does nothing else", () => {
  const stopped = after([{ kind: "work", seconds: 9 }, typed("half"), ESCAPE]);
  assert.deepEqual(stopped.effects.at(-1), { kind: "stopWork", interrupted: true });
  assert.deepEqual(stopped.state, { ...IDLE, draft: "half" });
  assert.deepEqual(after([ESCAPE]), { state: IDLE, effects: [] });
});

Deno.test("echo state: a queued command that works keeps the rest waiting", () => {
  const busy = after([{ kind: "work", seconds: 1 }, typed("/work 2"), ENTER, typed("last"), ENTER]);
  const next = after([{ kind: "worked" }], busy.state);
  assert.deepEqual([next.state.isWorking, next.state.queue], [true, ["last"]]);
});

Deno.test("echo state: a full queue keeps the draft", () => {
  const busy = { ...IDLE, isWorking: true, queue: Array(QUEUE_MAX).fill("x"), draft: "mine" };
  const { state, effects } = step(busy, { kind: "enter" });
  assert.equal(state.draft, "mine");
  assert.equal(effects[0]?.kind, "note");
});

Deno.test("echo state: the dialog answers to Enter, Esc, arrows and digits [show-echo]", () => {
  const answers: [EchoEvent[], boolean, string][] = [
    [[ENTER], true, "enter"],
    [[{ kind: "down" }, ENTER], false, "enter"],
    [[{ kind: "down" }, { kind: "up" }, ENTER], true, "enter"],
    [[ESCAPE], false, "escape"],
    [[typed("1")], true, "digit"],
    [[typed("2")], false, "digit"],
  ];
  for (const [keys, approved, by] of answers) {
    const { state, effects } = after([{ kind: "permit" }, ...keys]);
    assert.equal(state.dialog, undefined);
    assert.deepEqual(effects, [{ kind: "dialogOpened" }, { kind: "dialogAnswered", approved, by }]);
  }
});

Deno.test("echo state: text typed or pasted into the dialog is recorded, and the draft is kept", () => {
  const opened = after([typed("draft"), { kind: "permit" }, typed("please"), pasted("1 stop")]);
  assert.deepEqual(opened.effects.slice(1), [
    { kind: "dialogInput", text: "please" },
    { kind: "dialogInput", text: "1 stop" },
  ]);
  assert.deepEqual([opened.state.dialog, opened.state.draft], [{ row: 0 }, "draft"]);
  const chosen = after([typed("no2 go")], opened.state);
  assert.deepEqual(chosen.effects, [
    { kind: "dialogInput", text: "no" },
    { kind: "dialogAnswered", approved: false, by: "digit" },
  ]);
  assert.equal(chosen.state.draft, "draft go");
});

Deno.test("echo state: when work ends during a dialog, the queue is submitted once the dialog is closed", () => {
  const busy = after([{ kind: "work", seconds: 1 }, typed("queued"), ENTER, { kind: "permit" }]);
  const over = after([{ kind: "worked" }], busy.state);
  assert.deepEqual(over.state.queue, ["queued"]);
  assert.deepEqual(after([ESCAPE], over.state).effects.at(-1), submitted("queued"));
});

const utf8 = new TextEncoder();

/** Returns the keys of `bytes`, cut at `cuts`. Adjacent texts are joined, because a cut may split them. */
function keysOf(bytes: Uint8Array, cuts: readonly number[] = []): Key[] {
  const reader = new KeyReader();
  const borders = [0, ...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
  const keys = borders.slice(1).flatMap((end, index) => reader.push(bytes.slice(borders[index], end)));
  return [...keys, ...reader.flush()].reduce(joinText, []);
}

function joinText(keys: Key[], key: Key): Key[] {
  const last = keys.at(-1);
  if (last?.kind !== "text" || key.kind !== "text") return [...keys, key];
  return [...keys.slice(0, -1), { kind: "text", text: last.text + key.text }];
}

const pasteBytes = (text: string): string => `\x1b[200~${text}\x1b[201~`;

Deno.test("keys: text, pastes and control keys are distinguished, wherever the chunks are cut [show-echo]", () => {
  const input = `héé 日本👨‍👩‍👧${pasteBytes("a\nb\tc\r\nd\re")}x\r\x7f\x15\x03\x1b[A\x1bOB\x1b[1;5C\n`;
  const expected: Key[] = [
    { kind: "text", text: "héé 日本👨‍👩‍👧" },
    { kind: "paste", text: "a\nb\tc\nd\ne" },
    { kind: "text", text: "x" },
    { kind: "enter" },
    { kind: "backspace" },
    { kind: "clear" },
    { kind: "interrupt" },
    { kind: "up" },
    { kind: "down" },
    { kind: "text", text: "\n" },
  ];
  const bytes = utf8.encode(input);
  for (let cut = 0; cut <= bytes.length; cut++) assert.deepEqual(keysOf(bytes, [cut]), expected);
  assert.deepEqual(keysOf(bytes, Array.from(bytes.keys())), expected);
});

Deno.test("keys: a paste is everything between the marks, whatever it contains and wherever it is cut", () => {
  const body = fc.string({ unit: "binary", maxLength: 40 }).map((text) =>
    text.replaceAll("\x1b", "~").replaceAll("\r", "")
  );
  fc.assert(fc.property(body, fc.array(fc.nat(200), { maxLength: 6 }), (text, cuts) => {
    const wellFormed = new TextDecoder("utf-8", { ignoreBOM: true }).decode(utf8.encode(text));
    assert.deepEqual(keysOf(utf8.encode(pasteBytes(text)), cuts), [{ kind: "paste", text: wellFormed }]);
  }));
});

Deno.test("keys: Escape is a separate key if nothing follows", () => {
  const reader = new KeyReader();
  assert.deepEqual(reader.push(utf8.encode("\x1b")), []);
  assert.equal(reader.isWaiting, true);
  assert.deepEqual(reader.flush(), [{ kind: "escape" }]);
  assert.equal(reader.isWaiting, false);
});

Deno.test("keys: Escape before text gives both", () => {
  assert.deepEqual(keysOf(utf8.encode("\x1bhi")), [{ kind: "escape" }, { kind: "text", text: "hi" }]);
});

Deno.test("keys: an incomplete paste waits for its end mark, not for the timer", () => {
  const reader = new KeyReader();
  reader.push(utf8.encode("\x1b[200~half"));
  assert.equal(reader.isWaiting, false);
  assert.deepEqual(reader.flush(), []);
  assert.deepEqual(reader.push(utf8.encode(" done\x1b[201~")), [{ kind: "paste", text: "half done" }]);
});

Deno.test("keys: a byte order mark is part of the text", () => {
  assert.deepEqual(keysOf(utf8.encode("\ufeffx")), [{ kind: "text", text: "\ufeffx" }]);
});
