/** Finds an agent's composer by the frame that is drawn around it. Every search reads each row once. */
import { columnsOf, sliceColumns } from "../async/columns.ts";

export interface Composer {
  /** The first row of its text, from 0 at the top of the screen. */
  top: number;
  /** The column in which its text begins, from 0. */
  left: number;
  /** Its last row, the frame included; the footer is below. */
  bottom: number;
  /** What it shows, without prompt and indent. This may be the agent's own hint while nothing is typed. */
  text: string;
  /** The text runs as a shell command when it is submitted. */
  shell: boolean;
  /** The rows below it up to the last one that is not blank, starting at the frame's column. */
  footer: readonly string[];
  /** Part of the text may be scrolled out of view. */
  cut?: true;
}

export interface Prompt {
  /** Matched against the first row from the frame's column on; its first group is the prompt's sign. */
  sign: RegExp;
  /** Columns from the frame to the text. */
  width: number;
  /** How many blank columns the frame may be indented by. */
  margin?: number;
  /** The upper rule shows the number of rows that are scrolled out above, including the one with the sign. */
  countsRows?: true;
}

const SHELL_SIGN = "!";
/** A shorter run of frame characters is text. */
const RULE_COLUMNS = 10;
/** More rows than any agent draws below its composer, including its list of commands. */
const FOOTER_ROWS = 24;
/** A composer higher than this fraction of the screen scrolls its text. */
const CUT_SHARE = 3;
const UPPER = new Set("─▄");
const LOWER = new Set("─▀");

export function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === "";
}

/** Index of the last row that is not blank; -1 without one. */
export function lastRow(lines: readonly string[]): number {
  let row = lines.length - 1;
  while (row >= 0 && isBlank(lines[row])) row--;
  return row;
}

function textOf(rows: readonly string[], left: number): string {
  return rows.map((row) => row.slice(left).trimEnd()).join("\n").trim();
}

/** The column where a rule begins that runs to the end of the line: the first column, or the one after a side bar. */
function ruleStart(line: string | undefined, margin = 0): number {
  const text = line?.trimEnd() ?? "";
  let start = text.length;
  while (start > 0 && LOWER.has(text[start - 1] ?? "")) start--;
  const isFirst = start <= margin && isBlank(text.slice(0, start));
  const isLong = text.length - start >= RULE_COLUMNS;
  return isLong && (isFirst || text[start - 1] === "│") ? start : -1;
}

/** The upper rule may contain a name. */
function isUpperRule(line = ""): boolean {
  const [first, second, third] = line;
  return [first, second, third].every((character) => character !== undefined && UPPER.has(character));
}

function isIndented(line: string | undefined, width: number): boolean {
  return isBlank(line?.slice(0, width));
}

/** Rules that may be below the composer: a narrow terminal leaves parts of earlier drawings there. */
const LOWER_RULES = 3;

/**
 * The composer between a rule near the screen's end, which runs to the right edge, and the rule above its prompt. Every
 * row between them is the prompt's or indented like its text. There may be side bars to the left.
 */
export function composerInRules(lines: readonly string[], prompt: Prompt): Composer | undefined {
  const last = lastRow(lines);
  let rules = 0;
  for (let bottom = last - 1; bottom > 1 && bottom >= last - FOOTER_ROWS && rules < LOWER_RULES; bottom--) {
    const frame = ruleStart(lines[bottom], prompt.margin);
    if (frame < 0) continue;
    rules++;
    const column = columnsOf(lines[bottom]?.slice(0, frame) ?? "");
    const rows = column === 0 ? lines : lines.map((line) => sliceColumns(line, column));
    const found = composerAbove(rows, { bottom, prompt });
    if (found !== undefined) {
      return { ...found, left: column + prompt.width, footer: rows.slice(bottom + 1, last + 1) };
    }
  }
  return undefined;
}

/** The upper rule while rows of the text, including the prompt's sign, are scrolled out above. */
const ROWS_ABOVE = /^─+ ↑ \d+ more ─+$/u;

function composerAbove(
  lines: readonly string[],
  { bottom, prompt }: { bottom: number; prompt: Prompt },
): Omit<Composer, "footer" | "left"> | undefined {
  const { width } = prompt;
  let top = bottom - 1;
  while (top > 0 && isIndented(lines[top], width)) top--;
  if (prompt.countsRows && top < bottom - 1 && ROWS_ABOVE.test(lines[top] ?? "")) {
    // The sign of the shell mode is never scrolled out.
    const text = textOf(lines.slice(top + 1, bottom), width);
    return { top: top + 1, bottom, text, shell: false, cut: true };
  }
  const sign = prompt.sign.exec(lines[top] ?? "")?.[1];
  if (sign === undefined || !isUpperRule(lines[top - 1])) return undefined;
  const rows = lines.slice(top, bottom);
  return {
    top,
    bottom,
    text: textOf(rows, width),
    shell: sign === SHELL_SIGN,
    ...(rows.length * CUT_SHARE > lines.length ? { cut: true } : {}),
  };
}

/** The mark at the right edge of the first row while text is scrolled out above it. */
const SCROLLED = /↑$/u;

/**
 * The composer after the last prompt in the first column; a blank row separates it from the footer. A draft taller than
 * the screen pushes the footer off it.
 */
export function composerAtPrompt(lines: readonly string[], prompt: Prompt): Composer | undefined {
  const last = lastRow(lines);
  let gap = last;
  while (gap > 0 && !isBlank(lines[gap]) && last - gap < FOOTER_ROWS) gap--;
  const whole = upToPrompt(lines, { end: gap, prompt });
  if (whole !== undefined && !SCROLLED.test(lines[whole.top] ?? "")) {
    return { ...whole, bottom: gap, footer: lines.slice(gap + 1, last + 1) };
  }
  const cut = upToPrompt(lines, { end: last + 1, prompt });
  if (cut === undefined || !SCROLLED.test(lines[cut.top] ?? "")) return undefined;
  return { ...cut, text: withoutMark(cut.text), footer: [], cut: true };
}

/** Rows between the rule and the prompt: a hint, and one blank row or more. */
const ROWS_UNDER_RULE = 5;

/**
 * The composer between two blank rows, drawn when the terminal has too few colors for a frame: above it is a rule from
 * edge to edge with a hint below the rule, and right below it is the footer.
 */
export function composerUnderRule(lines: readonly string[], prompt: Prompt): Composer | undefined {
  const last = lastRow(lines);
  let gaps = 0;
  for (let gap = last - 1; gap > 0 && gap >= last - FOOTER_ROWS && gaps < LOWER_RULES; gap--) {
    if (!isBlank(lines[gap])) continue;
    gaps++;
    const found = upToPrompt(lines, { end: gap, prompt });
    if (found !== undefined && isUnderRule(lines, found.top)) {
      return { ...found, bottom: gap, footer: lines.slice(gap + 1, last + 1) };
    }
  }
  return undefined;
}

function isUnderRule(lines: readonly string[], top: number): boolean {
  if (!isBlank(lines[top - 1])) return false;
  let rule = top - 2;
  while (rule >= top - 1 - ROWS_UNDER_RULE && ruleStart(lines[rule]) !== 0) rule--;
  const hints = lines.slice(rule + 1, top).filter((line) => !isBlank(line));
  return rule >= 0 && ruleStart(lines[rule]) === 0 && !isBlank(lines[rule + 1]) && hints.length > 0;
}

/** Without the mark at the end of the first row. */
function withoutMark(text: string): string {
  const end = text.indexOf("\n");
  const first = end < 0 ? text : text.slice(0, end);
  return `${first.slice(0, -1).trimEnd()}${end < 0 ? "" : text.slice(end)}`;
}

/** The rows before `end` up to the nearest prompt, all indented like its text. */
function upToPrompt(
  lines: readonly string[],
  { end, prompt }: { end: number; prompt: Prompt },
): Omit<Composer, "footer"> | undefined {
  let top = end - 1;
  while (top >= 0 && isIndented(lines[top], prompt.width)) top--;
  const sign = prompt.sign.exec(lines[top] ?? "")?.[1];
  if (sign === undefined) return undefined;
  const text = textOf(lines.slice(top, end), prompt.width);
  return { top, left: prompt.width, bottom: end - 1, text, shell: sign === SHELL_SIGN };
}

const BAR = "┃";
const BAR_END = "╹";
const EDGE = "▀";
/** Columns from the bar to the text. */
const BAR_INDENT = 3;
/** Below the text: a blank row and the row that names the mode. */
const ROWS_UNDER_TEXT = 2;

interface Edge {
  bottom: number;
  frame: number;
  width: number;
}

/** The lowest row with an uninterrupted `╹▀▀▀`. */
function lowerEdge(lines: readonly string[]): Edge | undefined {
  for (let bottom = lines.length - 1; bottom > 0; bottom--) {
    const line = lines[bottom] ?? "";
    const frame = line.indexOf(BAR_END);
    if (frame < 0) continue;
    let end = frame + 1;
    while (line[end] === EDGE) end++;
    const isWhole = isBlank(line.slice(0, frame)) && isBlank(line.slice(end));
    return isWhole && end - frame > RULE_COLUMNS ? { bottom, frame, width: end - frame } : undefined;
  }
  return undefined;
}

/** Menus have a bar on the right too. */
function isBarRow(line: string | undefined, { frame, width }: Edge): boolean {
  const right = frame + width - 1;
  return line?.[frame] === BAR && isBlank(line.slice(0, frame)) &&
    sliceColumns(line, right, right + 1) !== BAR;
}

/** The composer beside a bar that ends in `╹▀▀▀`, with a blank row above and below the text. */
export function composerAtBar(lines: readonly string[]): Composer | undefined {
  const edge = lowerEdge(lines);
  if (edge === undefined) return undefined;
  const { bottom, frame, width } = edge;
  let first = bottom;
  while (first > 0 && isBarRow(lines[first - 1], edge)) first--;
  const right = frame + width;
  // Without a side bar nothing is cut: how many columns a joined emoji takes is uncertain.
  const hasSide = lines.some((line) => 2 * line.length > right && !isBlank(sliceColumns(line, right)));
  const withoutSide = (line = ""): string => hasSide ? sliceColumns(line, 0, right) : line;
  const inside = (row: number): string => withoutSide(lines[row]).slice(frame + 1);
  const [top, end] = [first + 1, bottom - ROWS_UNDER_TEXT];
  if (end <= top || !isBlank(inside(first)) || !isBlank(inside(end)) || isBlank(inside(bottom - 1))) {
    return undefined;
  }
  const left = frame + BAR_INDENT;
  const rows = lines.slice(top, end).map(withoutSide);
  const shell = /^Shell(?: {2}|$)/.test(inside(bottom - 1).trim());
  const footer = lines.slice(bottom + 1, lastRow(lines) + 1);
  return {
    top,
    left,
    bottom,
    text: textOf(rows, left),
    shell,
    footer,
    ...(rows.length * CUT_SHARE > lines.length ? { cut: true } : {}),
  };
}
