/** The encryption modes of streams and messages, from the weakest to the strongest. */

/** `base` hides text from a relay that only reads; `psk` also from one that forges, and authenticates both sides. */
export type Sealing = "off" | "base" | "psk";

const STRENGTH: Record<Sealing, number> = { off: 0, base: 1, psk: 2 };

/** True if a host accepts this mode; `floor` is its `requireEncryption`. */
export function isEnough(sealing: Sealing, floor: Sealing = "off"): boolean {
  return STRENGTH[sealing] >= STRENGTH[floor];
}
