/** Frames of a stream that is not sealed, behind the same face as sealed ones. */
import { decodeSequenced, encodeSequenced } from "../protocol/pane_frame.ts";
import { type FrameOpener, type FrameSealer, type OpenedFrame, UNOPENED_MAX } from "./stream_frames.ts";

export class PlainSealer implements FrameSealer {
  readonly unsealed = 0;
  #next = 0n;

  seal(bytes: Uint8Array): Promise<Uint8Array> {
    return Promise.resolve(encodeSequenced(this.#next++, bytes));
  }
}

export class PlainOpener implements FrameOpener {
  readonly dropped = { unopenable: 0, repeated: 0 };
  #last = -1n;
  #unreadInARow = 0;

  open(payload: Uint8Array): Promise<OpenedFrame> {
    return Promise.resolve(this.#read(payload));
  }

  #read(payload: Uint8Array): OpenedFrame {
    if (this.#unreadInARow >= UNOPENED_MAX) return { kind: "broken" };
    const frame = decodeSequenced(payload);
    if (frame === undefined) {
      this.dropped.unopenable += 1;
      this.#unreadInARow += 1;
      return this.#unreadInARow >= UNOPENED_MAX
        ? { kind: "broken" }
        : { kind: "dropped", reason: "unopenable" };
    }
    this.#unreadInARow = 0;
    if (frame.sequence <= this.#last) {
      this.dropped.repeated += 1;
      return { kind: "dropped", reason: "repeated" };
    }
    this.#last = frame.sequence;
    return { kind: "frame", ...frame };
  }
}
