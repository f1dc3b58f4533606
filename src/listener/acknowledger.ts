/**
 * Reports the outcome of pushes: to the relay, with the host's proof for those that a paired phone sealed, and to the audit
 * log.
 */
import { errorText } from "../async/error_text.ts";
import { receiptProof } from "../crypto/paired_secret.ts";
import type { Audit } from "../home/log_files.ts";
import type { AuditEntry } from "../protocol/audit.ts";
import { canonicalDigest } from "../protocol/canonical.ts";
import type { EventData } from "../protocol/frames.ts";
import type { Push } from "../protocol/push.ts";
import type { Outcome } from "./inject/context.ts";

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
    this.#proving.set(id, { from, secret, sent: Promise.resolve() });
    if (this.#proving.size <= PENDING_MAX) return;
    for (const oldest of this.#proving.keys()) return void this.#proving.delete(oldest);
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

/** Writes a push that has ended to the log and the audit log. */
export async function recordEnd(
  push: Push,
  outcome: Outcome,
  { audit, log, now, elapsedMs }: {
    audit: Pick<Audit, "record">;
    log(line: string): void;
    /** Epoch milliseconds. */
    now: number;
    /** Since it arrived. */
    elapsedMs: number;
  },
): Promise<void> {
  const reason = outcome.reason ? ` ${outcome.reason}` : "";
  const session = outcome.agentSessionName ?? push.agentSessionName ?? "-";
  const action = push.type === "agent.command" ? "inject" : push.type.replace(/^.*\./, "");
  const failure = outcome.failure ? `: ${outcome.failure.trim().replaceAll("\n", " ")}` : "";
  log(`${action} ${push.id} ${session} ${outcome.state}${reason} ${Math.round(elapsedMs)} ms${failure}`);
  audit.record(await auditEntry(push, outcome, now));
}

/** Returns the audit log's entry for a push, which never contains its text. */
export async function auditEntry(push: Push, outcome: Outcome, nowMs: number): Promise<AuditEntry> {
  const body = push.body ?? "";
  const about = outcome.about ?? (push.type === "agent.command" ? undefined : push.type);
  return {
    time: new Date(nowMs).toISOString(),
    device: push.from,
    session: outcome.agentSessionName ?? push.agentSessionName ?? "",
    pane: outcome.pane ?? "",
    digest: await canonicalDigest(body),
    length: body.length,
    outcome: outcome.reason ? `${outcome.state} ${outcome.reason}` : outcome.state,
    ...(about === undefined ? {} : { about }),
  };
}
