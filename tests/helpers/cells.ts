/** Compares a terminal, cell by cell, with what tmux currently reports for the pane. */
import { type Emulator, type EmulatorCell, makeEmulator } from "../../src/phone/terminal_emulator.ts";

/** Runs tmux on the pane's server. */
export type Tmux = (...args: string[]) => Promise<string>;

export interface Difference {
  x: number;
  y: number;
  /** Formatted as `characters/width/attributes`. */
  phone: string;
  tmux: string;
}

export interface Comparison {
  /** Differences in characters or widths. */
  characters: Difference[];
  /** Differences in the attributes of cells that tmux reports. */
  attributes: Difference[];
  /**
   * Attributes of blank cells after the last one that tmux reports: lines erased with a background color are colored on
   * the screen, but `capture-pane` omits them.
   */
  unreported: Difference[];
  /** Differences of cursor, size and modes, as `name phone tmux`. */
  facts: string[];
}

const FACTS = [
  "pane_width",
  "pane_height",
  "cursor_x",
  "cursor_y",
  "alternate_on",
  "keypad_cursor_flag",
  "keypad_flag",
  "insert_flag",
  "origin_flag",
  "wrap_flag",
  "mouse_any_flag",
] as const;
type Fact = (typeof FACTS)[number];

export async function compare(phone: Emulator, tmux: Tmux, pane: string): Promise<Comparison> {
  const format = FACTS.map((name) => `#{${name}}`).join(" ");
  const printed = await tmux(
    "display-message",
    "-p",
    "-t",
    pane,
    format,
    ";",
    "capture-pane",
    "-peN",
    "-t",
    pane,
  );
  const [first = "", ...lines] = printed.replace(/\n$/, "").split("\n");
  const reported = Object.fromEntries(
    first.split(" ").map((value, at) => [FACTS[at], Number(value)]),
  ) as Record<
    Fact,
    number
  >;
  const { terminal, ends } = await draw(lines, { cols: reported.pane_width, rows: reported.pane_height });
  const found: Comparison = {
    characters: [],
    attributes: [],
    unreported: [],
    facts: compareFacts(phone, reported),
  };
  for (let y = 0; y < reported.pane_height; y++) {
    for (let x = 0; x < reported.pane_width; x++) {
      const [seen, expected] = [cellAt(phone, x, y), cellAt(terminal, x, y)];
      const difference = {
        x,
        y,
        phone: Object.values(seen).join("/"),
        tmux: Object.values(expected).join("/"),
      };
      if (seen.characters !== expected.characters || seen.width !== expected.width) {
        found.characters.push(difference);
      } else if (seen.attributes !== expected.attributes) {
        found[x >= (ends[y] ?? 0) ? "unreported" : "attributes"].push(difference);
      }
    }
  }
  terminal.dispose();
  return found;
}

/** tmux 3.3a writes "overlined" as "blinking, kind 3". */
const OVERLINED = /(?<=\[|;)5:3(?=;|m)/g;
/**
 * The phone shows only the first of joined characters: the others have no width in tmux, but have one in other
 * terminals.
 */
const JOINED = /\u200d[^\u0000-\u007f]/gu;

/** Draws tmux's lines on a separate screen, one per row; also returns where each ends. */
async function draw(
  lines: readonly string[],
  size: { cols: number; rows: number },
): Promise<{ terminal: Emulator; ends: number[] }> {
  const terminal = makeEmulator(size);
  const write = (text: string): Promise<void> => new Promise((resolve) => terminal.write(text, resolve));
  const ends: number[] = [];
  await write("\u001b)0\u001b[?7l");
  for (const [y, line] of lines.entries()) {
    await write(`\u001b[${y + 1};1H${line.replace(OVERLINED, "53").replace(JOINED, "")}`);
    const { cursorX } = terminal.buffer.active;
    ends.push(line === "" ? 0 : cursorX === size.cols - 1 ? size.cols : cursorX);
  }
  return { terminal, ends };
}

function compareFacts(phone: Emulator, reported: Record<Fact, number>): string[] {
  const { modes, buffer, cols, rows } = phone;
  const seen: Record<Fact, number> = {
    pane_width: cols,
    pane_height: rows,
    cursor_x: buffer.active.cursorX,
    cursor_y: buffer.active.cursorY,
    alternate_on: Number(buffer.active.type === "alternate"),
    keypad_cursor_flag: Number(modes.applicationCursorKeysMode),
    keypad_flag: Number(modes.applicationKeypadMode),
    insert_flag: Number(modes.insertMode),
    origin_flag: Number(modes.originMode),
    wrap_flag: Number(modes.wraparoundMode),
    mouse_any_flag: Number(modes.mouseTrackingMode !== "none"),
  };
  return FACTS.filter((name) => seen[name] !== reported[name]).map((name) =>
    `${name} ${seen[name]} ${reported[name]}`
  );
}

interface Cell {
  characters: string;
  width: number;
  attributes: string;
}

function cellAt({ buffer }: Emulator, x: number, y: number): Cell {
  const cell = buffer.active.getLine(buffer.active.baseY + y)?.getCell(x);
  if (cell === undefined) return { characters: "(none)", width: 0, attributes: "" };
  const characters = cell.getChars();
  // An erased cell looks like a blank.
  const isBlank = characters === "" && cell.getWidth() === 1;
  return { characters: isBlank ? " " : characters, width: cell.getWidth(), attributes: attributesOf(cell) };
}

function attributesOf(cell: EmulatorCell): string {
  const flags = [
    cell.isBold() && "bold",
    cell.isDim() && "dim",
    cell.isItalic() && "italic",
    cell.isUnderline() && "underline",
    cell.isBlink() && "blink",
    cell.isInverse() && "inverse",
    cell.isInvisible() && "hidden",
    cell.isStrikethrough() && "strike",
    cell.isOverline() && "overline",
    cell.isFgDefault() || `fg ${cell.getFgColorMode()}:${cell.getFgColor()}`,
    cell.isBgDefault() || `bg ${cell.getBgColorMode()}:${cell.getBgColor()}`,
  ];
  return flags.filter((flag) => typeof flag === "string").join(" ");
}
