/** Reads what came to the history while the page had no link, back to what it had read or heard of before. */
import type { PushPage, PushRecord } from "../protocol/push.ts";

/** `last` reaches the beginning of the history, `gap` does not reach what was read before. */
export type HistoryPage = "more" | "last" | "gap";

/** What is missing beyond this many pages is read when the user asks for earlier messages. */
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
  /** Undefined until something was read. Nothing that came before `newest` is missing; without it, there was nothing. */
  #known: { newest: string | undefined } | undefined;
  /** What the link reports continues what was read. */
  #isComplete = false;

  constructor(options: MissedHistoryOptions) {
    this.#options = options;
  }

  /** The link reported a push, and it was read. */
  heard(id: string): void {
    if (this.#isComplete) this.#known = { newest: id };
  }

  /** Call this after every connect. */
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
