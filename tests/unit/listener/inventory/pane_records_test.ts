/** A pane keeps one id for a dialog while it is open, and tells the conversations of tools from its own. */
import assert from "node:assert/strict";
import type { HookReport } from "../../../../src/home/control_socket.ts";
import { Conversations, DIALOG_LOOKS_MAX, Dialogs } from "../../../../src/listener/inventory/pane_records.ts";
import type { OpenDialog } from "../../../../src/listener/inventory/session_entry.ts";

const PANE = "%1";
const RUN = "Run it?\n❯ 1. Yes\n  2. No";

/** One pane, checked repeatedly. */
class DialogBench {
  readonly dialogs = new Dialogs();
  /** The dialogs that have opened. */
  readonly opened: OpenDialog[] = [];

  get open(): OpenDialog | undefined {
    return this.dialogs.of(PANE);
  }

  /** Checks these screens; undefined is a screen without a dialog. */
  look(...texts: (string | undefined)[]): void {
    for (const text of texts) this.#take({ text });
  }

  lookAtHalfDrawn(): void {
    this.#take({ text: undefined, mayBeHalfDrawn: true });
  }

  #take(shown: { text: string | undefined; mayBeHalfDrawn?: boolean }): void {
    const isNew = this.dialogs.take(PANE, { ...shown, at: 5 });
    if (isNew) this.opened.push(this.open ?? assert.fail("none is open"));
  }
}

Deno.test("dialogs: one that is redrawn or whose selection moves is the same; another text is another dialog [dlg-card]", () => {
  const bench = new DialogBench();
  bench.look(RUN, RUN, "Run it?\n  1. Yes\n❯ 2. No\n");
  const { open: first } = bench;
  assert.deepEqual(bench.opened, [first]);
  assert.equal(first?.since, 5);
  const other = "Delete it?\n❯ 1. Yes\n  2. No";
  bench.look(other, other);
  assert.notEqual(bench.open?.id, first?.id);
  bench.look(undefined);
  assert.equal(bench.open, undefined);
  bench.look(RUN, RUN);
  assert.equal(bench.opened.length, 3, "asked once more");
  bench.dialogs.keep(new Set());
  assert.equal(bench.open, undefined);
});

Deno.test("dialogs: a screen that may be half drawn ends none; the next one that does not show it does [dlg-card]", () => {
  const bench = new DialogBench();
  bench.look(RUN, RUN);
  const { open } = bench;
  for (let redrawn = 0; redrawn < 2; redrawn++) {
    bench.lookAtHalfDrawn();
    assert.equal(bench.open?.id, open?.id);
    bench.look(RUN);
    assert.equal(bench.opened.length, 1, "nobody is asked twice");
  }
  bench.lookAtHalfDrawn();
  bench.lookAtHalfDrawn();
  assert.equal(bench.open, undefined);
  bench.look(RUN, RUN, undefined);
  assert.equal(bench.open, undefined);
});

Deno.test("dialogs: one that is captured half drawn opens once, whole; a text that two checks agree on is another dialog [dlg-card]", () => {
  const part = "Run it?\n❯ 1. Yes";
  const sequences = [[part, RUN, part, RUN], [part, RUN, RUN], [RUN, RUN, part, RUN], [RUN, part, RUN, RUN]];
  for (const sequence of sequences) {
    const bench = new DialogBench();
    bench.look(...sequence);
    assert.deepEqual(bench.opened.map(({ text }) => text), [RUN], sequence.join(" | "));
    bench.look(undefined);
    bench.look(part, part);
    assert.deepEqual(bench.opened.map(({ text }) => text), [RUN, part]);
  }
});

Deno.test("dialogs: the next dialog is a new one, even if its text contains the first one's, or is part of it [dlg-card]", () => {
  const longer = `Bash command\n  rm -r build\n${RUN}`;
  for (const [first, next] of [[RUN, longer], [longer, RUN]] as const) {
    const bench = new DialogBench();
    bench.look(first, first, next);
    assert.equal(bench.open?.text, first, "an answer to it does not match what the screen shows");
    assert.ok(bench.dialogs.isDoubtful(PANE), "it is looked at again at once");
    bench.look(next);
    assert.deepEqual(bench.opened.map(({ text }) => text), [first, next]);
    assert.notEqual(bench.opened[0]?.id, bench.opened[1]?.id);
    assert.ok(!bench.dialogs.isDoubtful(PANE) && !bench.dialogs.isAnyOpening);
  }
});

Deno.test("dialogs: a dialog whose text changes with every check is announced after the third, and one that has closed by then is not [dlg-card]", () => {
  const bench = new DialogBench();
  for (let left = DIALOG_LOOKS_MAX; left > 0; left--) bench.look(`${RUN}\n(${left} s left)`);
  assert.deepEqual(bench.opened.map(({ text }) => text), [`${RUN}\n(1 s left)`]);
  bench.look(undefined, RUN);
  assert.ok(bench.dialogs.isAnyOpening);
  bench.lookAtHalfDrawn();
  bench.look(RUN);
  assert.equal(bench.opened.length, 2, "a half-drawn screen between the looks");
  bench.look(undefined, RUN);
  bench.dialogs.keep(new Set());
  assert.ok(!bench.dialogs.isAnyOpening);
  bench.look(RUN, undefined);
  assert.equal(bench.opened.length, 2);
});

function conversationBench() {
  const conversations = new Conversations();
  let elapsed = 0;
  const take = (conversation: string, more: Partial<HookReport>, idleAt?: number): boolean => {
    const report = {
      event: "Stop",
      agent: "cc",
      cwd: "/shop",
      session: "svc-shop",
      pane: "%1",
      conversation,
    };
    return conversations.isOfTool("pane", { ...report, ...more }, { idleAt, elapsed: ++elapsed });
  };
  const began = (id: string) => ({ event: "PreToolUse", tool: { step: "before", id } as const });
  const ended = (id: string) => ({ event: "PostToolUse", tool: { step: "after", id } as const });
  const started = (source: string) => ({ event: "SessionStart", state: "idle", source } as const);
  return { conversations, take, began, ended, started };
}

const STOP = { event: "Stop", state: "idle" } as const;
const PROMPT = { event: "UserPromptSubmit", state: "working" } as const;

Deno.test("conversations: what begins during a turn is the tool's, also after its call has ended [ls-state-foreign]", () => {
  for (const source of ["startup", "resume"]) {
    const { take, began, ended, started } = conversationBench();
    assert.equal(take("own", started("startup")), false);
    assert.equal(take("own", PROMPT), false);
    assert.equal(take("own", began("1")), false);
    // A command that runs in the background ends its call at once.
    assert.equal(take("own", ended("1")), false);
    for (const report of [started(source), PROMPT, began("9"), ended("9"), started("compact")]) {
      assert.equal(take("tool's", report), true, `${source} ${report.event}`);
    }
    assert.equal(take("own", STOP), false);
    assert.equal(take("tool's", STOP), true, "it ends later");
    assert.equal(take("own", PROMPT), false);
    assert.equal(take("own", STOP), false);
    assert.equal(take("tool's", started("resume")), false, "the user resumed it in the pane");
  }
});

Deno.test("conversations: a dialog of a task in a conversation of its own is the session's [ls-state-foreign]", () => {
  const { take, began } = conversationBench();
  take("own", began("task"));
  assert.equal(take("task's", { event: "Notification", state: "waiting" }), false);
  assert.equal(take("task's", began("1")), true);
});

Deno.test("conversations: a new conversation of the pane's own agent counts, whatever was under way before [ls-state-foreign]", () => {
  for (const what of ["cleared", "ended", "turn over", "interrupted", "without an id"]) {
    const { take, began, started } = conversationBench();
    take("own", began("1"));
    if (what === "ended") take("own", { event: "SessionEnd" });
    if (what === "turn over") take("own", STOP);
    const conversation = what === "without an id" ? { conversation: undefined } : {};
    const idleAt = what === "interrupted" ? 1 : undefined;
    const start = started(what === "cleared" ? "clear" : "startup");
    assert.equal(take("new", { ...start, ...conversation }, idleAt), false, what);
  }
});

Deno.test("conversations: the pane's own agent stays so after another one ran in its pane between two turns [ls-state-foreign]", () => {
  const { take, started } = conversationBench();
  take("own", STOP);
  assert.equal(take("other", started("startup")), false);
  assert.equal(take("other", PROMPT), false);
  assert.deepEqual([take("own", PROMPT), take("own", STOP)], [false, false]);
});

Deno.test("conversations: a screen that was idle before the turn began shows no interruption [ls-state-foreign]", () => {
  const { take, began } = conversationBench();
  take("own", began("1"), 0);
  assert.equal(take("tool's", STOP, 0), true);
});

Deno.test("conversations: a turn that began before a read found the pane counts from its beginning on [ls-state-foreign]", () => {
  const { conversations, take, began } = conversationBench();
  const own = { agent: "cc", cwd: "/shop", session: "svc-shop", conversation: "own", ...began("1") };
  for (const pane of ["%1", "%2"]) {
    conversations.takeUnplaced({ report: { ...own, pane }, now: 1, elapsed: 1 });
  }
  conversations.placeEarly(({ pane }) => pane === "%1" ? "pane" : undefined);
  assert.equal(take("tool's", STOP, 0), true);
  assert.equal(take("own", STOP), false);
  conversations.placeEarly(() => "pane");
  assert.equal(take("next", STOP), false, "they are taken once");
});

Deno.test("conversations: a pane that is gone is forgotten", () => {
  const { conversations, take, began } = conversationBench();
  take("own", began("1"));
  conversations.keep(new Set(["pane"]));
  assert.equal(take("tool's", STOP), true);
  conversations.keep(new Set());
  assert.equal(take("tool's", STOP), false);
});
