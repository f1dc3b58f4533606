/** Pages of the history one after the other, with a turn for everyone else between two of them. */
import { afterReads } from "../runtime/sqlite.ts";

export class PageTurns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` once the pages before it are done and whatever came in meanwhile was heard. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => new Promise<void>((resolve) => afterReads(resolve))).then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
