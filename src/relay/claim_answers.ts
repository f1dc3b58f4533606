/** The answers to claims of pairing codes, repeated for a phone whose answer was lost. */
import { encodeHex } from "../async/encodings.ts";
import { setNewest } from "../async/newest.ts";
import type { PairingClaim, PairingClaimed } from "../protocol/http.ts";

/** The answer to a claim. */
export interface ClaimAnswer extends PairingClaimed {
  /** True if the phone already had the key: it is repeated only to a caller that has it, too. */
  isOwn: boolean;
  /** The key that created the code. */
  keyId: string;
}

/** Claimed codes whose answers are kept; a further one replaces the oldest. */
const CLAIM_ANSWERS_MAX = 1_000;

interface ClaimedCode {
  codeHash: Uint8Array;
  claim: PairingClaim;
  expiresAt: number;
  /** Carries out the claim, or after a failure the steps that are missing. Undefined if the claim is refused. */
  make(): Promise<ClaimAnswer | undefined>;
}

interface KeptClaim extends ClaimedCode {
  /** Undefined after a failure: no answer was given. */
  answer: Promise<ClaimAnswer | undefined> | undefined;
}

/**
 * The answers to claims, in memory, until their codes expire: a phone whose answer was lost claims again, and so does
 * one whose claim failed because the store did. Only the same key with the same proof gets the answer again, so that
 * the code still admits only one phone; without a proof only the first answer is given.
 */
export class ClaimAnswers {
  readonly #kept = new Map<string, KeptClaim>();

  /** Answers the first claim of a code. */
  async first(claimed: ClaimedCode): Promise<ClaimAnswer | undefined> {
    const kept: KeptClaim = { ...claimed, answer: undefined };
    setNewest(this.#kept, [encodeHex(kept.codeHash), kept], { max: CLAIM_ANSWERS_MAX });
    return await answerOf(kept);
  }

  /** Answers a repeated claim; undefined unless it has the key and the proof of the first one. */
  async repeat(
    { codeHash, claim, now }: Pick<ClaimedCode, "codeHash" | "claim"> & { now: number },
  ): Promise<ClaimAnswer | undefined> {
    for (const [code, { expiresAt }] of this.#kept) if (expiresAt <= now) this.#kept.delete(code);
    const kept = this.#kept.get(encodeHex(codeHash));
    if (kept === undefined) return undefined;
    const { publicKey, proof } = kept.claim;
    if (publicKey !== claim.publicKey || proof !== claim.proof) return undefined;
    const isProven = publicKey !== undefined && proof !== undefined;
    return isProven || kept.answer === undefined ? await answerOf(kept) : undefined;
  }
}

async function answerOf(kept: KeptClaim): Promise<ClaimAnswer | undefined> {
  const answer = kept.answer ??= kept.make();
  try {
    return await answer;
  } catch (error) {
    if (kept.answer === answer) kept.answer = undefined;
    throw error;
  }
}
