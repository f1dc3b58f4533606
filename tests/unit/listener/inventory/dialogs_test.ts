/** The dialogs that agents show: one id for as long as a dialog is open. */
import assert from "node:assert/strict";
import { DIALOG_LOOKS_MAX, Dialogs, type OpenDialog } from "../../../../src/listener/inventory/dialogs.ts";

const PANE = "%1";
const RUN = "Run it?\n❯ 1. Yes\n  2. No";

/** One pane, checked repeatedly. */
class Bench {
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
  const bench = new Bench();
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
  const bench = new Bench();
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
    const bench = new Bench();
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
    const bench = new Bench();
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
  const bench = new Bench();
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
