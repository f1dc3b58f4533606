/** Builds what tmux prints for a snapshot of a pane. */

const FACTS = {
  pane: "%3",
  dead: "0",
  cols: "10",
  rows: "4",
  cursorX: "2",
  cursorY: "1",
  cursorVisible: "1",
  insert: "0",
  cursorKeys: "0",
  keypad: "0",
  wrap: "1",
  origin: "0",
  alternate: "0",
  savedX: "4294967295",
  savedY: "4294967295",
  regionTop: "0",
  regionBottom: "3",
  mouseStandard: "0",
  mouseButton: "0",
  mouseAll: "0",
  mouseSgr: "0",
  history: "0",
  tabs: "8",
  switches: "1",
  title: "a\ttitle",
};

export interface PrintedPane {
  /** Differences from a plain pane `%3` of 10 × 4. */
  facts?: Partial<typeof FACTS>;
  /** The lines; a line that tmux wrapped ends with `↩`. */
  cells?: string;
  pending?: string;
  /** The screen behind the alternate screen. */
  behind?: string;
  history?: string;
}

export function printedPane(
  { facts = {}, cells = "\n\n\n", pending = "", behind = "", history }: PrintedPane,
): string[] {
  const joined = cells.replace(/\u001b\[[\d:;]*m/g, "").replaceAll("↩\n", "");
  return [
    ["pane", ...Object.values({ ...FACTS, ...facts })].join("\t"),
    pending,
    cells.replaceAll("↩", ""),
    joined,
    behind,
    behind,
    ...(history === undefined ? [] : [history, history]),
  ];
}
