/** Recaptures the screen fixtures from a real agent: `deno run -A tests/agents/capture_screens.ts KIND [turns | shell | questions]`. */
import { makeSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";
import { capture, drawnScreen, idle, OPEN_DIALOG, working } from "./capture.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import type { StartQuestion } from "./setup/setup.ts";
import { type RunningAgent, startAgent } from "./start_agent.ts";

/** These agents interrupt their work only at the second Esc. */
const ESCAPE_TWICE: readonly RealAgent[] = ["opencode", "copilot"];

const DRAFTS = {
  draft: "a half typed thought",
  draft_lines: "first of three\n\nthird of three",
  draft_long: Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join("\n"),
};

/** Drafts that an agent's input line shows differently from what was put in. */
const SHOWN_DRAFTS: Partial<Record<RealAgent, Record<string, string>>> = {
  cc: { draft_long: "[Pasted text #1 +11 lines]", interrupted: "never mind" },
  gemini: { draft_long: "[Pasted Text: 12 lines]" },
  opencode: { draft_lines: "[Pasted ~3 lines]", draft_long: "[Pasted ~12 lines]" },
  copilot: {
    draft_long: "[Paste #1 - 12 lines]",
    slash_menu: "/add-dir",
    interrupted: "never mind",
  },
};

/** Presses Enter until the model has the draft: just after its start an agent may ignore the first one. */
async function enter(agent: RunningAgent): Promise<void> {
  const before = agent.standIn.prompts().length;
  await until("the draft at the model", async () => {
    await agent.pane.press("Enter");
    await drawnScreen(agent.pane);
    return agent.standIn.prompts().length > before;
  });
}

async function submit(agent: RunningAgent, text: string): Promise<void> {
  await agent.pane.paste(text);
  await drawnScreen(agent.pane);
  await agent.pane.press("Enter");
}

async function captureDrafts(agent: RunningAgent): Promise<void> {
  await capture(agent, "start", idle(""));
  for (const name of ["draft", "draft_lines", "draft_long"] as const) {
    await agent.pane.paste(DRAFTS[name]);
    await capture(agent, name, idle(SHOWN_DRAFTS[agent.kind]?.[name] ?? DRAFTS[name]));
    await enter(agent);
    await drawnScreen(agent.pane);
  }
  await capture(agent, "answered", idle(""));
  await agent.pane.press("/");
  await capture(agent, "slash_menu", idle(SHOWN_DRAFTS[agent.kind]?.slash_menu ?? "/"));
  await agent.pane.press("BSpace");
  await drawnScreen(agent.pane);
}

async function captureWork(agent: RunningAgent): Promise<void> {
  const release = agent.standIn.hold();
  await submit(agent, "work please");
  await capture(agent, "working", working(""));
  await agent.pane.paste("and another thing");
  await capture(agent, "working_draft", working("and another thing"));
  await agent.pane.press("Enter");
  await capture(agent, "working_queued", working(""));
  release();
  await drawnScreen(agent.pane);
  agent.standIn.callShell("rm -rf build");
  await submit(agent, "clean up");
  await capture(agent, "permission", OPEN_DIALOG);
  await agent.pane.press("Escape");
  await capture(agent, "denied", idle(""));
}

/** Interrupts the work with Esc; two of the agents put its prompt back into the input line. */
async function captureInterrupt(agent: RunningAgent): Promise<void> {
  const release = agent.standIn.hold();
  await submit(agent, "never mind");
  await drawnScreen(agent.pane);
  await agent.pane.press("Escape");
  if (ESCAPE_TWICE.includes(agent.kind)) {
    await drawnScreen(agent.pane);
    await agent.pane.press("Escape");
  }
  await capture(agent, "interrupted", idle(SHOWN_DRAFTS[agent.kind]?.interrupted ?? ""));
  release();
}

/** `!` turns the input line into a shell's: a submitted text then runs as a command. */
async function captureShellMode(kind: RealAgent): Promise<void> {
  await using sandbox = await makeSandbox();
  await using agent = await startAgent(kind, sandbox);
  await drawnScreen(agent.pane);
  await agent.pane.press("!");
  await capture(agent, "shell_mode", idle("!"));
}

/** Each agent's start dialogs, with a pattern that identifies each. */
const START_QUESTIONS: Record<RealAgent, Partial<Record<StartQuestion, RegExp>>> = {
  cc: {
    trust: /trust this folder/,
    api_key: /custom API key/,
    auto_mode: /auto mode your default/,
    theme: /text style/,
  },
  codex: { trust: /Trust this folder/, hooks_review: /Hooks need review/ },
  gemini: { trust: /Do you trust/, sign_in: /authenticate/ },
  opencode: {},
  copilot: { trust: /Do you trust/ },
};

/** Runs in a git repository, because one agent asks only there. */
async function captureQuestion(
  kind: RealAgent,
  { asks, mark }: { asks: StartQuestion; mark: RegExp },
): Promise<void> {
  await using sandbox = await makeSandbox();
  await new Deno.Command("git", { args: ["init", "--quiet", sandbox.project] }).output();
  await using agent = await startAgent(kind, sandbox, { asks });
  const isAsked = async () => (await agent.pane.screen()).lines.some((line) => mark.test(line));
  await until(`the question of "${asks}"`, isAsked);
  await capture(agent, asks, OPEN_DIALOG);
}

async function captureQuestions(kind: RealAgent): Promise<void> {
  for (const [asks, mark] of Object.entries(START_QUESTIONS[kind])) {
    await captureQuestion(kind, { asks: asks as StartQuestion, mark });
  }
}

async function captureTurns(kind: RealAgent): Promise<void> {
  await using sandbox = await makeSandbox();
  await using agent = await startAgent(kind, sandbox);
  await captureDrafts(agent);
  await captureWork(agent);
  await captureInterrupt(agent);
}

const PARTS: Record<string, (kind: RealAgent) => Promise<void>> = {
  turns: captureTurns,
  shell: captureShellMode,
  questions: captureQuestions,
};

const [kind = "", ...parts] = Deno.args;
if (!Object.hasOwn(REAL_AGENTS, kind)) {
  throw new TypeError(`cannot capture "${kind}": give one of ${Object.keys(REAL_AGENTS).join(", ")}`);
}
for (const [name, captureEach] of Object.entries(PARTS)) {
  if (parts.length === 0 || parts.includes(name)) await captureEach(kind as RealAgent);
}
