/** The echo agent's input line, work and dialog. */
import assert from "node:assert/strict";
import {
  type EchoEvent,
  type EchoState,
  type Effect,
  IDLE,
  QUEUE_MAX,
  step,
} from "../../../src/echo/state.ts";

/** The state after the events, and all their effects. */
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
