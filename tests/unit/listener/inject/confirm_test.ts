/** What proves that a message was submitted, and when Enter was lost. */
import assert from "node:assert/strict";
import type { Screen, ScreenReading } from "../../../../src/agents/profile.ts";
import {
  CHANGES_AT_WORK,
  type ConfirmScreens,
  DRAW_LIMIT_MS,
  EnterWatch,
  ScreenConfirmation,
  screenConfirms,
  STEADY_MS,
} from "../../../../src/listener/inject/composer.ts";

const idle: ScreenReading = { state: "idle", focus: "composer", draft: "" };
const screen = (...lines: string[]): Screen => ({ lines, title: "", cursor: { x: 0, y: 0, visible: true } });
const look = (reading: Partial<ScreenReading>, ...lines: string[]) => ({
  screen: screen(...lines),
  reading: { ...idle, ...reading },
});

const proves = (change: Partial<ConfirmScreens>, body = "hello you\nmore"): boolean =>
  screenConfirms(body, { untouched: look({}), before: look({ draft: body }), now: look({}), ...change });

Deno.test("confirmation: a composer that showed the text is empty now [inj-proof]", () => {
  assert.ok(proves({}));
  assert.ok(!proves({ now: look({ draft: "hello you more" }) }));
  assert.ok(!proves({ now: look({ draft: "hello you more", state: "working" }) }), "it still stands there");
});

Deno.test("confirmation: without a composer, the text where it was not before, or a screen that a slash command opened [inj-proof]", () => {
  const gone = { focus: "dialog", draft: undefined } as const;
  assert.ok(proves({ now: look(gone, "> hello you") }));
  assert.ok(!proves({ now: look(gone, "something else") }));
  assert.ok(!proves({ untouched: look({}, "> hello you"), now: look(gone, "> hello you") }));
  assert.ok(proves({ now: look({ focus: "menu", draft: undefined }) }, "/model"));
});

Deno.test("confirmation: if the composer is unreadable, the text above it or the start of work [inj-proof]", () => {
  const blind = { before: look({ draft: undefined, focus: "unknown" }) };
  assert.ok(proves({ ...blind, now: look({}, "> hello you") }));
  assert.ok(proves({ ...blind, now: look({ state: "working", draft: undefined, focus: "unknown" }) }));
  assert.ok(!proves({ ...blind, now: look({ draft: undefined, focus: "unknown" }) }));
});

Deno.test("confirmation: an empty composer confirms at once, but after a dialog only when it stays empty [inj-proof]", () => {
  const body = "hello you";
  const screens = { untouched: look({}), before: look({ draft: body }) };
  assert.ok(new ScreenConfirmation(body, screens).add(look({}), 0));

  const dialog = look({ focus: "dialog", draft: undefined });
  const confirmation = new ScreenConfirmation(body, screens);
  assert.ok(!confirmation.add(dialog, 0));
  assert.ok(!confirmation.add(look({}), 100), "drawn empty for one frame");
  assert.ok(!confirmation.add(look({ draft: body }), 116), "and the draft is back");
  assert.ok(!confirmation.add(look({}), 5_000));
  assert.ok(!confirmation.add(look({}), 5_000 + STEADY_MS - 1));
  assert.ok(confirmation.add(look({}), 5_000 + STEADY_MS));
});

Deno.test("confirmation: Enter was lost only if the same text is still in the composer [inj-enter-twice]", () => {
  const before = look({ draft: "hello" }, "0");
  /** True if Enter was lost after screens that differ from one another. */
  const isLost = (now: ReturnType<typeof look>, changes = 0, first = before): boolean => {
    const watch = new EnterWatch(first);
    for (let change = 0; change < changes; change++) watch.add(look({ draft: "hello" }, `${change + 1}`), 0);
    watch.add({ ...now, screen: screen(`${changes}`) }, 0);
    return watch.isLost;
  };
  assert.ok(isLost(look({ draft: "hello" })));
  assert.ok(!isLost(look({ draft: "hello you" })));
  assert.ok(!isLost(look({ focus: "dialog", draft: undefined }), CHANGES_AT_WORK));
  assert.ok(!isLost(look({}), 0, look({ draft: "" }, "0")));
  const tall = look({ draft: "the first row of a long text\nand its second row" }, "0");
  assert.ok(
    isLost(look({ draft: "of a long text\nand its second row\n" }), 0, tall),
    "taken for a line feed",
  );
  assert.ok(!isLost(look({ draft: "another long text that was typed meanwhile" }), 0, tall));
  const atWork = look({ draft: "hello", state: "working" });
  assert.ok(!isLost(atWork, CHANGES_AT_WORK - 1));
  assert.ok(isLost(atWork, CHANGES_AT_WORK));
});

Deno.test("confirmation: Enter was read once the composer shows something else, or has been gone for a while [inj-gate]", () => {
  const watch = new EnterWatch(look({ draft: "hello" }));
  const isRead = (draft: string | undefined, at: number): boolean => {
    watch.add(look({ draft }), at);
    return watch.isRead;
  };
  assert.ok(!isRead("hello", 0));
  assert.ok(!isRead(undefined, 10), "half drawn");
  assert.ok(!isRead("hello", 20));
  assert.ok(!isRead(undefined, 30));
  assert.ok(!isRead(undefined, 29 + DRAW_LIMIT_MS));
  assert.ok(isRead(undefined, 30 + DRAW_LIMIT_MS));
  assert.ok(isRead("", 1_000));
  assert.ok(new EnterWatch(look({ draft: "" })).isRead, "nothing to submit");
  const unreadable = new EnterWatch(look({ draft: undefined }));
  unreadable.add(look({ draft: undefined }), 10 * DRAW_LIMIT_MS);
  assert.ok(!unreadable.isRead, "nobody can tell");
});
