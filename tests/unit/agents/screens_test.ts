/** Every screen captured from a real agent is read by that agent's profile as its `meta.json` says. */
import assert from "node:assert/strict";
import { agentProfile } from "../../../src/agents/registry.ts";
import { unknownAgent } from "../../../src/agents/unknown.ts";
import { agentScreens } from "../../helpers/agent_screens.ts";

/** What the inventory gives as a cursor: it does not look. */
const NO_CURSOR = { x: 0, y: 0, visible: true };

/** Lists that a person opened over the input line: only the cursor tells. */
const ONLY_CURSOR_TELLS = ["opencode model_picker", "opencode palette"];

for (const { kind, name, screen, expect } of agentScreens()) {
  Deno.test(`the ${kind} profile reads the screen "${name}" [inj-profile, ls-state-order]`, () => {
    assert.deepEqual(agentProfile(kind).readScreen(screen), expect);
  });

  Deno.test(`the ${kind} profile tells the state of "${name}" without a cursor [ls-state-order]`, () => {
    const { state } = agentProfile(kind).readScreen({ ...screen, cursor: NO_CURSOR });
    assert.equal(state, ONLY_CURSOR_TELLS.includes(`${kind} ${name}`) ? "idle" : expect.state);
  });
}

Deno.test("a pane of no known agent waits at every agent's dialogs for tools and trust [inj-dialog]", () => {
  const asked = agentScreens().filter(({ name }) => /^(permission|trust|question)/.test(name));
  const missed = asked.filter(({ screen }) => unknownAgent.readScreen(screen).focus !== "dialog");
  assert.deepEqual(missed.map(({ kind, name }) => `${kind} ${name}`), []);
});
