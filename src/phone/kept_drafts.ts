/** Keeps the unsent texts of this page for the next one. */
import type { PhoneState } from "./state.ts";
import type { PhoneStorage } from "./storage.ts";

export class KeptDrafts {
  readonly #storage: Pick<PhoneStorage, "putDraft">;
  #kept: PhoneState["drafts"] = {};

  constructor(storage: Pick<PhoneStorage, "putDraft">) {
    this.#storage = storage;
  }

  /** What an earlier page has kept. */
  restored(drafts: PhoneState["drafts"]): void {
    this.#kept = drafts;
  }

  /** Call this after every change of the state. */
  keep({ drafts, signIn }: Pick<PhoneState, "drafts" | "signIn">): void {
    const kept = this.#kept;
    if (drafts === kept || signIn.kind !== "in") return;
    this.#kept = drafts;
    for (const key of new Set([...Object.keys(kept), ...Object.keys(drafts)])) {
      if (drafts[key] !== kept[key]) void this.#storage.putDraft(key, drafts[key] ?? "");
    }
  }
}
