/** Which counters of a sender were taken already: a sliding window over a bitmap, as RFC 6479 and WireGuard have it. */
import { decodeBase64url, encodeBase64url } from "../async/base64url.ts";

/** Counters behind the highest one that can still be taken, each once. */
export const REPLAY_WINDOW = 4_096;

/** `used`: taken before. `old`: so far behind the highest that nobody remembers. */
export type CounterVerdict = "fresh" | "used" | "old";

/** A window as text, for a file. */
export interface ReplayWindowText {
  top: number;
  bits: string;
}

const BITS_BYTES = REPLAY_WINDOW / 8;

export class ReplayWindow {
  /** The highest counter that was taken; 0 before the first. */
  #top = 0;
  /** A ring: the bit of a counter lies at the counter modulo the window. */
  readonly #bits: Uint8Array<ArrayBuffer>;

  private constructor(top: number, bits: Uint8Array<ArrayBuffer>) {
    this.#top = top;
    this.#bits = bits;
  }

  static empty(): ReplayWindow {
    return new ReplayWindow(0, new Uint8Array(BITS_BYTES));
  }

  /** Undefined for what `encode` does not give. */
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

  /** Takes it for good. A counter that is too old to be remembered stays `old`. */
  take(counter: number): void {
    if (counter > this.#top) this.#advance(counter);
    else if (counter <= 0 || this.#top - counter >= REPLAY_WINDOW) return;
    const place = counter % REPLAY_WINDOW;
    this.#bits[place >> 3] = (this.#bits[place >> 3] ?? 0) | (1 << (place & 7));
  }

  #isTaken(counter: number): boolean {
    const place = counter % REPLAY_WINDOW;
    return ((this.#bits[place >> 3] ?? 0) & (1 << (place & 7))) !== 0;
  }

  /** The places of the counters in between hold bits of counters that leave the window. */
  #advance(top: number): void {
    const first = Math.max(this.#top + 1, top - REPLAY_WINDOW + 1);
    for (let counter = first; counter <= top; counter++) {
      const place = counter % REPLAY_WINDOW;
      this.#bits[place >> 3] = (this.#bits[place >> 3] ?? 0) & ~(1 << (place & 7));
    }
    this.#top = top;
  }
}
