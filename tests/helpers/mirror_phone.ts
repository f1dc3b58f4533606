/** A phone's mirror without a browser: the page's own stream and terminal over the real link. */
import { type Clock, systemClock } from "../../src/async/clock.ts";
import { RelayLink } from "../../src/client/relay_link.ts";
import type { PhoneHandshake } from "../../src/crypto/stream.ts";
import type { KeyInput } from "../../src/protocol/key_input.ts";
import {
  decodeBinaryFrame,
  type KeyState,
  type MirrorStatus,
  PANE_FRAME,
} from "../../src/protocol/pane_frame.ts";
import { createDirectSocket } from "../../src/runtime/direct_socket.ts";
import { VERSION } from "../../src/protocol/version.ts";
import { type Emulator, makeEmulator } from "../../src/phone/terminal_emulator.ts";
import { type TerminalState, TerminalStream } from "../../src/phone/terminal_stream.ts";
import { DrawWaiter } from "./draw_waiter.ts";
import { until } from "./until.ts";

export interface MirrorPhoneOptions {
  wsUrl: string;
  apiKey: string;
  session: string;
  deviceId?: string;
  handshake?: () => Promise<PhoneHandshake | undefined>;
  clock?: Clock;
}

/** Signs in and opens the mirror; reconnects after every interruption, as the page does. */
export class MirrorPhone implements Disposable {
  readonly terminal: Emulator;
  readonly link: RelayLink;
  /** Every state of the stream so far. */
  readonly states: TerminalState[] = [];
  readonly statuses: MirrorStatus[] = [];
  /** Bytes of pane frames received so far. */
  received = 0;
  frames = 0;
  readonly #stream: TerminalStream;
  #lastStream = 0;
  #drawn = 0;
  readonly #draws = new DrawWaiter();
  /** Frames that wait unread; undefined unless frozen. */
  #frozen: Uint8Array[] | undefined;

  constructor(options: MirrorPhoneOptions) {
    this.terminal = makeEmulator({ cols: 80, rows: 24 });
    this.link = new RelayLink({
      wsUrl: options.wsUrl,
      apiKey: options.apiKey,
      hello: () => ({ role: "phone", name: "test phone", version: VERSION, capabilities: [] }),
      onFrame: (frame) => {
        if (frame.event === "pane.opened") void this.#stream.onOpened(frame.data);
        else if (frame.event === "pane.closed") this.#stream.onClosed(frame.data);
      },
      onBinary: (bytes) => this.#bytes(bytes),
      // Sends at once, as browsers do.
      createSocket: createDirectSocket,
      onState: ({ state }) => {
        if (state === "connected") void this.#stream.open();
        else this.#stream?.lost();
      },
    });
    const { session, deviceId = "", handshake, clock = systemClock } = options;
    this.#stream = new TerminalStream({ deviceId, session }, {
      link: this.link,
      handshake: handshake ?? (() => Promise.resolve(undefined)),
      nextStream: () => ++this.#lastStream,
      terminal: this.terminal,
      clock,
      random: Math.random,
      onState: (state) => void this.states.push(state),
      onStatus: (status) => void this.statuses.push(status),
      onDrawn: () => {
        this.#drawn++;
        this.#draws.drawn();
      },
    });
    this.link.start();
  }

  get state(): TerminalState {
    return this.#stream.state;
  }

  live(): Promise<unknown> {
    return until("the mirror to be live", () => this.state.kind === "live");
  }

  /** Waits until the screen shows `text`. */
  async shows(text: string): Promise<void> {
    await until(`"${text}" on the phone`, () => this.text().includes(text)).catch((cause) => {
      const received = JSON.stringify({ states: this.states, keys: this.keyStates() });
      throw new Error(`The phone received ${received} and shows:\n${this.text()}`, { cause });
    });
  }

  /** Resolves at the first draw after which the condition holds. */
  drawnWhen(holds: () => boolean): Promise<void> {
    return this.#draws.when(holds);
  }

  /** Returns the screen's lines. */
  lines(): string[] {
    const { active } = this.terminal.buffer;
    return Array.from(
      { length: this.terminal.rows },
      (_, y) => active.getLine(active.baseY + y)?.translateToString(true) ?? "",
    );
  }

  text(): string {
    return this.lines().join("\n");
  }

  type(...inputs: KeyInput[]): void {
    for (const input of inputs) {
      if (this.#stream.type(input) === undefined) {
        throw new Error("the mirror is not live: nothing can be typed");
      }
    }
  }

  keyStates(): KeyState[] {
    return this.statuses.flatMap(({ keys }) => keys ?? []);
  }

  scrollback(lines: number): void {
    this.#stream.scrollback(lines);
  }

  /** Opens a new stream on the same link; it begins with a new snapshot. */
  async reopen(): Promise<void> {
    await this.#stream.open();
    await this.#newScreen();
  }

  /** Closes the link and opens a new one. */
  async cut(): Promise<void> {
    this.link.close();
    this.link.start();
    await this.#newScreen();
  }

  /** Stops reading, so that no credit is returned. */
  freeze(): void {
    this.#frozen = [];
  }

  thaw(): void {
    const waiting = this.#frozen ?? [];
    this.#frozen = undefined;
    for (const bytes of waiting) this.#bytes(bytes);
  }

  [Symbol.dispose](): void {
    this.#stream.close();
    this.link.close();
    this.terminal.dispose();
  }

  async #newScreen(): Promise<void> {
    const before = this.#drawn;
    await until("the new screen", () => this.state.kind === "live" && this.#drawn > before);
  }

  #bytes(bytes: Uint8Array): void {
    this.received += bytes.length;
    this.frames += 1;
    if (this.#frozen !== undefined) return void this.#frozen.push(bytes);
    const frame = decodeBinaryFrame(bytes);
    if (frame?.kind === PANE_FRAME) void this.#stream.onBytes(frame.stream, frame.payload);
  }
}
