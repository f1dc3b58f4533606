/** The phone's terminal equals tmux's, cell by cell, for real programs: live, and after ten cuts in the middle of their output. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { attachClient } from "../helpers/attached_client.ts";
import { compare, type Comparison } from "../helpers/cells.ts";
import { makeDrawnPane } from "../helpers/drawn_pane.ts";
import type { MirrorPhone } from "../helpers/mirror_phone.ts";
import { isEqual, makeMirrorStage, type MirrorStage, untilEqual } from "../helpers/mirror_stage.ts";
import { IGNORED, makeDrawing, ODD_ATTRIBUTES } from "../helpers/random_drawing.ts";
import { until } from "../helpers/until.ts";

/** Cuts in the middle of a program's output. */
const CUTS = 10;
const COLS = 100;
const ROWS = 30;

interface Program {
  argv: string[];
  /** Text on the program's first screen. */
  shows: string;
  /** Keys that change the screen, pressed in this order. */
  keys: string[];
}

async function writeText(stage: MirrorStage, name: string): Promise<string> {
  const path = `${stage.stack.sandbox.project}/${name}`;
  const lines = Array.from(
    { length: 300 },
    (_, at) =>
      at % 7 === 0
        ? `/* ${at}: 漢字 and 👍 in a comment */`
        : `  if (value_${at} > ${at}) { return "text ${at}" + '\\n'; } // ${"long ".repeat(at % 30)}`,
  );
  await Deno.writeTextFile(path, `${lines.join("\n")}\n`);
  return path;
}

async function programOnPath(...names: string[]): Promise<string> {
  for (const name of names) {
    const found = await new Deno.Command("sh", { args: ["-c", `command -v ${name}`], stdout: "null" })
      .output();
    if (found.success) return name;
  }
  throw new Error(`none of ${names.join(", ")} is installed: run scripts/prepare.ts`);
}

/** Prints the line that a claim counts, with the number of cells that tmux does not report. */
function figure(what: string, { terminal }: MirrorPhone, { unreported }: Comparison): void {
  const cells = terminal.cols * terminal.rows;
  say(
    `${what}: 0 of ${cells} cells differ, and neither do cursor and modes; ${unreported.length} blank ones are not reported`,
  );
}

async function follow(stage: MirrorStage, name: string, program: Program): Promise<void> {
  const session = await stage.start(program.argv, { cols: COLS, rows: ROWS });
  const phone = await stage.watch(session);
  await phone.shows(program.shows);
  for (const key of program.keys) {
    await stage.keys(session, key);
    await untilEqual(stage, { phone, session, what: `${name} after ${key}`, inARow: 1 });
  }
  figure(name, phone, await untilEqual(stage, { phone, session, what: name }));
  await cutTenTimes(stage, { phone, session, keys: program.keys });
  const what = `${name} after ${CUTS} cuts`;
  figure(what, phone, await untilEqual(stage, { phone, session, what }));
  await stage.tmux("kill-session", "-t", `=${session}`);
}

/** Does not wait between key and cut, so that the program draws during the cut. */
async function cutTenTimes(
  stage: MirrorStage,
  { phone, session, keys }: { phone: MirrorPhone; session: string; keys: string[] },
): Promise<void> {
  for (let cut = 0; cut < CUTS; cut++) {
    await stage.keys(session, keys[cut % keys.length] ?? "");
    await phone.cut();
  }
}

Deno.test("mirror cells: vim, less, htop and a copied file: the same cells [ux-resume, spec-mirror, flow-2]", async (t) => {
  await using stage = await makeMirrorStage();
  // Keeps the tmux server running between two programs.
  await stage.start(["cat"]);
  const text = await writeText(stage, "text.c");
  const vim = await programOnPath("vim.basic", "vim.tiny", "vim");
  const setup = ["-c", "silent! syntax on", "-c", "set number hlsearch laststatus=2 ruler"];
  const programs: Record<string, Program> = {
    vim: {
      argv: [vim, "-N", "-u", "NONE", "-i", "NONE", "-n", ...setup, text],
      shows: "text.c",
      keys: ["C-f", "G", "C-b", "d", "d", "o", "new 漢字 line", "Escape", "v", "k", "Escape", "u"],
    },
    less: {
      argv: ["less", "-R", text],
      shows: "text.c",
      keys: ["Space", "G", "b", "/", "value_2", "Enter", "n", "g"],
    },
    htop: { argv: ["htop", "-d", "100"], shows: "CPU", keys: ["Down", "F6", "Escape", "F2", "Escape", "t"] },
    "copied lines": {
      argv: ["sh", "-c", `cat "${text}"; exec cat`],
      shows: "long",
      keys: ["abc", "Enter", "漢", "Enter"],
    },
  };
  for (const [name, program] of Object.entries(programs)) {
    await t.step(name, () => follow(stage, name, program));
  }
});

Deno.test("mirror cells: progress bars, wide characters, alternate screen, any drawing [ux-resume]", async (t) => {
  await using stage = await makeMirrorStage();
  const { sandbox } = stage.stack;
  using pane = await makeDrawnPane(sandbox, { cols: COLS, rows: ROWS });
  const { session } = pane;
  const phone = await stage.watch(session);
  const drawn: Record<string, string[]> = {
    "a colored progress bar": Array.from(
      { length: 60 },
      (_, at) => `\r\u001b[1;32m${"█".repeat(at)}\u001b[0;2m${"░".repeat(60 - at)}\u001b[0m ${at} %`,
    ),
    "a bar kept at the bottom": Array.from(
      { length: 40 },
      (_, at) => `\u001b7\u001b[30;1H\u001b[7m step ${at} \u001b[0m\u001b[K\u001b8line ${at}\r\n`,
    ),
    "wide, combining and joined characters": Array.from(
      { length: 40 },
      (_, at) =>
        `${"漢字".repeat(at)} e\u0301 ❤\ufe0f 👍🏽 👨\u200d👩\u200d👧 ${
          "x".repeat(at)
        }\u001b[35m│\u001b[0m\r\n`,
    ),
    "the alternate screen": [
      "before\r\n\u001b[31mred\u001b[?1049h\u001b[2J\u001b[H",
      "\u001b[44mfull\u001b[K\r\n\u001b[0m screen",
      "\u001b[?1049l",
      "after\r\n",
      "\u001b[?1049h\u001b[5;5Hagain",
      "\u001b[?1049l",
    ],
    "erased with a background": [
      "\u001b[H\u001b[2J\u001b[41mred\u001b[K\r\n\u001b[0mplain\r\n\u001b[42m\u001b[J\u001b[0m",
    ],
  };
  for (const [name, parts] of Object.entries(drawn)) {
    await t.step(name, async () => {
      for (const part of parts) await pane.draw(part);
      await pane.settled();
      figure(name, phone, await untilEqual(stage, { phone, session, what: name }));
      for (const [at, part] of parts.entries()) {
        await pane.draw(part);
        if (at % Math.ceil(parts.length / CUTS) === 0) await phone.cut();
      }
      await pane.settled();
      const what = `${name}, cut while it was drawn`;
      figure(what, phone, await untilEqual(stage, { phone, session, what }));
    });
  }
  for (const seed of [1, 2, 3, 4, 5, 6, 139]) {
    await t.step(`drawing number ${seed}, cut in the middle`, async () => {
      for (const { part, cuts } of makeDrawing(seed, 60)) {
        await pane.draw(part);
        if (cuts) await phone.reopen();
      }
      await pane.settled();
      const what = `drawing ${seed}, cut in the middle`;
      figure(what, phone, await untilEqual(stage, { phone, session, what }));
    });
  }
  assert.equal(phone.states.some(({ kind }) => kind === "ended"), false);
});

Deno.test("mirror cells: what tmux ignores or reads in its own way, amid plain text [ux-resume]", async (t) => {
  await using stage = await makeMirrorStage();
  using pane = await makeDrawnPane(stage.stack.sandbox, { cols: COLS, rows: ROWS });
  const { session } = pane;
  const phone = await stage.watch(session);
  for (
    const odd of [
      ...IGNORED,
      ...ODD_ATTRIBUTES.map((attributes) => `\u001b[${attributes}m`),
      "\u001b[?25;7l",
    ]
  ) {
    const what = JSON.stringify(odd);
    await t.step(what, async () => {
      // Resets the state, so that only the sequence decides what follows.
      await pane.draw("\u001b[?7h\u001b(B\u001b[0m\u001b[H\u001b[2J");
      await pane.settled();
      await untilEqual(stage, { phone, session, what: `before ${what}` });
      await pane.draw(`ab${odd}cd#[\u000bef${"x".repeat(COLS)}`);
      await pane.settled();
      await untilEqual(stage, { phone, session, what });
    });
  }
});

Deno.test("mirror cells: the phone follows the local terminal's size at once [ux-no-resize]", async () => {
  await using stage = await makeMirrorStage();
  const text = await writeText(stage, "text.txt");
  const session = await stage.start(["less", text], { cols: COLS, rows: ROWS });
  const phone = await stage.watch(session);
  for (const [cols, rows] of [[70, 20], [120, 40], [90, 26]] as const) {
    using _client = await attachClient(stage.stack.sandbox, { session, cols, rows });
    await until(`${cols} columns`, () => phone.terminal.cols === cols);
    const what = `less, resized by the local terminal to ${cols} × ${rows}`;
    figure(what, phone, await untilEqual(stage, { phone, session, what }));
    assert.equal(phone.terminal.rows, rows - 1, "the status line is tmux's own");
  }
  for (let cut = 0; cut < CUTS; cut++) {
    using _client = await attachClient(stage.stack.sandbox, { session, cols: 60 + 5 * cut, rows: 30 });
    await phone.cut();
  }
  const what = `less, resized and cut ${CUTS} times`;
  figure(what, phone, await untilEqual(stage, { phone, session, what }));
});

Deno.test("mirror cells: after a flood of a million lines the last screen is right [perf-flood]", async () => {
  await using stage = await makeMirrorStage();
  const session = await stage.start(["sh", "-c", "read go; seq 1 1000000; exec cat"], {
    cols: COLS,
    rows: ROWS,
  });
  const phone = await stage.watch(session);
  const before = phone.received;
  await stage.keys(session, "Enter");
  await phone.shows("1000000");
  const what = "a flood of 1,000,000 lines";
  figure(what, phone, await untilEqual(stage, { phone, session, what }));
  say(`a flood of 1,000,000 lines: ${phone.received - before} bytes to the phone, 6,888,896 written`);
});

Deno.test("mirror cells: a flood of a million lines, cut ten times in the middle, ends on the right screen [ux-resume]", async () => {
  await using stage = await makeMirrorStage();
  const session = await stage.start(["sh", "-c", "read go; seq 1 1000000; exec cat"], {
    cols: COLS,
    rows: ROWS,
  });
  const phone = await stage.watch(session);
  const isFlooding = async (): Promise<boolean> =>
    !(await stage.stack.sandbox.screen(session)).includes("1000000");
  await stage.keys(session, "Enter");
  let inTheMidst = 0;
  for (let cut = 0; cut < CUTS; cut++) {
    if (await isFlooding()) inTheMidst += 1;
    await phone.cut();
  }
  await phone.shows("1000000");
  const what = `a flood of 1,000,000 lines after ${CUTS} cuts, ${inTheMidst} of them during the flood`;
  figure(what, phone, await untilEqual(stage, { phone, session, what }));
});

Deno.test("mirror cells: state set before the mirror began, which tmux does not report, is right once the program is quiet [ux-resume]", async (t) => {
  await using stage = await makeMirrorStage();
  using pane = await makeDrawnPane(stage.stack.sandbox, { cols: COLS, rows: ROWS });
  const { session } = pane;
  const before: Record<string, [set: string, drawn: string]> = {
    attributes: ["\u001b[1;31;44m", "red on blue, bold"],
    "a character set": ["\u001b(0", "\u001b[0mlqqk"],
    "a shift to the other character set": ["\u001b)0\u000e", "\u001b[0mmqqj"],
    "a saved cursor": ["\u001b[9;9H\u001b[35m\u001b7\u001b[0m\u001b[H", "\u001b[0mhome\u001b8there"],
    "insert mode": ["abc\u001b[1;1H\u001b[4h", "\u001b[0mxyz"],
    "a region in origin mode": ["\u001b[5;9r\u001b[?6h", "\u001b[0ma\r\nb\r\nc\r\nd\r\ne\r\nf"],
  };
  for (const [name, [set, drawn]] of Object.entries(before)) {
    await t.step(name, async () => {
      await pane.draw(`\u001bc${set}`);
      await pane.settled();
      const phone = await stage.watch(session);
      for (const what of [name, `${name}, once more`]) {
        await pane.draw(drawn);
        await pane.settled();
        figure(what, phone, await untilEqual(stage, { phone, session, what }));
      }
      phone[Symbol.dispose]();
    });
  }
});

Deno.test("mirror cells: the comparison itself sees each kind of difference", async () => {
  await using stage = await makeMirrorStage();
  using pane = await makeDrawnPane(stage.stack.sandbox, { cols: 40, rows: 5 });
  const phone = await stage.watch(pane.session);
  await pane.draw("one 漢 \u001b[31mred\u001b[0m");
  await pane.settled();
  await untilEqual(stage, { phone, session: pane.session, what: "the same" });
  const spoilt: [string, "characters" | "attributes" | "unreported" | "facts"][] = [
    ["\u001b[1;1HO", "characters"],
    ["\u001b[1;5Hxx", "characters"],
    ["\u001b[1;8H\u001b[32mr\u001b[0m", "attributes"],
    ["\u001b[3;1H\u001b[41m \u001b[0m", "unreported"],
    ["\u001b[5;5H", "facts"],
    ["\u001b[?1h", "facts"],
  ];
  for (const [output, kind] of spoilt) {
    await phone.reopen();
    await untilEqual(stage, { phone, session: pane.session, what: "the same again" });
    await new Promise<void>((resolve) => phone.terminal.write(output, resolve));
    const found = await compare(phone.terminal, stage.tmux, `=${pane.session}:`);
    assert.notDeepEqual(found[kind], [], JSON.stringify(output));
    assert.equal(isEqual(found), kind === "unreported" && found.facts.length === 0);
  }
});
