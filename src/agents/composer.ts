/** Finds an agent's input line by the frame that is drawn around it. */

export interface Composer {
  /** The first row of its text, from 0 at the top of the screen. */
  top: number;
  /** The column in which its text begins, from 0. */
  left: number;
  /** Its last row, the frame included; the footer is below. */
  bottom: number;
  /** What it shows, without prompt and indent. The agent's own hint stands there too while nothing is typed. */
  text: string;
  /** What is submitted runs as a shell command. */
  shell: boolean;
}

interface Prompt {
  /** Matched against the first row from the frame's column on; its first group is the prompt's sign. */
  sign: RegExp;
  /** Columns from the frame to the text. */
  width: number;
}

const SHELL_SIGN = "!";

function textOf(rows: readonly string[], left: number): string {
  return rows.map((row) => row.slice(left).trimEnd()).join("\n").trim();
}

/** The input line between two rules, the lower of which runs to the right edge. Side bars may stand to the left. */
export function composerInRules(lines: readonly string[], prompt: Prompt): Composer | undefined {
  for (let bottom = lines.length - 1; bottom > 1; bottom--) {
    const frame = lines[bottom]?.search(/[─▀]{10,}\s*$/) ?? -1;
    if (frame < 0) continue;
    const rule = lines.findLastIndex((line, row) => row < bottom && /^[─▄]{3}/.test(line.slice(frame)));
    const sign = prompt.sign.exec(lines[rule + 1]?.slice(frame) ?? "")?.[1];
    if (rule < 0 || rule + 1 === bottom || sign === undefined) continue;
    const left = frame + prompt.width;
    const text = textOf(lines.slice(rule + 1, bottom), left);
    return { top: rule + 1, left, bottom, text, shell: sign === SHELL_SIGN };
  }
  return undefined;
}

/** The input line after the last prompt in the first column; a blank row parts it from the footer. */
export function composerAtPrompt(lines: readonly string[], prompt: Prompt): Composer | undefined {
  const top = lines.findLastIndex((line) => prompt.sign.test(line));
  if (top < 0) return undefined;
  const last = lines.findLastIndex((line) => line.trim() !== "");
  const gap = lines.findLastIndex((line, row) => row > top && row < last && line.trim() === "");
  const end = gap < 0 ? last + 1 : gap;
  const sign = prompt.sign.exec(lines[top] ?? "")?.[1];
  const text = textOf(lines.slice(top, end), prompt.width);
  return { top, left: prompt.width, bottom: end - 1, text, shell: sign === SHELL_SIGN };
}

const BAR = "┃";
/** Columns from the bar to the text. */
const BAR_INDENT = 3;
/** Below the text: a blank row and the row that names the mode. */
const ROWS_UNDER_TEXT = 2;

/** The input line beside a bar that ends in `╹▀▀▀`, with a blank row above the text; menus have a bar on the right too. */
export function composerAtBar(lines: readonly string[]): Composer | undefined {
  const bottom = lines.findLastIndex((line) => /╹▀{5,}/.test(line));
  const frame = lines[bottom]?.indexOf("╹") ?? -1;
  const width = /╹▀+/.exec(lines[bottom] ?? "")?.[0].length ?? 0;
  const isRow = (line: string): boolean =>
    line[frame] === BAR && !line.slice(frame + 1, frame + width).trimEnd().endsWith(BAR);
  const above = lines.slice(0, Math.max(0, bottom)).findLastIndex((line) => !isRow(line));
  const top = above + 2;
  const end = bottom - ROWS_UNDER_TEXT;
  if (bottom < 0 || end <= top - 1) return undefined;
  const left = frame + BAR_INDENT;
  const rows = lines.slice(top, bottom).map((row) => row.slice(0, frame + width));
  const shell = /^Shell\b/.test(textOf(rows.slice(-1), left));
  return { top, left, bottom, text: textOf(rows.slice(0, -ROWS_UNDER_TEXT), left), shell };
}
