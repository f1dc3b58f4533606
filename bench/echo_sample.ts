/** A letter's way to its echo in a terminal, whatever lies between. */
import type { Emulator } from "../src/phone/terminal_emulator.ts";
import { type Sample, timed } from "./measure.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Letters typed on one line before it is begun anew. */
const LINE_LETTERS = 60;

export interface EchoTerminal {
  emulator: Emulator;
  type(letter: string): void;
  /** Ctrl-U: the line is empty again. */
  clear(): void;
  /** Resolves at the first drawing after which it holds. */
  drawnWhen(holds: () => boolean): Promise<void>;
}

/** Types a letter and waits until the terminal shows it; the pane's program echoes and nothing else. */
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
