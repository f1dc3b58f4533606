/** A message that races with a permission dialog approves nothing, is never lost, and its receipt is true, on each real agent. */
import assert from "node:assert/strict";
import { say } from "../../../scripts/say.ts";
import { AgentStage } from "./agent_stage.ts";
import { startBusy } from "../../../scripts/busy.ts";
import { agents, busyLoops, hookForms, tries } from "./form.ts";
import { race, toolTimes } from "./race.ts";
import { account, accountLine, isLost, isTrue, quantile } from "./race_account.ts";

/** Calls per round of a tool that needs no permission. */
const TOOL_CALLS = 6;
const TOOL_ROUNDS = 5;

for (const kind of agents()) {
  for (const hooks of hookForms()) {
    const how = hooks ? "with hooks" : "without hooks";
    Deno.test(`${kind}, ${how}: a message posted around a tool call approves nothing, is not lost, and its receipt is true [closed-race]`, async () => {
      await using _busy = startBusy(busyLoops());
      const done = await race(kind, {
        hooks,
        tries: tries(),
        onTry: (one, index) => {
          if (one.approved || isLost(one) || one.arrived > 1 || !isTrue(one)) {
            say(`try ${index} of ${kind}, ${how}: ${JSON.stringify(one)}`);
          }
        },
      });
      const counts = account(done);
      say(accountLine(`${kind} ${how}`, counts));
      const { approvals, lost, duplicated, untrue } = counts;
      assert.deepEqual({ approvals, lost, duplicated, untrue }, {
        approvals: 0,
        lost: 0,
        duplicated: 0,
        untrue: 0,
      });
    });
  }

  Deno.test(`${kind}: what svc's hooks cost a tool call`, async () => {
    const env = { COLORTERM: "truecolor" };
    await using hooked = await AgentStage.open(kind, { hooks: true, env });
    await using plain = await AgentStage.open(kind, { hooks: false, env });
    const times: { withHooks: number[]; without: number[] } = { withHooks: [], without: [] };
    // Measured alternately, so that other load slows both.
    for (let round = 0; round < TOOL_ROUNDS; round++) {
      times.withHooks.push(...await toolTimes(hooked, TOOL_CALLS));
      times.without.push(...await toolTimes(plain, TOOL_CALLS));
    }
    const withHooks = Math.round(quantile(times.withHooks, 0.5));
    const without = Math.round(quantile(times.without, 0.5));
    say(`tool ${kind}: ${withHooks} ms with hooks, ${without} ms without, ${withHooks - without} ms more`);
    assert.equal(times.withHooks.length, times.without.length);
  });
}
