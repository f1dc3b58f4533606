/** The pane guard as tmux itself evaluates it at the moment of typing: the program, and the marks of every agent's dialogs. */
import assert from "node:assert/strict";
import { agentProfile } from "../../src/agents/profiles.ts";
import { compiledMarks, MAX_SCREEN_COLUMNS, MAX_SCREEN_ROWS } from "../../src/agents/read_screen.ts";
import { dialogRowFormat, guardFormat } from "../../src/listener/inject/guard.ts";
import { observe } from "../../src/listener/inject/pane_check.ts";
import { runtime } from "../../src/runtime/deno.ts";
import { spawningServer } from "../../src/tmux/server.ts";
import { type AgentScreen, agentScreens } from "../helpers/agent_screens.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

/** Wide and high enough for every capture. */
const SIZE = { cols: 210, rows: 52 };
/** The pane that shows one capture after the other. */
const PANE = "=marks:";
/** The program in it. */
const PROGRAM = { command: "cat", isOverShell: false };

/** Dialogs that an agent opens without a key of the user: tmux must notice them at the moment of typing. */
const ASKED =
  /^(?:permission(?:_[a-z]+)?(?:_\d+x\d+)?|trust|question\w*|api_key|auto_mode|sign_in|create_file|leave_plan_mode|always_allow\w*|fetch_permission)$/;

async function makePane(): Promise<Sandbox> {
  const sandbox = await makeSandbox();
  await sandbox.newSession("marks", ["cat"], SIZE);
  return sandbox;
}

function trimmed(lines: readonly string[]): string {
  return lines.map((line) => line.trimEnd()).join("\n").trimEnd();
}

/** Shows the capture in the pane, in a program that is not a shell; resolves with its pid. */
async function show({ tmux, root }: Sandbox, { name, screen }: AgentScreen): Promise<number> {
  const text = `${root}/capture`;
  await Deno.writeTextFile(text, screen.lines.join("\n"));
  const title = [";", "select-pane", "-t", PANE, "-T", screen.title];
  await tmux("respawn-pane", "-k", "-t", PANE, "--", "cat", text, "-", ...title);
  const want = trimmed(screen.lines);
  const looks = ["display-message", "-p", "-t", PANE, "#{pane_pid}", ";", "capture-pane", "-p", "-t", PANE];
  return await until(`"${name}" in its pane`, async () => {
    const [pid, ...drawn] = (await tmux(...looks)).split("\n");
    return trimmed(drawn) === want && Number(pid);
  });
}

async function evaluate({ tmux }: Sandbox, format: string): Promise<string> {
  return (await tmux("display-message", "-p", "-t", PANE, format)).trim();
}

function nameOf({ kind, name }: AgentScreen): string {
  return `${kind} ${name}`;
}

/** Returns the row, from 1, in which JavaScript finds the first mark; 0 if there is none. */
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
  await using sandbox = await makePane();
  const wrong: string[] = [];
  for (const capture of agentScreens()) {
    const pid = await show(sandbox, capture);
    const { dialog } = agentProfile(capture.kind);
    const guard = await evaluate(sandbox, guardFormat({ ...PROGRAM, pid, dialog, dialogRow: 0 }));
    if (guard !== (hasMark(capture) ? "0" : "1")) wrong.push(nameOf(capture));
  }
  assert.deepEqual(wrong, []);
});

Deno.test("behind text like a dialog's, tmux presses Enter only while the cursor has not moved [inj-pessimistic]", async () => {
  await using sandbox = await makePane();
  const start = agentScreens().find(({ kind, name }) => kind === "cc" && name === "start");
  assert.ok(start);
  const lines = start.screen.lines.with(0, "  1. Yes, the build is green");
  const { dialog } = agentProfile(start.kind);
  const pid = await show(sandbox, { ...start, screen: { ...start.screen, lines } });
  const at = async (): Promise<{ x: number; y: number; visible: boolean }> => {
    const [x, y, flag] = (await evaluate(sandbox, "#{cursor_x} #{cursor_y} #{cursor_flag}")).split(" ");
    return { x: Number(x), y: Number(y), visible: flag === "1" };
  };
  const cursor = await at();
  const guard = (now: typeof cursor) =>
    evaluate(sandbox, guardFormat({ ...PROGRAM, pid, dialog, dialogRow: 1, cursor: now }));
  assert.equal(await guard(cursor), "1");
  assert.equal(await guard({ ...cursor, y: cursor.y - 1 }), "0");
  assert.equal(await guard({ ...cursor, x: cursor.x + 1 }), "0");
  assert.equal(await guard({ ...cursor, visible: false }), "0");
});

Deno.test("tmux and JavaScript find a mark in the same row [inj-pessimistic]", async () => {
  await using sandbox = await makePane();
  for (const capture of agentScreens().filter(({ expect }) => expect.focus === "dialog")) {
    await show(sandbox, capture);
    const format = dialogRowFormat(agentProfile(capture.kind).dialog);
    assert.equal(Number(await evaluate(sandbox, format)), markedRow(capture), nameOf(capture));
  }
});

Deno.test("tmux neither searches nor prints a screen beyond the cap, and types nothing into a pane that grew beyond it [read-linear, inj-pessimistic]", async () => {
  await using sandbox = await makeSandbox();
  const profile = agentProfile("cc");
  const target = {
    socket: sandbox.tmuxSocket,
    session: "marks",
    sessionId: "$0",
    pane: "%0",
    panePid: 0,
    recordedPid: 0,
    run: "",
    directory: "",
    root: "",
    profile,
    isProfiled: true,
    spawnOnly: false,
  };
  const server = spawningServer(
    { run: (argv, options) => runtime.commands.run(argv, { ...options, env: sandbox.env }) },
    sandbox.tmuxSocket,
  );
  await sandbox.newSession("marks", ["sh", "-c", "echo 'Do you want to proceed?'; exec cat"]);
  const small = await until("the dialog", async () => {
    const seen = await observe(server, target);
    return seen.dialogRow > 0 && seen;
  });
  for (const [cols, rows] of [[MAX_SCREEN_COLUMNS + 1, 24], [80, MAX_SCREEN_ROWS + 1]] as const) {
    await sandbox.tmux("resize-window", "-t", PANE, "-x", String(cols), "-y", String(rows));
    const { screen, dialogRow, reading } = await observe(server, target);
    assert.deepEqual([screen.lines, dialogRow, reading.focus], [[], -1, "unknown"]);
    const open = async (row: number): Promise<string> =>
      await evaluate(
        sandbox,
        guardFormat({ ...PROGRAM, pid: small.facts.pid, dialog: profile.dialog, dialogRow: row }),
      );
    assert.deepEqual([await open(small.dialogRow), await open(0)], ["0", "0"]);
  }
});

Deno.test("behind the guard the checked program gets the text or, unless a shell is below, another one that is no shell [sec-no-shell]", async () => {
  await using sandbox = await makePane();
  const guard = async (command: string, isOverShell: boolean): Promise<string> => {
    const pid = Number(await evaluate(sandbox, "#{pane_pid}"));
    const format = guardFormat({ pid, command, isOverShell, dialog: undefined, dialogRow: 0 });
    return `${command} ${await evaluate(sandbox, format)}`;
  };
  const all = (isOverShell: boolean) => {
    const checked = ["cat", "sleep", "a,b}", "#{pane_pid}", "#[x]", "bash", "-zsh"];
    return Promise.all(checked.map((command) => guard(command, isOverShell)));
  };
  const shells = ["bash 0", "-zsh 0"];
  assert.deepEqual(await all(false), ["cat 1", "sleep 1", "a,b} 1", "#{pane_pid} 1", "#[x] 1", ...shells]);
  assert.deepEqual(await all(true), ["cat 1", "sleep 0", "a,b} 0", "#{pane_pid} 0", "#[x] 0", ...shells]);
  await sandbox.tmux("respawn-pane", "-k", "-t", PANE, "--", "sh", "-c", "read go");
  await until("a shell", async () => await evaluate(sandbox, "#{pane_current_command}") === "sh");
  for (const isOverShell of [false, true]) {
    const nobody = ["cat 0", "sleep 0", "a,b} 0", "#{pane_pid} 0", "#[x] 0", ...shells];
    assert.deepEqual(await all(isOverShell), nobody);
  }
  const odd = `${sandbox.root}/a,b}`;
  await Deno.symlink("/bin/cat", odd);
  await sandbox.tmux("respawn-pane", "-k", "-t", PANE, "--", odd);
  await until("an odd name", async () => await evaluate(sandbox, "#{pane_current_command}") === "a,b}");
  assert.deepEqual([await guard("a,b}", true), await guard("cat", true)], ["a,b} 1", "cat 0"]);
});
