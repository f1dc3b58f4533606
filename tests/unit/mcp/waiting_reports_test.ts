/** In which order the listener learns that an agent waits for its user, and that it no longer does. */
import assert from "node:assert/strict";
import { type WaitingReport, WaitingReports } from "../../../src/mcp/follow_question.ts";

interface Sending {
  report: WaitingReport;
  end: PromiseWithResolvers<void>;
}

Deno.test("the end of a wait is reported after the report that was being sent, also if that fails, and nothing is lost at the end [ls-state-ask]", async () => {
  const sending: Sending[] = [];
  const reports = new WaitingReports((report) => {
    const end = Promise.withResolvers<void>();
    sending.push({ report, end });
    return end.promise;
  });
  const sent = (): string[] => sending.map(({ report: { ask, state } }) => `${ask} ${state}`);
  reports.take({ ask: "one", state: "waiting" });
  reports.take({ ask: "two", state: "waiting" });
  reports.take({ ask: "one", state: "waiting" });
  reports.take({ ask: "one", state: "working" });
  let isIdle = false;
  const idle = reports.idle().then(() => void (isIdle = true));
  await Promise.resolve();
  assert.deepEqual(sent(), ["one waiting", "two waiting"]);
  sending[0]?.end.reject(new Error("tmux does not answer"));
  sending[1]?.end.resolve();
  for (let turn = 0; turn < 20 && sending.length < 3; turn++) await Promise.resolve();
  assert.deepEqual(sent(), ["one waiting", "two waiting", "one working"]);
  assert.equal(isIdle, false);
  sending[2]?.end.resolve();
  await idle;
});
