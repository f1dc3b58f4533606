/** Sessions without a wrapper get no messages for a shell, an editor or a prompt; a hostile screen delays no other session. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { MAX_SCREEN_COLUMNS, MAX_SCREEN_ROWS } from "../../src/agents/read_screen.ts";
import type { KeyInput } from "../../src/protocol/key_input.ts";
import type { MirrorPhone } from "../helpers/mirror_phone.ts";
import { makeMirrorStage, type MirrorStage } from "../helpers/mirror_stage.ts";
import type { Size } from "../../src/listener/mirror/viewer.ts";
import { until } from "../helpers/until.ts";

/**
 * A program in a separate session, the text on its screen once it reads input, and a message that would run a command
 * in it.
 */
interface Program {
  session: string;
  argv(root: string): string[];
  ready: RegExp;
  body(canary: string): string;
}

const PROGRAMS: readonly Program[] = [
  {
    session: "svc-repl",
    argv: () => ["node", "-i"],
    ready: /^>/m,
    body: (canary) => `require("fs").writeFileSync("${canary}", "")`,
  },
  {
    session: "svc-node",
    argv: () => ["node"],
    ready: /^>/m,
    body: (canary) => `require("fs").writeFileSync("${canary}", "")`,
  },
  {
    session: "svc-deno",
    argv: () => [Deno.execPath(), "repl", "-A", "--quiet"],
    ready: /^>/m,
    body: (canary) => `Deno.writeTextFileSync("${canary}", "")`,
  },
  {
    session: "svc-vim",
    argv: () => ["vi", "-u", "NONE", "-i", "NONE", "-n"],
    ready: /^~/m,
    body: (canary) => `:!touch ${canary}`,
  },
  {
    session: "svc-less",
    argv: (root) => ["less", `${root}/proj/text`],
    ready: /a line/,
    body: (canary) => `|$touch ${canary}`,
  },
  {
    session: "svc-renamed",
    argv: (root) => [`${root}/agent`],
    ready: /[$#]$/m,
    body: (canary) => `touch ${canary}`,
  },
];

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function startProgram({ stack }: MirrorStage, { session, argv, ready }: Program): Promise<void> {
  const { sandbox } = stack;
  const place = ["-x", "80", "-y", "24", "-c", sandbox.project, "-e", `HOME=${sandbox.home}`];
  await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", session, ...place, ...argv(sandbox.root));
  await until(`${session} to read`, async () => ready.test(await sandbox.screen(session)));
}

/** Resolves with the state of the burst's last key. */
async function lastState(phone: MirrorPhone, inputs: KeyInput[]): Promise<string> {
  phone.type(...inputs);
  const found = await until(
    "the keys' state",
    () => phone.keyStates().findLast(({ sequence }) => sequence >= inputs.length - 1),
  );
  return `${found.state} ${found.reason ?? ""}`.trim();
}

for (const program of PROGRAMS) {
  const { session, body } = program;
  Deno.test(`closed: ${session}, a session that no wrapper made, gets neither a message nor keys [closed-unrecorded]`, async () => {
    await using stage = await makeMirrorStage();
    const { sandbox, send } = stage.stack;
    await Deno.symlink("/bin/sh", `${sandbox.root}/agent`);
    await Deno.writeTextFile(`${sandbox.project}/text`, "a line\n".repeat(100));
    await startProgram(stage, program);
    const canary = `${sandbox.root}/X`;
    const { receipt } = await send(session, body(canary));
    const phone = await stage.watch(session);
    const keys: KeyInput[] = [{ type: "text", text: body(canary) }, { type: "key", key: "Enter" }];
    const state = await lastState(phone, keys);
    assert.deepEqual(
      [receipt.state, receipt.reason, state],
      ["refused", "shell_in_pane", "refused shell_in_pane"],
    );
    assert.ok(!await exists(canary), "X was made");
  });
}

Deno.test("closed: a program that reads its input in a session that no wrapper made still gets messages [closed-unrecorded]", async () => {
  await using stage = await makeMirrorStage();
  const { sandbox, send } = stage.stack;
  const script = `${sandbox.project}/agent.js`;
  await Deno.writeTextFile(
    script,
    'console.log("ready"); process.stdin.on("data", (text) => console.log("got " + text));\n',
  );
  const session = "svc-script";
  await startProgram(stage, { session, argv: () => ["node", script], ready: /ready/, body: () => "" });
  const { receipt } = await send(session, "hello");
  assert.equal(receipt.state, "typed");
  await until(
    "the message in the program",
    async () => (await sandbox.screen(session)).includes("got hello"),
  );
});

/** Each line makes a pattern backtrack from every column. */
const HOSTILE = `
import { stdout } from "node:process";
const draw = () => {
  const line = "─".repeat(Math.max(1, stdout.columns - 2)) + "x";
  stdout.write("\\x1b[H" + Array.from({ length: stdout.rows }, () => line).join("\\r\\n"));
};
stdout.on("resize", draw);
draw();
setInterval(draw, 1000);
`;
/** Measured alternately, so that other load slows both. */
const ROUNDS = 6;
const MESSAGES = 2;
/** The size that the phone requests, and the one that it gets: no profile reads a larger screen. */
const HUGE = { cols: 1_000, rows: 1_000 };
const LARGEST = { cols: MAX_SCREEN_COLUMNS, rows: MAX_SCREEN_ROWS };
const USUAL = { cols: 80, rows: 24 };

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Returns the milliseconds from the relay's acceptance to the submission, for each message. */
async function messageTimes({ stack }: MirrorStage, session: string): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < MESSAGES; count++) {
    const { push, receipt } = await stack.send(session, `message ${count}`);
    assert.equal(receipt.state, "submitted");
    times.push((receipt.at.submitted ?? NaN) - push.createdAt);
  }
  return times;
}

/** Starts a session of an agent with a hostile screen. */
async function startHostile({ stack }: MirrorStage): Promise<string> {
  const { sandbox } = stack;
  const bin = `${sandbox.root}/bin`;
  await Deno.mkdir(bin);
  await Deno.writeTextFile(`${bin}/hostile.mjs`, HOSTILE);
  await Deno.writeTextFile(`${bin}/claude`, `#!/bin/sh\nexec node ${bin}/hostile.mjs\n`, { mode: 0o755 });
  sandbox.env.PATH = `${bin}:${sandbox.env.PATH}`;
  const { stdout, stderr, code } = await stack.svc("--detach", "cc");
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

Deno.test("closed: messages to another session are typed despite a hostile screen, which no phone makes larger than profiles read [closed-hostile-screen]", async () => {
  await using stage = await makeMirrorStage();
  const { stack } = stage;
  const echo = await stack.echo();
  const session = await startHostile(stage);
  const phone = await stage.watch(session);
  const fit = async (asked: Size, got: Size): Promise<void> => {
    phone.type({ type: "fit", ...asked });
    const { terminal } = phone;
    await until(
      `${got.cols}x${got.rows} with its lines`,
      () =>
        terminal.cols === got.cols && terminal.rows === got.rows &&
        phone.lines().at(-1)?.length === got.cols - 1,
    );
  };
  const held = await stack.api.sendPush({ type: "agent.command", agentSessionName: session, body: "wait" });
  const times: Record<"without" | "beside", number[]> = { without: [], beside: [] };
  for (let round = 0; round < ROUNDS; round++) {
    await fit(USUAL, USUAL);
    times.without.push(...await messageTimes(stage, echo.name));
    await fit(HUGE, LARGEST);
    times.beside.push(...await messageTimes(stage, echo.name));
  }
  // Only a person at the computer can make it larger.
  const size = ["-x", String(HUGE.cols), "-y", String(HUGE.rows)];
  await stack.sandbox.tmux("resize-window", "-t", `=${session}:`, ...size);
  await until(`${HUGE.cols} columns on the phone`, () => phone.terminal.cols === HUGE.cols);
  await messageTimes(stage, echo.name);
  const { receipt } = await stack.api.getPush(held.id);
  assert.ok(!["typed", "submitted"].includes(receipt.state), `the hostile screen got it: ${receipt.state}`);
  const [beside, without] = [median(times.beside), median(times.without)];
  const ratio = (beside / without).toFixed(2);
  say(
    `hostile screen: ${Math.round(beside)} ms beside it, ${Math.round(without)} ms without, ratio ${ratio}`,
  );
});
