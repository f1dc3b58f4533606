/** The phone's page without a browser: the real controller, storage in memory, and the texts that it would show. */
import { type Clock, systemClock } from "../../src/async/clock.ts";
import { Controller } from "../../src/phone/controller.ts";
import { findSession } from "../../src/phone/sessions.ts";
import type { Message } from "../../src/phone/message.ts";
import { receiptText } from "../../src/phone/receipt_text.ts";
import { parseSignInLink } from "../../src/phone/route.ts";
import { createStore, type Store } from "../../src/phone/state.ts";
import { STRINGS } from "../../src/phone/strings.ts";
import { type Emulator, makeEmulator } from "../../src/phone/terminal_emulator.ts";
import { type TerminalState, TerminalStream } from "../../src/phone/terminal_stream.ts";
import { statusText } from "../../src/phone/terminal_status.ts";
import type { KeyInput } from "../../src/protocol/key_input.ts";
import type { KeyState } from "../../src/protocol/pane_frame.ts";
import { FakePairingStorage } from "../unit/phone/fake_pairing_storage.ts";
import { FakeStorage } from "../unit/phone/fake_storage.ts";
import { until } from "./until.ts";

export interface PagePhoneOptions {
  baseUrl: string;
  name?: string;
  /** Storage of an earlier page. */
  storage?: FakeStorage;
  pairing?: FakePairingStorage;
  clock?: Clock;
}

export class PagePhone implements Disposable {
  readonly store: Store = createStore(() => {});
  readonly controller: Controller;
  readonly storage: FakeStorage;
  readonly pairing: FakePairingStorage;
  readonly #watched: Watched[] = [];

  constructor(options: PagePhoneOptions) {
    const { baseUrl, name = "iPhone", clock = systemClock } = options;
    this.storage = options.storage ?? new FakeStorage();
    this.pairing = options.pairing ?? new FakePairingStorage();
    const { store, storage, pairing } = this;
    this.controller = new Controller({ baseUrl, name, version: "0", store, storage, pairing, clock });
  }

  get deviceId(): string {
    return this.storage.account?.deviceId ?? "";
  }

  /** Opens the page with a scanned link, or in its stored state. */
  async open(link?: string): Promise<void> {
    await this.controller.start(link === undefined ? undefined : parseSignInLink(new URL(link).hash));
  }

  /** Resolves once the page is live and lists the session, on the only host or the named one. */
  async lists(session: string, host?: string): Promise<void> {
    await until(`the page to list ${session}`, () => this.hostOf(session, host) !== undefined);
    await until("the page's link", () => this.store.get().link.kind === "live");
  }

  /** Returns the id of the online device under which the page lists the session. */
  hostOf(session: string, host?: string): string | undefined {
    const devices = this.store.get().devices ?? [];
    return devices.find(({ deviceId, online }) =>
      online && (host === undefined || host === deviceId) &&
      findSession(devices, { deviceId, session }) !== undefined
    )?.deviceId;
  }

  /** Opens the session's terminal, as a tap on its card does. */
  watch(session: string, host = this.hostOf(session) ?? ""): Watched {
    const watched = new Watched((viewer) =>
      this.controller.mirror({ deviceId: host, session }, viewer, TerminalStream)
    );
    this.#watched.push(watched);
    return watched;
  }

  /** Sends a message; resolves with its final state, or once the relay reports an unproven state. */
  async send(session: string, body: string, host = this.hostOf(session) ?? ""): Promise<Message> {
    await this.controller.send({ deviceId: host, session }, body);
    return await until(`"${body}" to end`, () => {
      const message = [...this.store.get().messages.values()].find((one) => one.body === body);
      const isEnd = message?.progress.kind === "failed" || (message?.progress.kind === "taken" &&
        (message.progress.receipt.final || message.progress.unproven !== undefined));
      return isEnd && message;
    });
  }

  /** Returns the text of the message's bubble. */
  wordsOf(message: Message): string {
    const circumstances = { live: true, hostOnline: true, sentAgain: false, now: Date.now() };
    const { state, detail } = receiptText(
      this.store.get().messages.get(message.id) ?? message,
      circumstances,
    );
    return `${state}. ${detail}`;
  }

  /** Returns the page's explanation of why it is not signed in or not paired. */
  signInWords(): string {
    const { signIn, pairing } = this.store.get();
    const code = pairing?.kind === "failed"
      ? pairing.code
      : signIn.kind === "out"
      ? signIn.problem?.code
      : "";
    return (STRINGS.signIn.problems as Partial<Record<string, string>>)[code ?? ""] ?? "";
  }

  [Symbol.dispose](): void {
    for (const watched of this.#watched) watched.close();
    this.controller.stop();
  }
}

/** A terminal on the page. */
export class Watched {
  readonly terminal: Emulator = makeEmulator({ cols: 80, rows: 24 });
  readonly states: TerminalState[] = [];
  /** The states of keys, oldest first. */
  readonly keys: KeyState[] = [];
  drawn = 0;
  /** The number of the host's last pulse. */
  pulse = 0;
  readonly #stream: TerminalStream | undefined;

  constructor(open: (viewer: Parameters<Controller["mirror"]>[1]) => TerminalStream | undefined) {
    this.#stream = open({
      terminal: this.terminal,
      onState: (state) => void this.states.push(state),
      onStatus: ({ keys, pulse }) => {
        if (keys) this.keys.push(keys);
        this.pulse = pulse ?? this.pulse;
      },
      onDrawn: () => void this.drawn++,
    });
  }

  get state(): TerminalState {
    return this.#stream?.state ?? { kind: "opening" };
  }

  async live(): Promise<void> {
    await until("the terminal", () => this.state.kind === "live" && this.drawn > 0);
  }

  /** Returns the status line, with the encryption's state. */
  words(): string {
    const { status, warning } = statusText({ stream: this.state, keys: this.keys.at(-1), fit: "off" });
    const sign = this.state.kind === "live" ? STRINGS.sealing.short[this.state.sealing] : "";
    return [status, sign, warning].filter((words) => words !== "").join(" · ");
  }

  /** Returns everything that the terminal shows, including its scrollback. */
  text(): string {
    const { active } = this.terminal.buffer;
    return Array.from({ length: active.length }, (_, y) => active.getLine(y)?.translateToString(true) ?? "")
      .join("\n");
  }

  type(...inputs: KeyInput[]): void {
    for (const input of inputs) {
      if (this.#stream?.type(input) === undefined) throw new Error(`nothing can be typed: ${this.words()}`);
    }
  }

  close(): void {
    this.#stream?.close();
    this.terminal.dispose();
  }
}
