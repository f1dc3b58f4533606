/** Rejects counters of a sender that were used before: a sliding window over a bitmap, as in RFC 6479 and WireGuard. */
import { decodeBase64url, encodeBase64url } from "../async/encodings.ts";

/** A counter this far behind the highest one, or further, is rejected as old. */
export const REPLAY_WINDOW = 4_096;

/** `used`: taken before. `old`: too far behind the highest one to tell. */
type CounterVerdict = "fresh" | "used" | "old";

/** A window, as it is stored in a file. */
interface ReplayWindowText {
  top: number;
  bits: string;
}

const BITS_BYTES = REPLAY_WINDOW / 8;

export class ReplayWindow {
  /** The highest counter that was taken; 0 before the first. */
  #top = 0;
  /** A ring: the bit of a counter is at the counter modulo the window. */
  readonly #bits: Uint8Array<ArrayBuffer>;

  private constructor(top: number, bits: Uint8Array<ArrayBuffer>) {
    this.#top = top;
    this.#bits = bits;
  }

  static empty(): ReplayWindow {
    return new ReplayWindow(0, new Uint8Array(BITS_BYTES));
  }

  /** Undefined for anything that `encode` does not return. */
  static decode({ top, bits }: ReplayWindowText): ReplayWindow | undefined {
    const bytes = decodeBase64url(bits);
    const isSound = bytes?.length === BITS_BYTES && Number.isSafeInteger(top) && top >= 0;
    return isSound ? new ReplayWindow(top, new Uint8Array(bytes)) : undefined;
  }

  encode(): ReplayWindowText {
    return { top: this.#top, bits: encodeBase64url(this.#bits) };
  }

  /** Counters begin at 1. */
  check(counter: number): CounterVerdict {
    if (counter > this.#top) return "fresh";
    if (counter <= 0 || this.#top - counter >= REPLAY_WINDOW) return "old";
    return this.#isTaken(counter) ? "used" : "fresh";
  }

  /** Marks the counter as used. One that is too old for the window stays `old`. */
  take(counter: number): void {
    if (counter > this.#top) this.#advance(counter);
    else if (counter <= 0 || this.#top - counter >= REPLAY_WINDOW) return;
    const slot = counter % REPLAY_WINDOW;
    this.#bits[slot >> 3] = (this.#bits[slot >> 3] ?? 0) | (1 << (slot & 7));
  }

  #isTaken(counter: number): boolean {
    const slot = counter % REPLAY_WINDOW;
    return ((this.#bits[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0;
  }

  /** Clears the bits that the new counters reuse: they belong to counters that leave the window. */
  #advance(top: number): void {
    const first = Math.max(this.#top + 1, top - REPLAY_WINDOW + 1);
    for (let counter = first; counter <= top; counter++) {
      const slot = counter % REPLAY_WINDOW;
      this.#bits[slot >> 3] = (this.#bits[slot >> 3] ?? 0) & ~(1 << (slot & 7));
    }
    this.#top = top;
  }
}
