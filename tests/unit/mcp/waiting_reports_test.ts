/** What the listener gets while questions wait: at once, again and again, and their end. */
import assert from "node:assert/strict";
import { ASK_REPORT_MS } from "../../../src/home/tell_daemon.ts";
import { WaitingReports } from "../../../src/mcp/waiting_reports.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

Deno.test("waiting is reported at once and again, over all open questions, and its end once, also when one fails [ls-state-ask]", async () => {
  const clock = new FakeClock();
  const reports: string[] = [];
  const waiting = new WaitingReports((state) => void reports.push(state), clock);
  const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  const [one, other] = [waiting.during(first.promise), waiting.during(second.promise)];
  assert.deepEqual(reports, ["waiting"]);
  clock.advance(ASK_REPORT_MS);
  assert.deepEqual(reports, ["waiting", "waiting"]);
  first.resolve(7);
  assert.equal(await one, 7);
  clock.advance(ASK_REPORT_MS);
  assert.deepEqual(reports, ["waiting", "waiting", "waiting"]);
  second.reject(new Error("taken back"));
  await assert.rejects(other, /taken back/);
  assert.deepEqual(reports.slice(3), ["working"]);
  assert.equal(clock.pending, 0);
});
