/** The marks of every agent's dialogs, as tmux itself evaluates them at the moment of typing. */
import assert from "node:assert/strict";
import { agentProfile } from "../../src/agents/profiles.ts";
import { compiledMarks } from "../../src/agents/read_screen.ts";
import { dialogRowFormat, guardFormat } from "../../src/listener/inject/guard.ts";
import { type AgentScreen, agentScreens } from "../helpers/agent_screens.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

/** Wide and high enough for every capture. */
const SIZE = ["-x", "210", "-y", "52"];

/** Dialogs that an agent opens by itself, without a key of the user: tmux must notice them at the moment of typing. */
const ASKED =
  /^(?:permission(?:_[a-z]+)?(?:_\d+x\d+)?|trust|question\w*|api_key|auto_mode|sign_in|create_file|leave_plan_mode|always_allow\w*|fetch_permission)$/;

interface Shown extends AgentScreen {
  pane: string;
}

function trimmed(lines: readonly string[]): string {
  return lines.map((line) => line.trimEnd()).join("\n").trimEnd();
}

/** Shows the capture in a separate pane. */
async function show(sandbox: Sandbox, capture: AgentScreen): Promise<Shown> {
  const { tmux, root } = sandbox;
  const text = `${root}/${capture.kind}-${capture.name}`;
  await Deno.writeTextFile(text, capture.screen.lines.join("\n"));
  const argv = ["sh", "-c", 'cat "$1"; exec sleep 600', "show", text];
  const made = ["new-session", "-d", "-P", "-F", "#{pane_id}", ...SIZE, "--", ...argv];
  const pane = (await tmux(...made)).trim();
  await tmux("select-pane", "-t", pane, "-T", capture.screen.title);
  const want = trimmed(capture.screen.lines);
  await until(`"${capture.name}" in its pane, and no shell`, async () => {
    const drawn = await tmux("capture-pane", "-p", "-t", pane);
    const command = await evaluate(sandbox, { pane, format: "#{pane_current_command}" });
    return command === "sleep" && trimmed(drawn.split("\n")) === want;
  });
  return { ...capture, pane };
}

async function evaluate(
  sandbox: Sandbox,
  { pane, format }: { pane: string; format: string },
): Promise<string> {
  return (await sandbox.tmux("display-message", "-p", "-t", pane, format)).trim();
}

async function guard(sandbox: Sandbox, { pane, kind }: Shown): Promise<string> {
  const pid = Number(await evaluate(sandbox, { pane, format: "#{pane_pid}" }));
  const { dialog } = agentProfile(kind);
  const format = guardFormat({ pid, command: undefined, dialog, dialogRow: 0 });
  return await evaluate(sandbox, { pane, format });
}

function nameOf({ kind, name }: AgentScreen): string {
  return `${kind} ${name}`;
}

/** The row, from 1, in which JavaScript finds the first mark; 0 for none. */
function markedRow({ kind, screen }: AgentScreen): number {
  const marks = agentProfile(kind).dialog.lines.map((source) => new RegExp(source));
  return screen.lines.findIndex((line) => marks.some((mark) => mark.test(line))) + 1;
}

function hasMark({ kind, screen }: AgentScreen): boolean {
  const marks = compiledMarks(agentProfile(kind).dialog);
  return marks.inLines(screen.lines) || marks.inTitle(screen.title);
}

Deno.test("every dialog that an agent opens by itself has a mark, and no composer has one [inj-dialog]", () => {
  const asked = agentScreens().filter(({ name, expect }) => expect.focus === "dialog" && ASKED.test(name));
  const composers = agentScreens().filter(({ expect }) => expect.focus === "composer");
  assert.deepEqual(asked.filter((one) => !hasMark(one)).map(nameOf), []);
  assert.deepEqual(composers.filter(hasMark).map(nameOf), []);
});

Deno.test("tmux refuses to type at every capture with a mark, and at no other one [inj-dialog, inj-pessimistic]", async () => {
  await using sandbox = await makeSandbox();
  const wrong: string[] = [];
  for (const capture of agentScreens()) {
    const shown = await show(sandbox, capture);
    if (await guard(sandbox, shown) !== (hasMark(capture) ? "0" : "1")) wrong.push(nameOf(capture));
  }
  assert.deepEqual(wrong, []);
});

Deno.test("tmux and JavaScript find a mark in the same row [inj-pessimistic]", async () => {
  await using sandbox = await makeSandbox();
  for (const capture of agentScreens().filter(({ expect }) => expect.focus === "dialog")) {
    const { pane } = await show(sandbox, capture);
    const format = dialogRowFormat(agentProfile(capture.kind).dialog);
    assert.equal(Number(await evaluate(sandbox, { pane, format })), markedRow(capture), nameOf(capture));
  }
});
