/** `deno task prove:readers`: how long each agent's reader takes for the worst of 200 hostile screens. */
import type { Screen } from "../../src/agents/profile.ts";
import { agentProfile, unknownAgent } from "../../src/agents/profiles.ts";
import { AGENT_KINDS } from "../../src/agents/registry.ts";
import { hostileScreens } from "../../tests/helpers/hostile_screens.ts";
import { say } from "../say.ts";

/** Timed readings of each screen after a warm-up; the median is used. */
const READINGS = 9;

function timed(read: (screen: Screen) => unknown, screen: Screen): number {
  const begun = performance.now();
  read(screen);
  return performance.now() - begun;
}

const screens = hostileScreens();
for (const kind of [...AGENT_KINDS, "unknown"] as const) {
  const { readScreen } = kind === "unknown" ? unknownAgent : agentProfile(kind);
  let worst = { median: 0, single: 0, name: "" };
  for (const { name, screen } of screens) {
    readScreen(screen);
    const times = Array.from({ length: READINGS }, () => timed(readScreen, screen)).sort((a, b) => a - b);
    const [median = 0, single = 0] = [times[(READINGS - 1) / 2], times.at(-1)];
    if (median > worst.median) worst = { median, single: Math.max(single, worst.single), name };
    else worst.single = Math.max(single, worst.single);
  }
  const figures = `worst median ${worst.median.toFixed(2)} ms (${worst.name}), worst single ${
    worst.single.toFixed(2)
  } ms`;
  say(`reader ${kind}: ${screens.length} screens, ${figures}`);
}
