/** The open mirrors of one link: passes each frame to its stream, and notifies all of them when the link breaks. */
import type { Clock } from "../async/clock.ts";
import type { RelayLink } from "../client/relay_link.ts";
import type { PhoneHandshake } from "../crypto/stream.ts";
import type { Frame } from "../protocol/frames.ts";
import { decodeBinaryFrame, PANE_FRAME } from "../protocol/pane_frame.ts";
import type { Sealing } from "./sealing.ts";
import type { SessionName } from "./sessions.ts";
import type { TerminalStream, TerminalStreamOptions } from "./terminal_stream.ts";

export type TerminalViewer = Pick<TerminalStreamOptions, "terminal" | "onState" | "onStatus" | "onDrawn">;

/** The view passes the class in, so that the list of sessions does not load its code. */
export type MirrorOpener = (
  name: SessionName,
  viewer: TerminalViewer,
  Stream: typeof TerminalStream,
) => TerminalStream | undefined;

interface TerminalStreamsOptions {
  link: RelayLink;
  sealing: Sealing;
  /** This phone's device id; empty before the first welcome. */
  phone(): string;
  clock: Clock;
  random(): number;
}

export class TerminalStreams {
  readonly #options: TerminalStreamsOptions;
  readonly #streams = new Set<TerminalStream>();
  #isLive = false;
  #lastNumber = 0;

  constructor(options: TerminalStreamsOptions) {
    this.#options = options;
  }

  /** Mirrors a session until the stream is closed. */
  readonly open: MirrorOpener = (name, viewer, Stream) => {
    const stream: TerminalStream = new Stream(name, {
      ...viewer,
      link: this.#options.link,
      clock: this.#options.clock,
      random: this.#options.random,
      handshake: () => this.#handshake(name),
      nextStream: () => ++this.#lastNumber,
      onClosed: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    if (this.#isLive) void stream.open();
    return stream;
  };

  live(): void {
    if (this.#isLive) return;
    this.#isLive = true;
    for (const stream of this.#streams) void stream.open();
  }

  lost(): void {
    this.#isLive = false;
    for (const stream of this.#streams) stream.lost();
  }

  frame(frame: Frame): void {
    for (const stream of this.#streams) {
      if (frame.event === "pane.opened") void stream.onOpened(frame.data);
      else if (frame.event === "pane.closed") stream.onClosed(frame.data);
    }
  }

  bytes(bytes: Uint8Array): void {
    const frame = decodeBinaryFrame(bytes);
    if (frame?.kind !== PANE_FRAME) return;
    for (const stream of this.#streams) void stream.onBytes(frame.stream, frame.payload);
  }

  /** Uses the pairing's secret if there is one, else only fresh keys. */
  async #handshake({ deviceId, session }: SessionName): Promise<PhoneHandshake | undefined> {
    const { sealing } = this.#options;
    if (!sealing.isAvailable || deviceId === "") return undefined;
    const { secret, phone = this.#options.phone() } = sealing.pairedHost(deviceId) ?? {};
    const { beginStream } = await import("../crypto/stream.ts");
    return await beginStream({ phone, listener: deviceId, agentSessionName: session }, { secret });
  }
}
