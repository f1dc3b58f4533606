/** What proves that a message was submitted, and when Enter was lost. */
import assert from "node:assert/strict";
import type { Screen, ScreenReading } from "../../../../src/agents/profile.ts";
import {
  CHANGES_AT_WORK,
  type ConfirmScreens,
  enterWasLost,
  ScreenChanges,
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

Deno.test("confirmation: a composer that showed the text and is empty now [inj-proof]", () => {
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
  const before = look({ draft: "hello" });
  assert.ok(enterWasLost(before, look({ draft: "hello" }), 0));
  assert.ok(!enterWasLost(before, look({ draft: "hello you" }), 0));
  assert.ok(!enterWasLost(before, look({ focus: "dialog", draft: undefined }), CHANGES_AT_WORK));
  assert.ok(!enterWasLost(look({ draft: "" }), look({}), 0));
  const atWork = look({ draft: "hello", state: "working" });
  assert.ok(!enterWasLost(before, atWork, CHANGES_AT_WORK - 1));
  assert.ok(enterWasLost(before, atWork, CHANGES_AT_WORK));
});

Deno.test("confirmation: equal screens count once", () => {
  const pictures = new ScreenChanges(screen("a"));
  for (const line of ["a", "b", "b", "a"]) pictures.add(screen(line));
  assert.equal(pictures.count, 2);
});
