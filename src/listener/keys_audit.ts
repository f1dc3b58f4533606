/** The audit log's lines for live input: one for each burst, because the digest of a single key would tell the key. */
import type { AuditEntry } from "../home/audit.ts";
import type { Clock } from "../client/clock.ts";
import { canonicalDigest } from "../protocol/canonical.ts";
import type { TypedInput } from "./keys_rules.ts";

/** A burst ends after so long without input. */
export const BURST_CALM_MS = 2_000;
/** Characters of one burst. */
export const BURST_MAX_CHARS = 16_384;

export interface KeysAuditOptions {
  clock: Clock;
  /** Who types where. */
  names: Pick<AuditEntry, "device" | "session" | "pane">;
  record(entry: AuditEntry): void;
}

export class KeysAudit {
  readonly #options: KeysAuditOptions;
  #text = "";
  #outcome = "";
  #cancel: () => void = () => {};
  /** Entries that are being digested. */
  #writing: Promise<void> = Promise.resolve();

  constructor(options: KeysAuditOptions) {
    this.#options = options;
  }

  /** `outcome` as in an audit entry. Another outcome begins another burst. */
  add(input: TypedInput, outcome: string): void {
    if (outcome !== this.#outcome || this.#text.length > BURST_MAX_CHARS) this.#end();
    this.#outcome = outcome;
    this.#text += input.type === "key" ? `<${input.key}>` : input.text;
    this.#cancel();
    this.#cancel = this.#options.clock.after(BURST_CALM_MS, () => this.#end());
  }

  /** Resolves once everything is recorded. */
  async close(): Promise<void> {
    this.#end();
    await this.#writing;
  }

  #end(): void {
    this.#cancel();
    const { names, clock, record } = this.#options;
    const [text, outcome] = [this.#text, this.#outcome];
    this.#text = "";
    if (text === "") return;
    const time = new Date(clock.now()).toISOString();
    this.#writing = this.#writing.then(async () => {
      record({ time, ...names, digest: await canonicalDigest(text), length: text.length, outcome });
    });
  }
}
