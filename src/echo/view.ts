/** What the echo agent shows: its banner, what it was given, and the lines that stay at the bottom. */
import { type EchoState, HELP } from "./state.ts";
import { fit } from "./width.ts";

/** The lines at the bottom, redrawn in place; the cursor stands at the end of line `cursorLine`. */
export interface Footer {
  lines: string[];
  cursorLine: number;
}

export interface Receipt {
  prompt: string;
  bytes: number;
  /** Hex, whole. */
  sha256: string;
  fromPhone: boolean;
}

const DIGEST_SHOWN_CHARS = 12;
const QUEUE_SHOWN = 3;
export const PERMISSION_QUESTION = 'Allow the command "rm -rf build"?';

/** Without the control characters that a terminal would obey; LF and TAB stay. C1 is among them. */
export function displayable(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}

export function banner(version: string, directory: string): string[] {
  return [`svc echo agent ${version}`, `${displayable(directory)}`, HELP, ""];
}

export function receiptLines({ prompt, bytes, sha256, fromPhone }: Receipt): string[] {
  const origin = fromPhone ? " (from the phone)" : "";
  return [
    ...displayable(prompt).split("\n").map((line) => `│ ${line}`),
    `└ ${bytes} bytes · sha256 ${sha256.slice(0, DIGEST_SHOWN_CHARS)}${origin}`,
    "",
  ];
}

export function footer(state: EchoState, columns: number): Footer {
  // One column stays free: a line as wide as the terminal would wrap.
  const width = Math.max(columns - 1, 1);
  return state.dialog ? dialogFooter(state.dialog.row, width) : lineFooter(state, width);
}

function dialogFooter(row: 0 | 1, width: number): Footer {
  const rows = ["1. Yes", "2. No"].map((text, index) => `${index === row ? "❯" : " "} ${text}`);
  const lines = [PERMISSION_QUESTION, ...rows, "Enter to confirm · Esc to cancel"];
  return { lines: lines.map((line) => fit(line, width)), cursorLine: 1 + row };
}

function lineFooter(state: EchoState, width: number): Footer {
  const shown = state.queue.slice(0, QUEUE_SHOWN).map((prompt) => `  ↳ ${compact(prompt)}`);
  const more = state.queue.length - shown.length;
  const queue = more > 0 ? [...shown, `  ↳ … ${more} more`] : shown;
  const lines = [...queue, `❯ ${compact(state.draft)}`, statusLine(state)];
  return { lines: lines.map((line) => fit(line, width)), cursorLine: queue.length };
}

/** A text on one line. */
function compact(text: string): string {
  const [first = "", ...rest] = displayable(text).replaceAll("\t", "    ").split("\n");
  return rest.length === 0 ? first : `${first} ⏎ … [${rest.length + 1} lines]`;
}

function statusLine({ isWorking, queue, isLeaving }: EchoState): string {
  const waiting = queue.length > 0 ? ` · ${queue.length} queued` : "";
  const leaving = isLeaving ? " · ctrl-c again to leave" : "";
  return `echo · ${isWorking ? "working (esc to interrupt)" : "idle"}${waiting}${leaving}`;
}
