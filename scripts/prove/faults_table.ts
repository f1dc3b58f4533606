/** The table of faults: each test prints its rows, and `deno task prove faults` collects them below its claims. */
import { say } from "../say.ts";

/** Outcomes of the messages that were sent under one fault. */
export interface FaultRow {
  fault: string;
  /** How often the fault was injected. */
  injected: number;
  /** Messages that the relay accepted. */
  sent: number;
  submitted: number;
  /** Refused with a reason, or expired. */
  refused: number;
  unknown: number;
  /**
   * Messages between the journal's `typing` and their outcome when the listener, their agent or its tmux was killed:
   * only these may be unknown.
   */
  inHand: number;
  /** Submitted to an agent that was killed before it recorded them: not lost. */
  died: number;
  /** Without a receipt, or reported as submitted but never received by the agent. */
  lost: number;
  /** Received by the agent more than once, or although the receipt says refused. */
  duplicated: number;
  outOfOrder: number;
  /** Run by a shell. */
  shell: number;
  /** Taken as the answer to an agent's dialog. */
  approved: number;
}

const COLUMNS = {
  fault: "fault",
  injected: "injected",
  sent: "sent",
  submitted: "submitted",
  refused: "refused",
  unknown: "unknown",
  inHand: "in hand at a kill",
  died: "died with its agent",
  lost: "lost",
  duplicated: "duplicated",
  outOfOrder: "out of order",
  shell: "reached a shell",
  approved: "approved a dialog",
} as const satisfies Record<keyof FaultRow, string>;

type Count = Exclude<keyof FaultRow, "fault">;

const COUNTS = Object.keys(COLUMNS).filter((name): name is Count => name !== "fault");
const MARK = "fault row: ";

export function sayRow(row: FaultRow): void {
  say(MARK + JSON.stringify(row));
}

/** Returns the rows that tests printed. */
export function rowsIn(output: string): FaultRow[] {
  const lines = output.split("\n").filter((line) => line.startsWith(MARK));
  return lines.map((line) => JSON.parse(line.slice(MARK.length)));
}

/** Returns the table with a row of sums and a check that no message is missing; empty without rows. */
export function faultsTable(rows: readonly FaultRow[]): string[] {
  if (rows.length === 0) return [];
  const zero = Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<Count, number>;
  const total: FaultRow = { fault: "all", ...zero };
  for (const row of rows) for (const name of COUNTS) total[name] += row[name];
  const cells = [Object.values(COLUMNS), ...[...rows, total].map(cellsOf)];
  const widths = Object.keys(COLUMNS).map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const lines = cells.map((row) => row.map((cell, at) => padded(cell, widths[at] ?? 0, at)).join("  "));
  return [...lines, closing(total)];
}

/** Checks that each message has one final receipt, and that there are no more unknown ones than kills explain. */
function closing({ sent, submitted, refused, unknown, inHand }: FaultRow): string {
  const sum = submitted + refused + unknown;
  const isClosed = sent === sum && unknown <= inHand;
  return `${
    isClosed ? "The accounting closes" : "THE ACCOUNTING DOES NOT CLOSE"
  }: ${sent} sent = ${submitted} submitted + ` +
    `${refused} refused + ${unknown} unknown; ${inHand} were in hand at a kill`;
}

function cellsOf(row: FaultRow): string[] {
  return [row.fault, ...COUNTS.map((name) => String(row[name]))];
}

/** Aligns text to the left and numbers to the right. */
function padded(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}
