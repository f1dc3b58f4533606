/** How long the pause between text and Enter lasts, by the screens that the pane shows meanwhile. */
import assert from "node:assert/strict";
import { agentProfile } from "../../../src/agents/registry.ts";
import type { Attempt } from "../../../src/listener/inject_host.ts";
import type { Observation } from "../../../src/listener/observe.ts";
import { settle } from "../../../src/listener/settle.ts";
import type { TargetProfile } from "../../../src/listener/target.ts";
import { AGENT_KINDS } from "../../../src/agents/registry.ts";

/** Milliseconds that settling took, where the pane shows these screens one after the other. */
async function settled(typing: Partial<TargetProfile["typing"]>, screens: string[]): Promise<number> {
  let now = 0;
  let look = 0;
  const facts = "facts\t$1\t0\t0\t0\t0\t7\tclaude\t0\t0\t1\ttitle\t/p\nrow\t0\n";
  const server = {
    socket: "/s",
    run: () => Promise.resolve(facts + (screens[Math.min(look++, screens.length - 1)] ?? "")),
  };
  const profile = agentProfile("cc");
  const target = {
    profile: { ...profile, typing: { ...profile.typing, ...typing } },
    pane: "%1",
    sessionId: "$1",
  };
  const host = { now: () => now, pause: (ms: number) => Promise.resolve(void (now += ms)) };
  const untouched = { screen: { lines: ["empty"] } } as Observation;
  await settle({ target, server, host } as unknown as Attempt, untouched);
  return now;
}

Deno.test("settle: ends early once the screen shows the text and is quiet [inj-settle]", async () => {
  assert.equal(await settled({ settleMs: 300 }, ["empty", "text", "text"]), 75);
});

Deno.test("settle: a screen that has not changed yet is not quiet [inj-settle]", async () => {
  assert.equal(await settled({ settleMs: 300 }, ["empty"]), 300);
});

Deno.test("settle: some agents need a least time, and one needs none [inj-settle, inj-profile]", async () => {
  assert.equal(await settled({ settleMs: 300, settleAtLeastMs: 150 }, ["text"]), 150);
  assert.equal(await settled({ settleMs: 0 }, ["empty"]), 0);
  for (const kind of AGENT_KINDS) {
    const { settleMs } = agentProfile(kind).typing;
    assert.ok(settleMs >= 0 && settleMs <= 300, kind);
  }
});
