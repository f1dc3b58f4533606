/** A wrapper's claim on a session that it is about to attach: until it has, others count the session as attached. */

/** A claim whose wrapper died is void after this time, in milliseconds. */
export const CLAIM_LIFE_MS = 10_000;

/** The session option that holds the claim. */
export const CLAIM_OPTION = "@svc_claim";

/** `<epoch ms>.<random>` */
export function newClaim(now: number): string {
  return `${now}.${crypto.randomUUID().slice(0, 8)}`;
}

/** What a claim becomes once its wrapper is attached: void, yet unlike all before, so that nobody takes an old view for the present. */
export function spentClaim(): string {
  return newClaim(0);
}

/** False for no claim, an old one, or one from a clock that was set back since. */
export function isClaimed(claim: string, now: number): boolean {
  const made = Number(claim.split(".")[0]);
  return claim !== "" && Math.abs(now - made) < CLAIM_LIFE_MS;
}
