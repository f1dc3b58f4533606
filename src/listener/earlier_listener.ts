/** What an earlier listener has left when this one starts: in tmux, and typed messages that ended at the relay. */
import { runtime } from "#runtime";
import { systemClock } from "../async/clock.ts";
import { errorText } from "../async/error_text.ts";
import { RelayError } from "../client/relay_error.ts";
import { type Journal, JOURNAL_RETENTION_MS, type JournalStep } from "../home/journal.ts";
import type { Push, PushRecord } from "../protocol/push.ts";
import { verbs } from "../tmux/argv.ts";
import { endOrphanedClients } from "../tmux/leftovers.ts";
import { ownerOfBuffer } from "./inject/guard.ts";
import { restoreAllWindowSizes } from "./mirror/act_on_pane.ts";
import type { Targets } from "./targets.ts";

/** Messages that are looked up; of more, the latest. */
const LOOKED_UP_MAX = 100;
/** Other messages wait for the search for no longer than this. */
const SEARCH_LIMIT_MS = 5_000;

export interface EndedAtRelayOptions {
  journal: Pick<Journal, "unfinished" | "record">;
  /** Throws RelayError. */
  find(id: string, options: { signal: AbortSignal }): Promise<PushRecord>;
  /** Takes the push as if the relay had sent it. Must not throw. */
  receive(push: Push): Promise<void>;
  log(line: string): void;
  /** Epoch milliseconds. */
  now?(): number;
}

/** An entry of the journal for a text that may be in a composer. */
interface Typed {
  id: string;
  /** Epoch milliseconds. */
  at: number;
}

/**
 * Messages that an earlier listener typed without submitting them, and that ended at the relay while no listener ran. The
 * relay does not send them again, so they are fetched: their text may still be in a composer.
 */
export class EndedAtRelay {
  readonly #options: EndedAtRelayOptions;
  #typed: readonly Typed[];
  #searching: Promise<void> | undefined;

  constructor(options: EndedAtRelayOptions) {
    this.#options = options;
    const typed = options.journal.unfinished().filter(({ step }) => step !== "accepted");
    this.#typed = typed.slice(-LOOKED_UP_MAX);
  }

  /** Set while it is being found out whether a text must be removed before other messages are typed. */
  get searching(): Promise<void> | undefined {
    return this.#searching;
  }

  /** Takes the pushes that have ended, once; after a failure again at the next call. */
  search(): void {
    if (this.#typed.length > 0) this.#searching ??= this.#search();
  }

  async #search(): Promise<void> {
    const { find, receive, log } = this.#options;
    const signal = AbortSignal.timeout(SEARCH_LIMIT_MS);
    try {
      const typed = this.#typed;
      const records = await Promise.all(typed.map(({ id }) => find(id, { signal }).catch(unlessUnknown)));
      this.#typed = [];
      // Together, because each write waits for the disk, and other messages wait for all of them.
      await Promise.all(typed.map(async (entry, place) => {
        const record = records[place];
        const end = this.#endOf(entry, record);
        if (end !== undefined) return await this.#close(entry.id, end);
        // It is never submitted, even if it has not expired.
        if (record !== undefined && endedWithout(record)) void receive({ ...record.push, expiresAt: 0 });
      }));
    } catch (error) {
      log(`an earlier message's text may stay in a composer: ${errorText(error)}`);
    } finally {
      this.#searching = undefined;
    }
  }

  /**
   * How an entry ends that would otherwise be looked up at each start: an earlier listener reported the end, or the relay
   * has removed the message. Another relay does not know a younger one either.
   */
  #endOf({ at }: Typed, record: PushRecord | undefined): JournalStep | undefined {
    if (record === undefined) {
      const isOld = (this.#options.now ?? systemClock.now)() - at > JOURNAL_RETENTION_MS;
      return isOld ? { step: "done", outcome: "unknown", reason: "interrupted" } : undefined;
    }
    const { final, state } = record.receipt;
    return final && !endedWithout(record) ? { step: "done", outcome: state } : undefined;
  }

  async #close(id: string, end: JournalStep): Promise<void> {
    await this.#options.journal.record(id, end).catch((error) => {
      this.#options.log(`push ${id}: the journal cannot be written: ${errorText(error)}`);
    });
  }
}

/** True if the relay may have ended it itself. One that is open it sends again; any other end came from a listener. */
function endedWithout({ receipt: { final, state } }: PushRecord): boolean {
  return final && (state === "expired" || state === "unknown" || state === "withdrawn");
}

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof RelayError) || error.code !== "unknown_push") throw error;
}

/**
 * Undoes, when a listener starts, what a killed one left in tmux: ends orphaned clients, restores the sizes of
 * windows that were fitted to a phone, and removes texts from paste buffers. Never rejects.
 */
export async function undoKilledListener(
  targets: Pick<Targets, "sessions" | "anyServer">,
  log: (line: string) => void,
): Promise<void> {
  await endOrphanedClients(runtime.commands).catch((error) => log(`tmux clients: not ended: ${error}`));
  await restoreAllWindowSizes(targets).catch((error) => log(`windows: sizes not restored: ${error}`));
  await removeTexts(targets).catch((error) => log(`tmux buffers: not removed: ${error}`));
}

/** Removes the paste buffers of listeners that are gone. Their messages are typed from the journal, if at all. */
async function removeTexts(targets: Pick<Targets, "sessions" | "anyServer">): Promise<void> {
  const sockets = new Set((await targets.sessions()).map(({ socket }) => socket));
  for (const socket of sockets) {
    const server = targets.anyServer(socket);
    for (const name of (await server.run(verbs.listBuffers("#{buffer_name}"))).split("\n")) {
      const owner = ownerOfBuffer(name);
      if (owner === undefined || runtime.commands.kill(owner, 0)) continue;
      await server.run(verbs.deleteBuffer(name));
    }
  }
}
