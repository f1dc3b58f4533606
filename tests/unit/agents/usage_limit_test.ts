/** Usage limits in the agents' own texts. */
import assert from "node:assert/strict";
import { readUsageLimit } from "../../../src/agents/screen_texts.ts";

/** A Tuesday, 13:10 in this host's time zone. */
const NOW = new Date(2026, 9, 13, 13, 10).getTime();
const at = (day: number, hour: number, minute = 0): number => new Date(2026, 9, day, hour, minute).getTime();

Deno.test("a reached usage limit is read with the time at which it resets [later-limit]", () => {
  const notices: [string, number | undefined][] = [
    ["  ⎿  You've hit your session limit · resets 3pm (Europe/Berlin)", at(13, 15)],
    ["5-hour limit reached ∙ resets 1:30am", at(14, 1, 30)],
    ["You've hit your limit · resets 15:45", at(13, 15, 45)],
    ["You've hit your weekly limit · resets Oct 16, 9am", at(16, 9)],
    ["Claude usage limit reached. Your limit will reset soon.", undefined],
    ["■ You've hit your usage limit. Upgrade to Pro or try again in 3 hours 25 minutes.", at(13, 16, 35)],
    ["You've hit your usage limit. Try again at 3:05 PM.", at(13, 15, 5)],
    ["usage limit reached · resets in 45m", at(13, 13, 55)],
    ["You've hit your usage limit, try again in 2 days 1 hour", at(15, 14, 10)],
  ];
  for (const [line, resetsAt] of notices) {
    const found = readUsageLimit(["❯ hello", line, ""], NOW);
    assert.ok(found, line);
    assert.equal(found.resetsAt, resetsAt, line);
  }
  assert.equal(
    readUsageLimit(["Usage limit reached for the model.", "Access resets at 2:00 PM"], NOW)?.resetsAt,
    at(13, 14),
    "on the next line",
  );
});

Deno.test("a time that has just passed is not read as tomorrow's [later-limit]", () => {
  const found = readUsageLimit(["You've hit your session limit · resets 1pm"], NOW);
  assert.equal(found?.resetsAt, at(13, 13));
});

Deno.test("other texts about limits are not notices", () => {
  for (
    const line of [
      "The limit is 16,384 bytes.",
      "I raised the limit of the queue",
      "no limit",
      "rate limits apply",
    ]
  ) assert.equal(readUsageLimit([line], NOW), undefined, line);
  const old = ["You've hit your session limit · resets 3pm", ...Array<string>(30).fill("later output")];
  assert.equal(readUsageLimit(old, NOW), undefined, "far above the last lines");
});
