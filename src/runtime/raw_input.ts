/** The loop over a terminal's keys: raw while it runs, as it was afterwards. */

/** What a runtime offers for it. */
export interface KeySource {
  setRaw(on: boolean): void;
  /** The next bytes, or undefined at the end of input. */
  read(): Promise<Uint8Array | undefined>;
  /** Ends a pending read and frees the input. */
  stop(): Promise<void> | void;
}

/** `open` is called when a loop begins; leaving the loop ends its pending read, also while no key comes. */
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
