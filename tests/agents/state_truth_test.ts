/** Compares the states that phones see with the states of a script, per agent, for the requested number of minutes. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { compareStates, describeFigures, runStateTruth, STUCK_MS } from "./state_truth.ts";
import { show } from "./table.ts";

/** Minutes per agent; one round of the script takes about two. */
const MINUTES = Number(Deno.env.get("SVC_STATE_MINUTES") ?? 2);

Deno.test("the comparison finds delays, missed changes and states that stick", () => {
  const truth = [{ state: "idle", at: 0 }, { state: "working", at: 10_000 }, {
    state: "idle",
    at: 30_000,
  }] as const;
  const seen = [{ state: "idle", at: 0 }, { state: "working", at: 10_400 }, {
    state: "waiting",
    at: 12_000,
  }] as const;
  const figures = compareStates(truth, seen, 32_000);
  assert.deepEqual([figures.missed, figures.delays], [1, [0, 400]]);
  assert.deepEqual(figures.wrong.map(({ ms, shown }) => [ms, shown]), [[400, "idle"], [18_000, "waiting"], [
    2_000,
    "waiting",
  ]]);
  assert.match(
    describeFigures("cc", figures),
    /3 changes, .* worst 400 ms, 0 later than 2 s, 1 missed, 1 wrong/,
  );
});

for (const kind of Object.keys(REAL_AGENTS) as RealAgent[]) {
  Deno.test(`${kind}: no state is missed or stuck over turns, dialogs, interrupts and questions [other-agents, ls-state-ask, ls-state-moved]`, async () => {
    const figures = await runStateTruth(kind, { minutes: MINUTES, say });
    show(kind, "truth", describeFigures(kind, figures));
    assert.deepEqual(figures.wrong.filter(({ ms }) => ms > STUCK_MS), []);
    assert.equal(figures.missed, 0);
  });
}
