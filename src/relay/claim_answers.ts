/** The answers to claims of pairing codes, repeated for a phone that has lost its own on the way. */
import { encodeHex } from "../async/encodings.ts";
import type { PairingClaim, PairingClaimed } from "../protocol/http.ts";

/** What a claim is answered with. */
export interface ClaimAnswer extends PairingClaimed {
  /** The key that the phone already had: it is repeated only to a caller that has it, too. */
  isOwn: boolean;
  /** The key that created the code. */
  keyId: string;
}

/** Claimed codes whose answers are kept; a further one replaces the one that was claimed longest ago. */
const CLAIM_ANSWERS_MAX = 1_000;

interface KeptClaim {
  codeHash: Uint8Array;
  claim: PairingClaim;
  expiresAt: number;
  /** Undefined, or a failure, if the claim was refused. */
  answer: Promise<ClaimAnswer | undefined>;
}

/**
 * The answers to claims, in memory, until their codes expire: a phone that has lost the answer asks again. Only the same
 * key with the same proof gets it, so that the code still admits one phone only.
 */
export class ClaimAnswers {
  readonly #kept = new Map<string, KeptClaim>();

  keep(kept: KeptClaim): void {
    if (kept.claim.proof === undefined || kept.claim.publicKey === undefined) return;
    // `answerOnce` reports a failure.
    kept.answer.catch(() => undefined);
    this.#kept.set(encodeHex(kept.codeHash), kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > CLAIM_ANSWERS_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }

  async repeat(
    { codeHash, claim, now }: Pick<KeptClaim, "codeHash" | "claim"> & { now: number },
  ): Promise<ClaimAnswer | undefined> {
    for (const [code, { expiresAt }] of this.#kept) if (expiresAt <= now) this.#kept.delete(code);
    const kept = this.#kept.get(encodeHex(codeHash));
    if (kept === undefined) return undefined;
    const { publicKey, proof } = kept.claim;
    return publicKey === claim.publicKey && proof === claim.proof ? await kept.answer : undefined;
  }
}
