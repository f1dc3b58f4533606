/** Screens that are expensive to read: long runs of what agents draw, up to 1000x500. */
import type { Screen } from "../../src/agents/profile.ts";

export interface HostileScreen {
  name: string;
  screen: Screen;
}

interface Size {
  columns: number;
  rows: number;
}

/** Sizes below, at and above the readers' limit. */
const SIZES: readonly Size[] = [
  { columns: 80, rows: 24 },
  { columns: 200, rows: 300 },
  { columns: 600, rows: 60 },
  { columns: 600, rows: 300 },
  { columns: 1_000, rows: 500 },
];

/** Text that fills a line by repetition. */
const RUNS = [
  ...["─", "▀", "▄", "▔", "╌", "│", "┃", "╹▀", " ", "❯ ", "› ", " > ", "→ ", "● ", "~"],
  ...[
    "enter ",
    "esc to cancel ",
    "Enter to ",
    "[Sessions] ",
    "· ",
    "… ",
    "Allow once ",
    "select ",
    "1. Yes ",
  ],
  ...["1,1 ", "a (y) ", "⠋ "],
];

/** Text before and after the repeated text. */
const EDGES: readonly (readonly [string, string])[] = [["", ""], ["  ", "x"], ["❯ ", " esc"], ["", "─x"], [
  "a",
  "x",
]];

function lineOf(
  columns: number,
  { run, edge: [before, after] }: { run: string; edge: readonly [string, string] },
) {
  const length = columns - before.length - after.length;
  return before + run.repeat(Math.ceil(length / run.length)).slice(0, length) + after;
}

/** All lines are equal, except every `period`-th, which repeats another text. */
function linesOf({ columns, rows }: Size, { at, period }: { at: number; period: number }): string[] {
  const edge = EDGES[at % EDGES.length] ?? ["", ""];
  const line = (index: number): string => lineOf(columns, { run: RUNS[index % RUNS.length] ?? " ", edge });
  const [one, other] = [line(at), line(at + period)];
  return Array.from({ length: rows }, (_, row) => row % period === 0 ? other : one);
}

/** Returns the hostile screen with this number, at this size. */
export function hostileScreen(at: number, size: Size): HostileScreen {
  const period = 1 + at % 7;
  const lines = linesOf(size, { at, period });
  const cursor = { x: at % size.columns, y: size.rows - 1 - at % 5, visible: at % 2 === 0 };
  const name = `${at}: "${RUNS[at % RUNS.length]}" and "${
    RUNS[(at + period) % RUNS.length]
  }", ${size.columns}x${size.rows}`;
  return { name, screen: { lines, title: "", cursor } };
}

/** Returns the first `count` hostile screens, always the same. */
export function hostileScreens(count = 200): HostileScreen[] {
  return Array.from(
    { length: count },
    (_, at) => hostileScreen(at, SIZES[at % SIZES.length] ?? { columns: 80, rows: 24 }),
  );
}
