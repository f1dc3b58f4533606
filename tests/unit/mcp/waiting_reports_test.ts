/** What the listener gets while questions wait: at once, again and again, and their end. */
import assert from "node:assert/strict";
import { ASK_REPORT_MS } from "../../../src/home/notify_daemon.ts";
import { type WaitingReport, WaitingReports } from "../../../src/mcp/waiting_reports.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

Deno.test("each question that waits is reported at once and again, and its end once, also when it fails [ls-state-ask]", async () => {
  const clock = new FakeClock();
  const reports: WaitingReport[] = [];
  const waiting = new WaitingReports((report) => void reports.push(report), clock);
  const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  const one = waiting.during(first.promise);
  clock.advance(ASK_REPORT_MS);
  assert.deepEqual(reports.map(({ state }) => state), ["waiting", "waiting"]);
  assert.equal(reports[0]?.ask, reports[1]?.ask);
  const other = waiting.during(second.promise);
  assert.equal(reports.length, 3);
  assert.notEqual(reports[2]?.ask, reports[0]?.ask);
  first.resolve(7);
  assert.equal(await one, 7);
  assert.deepEqual(
    reports.slice(3),
    [{ state: "working", ask: reports[0]?.ask }],
    "the other one still waits",
  );
  clock.advance(ASK_REPORT_MS);
  assert.deepEqual(reports[4], { state: "waiting", ask: reports[2]?.ask });
  second.reject(new Error("taken back"));
  await assert.rejects(other, /taken back/);
  assert.deepEqual(reports.slice(5), [{ state: "working", ask: reports[2]?.ask }]);
  assert.equal(clock.pending, 0);
});
