/** A phone's messages reach the model of each real agent exactly, from the moment the agent starts. */
import assert from "node:assert/strict";
import { canonicalText } from "../../src/protocol/canonical.ts";
import { makeStack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { assertTyped } from "./phone.ts";
import { runAgent } from "./run_agent.ts";
import { show } from "./table.ts";

/** Twenty messages: typical ones, and some that have broken terminals. */
const MESSAGES = [
  // Gemini treats `?` as a key until it has enabled pastes.
  "hello? who are you? what can you do?",
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
  "/home/y is a path",
  "# a heading",
  "a\ttab",
  "first\n\nthird\nfourth",
  Array.from({ length: 40 }, (_, line) => `line ${line};`).join("\n"),
  `${"word ".repeat(399)}words`,
  "👨‍👩‍👧 🇩🇪 日本語 שלום",
  "e\u0301 n\u0303 accents",
  "goodbye",
];

/** The command that starts a new conversation. */
const FORGET: Record<RealAgent, string> = {
  cc: "/clear",
  codex: "/new",
  gemini: "/clear",
  opencode: "/new",
  copilot: "/clear",
};

for (const kind of Object.keys(REAL_AGENTS) as RealAgent[]) {
  Deno.test(`${kind} takes ${MESSAGES.length} of ${MESSAGES.length} messages exactly, the first while it starts, and a slash command [show-real-agent, other-agents]`, async () => {
    await using stack = await makeStack();
    let confirmed = 0;
    const send = async (session: string, message: string): Promise<void> => {
      const { receipt } = await stack.send(session, message);
      assertTyped(receipt, message);
      if (receipt.state === "submitted") confirmed++;
    };
    const [first = "", ...others] = MESSAGES;
    await using agent = await runAgent(kind, stack, { meanwhile: (session) => send(session, first) });
    const { session, standIn, pane } = agent;
    const received = (count: number): Promise<unknown> =>
      until(`message ${count} at the model`, () => standIn.prompts().length >= count, 60_000);
    await received(1);
    show(kind, "early");
    for (const [index, message] of others.entries()) {
      await send(session, message);
      await received(index + 2);
    }
    assert.deepEqual(standIn.prompts().map(canonicalText), MESSAGES.map(canonicalText));
    show(kind, "messages", `${MESSAGES.length} of ${MESSAGES.length}`);
    show(kind, "confirmed", `${confirmed} of ${MESSAGES.length}`);

    await agent.untilIdle();
    await send(session, FORGET[kind]);
    const isWiped = async () => !(await pane.screen()).lines.some((line) => line.includes("goodbye"));
    await until("an empty screen", isWiped, 60_000);
    await agent.untilIdle();
    await send(session, "a new beginning");
    const last = await until("the new beginning at the model", () => {
      const body = standIn.bodies().at(-1) ?? "";
      return body.includes("a new beginning") && body;
    }, 60_000);
    assert.ok(!last.includes("goodbye"), "the model still reads the conversation before");
    show(kind, "slash", FORGET[kind]);
  });
}
