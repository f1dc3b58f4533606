/** Real agents in their real screens take messages from the real injection, each exactly once and in order. */
import assert from "node:assert/strict";
import { canonicalText } from "../../src/protocol/canonical.ts";
import { makeInjectBench } from "../helpers/inject_bench.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { REAL_CLOCK } from "./real_clock.ts";
import { startAgent } from "./start_agent.ts";

/** Twenty messages: what a person writes, and what has broken terminals. */
const MESSAGES = [
  "hello from the phone",
  "please look at the failing test;",
  "-n is not a flag here",
  "--",
  "Enter",
  "C-c is a key, this is text",
  "#{pane_id} and #(id)",
  "$(id) `id` ${HOME} ~",
  `'single' "double" \\'\\"`,
  "ends with a backslash \\",
  "look at @word",
  "/x/y is a path",
  "# a heading",
  "a\ttab",
  "first\n\nthird\nfourth",
  Array.from({ length: 40 }, (_, line) => `line ${line};`).join("\n"),
  "word ".repeat(400).trim(),
  "👨‍👩‍👧 🇩🇪 日本語 שלום",
  "e\u0301 n\u0303 accents",
  "goodbye",
];

for (const kind of Object.keys(REAL_AGENTS) as RealAgent[]) {
  Deno.test(`${kind} takes ${MESSAGES.length} of ${MESSAGES.length} messages exactly [show-real-agent]`, async () => {
    await using sandbox = await makeSandbox();
    await using agent = await startAgent(kind, sandbox);
    await using bench = makeInjectBench(sandbox, REAL_CLOCK);
    for (const [index, message] of MESSAGES.entries()) {
      const outcome = await bench.send(agent.pane.session, message);
      assert.ok(["submitted", "typed"].includes(outcome.state), `${message}: ${JSON.stringify(outcome)}`);
      await until(`the model to get "${message}"`, () => agent.standIn.prompts().length > index);
    }
    assert.deepEqual(agent.standIn.prompts().map(canonicalText), MESSAGES.map(canonicalText));
  });
}
