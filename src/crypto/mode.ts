/** How well a stream or a message is sealed, and whether that is enough for a host. */

/** `base`: secret from a relay that only listens. `psk`: also from one that lies, and each side proven to the other. */
export type Sealing = "off" | "base" | "psk";

const STRENGTH: Record<Sealing, number> = { off: 0, base: 1, psk: 2 };

/** `floor` is the host's `requireEncryption`. */
export function isEnough(sealing: Sealing, floor: Sealing = "off"): boolean {
  return STRENGTH[sealing] >= STRENGTH[floor];
}
