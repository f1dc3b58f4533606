/** Measures the time from a typed letter to its echo in a terminal. */
import type { Emulator } from "../src/phone/terminal_emulator.ts";
import { type Sample, timed } from "./measure.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Letters typed on one line before it is cleared. */
const LINE_LETTERS = 60;

export interface EchoTerminal {
  emulator: Emulator;
  type(letter: string): void;
  /** Clears the line (Ctrl-U). */
  clear(): void;
  /** Resolves at the first draw after which the condition holds. */
  drawnWhen(holds: () => boolean): Promise<void>;
}

/** Types a letter and waits until the terminal shows it; the pane's program only echoes. */
export function echoSample({ emulator, type, clear, drawnWhen }: EchoTerminal): Sample {
  const column = (): number => emulator.buffer.active.cursorX;
  let typed = 0;
  return async () => {
    if (column() >= LINE_LETTERS) {
      const isEmpty = drawnWhen(() => column() === 0);
      clear();
      await isEmpty;
    }
    const letter = LETTERS[typed++ % LETTERS.length] ?? "a";
    const next = column() + 1;
    return await timed(async () => {
      const isShown = drawnWhen(() => column() === next);
      type(letter);
      await isShown;
    });
  };
}
