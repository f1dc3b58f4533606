/** The mirrors of one link: each frame goes to its own, and every break of the link is told to all. */
import type { Clock } from "../async/clock.ts";
import { beginStream, type PhoneHandshake } from "../crypto/stream.ts";
import type { EventData, EventName, Frame } from "../protocol/frames.ts";
import { decodeBinaryFrame, PANE_FRAME } from "../protocol/pane_frame.ts";
import type { SessionName } from "./names.ts";
import type { PairedHost } from "../client/claim_pairing.ts";
import { TerminalStream, type TerminalStreamHost } from "./terminal_stream.ts";

/** What a view gives, and hears. */
export type TerminalViewer = Pick<TerminalStreamHost, "terminal" | "onState" | "onStatus" | "onDrawn">;

export interface TerminalStreamsHost {
  send<E extends EventName>(event: E, data: EventData<E>): boolean;
  sendBinary(bytes: Uint8Array): boolean;
  /** The device id that this phone has at the relay; empty before the first welcome. */
  phone(): string;
  /** What this phone shares with a host that it is paired with, and how it is called there. */
  pairedHost(deviceId: string): Pick<PairedHost, "secret" | "phone"> | undefined;
  /** False on a page without cryptography. */
  canSeal: boolean;
  clock: Clock;
  random(): number;
}

export class TerminalStreams {
  readonly #host: TerminalStreamsHost;
  readonly #streams = new Set<TerminalStream>();
  #isLive = false;
  #lastNumber = 0;

  constructor(host: TerminalStreamsHost) {
    this.#host = host;
  }

  /** Mirrors a session until the stream is closed. */
  open(name: SessionName, viewer: TerminalViewer): TerminalStream {
    const stream: TerminalStream = new TerminalStream(name, {
      ...this.#host,
      ...viewer,
      handshake: () => this.#handshake(name),
      nextStream: () => ++this.#lastNumber,
      onClosed: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    if (this.#isLive) void stream.open();
    return stream;
  }

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

  /** As sealed as can be: with the secret of a pairing, else with fresh keys alone. */
  async #handshake({ deviceId, session }: SessionName): Promise<PhoneHandshake | undefined> {
    if (!this.#host.canSeal || deviceId === "") return undefined;
    const { secret, phone = this.#host.phone() } = this.#host.pairedHost(deviceId) ?? {};
    return await beginStream({ phone, listener: deviceId, agentSessionName: session }, { secret });
  }
}
