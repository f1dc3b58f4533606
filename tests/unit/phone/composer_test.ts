/** The times offered for sending a message later. */
import assert from "node:assert/strict";
import { fieldTime, suggestedTimes } from "../../../src/phone/views/composer.tsx";

const HOUR_MS = 3_600_000;

Deno.test("an hour from now and the next morning are offered, in the device's time zone", () => {
  const evening = new Date(2026, 10, 22, 21, 30).getTime();
  const [inAnHour, morning = 0] = suggestedTimes(evening);
  assert.equal(inAnHour, evening + HOUR_MS);
  assert.equal(fieldTime(morning), "2026-11-23T08:00");
  const night = new Date(2026, 10, 22, 5, 0).getTime();
  assert.equal(fieldTime(suggestedTimes(night)[1] ?? 0), "2026-11-22T08:00");
});
