/** Until when the user has read what agents sent, by the relay's clock alone: the phone's may be wrong. */
import type { Clock } from "../async/clock.ts";
import { ALL_SEEN } from "./attention.ts";
import { newestAt } from "./inbox.ts";
import { relayNow, type Store } from "./state.ts";
import type { PhoneStorage } from "./storage.ts";

interface ReadMarksOptions {
  store: Store;
  storage: Pick<PhoneStorage, "putSeen">;
  clock: Clock;
}

export class ReadMarks {
  readonly #options: ReadMarksOptions;

  constructor(options: ReadMarksOptions) {
    this.#options = options;
  }

  /** The relay's clock is known from now on. What came before this phone's first connection counts as read. */
  begin(): void {
    const { store, clock } = this.#options;
    const state = store.get();
    if (state.seen[ALL_SEEN] === undefined) this.#mark(ALL_SEEN, relayNow(state, clock.now()));
  }

  /** The user has this in view: what came until now is read. */
  read(key: string): void {
    const state = this.#options.store.get();
    const isBeforeBegin = key === ALL_SEEN && state.seen[key] === undefined;
    if (state.isRestored && !isBeforeBegin) this.#mark(key, newestAt(state.inbox));
  }

  #mark(key: string, at: number): void {
    const { store, storage } = this.#options;
    const before = store.get();
    store.dispatch({ type: "seen", key, at });
    if (store.get() !== before) void storage.putSeen(key, at);
  }
}
