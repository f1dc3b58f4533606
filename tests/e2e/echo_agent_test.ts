/** The echo agent as a whole program in a real tmux pane, on Deno and on Node. */
import assert from "node:assert/strict";
import { agentProfile } from "../../src/agents/profiles.ts";
import { writeMarker } from "../../src/home/markers.ts";
import { runtime } from "../../src/runtime/deno.ts";
import { ECHO_ON_DENO, type EchoAgent, launchEcho, startEcho } from "../helpers/agents_echo.ts";
import { buildForNode } from "../helpers/node_build.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { until } from "../helpers/until.ts";

/** Returns the argv of the echo agent; `folder` may be written to. */
const PROGRAMS: Record<string, (folder: string) => Promise<string[]>> = {
  deno: () => Promise.resolve(ECHO_ON_DENO),
  async node(folder) {
    return [...await buildForNode(`${CHECKOUT}cli.ts`, { folder: `${folder}/built` }), "echo-agent"];
  },
};

const BODIES = [
  "hello;",
  "-n",
  "--",
  "Enter",
  "C-c",
  "#{pane_id}",
  `$(id) \`id\` ~ 'a' "b" \\ \\\\`,
  "👨‍👩‍👧 日本語 שלום e\u0301",
  "/nosuch word",
];
const LONG_BODIES = [
  "a\tb\n\n\tc",
  Array.from({ length: 200 }, (_, line) => `line ${line};`).join("\n"),
  "é;".repeat(5_461) + "x",
];

async function read({ pane }: EchoAgent): Promise<ReturnType<ReturnType<typeof agentProfile>["readScreen"]>> {
  return agentProfile("echo").readScreen(await pane.screen());
}

async function untilPrompts(agent: EchoAgent, count: number): Promise<string[]> {
  return await until(`${count} prompts`, async () => {
    const prompts = await agent.prompts();
    return prompts.length >= count && prompts;
  });
}

/**
 * Clears the line and waits for it: the control socket of the next check may be quicker than the terminal, and an open
 * dialog ignores C-u.
 */
async function clearLine(agent: EchoAgent): Promise<void> {
  await agent.pane.press("C-u");
  await until("an empty input line", async () => (await read(agent)).draft === "");
}

type Check = (agent: EchoAgent, sandbox: Sandbox) => Promise<void>;

/** What an agent must do, in this order; the last check ends it. */
const CHECKS: Record<string, Check> = {
  async "echoes exactly what was pasted and typed [show-echo]"(agent) {
    for (const body of [...BODIES, ...LONG_BODIES]) {
      await agent.pane.paste(body);
      await agent.pane.press("Enter");
    }
    for (const body of BODIES) {
      await agent.pane.type(body);
      await agent.pane.press("Enter");
    }
    const sent = [...BODIES, ...LONG_BODIES, ...BODIES];
    assert.deepEqual(await untilPrompts(agent, sent.length), sent);
    await until("the last answer", async () => {
      const { lines } = await agent.pane.screen();
      return lines.includes("│ /nosuch word") && lines.includes("└ 12 bytes · sha256 1b7b3f35e4ff");
    });
  },

  async "works, queues prompts, and is interrupted by Esc [show-echo]"(agent) {
    const before = (await agent.prompts()).length;
    await agent.pane.type("/work 600");
    await agent.pane.press("Enter");
    await until("work", async () => (await read(agent)).state === "working");
    await agent.pane.paste("queued");
    await agent.pane.press("Enter");
    await agent.pane.paste("half typed");
    await until("the draft", async () => (await read(agent)).draft === "half typed");
    assert.equal((await agent.prompts()).length, before);
    await agent.pane.press("Escape");
    assert.equal((await untilPrompts(agent, before + 1)).at(-1), "queued");
    await until("idle", async () => (await read(agent)).state === "idle");
    await clearLine(agent);
  },

  async "opens its dialog on request, and reports what answered it [show-echo]"(agent) {
    await agent.control({ op: "permit" });
    await until("the dialog", async () => (await read(agent)).focus === "dialog");
    await agent.pane.type("please");
    await agent.pane.press("Enter");
    const facts = await until("the answer", async () => {
      const last = (await agent.transcript()).slice(-2);
      return last.some((entry) => "approved" in entry) && last;
    });
    assert.deepEqual(facts.map(({ at: _, ...fact }) => fact), [
      { dialogInput: "please" },
      { approved: true, by: "enter" },
    ]);
  },

  async "recognizes a prompt from the phone by its marker"(agent, sandbox) {
    const home = { files: runtime.files, markers: `${sandbox.svcHome}/markers` };
    await writeMarker(home, { dir: sandbox.project, text: "from afar", now: Date.now() });
    await agent.pane.paste("from afar");
    await agent.pane.press("Enter");
    const last = async () => (await agent.transcript()).findLast((entry) => "prompt" in entry);
    const entry = await until("the prompt", async () => {
      const found = await last();
      return found !== undefined && "prompt" in found && found.prompt !== "queued" && found;
    });
    assert.deepEqual([entry.prompt, entry.fromPhone], ["from afar", true]);
    await until("the note on the screen", async () => {
      return (await agent.pane.screen()).lines.some((line) => /\(from the phone\)/.test(line));
    });
  },

  async "keeps one input line when the terminal changes its size"(agent) {
    await agent.pane.type("a draft that is longer than the narrow terminal");
    for (const [columns, rows] of [[30, 12], [100, 30], [20, 8], [80, 24]] as const) {
      await agent.pane.resize(columns, rows);
      await until(`one input line at ${columns} columns`, async () => {
        const { lines } = await agent.pane.screen();
        const width = Math.max(...lines.filter((line) => line.startsWith("❯")).map((line) => line.length));
        const drawn = lines.filter((line) => line === "echo · idle").length;
        return drawn === 1 && width === Math.min(columns - 1, 49);
      });
    }
    await clearLine(agent);
  },

  async "quits at the second Ctrl-C, and ends the session"(agent, sandbox) {
    await agent.pane.press("C-c");
    await agent.pane.press("C-c");
    await until("the end of the session", async () => {
      return await sandbox.tmux("has-session", "-t", "=svc-proj").then(() => false, () => true);
    });
  },
};

for (const [name, program] of Object.entries(PROGRAMS)) {
  Deno.test(`the echo agent on ${name}`, async (test) => {
    await using sandbox = await makeSandbox();
    const argv = await program(sandbox.root);
    const agent = await startEcho(sandbox, { argv });
    for (const [what, check] of Object.entries(CHECKS)) await test.step(what, () => check(agent, sandbox));
  });

  Deno.test(`the echo agent on ${name} loses no input that came before it was ready`, async () => {
    await using sandbox = await makeSandbox();
    const early = await launchEcho(sandbox, { argv: await program(sandbox.root) });
    await early.pane.type("typed ahead");
    await until("the draft", async () => (await read(early)).draft === "typed ahead");
    await early.pane.press("Enter");
    assert.deepEqual(await untilPrompts(early, 1), ["typed ahead"]);
  });
}
