/** Opens a push: its seal, and whether that is enough for this host; and records it before anything is done with it. */
import { errorText } from "../async/error_text.ts";
import { isEnough, type Sealing } from "../crypto/mode.ts";
import type { Journal } from "../home/journal.ts";
import type { Push } from "../protocol/push.ts";
import { type EarlierTyping, type Outcome, refused } from "./inject/context.ts";
import { faultOf, NOT_TAKEN, type Unsealed } from "./sealing.ts";

export interface OpenOptions {
  unseal(push: Push): Promise<Unsealed>;
  /** Called before a push is journalled, perhaps more than once, if it is authentic or needs no seal. Must not throw. */
  prepare(push: Push): void;
  journal: Pick<Journal, "state" | "record" | "take">;
  /** The weakest sealing that this host accepts now. */
  floor(): Promise<Sealing>;
  log(line: string): void;
}

export class PushOpener {
  readonly #options: OpenOptions;
  /** The last floor that was read allowed pushes without a seal. */
  #takesPlain = false;

  constructor(options: OpenOptions) {
    this.#options = options;
  }

  /**
   * The push with its text, recorded in the journal; or its outcome; or undefined if the host's files cannot be used, which
   * only the first try of a push logs.
   */
  async open(push: Push, { isFirst = true } = {}): Promise<Push | Outcome | undefined> {
    const { journal, log, prepare } = this.#options;
    try {
      // Only reading may come before the journal.
      if (push.sealed === undefined && this.#takesPlain) prepare(push);
      const floor = await this.#options.floor();
      this.#takesPlain = isEnough("off", floor);
      const fault = faultOf(push, floor);
      if (fault !== undefined) return refused(fault);
      const { found, seal } = push.sealed ? await this.#options.unseal(push) : { found: push };
      if (!("state" in found)) prepare(found);
      // What is typed waits for the disk by itself, and that syncs this as well.
      const sync = push.type !== "agent.command";
      if (seal === undefined) {
        const isNew = !("state" in found) && leftIn(journal, push) === undefined;
        if (isNew) await journal.record(push.id, { step: "accepted" }, { sync });
        return found;
      }
      const verdict = await journal.take(push.id, seal, { sync });
      return verdict === "taken" ? found : refused(NOT_TAKEN[verdict]);
    } catch (error) {
      if (isFirst) log(`push ${push.id}: not taken, the host's files cannot be used: ${errorText(error)}`);
      return undefined;
    }
  }
}

/** What the journal says of a text that an earlier listener typed before it stopped, without pressing Enter. */
export function leftIn(journal: Pick<Journal, "state">, { id }: Pick<Push, "id">): EarlierTyping | undefined {
  const known = journal.state(id);
  return known?.step === "left" ? { emptyAt: known.emptyAt, shown: known.shown } : undefined;
}
