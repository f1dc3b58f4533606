/** The card of an open dialog, as phones get it from each real agent: its text, and how soon it appears and disappears. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import type { SessionEntry } from "../../src/protocol/session.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { untilTold } from "./phone.ts";
import { runAgent, type SvcAgent } from "./run_agent.ts";
import { show } from "./table.ts";

const ROUNDS = Number(Deno.env.get("SVC_DIALOG_ROUNDS") ?? 5);

/** Text in each agent's dialog in addition to the command: its question, and every choice. */
const WORDS: Record<RealAgent, readonly RegExp[]> = {
  cc: [/Do you want to proceed\?/, /1\. Yes/, /No/],
  codex: [/Would you like to run the following command\?/, /1\. Yes/, /No/],
  gemini: [/Allow execution/i, /Allow once/i, /No/],
  opencode: [/Permission required/i, /Allow once/i, /Reject/i],
  copilot: [/Do you want to run this command\?/i, /1\. Yes/, /No/],
};

async function entryOf({ api }: Stack, session: string): Promise<SessionEntry | undefined> {
  const { devices } = await api.sessions();
  return devices.flatMap(({ sessions }) => sessions).find(({ name }) => name === session);
}

/** Resolves with the milliseconds from the moment at which the agent's screen changes to the list that shows it. */
async function delayOf(
  { stack, agent }: { stack: Stack; agent: SvcAgent },
  isOpen: boolean,
): Promise<{ ms: number; id: string | undefined }> {
  const shown = (async () => {
    await until(
      isOpen ? "the dialog" : "its end",
      async () => ((await agent.reading()).focus === "dialog") === isOpen,
    );
    return performance.now();
  })();
  const listed = untilTold(() => isOpen ? "the card" : "the card's end", async () => {
    const { dialog } = await entryOf(stack, agent.session) ?? {};
    return (dialog !== undefined) === isOpen ? { at: performance.now(), id: dialog?.id } : undefined;
  });
  const { at, id } = await listed;
  return { ms: Math.max(0, at - await shown), id };
}

async function textOf({ api }: Stack, id: string): Promise<string> {
  return await untilTold(() => "the dialog's text", async () => {
    const { pushes } = await api.listPushes({ before: "end" });
    return pushes.find(({ push }) => push.id === id)?.push.body;
  });
}

for (const kind of Object.keys(REAL_AGENTS) as RealAgent[]) {
  Deno.test(`${kind}: an open dialog's card has its whole text, and comes and goes with it [other-agents]`, async () => {
    await using stack = await makeStack();
    await using agent = await runAgent(kind, stack);
    const { standIn, pane } = agent;
    const delays: Record<"opened" | "closed", number[]> = { opened: [], closed: [] };
    for (let round = 0; round < ROUNDS; round++) {
      const command = `touch card-${round}`;
      standIn.callShell(command);
      await agent.typeLocally(`round ${round}`);
      const opened = await delayOf({ stack, agent }, true);
      const text = await textOf(stack, opened.id ?? "");
      for (const word of [new RegExp(command), ...WORDS[kind]]) assert.match(text, word);
      const answer = standIn.hold();
      const closing = delayOf({ stack, agent }, false);
      await pane.press("Enter");
      const closed = await closing;
      answer();
      await agent.untilIdle();
      delays.opened.push(opened.ms);
      delays.closed.push(closed.ms);
    }
    const figures = Object.entries(delays).map(([what, all]) => {
      const sorted = all.map(Math.round).sort((one, other) => one - other);
      return `${what} median ${sorted[sorted.length >> 1]} ms, at most ${sorted.at(-1)} ms`;
    }).join("; ");
    say(`dialog card, ${kind}: ${ROUNDS} dialogs, ${figures}`);
    show(kind, "card", figures);
  });
}
