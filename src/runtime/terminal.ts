/** What both runtimes do alike with the terminal: a loop over its keys, in raw mode while it runs. */

/** A runtime's access to the keys. */
export interface KeySource {
  setRaw(on: boolean): void;
  /** The next bytes, or undefined at the end of input. */
  read(): Promise<Uint8Array | undefined>;
  /** Ends a pending read and frees the input. */
  stop(): Promise<void> | void;
}

/** Calls `open` when a loop starts. Leaving the loop cancels its pending read. */
export function rawInput(open: () => KeySource): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => iterate(open()) };
}

function iterate(source: KeySource): AsyncIterator<Uint8Array> {
  let isOver = false;
  const end = (): IteratorReturnResult<undefined> => {
    isOver = true;
    source.setRaw(false);
    return { done: true, value: undefined };
  };
  return {
    async next() {
      if (isOver) return end();
      source.setRaw(true);
      const value = await source.read();
      return value === undefined ? end() : { done: false, value };
    },
    async return() {
      end();
      await source.stop();
      return { done: true, value: undefined };
    },
  };
}

/** For an output that is not a terminal. */
export const DEFAULT_SIZE: Readonly<{ columns: number; rows: number }> = { columns: 80, rows: 24 };
