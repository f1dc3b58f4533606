/** Reports pushes' outcomes to the relay, with the host's proof for those that a paired phone sealed. */
import { errorText } from "../async/error_text.ts";
import { setNewest } from "../async/newest.ts";
import { receiptProof } from "../crypto/paired_secret.ts";
import type { EventData } from "../protocol/frames.ts";
import type { Push } from "../protocol/push.ts";

export type Acknowledgement = EventData<"push.ack">;

/** Pushes awaiting their final acknowledgement. Beyond this, the oldest are acknowledged without proof. */
const PENDING_MAX = 10_000;

export interface AcknowledgerOptions {
  /** The secret this host shares with a phone. */
  secretOf(phone: string): Promise<CryptoKey | undefined>;
  /** The secret of this host's own `svc send`. The relay may list its key under any name. */
  ownSecret(): Promise<CryptoKey | undefined>;
  /** True if the journal keeps this push's outcome no matter what else arrives. Only such an outcome gets a proof. */
  isLasting(id: string): boolean;
  send(ack: Acknowledgement): void;
  log(line: string): void;
}

interface Proving {
  from: string;
  /** An Error if it could not be read; it is then read again when it is needed. */
  secret: Promise<CryptoKey | Error | undefined>;
  /** Acknowledgements of one push are sent in order. */
  sent: Promise<void>;
}

export class Acknowledger {
  readonly #options: AcknowledgerOptions;
  readonly #proving = new Map<string, Proving>();

  constructor(options: AcknowledgerOptions) {
    this.#options = options;
  }

  /** Called for each incoming push. */
  expect({ id, sealed, from }: Push): void {
    if (sealed?.mode !== "psk" || this.#proving.has(id)) return;
    const secret = this.#secretFor(from).catch((error) => new Error(errorText(error)));
    setNewest(this.#proving, [id, { from, secret, sent: Promise.resolve() }], { max: PENDING_MAX });
  }

  acknowledge(ack: Acknowledgement): void {
    const proving = this.#proving.get(ack.id);
    if (proving === undefined) return this.#options.send(ack);
    if (ack.final) this.#proving.delete(ack.id);
    const isProven = !ack.final || this.#options.isLasting(ack.id);
    proving.sent = proving.sent.then(async () => {
      const proof = isProven ? await this.#proof(ack, proving) : undefined;
      this.#options.send({ ...ack, ...(proof ? { proof } : {}) });
    });
  }

  async #secretFor(from: string): Promise<CryptoKey | undefined> {
    return await this.#options.secretOf(from) ?? await this.#options.ownSecret();
  }

  async #proof(ack: Acknowledgement, { from, secret: known }: Proving): Promise<string | undefined> {
    try {
      const found = await known;
      const secret = found instanceof Error ? await this.#secretFor(from) : found;
      return secret && await receiptProof(secret, { ...ack, state: ack.outcome });
    } catch (error) {
      this.#options.log(`push ${ack.id}: acknowledged without proof: ${errorText(error)}`);
      return undefined;
    }
  }
}
