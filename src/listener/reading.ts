/** What a phone may read over a mirror that its pairing's secret has proven: a card's long request, and the audit log. */
import type { Clock } from "../async/clock.ts";
import { TokenBuckets } from "../async/token_bucket.ts";
import { errorText } from "../async/error_text.ts";
import type { Audit } from "../home/log_files.ts";
import type { ReadInput } from "../protocol/key_input.ts";
import type { MirrorStatus } from "../protocol/pane_frame.ts";
import type { Cards } from "./cards/cards.ts";

/** Pages of the audit log that a phone reads: each may need the whole file. */
const PAGES = { perSecond: 1, burst: 10 };

export interface Reader {
  session: string;
  /** The phone's device id. */
  phone: string;
}

interface ReadingOptions {
  cards: Pick<Cards, "part">;
  audit: Pick<Audit, "page">;
  clock: Pick<Clock, "elapsed">;
  log(line: string): void;
}

export class Reading {
  readonly #options: ReadingOptions;
  readonly #pages = new TokenBuckets(PAGES);

  constructor(options: ReadingOptions) {
    this.#options = options;
  }

  /** Undefined when the phone has read too much, or the log cannot be read: it asks again. Never rejects. */
  async answer(input: ReadInput, reader: Reader): Promise<MirrorStatus | undefined> {
    const { cards, clock } = this.#options;
    if (input.type === "card.part") {
      const part = cards.part(input, reader);
      return part && { part };
    }
    const wait = this.#pages.take(reader.phone, clock.elapsed());
    return wait > 0 ? undefined : await this.#page(input.skip);
  }

  async #page(skip: number): Promise<MirrorStatus | undefined> {
    try {
      return { audit: await this.#options.audit.page(skip) };
    } catch (error) {
      this.#options.log(`the audit log could not be read for a phone: ${errorText(error)}`);
      return undefined;
    }
  }
}
