/** Reads the pushes that arrived while the page had no link, back to the newest one that it already had. */
import type { PushPage, PushRecord } from "../protocol/push.ts";

/** `last` reaches the beginning of the history, `gap` does not reach what was read before. */
export type HistoryPage = "more" | "last" | "gap";

/** Pushes missed beyond this many pages are read when the user asks for earlier messages. */
export const MISSED_PAGES_MAX = 5;

interface MissedHistoryOptions {
  /** Undefined if it could not be read. */
  read(before: string, signal: AbortSignal): Promise<PushPage | undefined>;
  add(pushes: readonly PushRecord[], page: HistoryPage): Promise<void>;
}

/** Which pushes were listed, and whether there are older ones. */
interface Missed {
  listed: ReadonlySet<string>;
  hasMore: boolean;
}

export class MissedHistory {
  readonly #options: MissedHistoryOptions;
  /**
   * Undefined before the first read. Nothing older than `newest` is missing; it is undefined if the history was empty.
   */
  #known: { newest: string | undefined } | undefined;
  /** The pushes that the link reports directly follow those that were read. */
  #isComplete = false;

  constructor(options: MissedHistoryOptions) {
    this.#options = options;
  }

  /** Call this when a push that the link reported has been read. */
  heard(id: string): void {
    if (this.#isComplete) this.#known = { newest: id };
  }

  /** Reads the missed pushes. Call this after every connect. */
  async read(signal: AbortSignal): Promise<Missed> {
    this.#isComplete = false;
    const listed = new Set<string>();
    let newest: string | undefined;
    let before = "end";
    for (let pages = 1;; pages++) {
      const page = await this.#options.read(before, signal);
      if (page === undefined || signal.aborted) return { listed, hasMore: false };
      newest ??= page.pushes.at(-1)?.push.id;
      for (const { push } of page.pushes) listed.add(push.id);
      const isReached = this.#known === undefined || listed.has(this.#known.newest ?? "");
      const kind = kindOf(page, { isReached, pages });
      await this.#options.add(page.pushes, kind);
      if (page.next !== undefined && !isReached && kind === "more") {
        before = page.next;
        continue;
      }
      this.#known = { newest };
      this.#isComplete = !signal.aborted;
      return { listed, hasMore: page.next !== undefined };
    }
  }
}

function kindOf(
  { next }: PushPage,
  { isReached, pages }: { isReached: boolean; pages: number },
): HistoryPage {
  if (next === undefined) return "last";
  return isReached || pages < MISSED_PAGES_MAX ? "more" : "gap";
}
