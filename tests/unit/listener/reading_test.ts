/** What phones read from the host: in the audit log each phone at its own pace, and a log that cannot be read ends nothing. */
import assert from "node:assert/strict";
import { Reading } from "../../../src/listener/reading.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

const PAGE = { skip: 0, entries: [], more: false };
const PHONE = { session: "svc-demo", phone: "dev_phone_1" };

Deno.test("pages of the audit log are rationed for each phone [ls-audit-phone]", async () => {
  const clock = new FakeClock();
  const audit = { page: () => Promise.resolve(PAGE) };
  const reading = new Reading({ cards: { part: () => undefined }, audit, clock, log: () => {} });
  const read = async (phone = PHONE): Promise<boolean> =>
    await reading.answer({ type: "audit.read", skip: 0 }, phone) !== undefined;
  const first = await Promise.all(Array.from({ length: 12 }, () => read()));
  assert.equal(first.filter(Boolean).length, 10);
  assert.equal(await read({ ...PHONE, phone: "dev_phone_2" }), true);
  clock.advance(1_000);
  assert.deepEqual([await read(), await read()], [true, false]);
});

Deno.test("a log that cannot be read is reported at the host and answers nothing [ls-audit-phone]", async () => {
  const lines: string[] = [];
  const audit = { page: () => Promise.reject(new Error("is a directory")) };
  const options = { cards: { part: () => undefined }, audit, clock: new FakeClock() };
  const reading = new Reading({ ...options, log: (line) => void lines.push(line) });
  assert.equal(await reading.answer({ type: "audit.read", skip: 0 }, PHONE), undefined);
  assert.match(lines.join(), /audit log could not be read.*is a directory/);
});
