/** REMOTE mode of the real agents: the hooks that `svc setup` registered inform the model who drives. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { makeStack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { assertTyped, untilPushes } from "./phone.ts";
import { runAgent, type SvcAgent } from "./run_agent.ts";
import { show } from "./table.ts";

const PHONE = "drives this session from their phone";
const ENDED = "REMOTE mode has ended";

/** Returns how often the model reads each notice in the request with the prompt. */
async function timesRead({ standIn }: SvcAgent, prompt: string): Promise<{ phone: number; local: number }> {
  const body = await until(`"${prompt}" at the model`, () => {
    const last = standIn.bodies().at(-1) ?? "";
    return last.includes(prompt) && last;
  }, 60_000);
  const count = (text: string): number => body.split(text).length - 1;
  return { phone: count(PHONE), local: count(ENDED) };
}

/** OpenCode stores the notice of a compaction without a request to its model, and without a trace on the screen. */
async function untilStored(home: string, text: string, times: number): Promise<void> {
  using store = new DatabaseSync(`${home}/.local/share/opencode/opencode.db`, { readOnly: true });
  const parts = store.prepare("SELECT id FROM part WHERE instr(data, ?)");
  await until(`"${text}" in OpenCode's store`, () => parts.all(text).length === times, 60_000);
}

/** The command that compacts the context, and what the screen then shows. */
const COMPACT: Record<RealAgent, { command: string; shown: RegExp }> = {
  cc: { command: "/compact", shown: /Compacted/ },
  codex: { command: "/compact", shown: /Context compacted/ },
  gemini: { command: "/compress", shown: /Chat history compressed/ },
  opencode: { command: "/compact", shown: /Compaction · / },
  copilot: { command: "/compact", shown: /Compaction completed/ },
};

/** Agents without a hook that can inform the model at a compaction. */
const TOLD_LATER: readonly RealAgent[] = ["gemini", "copilot"];

for (const kind of Object.keys(REAL_AGENTS) as RealAgent[]) {
  Deno.test(`${kind}: informed that the phone drives, then that someone is back, then nothing; its stops and its note reach the phone [other-agents, remote-told, rm-ends, type-stop, type-note, mcp-notify, set-allowed]`, async () => {
    await using stack = await makeStack();
    await using agent = await runAgent(kind, stack);
    const { session, standIn } = agent;
    await agent.typeLocally("typed before any phone");
    assert.deepEqual(await timesRead(agent, "typed before any phone"), { phone: 0, local: 0 });

    const { receipt } = await stack.send(session, "hello from the phone");
    assertTyped(receipt, "hello from the phone");
    assert.deepEqual(await timesRead(agent, "hello from the phone"), { phone: 1, local: 0 });
    const stops = await untilPushes(stack, "agent.stop", 2);
    const told = stops.map(({ body, agentSessionName, data }) => [body, agentSessionName, data?.hookId]);
    assert.deepEqual(told, Array(2).fill(["Done.", session, "hook_test"]));
    show(kind, "informed");

    await agent.typeLocally("typed at the computer");
    assert.deepEqual(await timesRead(agent, "typed at the computer"), { phone: 1, local: 1 });
    standIn.callTool("svc_notify", { title: "A note", body: "from the model" });
    await agent.typeLocally("tell my phone");
    assert.deepEqual(await timesRead(agent, "tell my phone"), { phone: 1, local: 1 });
    const [note] = await untilPushes(stack, "note", 1);
    const noted = [note?.title, note?.body, note?.agentSessionName];
    assert.deepEqual(noted, ["A note", "from the model", session]);
    show(kind, "local");
  });
}

for (const kind of Object.keys(REAL_AGENTS) as RealAgent[]) {
  const isLater = TOLD_LATER.includes(kind);
  const when = isLater ? "with the phone's next message" : "at once";
  Deno.test(`${kind}: informed again after it compacted its context, ${when} [other-agents, rm-compact]`, async () => {
    await using stack = await makeStack();
    await using agent = await runAgent(kind, stack);
    const { command, shown } = COMPACT[kind];
    await stack.send(agent.session, "hello from the phone");
    await untilPushes(stack, "agent.stop", 1);
    await agent.untilIdle();
    await stack.send(agent.session, command);
    const isCompacted = async () => (await agent.pane.screen()).lines.some((line) => shown.test(line));
    await until("the compaction", isCompacted, 60_000);
    await agent.untilIdle();
    if (kind === "opencode") await untilStored(stack.sandbox.home, PHONE, 2);
    if (isLater) await stack.send(agent.session, "again from the phone");
    await agent.typeLocally("typed at the computer");
    assert.deepEqual(await timesRead(agent, "typed at the computer"), { phone: 1, local: 1 });
    const last = agent.standIn.bodies().at(-1) ?? "";
    assert.ok(last.indexOf(PHONE) < last.indexOf(ENDED));
    if (isLater) assert.ok(last.indexOf("again from the phone") < last.indexOf(ENDED));
    show(kind, "compacted", when);
  });
}

/**
 * Texts from a phone that agents fold, wrap or change on their way to the prompt hook; each begins with words that no
 * agent writes.
 */
const CHANGED_TEXTS: Record<string, string> = {
  lines: "one\ntwo\n\nfour",
  "nine hundred": "word ".repeat(180).trim(),
  "six thousand": "lorem ipsum ".repeat(500).trim(),
  separators: "before\u2028between\u2029after",
  tabs: "a\tb\n\tc",
  unseen: "co\u00adop\u200b \u{1f469}\u200d\u{1f4bb} end",
};

for (const kind of Object.keys(REAL_AGENTS) as RealAgent[]) {
  Deno.test(`${kind}: informed of the phone also by texts that it changes; a paste of several lines at the keyboard ends that [other-agents, rm-folded, rm-invisible, rm-ends]`, async () => {
    await using stack = await makeStack();
    await using agent = await runAgent(kind, stack);
    const { pane, session } = agent;
    const isDelivered = (prompt: string) => timesRead(agent, prompt);
    for (const [index, [name, text]] of Object.entries(CHANGED_TEXTS).entries()) {
      await agent.untilIdle();
      const { receipt } = await stack.send(session, `zebra ${index}, ${name}: ${text}`);
      assertTyped(receipt, name);
      assert.deepEqual(await isDelivered(`zebra ${index}, `), { phone: index + 1, local: 0 }, name);
    }
    await agent.untilIdle();
    await pane.paste("zebra at\nthe local\nkeyboard");
    await pane.quiet();
    await pane.press("Enter");
    const count = Object.keys(CHANGED_TEXTS).length;
    assert.deepEqual(await isDelivered("zebra at"), { phone: count, local: 1 });
    show(kind, "changed");
  });
}
