/** One phone's stream of a mirror: what it was sent, how much more it takes, and whether it is still right. */
import type { StreamChannel } from "../../crypto/stream.ts";
import { MIRROR_CREDIT_BYTES, TITLE_MAX_CHARS } from "../../protocol/limits.ts";
import {
  encodeBinaryFrame,
  encodeMirror,
  type MirrorMessage,
  type MirrorStatus,
  PANE_FRAME,
} from "../../protocol/pane_frame.ts";
import { concatBytes } from "../../tmux/control_parser.ts";

/** Output that waits for a phone. Beyond it the phone gets a new screen instead. */
export const BACKLOG_MAX_BYTES = 262_144;
/** Bytes of a message; a longer snapshot goes on as output. */
export const PIECE_MAX_BYTES = 524_288;

export interface ViewerOptions {
  stream: number;
  channel: StreamChannel;
  /** Lines above the screen that the first snapshot has. */
  history: number;
  /** Tells the phone that the mirror runs; called once, before anything else. */
  opened(size: Size): void;
  send(frame: Uint8Array): void;
  /** The mirror ended. */
  ended(reason: string): void;
}

export interface Size {
  cols: number;
  rows: number;
}

export class Viewer {
  readonly stream: number;
  /** Lines above the screen that its next snapshot has. */
  history: number;
  /** What it shows is not the pane any more: only a snapshot helps. */
  isStale = true;
  /** Something was drawn with attributes that tmux does not tell. */
  isUnsure = false;
  #options: ViewerOptions;
  #size: Size | undefined;
  #title: string | undefined;
  #credit = MIRROR_CREDIT_BYTES;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isOver = false;

  constructor(options: ViewerOptions) {
    this.#options = options;
    this.stream = options.stream;
    this.history = options.history;
  }

  get canTake(): boolean {
    return this.#credit > 0;
  }

  addCredit(bytes: number): void {
    this.#credit = Math.min(MIRROR_CREDIT_BYTES, this.#credit + bytes);
  }

  /** A whole screen: everything that waits is void. */
  snapshot(size: Size, bytes: Uint8Array): void {
    this.drop();
    this.isStale = false;
    this.isUnsure = false;
    if (this.#size === undefined) this.#options.opened(size);
    // What is told when it opens is not sealed.
    const isTold = this.#size === undefined ? this.#options.channel.mode === "off" : isSame(size, this.#size);
    if (!isTold) this.#send({ tag: "R", ...size });
    this.#size = size;
    this.#send({ tag: "S", bytes: bytes.subarray(0, PIECE_MAX_BYTES) });
    for (let from = PIECE_MAX_BYTES; from < bytes.length; from += PIECE_MAX_BYTES) {
      this.#send({ tag: "O", bytes: bytes.subarray(from, from + PIECE_MAX_BYTES) });
    }
  }

  /** Output for the next flush; a phone that falls too far behind becomes stale. */
  output(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > BACKLOG_MAX_BYTES) this.fallBehind();
  }

  /** The screen as it is, drawn over what may be wrong. */
  repaint(bytes: Uint8Array): void {
    this.output(bytes);
    this.flush();
    this.isUnsure = false;
  }

  flush(): void {
    if (this.#waiting.length === 0 || !this.canTake) return;
    const bytes = concatBytes(this.#waiting);
    this.drop();
    this.#send({ tag: "O", bytes });
  }

  /** The title, when it is another; a phone that shows nothing yet learns it with the next screen. */
  entitle(title: string): void {
    if (title === this.#title || this.#size === undefined) return;
    this.#title = title;
    this.tell({ title: title.slice(0, TITLE_MAX_CHARS) });
  }

  /** A phone that shows nothing yet waits for its screen anyway. */
  pulse(received: number): void {
    if (this.#size !== undefined) this.tell({ received });
  }

  tell(status: MirrorStatus): void {
    this.#send({ tag: "T", status });
  }

  fallBehind(): void {
    this.drop();
    this.isStale = true;
  }

  drop(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** Nothing is sent from here on. */
  leave(): void {
    this.#isOver = true;
    this.drop();
  }

  end(reason: string): void {
    if (this.#isOver) return;
    this.leave();
    this.#options.ended(reason);
  }

  /** A frame that cannot be sealed is dropped; the gap in the numbers tells the phone. */
  #send(message: MirrorMessage): void {
    if (this.#isOver) return;
    const bytes = encodeMirror(message);
    this.#credit -= bytes.length;
    const { stream, channel, send } = this.#options;
    void channel.sealer.seal(bytes).then((payload) => {
      if (payload !== undefined && !this.#isOver) {
        send(encodeBinaryFrame({ kind: PANE_FRAME, stream, payload }));
      }
    });
  }
}

export function isSame(one: Size, other: Size): boolean {
  return one.cols === other.cols && one.rows === other.rows;
}
