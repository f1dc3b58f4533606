/** The terminal behind a mirror: xterm's own, without its view, so that the page and the tests hold the very same cells. */
import * as unicode from "@xterm/addon-unicode11";
import * as headless from "@xterm/headless";

/** Lines above the screen that are kept. */
export const SCROLLBACK_LINES = 5_000;

/** Both packages are CommonJS: their names are those of the default export, which their types do not tell. */
const { Terminal } = unwrapped(headless);
const { Unicode11Addon } = unwrapped(unicode);

export type Emulator = headless.Terminal;
export type EmulatorCell = headless.IBufferCell;
export type EmulatorLine = headless.IBufferLine;

/** tmux counts widths as Unicode 11 does, near enough. Queries in the output get no answer: nobody listens to them. */
export function makeEmulator({ cols, rows }: { cols: number; rows: number }): Emulator {
  const terminal = new Terminal({ cols, rows, allowProposedApi: true, scrollback: SCROLLBACK_LINES });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = "11";
  return terminal;
}

function unwrapped<T extends object>(names: T): T {
  return (names as { default?: T }).default ?? names;
}
