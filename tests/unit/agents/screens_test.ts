/** Every screen captured from a real agent is read by that agent's profile as its `meta.json` says. */
import assert from "node:assert/strict";
import { AGENT_KINDS, agentProfile } from "../../../src/agents/registry.ts";
import { unknownAgent } from "../../../src/agents/unknown.ts";
import { agentScreens } from "../../helpers/agent_screens.ts";

for (const { kind, name, screen, expect } of agentScreens()) {
  Deno.test(`the ${kind} profile reads the screen "${name}" [inj-profile, ls-state-order]`, () => {
    assert.deepEqual(agentProfile(kind).readScreen(screen), expect);
  });
}

Deno.test("no agent takes another agent's screen for its own composer [inj-profile]", () => {
  const screens = agentScreens();
  const wrong = screens.flatMap(({ kind, name, screen }) =>
    AGENT_KINDS.filter((other) =>
      other !== kind && agentProfile(other).readScreen(screen).focus === "composer"
    )
      .map((other) => `${kind} ${name} as ${other}`)
  );
  assert.deepEqual(wrong, []);
});

Deno.test("a pane of no known agent waits at every agent's dialogs for tools and trust [inj-dialog]", () => {
  const asked = agentScreens().filter(({ name }) => /^(permission|trust|question)(_|$)/.test(name));
  const missed = asked.filter(({ screen }) => unknownAgent.readScreen(screen).focus !== "dialog");
  assert.deepEqual(missed.map(({ kind, name }) => `${kind} ${name}`), []);
});
