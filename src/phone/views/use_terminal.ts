/** Keeps a session's terminal while it is on the page and visible: its screen, its stream, and their state. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { KeyInput } from "../../protocol/key_input.ts";
import { SCROLLBACK_LINES_MAX } from "../../protocol/limits.ts";
import type { KeyState } from "../../protocol/pane_frame.ts";
import { sessionKey, type SessionName } from "../sessions.ts";
import { followPinch } from "../terminal_input.ts";
import type { TerminalScreen } from "../terminal_screen.ts";
import type { TerminalInfo } from "../terminal_status.ts";
import type { TerminalState, TerminalStream } from "../terminal_stream.ts";
import type { TerminalViewer } from "../terminal_streams.ts";

/** With fewer lines than this above the screen, there may be more to request. */
const FEW_EARLIER_LINES = 50;
const REQUEST_EARLIER_EVERY_MS = 2_000;
/** Scrolling up by a page leaves a few of its lines visible. */
const PAGE = 0.8;

export type OpenMirror = (name: SessionName, viewer: TerminalViewer) => TerminalStream | undefined;

export interface Terminal {
  container: RefObject<HTMLDivElement | null>;
  info: TerminalInfo;
  /** False if the mirror is not live and nothing was sent. */
  type(inputs: readonly KeyInput[]): boolean;
  fit(on: boolean): void;
  /** Scrolls up, and requests earlier output when needed. */
  showEarlier(): void;
  retry(): void;
  /** Changes the font size by this many pixels. */
  zoom(pixels: number): void;
  text(): string;
}

const INITIAL: TerminalInfo = { stream: { kind: "opening" }, fit: "off" };

export function useTerminal(name: SessionName, openMirror: OpenMirror): Terminal {
  const container = useRef<HTMLDivElement>(null);
  const mounted = useRef<MountedTerminal>(null);
  const [info, setInfo] = useState(INITIAL);
  useEffect(() => {
    const element = container.current;
    if (element === null) return;
    setInfo(INITIAL);
    const terminal = new MountedTerminal({ name, openMirror, container: element, update: setInfo });
    mounted.current = terminal;
    return () => terminal.close();
  }, [sessionKey(name)]);
  return {
    container,
    info,
    type: (inputs) => mounted.current?.type(inputs) ?? false,
    fit: (on) => mounted.current?.fit(on),
    showEarlier: () => mounted.current?.showEarlier(PAGE),
    retry: () => mounted.current?.retry(),
    zoom: (pixels) => mounted.current?.zoom(pixels),
    text: () => mounted.current?.text() ?? "",
  };
}

interface MountedTerminalOptions {
  name: SessionName;
  openMirror: OpenMirror;
  container: HTMLDivElement;
  update(change: (info: TerminalInfo) => TerminalInfo): void;
}

/** Loads the terminal's code first, and mirrors only while the page is visible. */
class MountedTerminal {
  screen: TerminalScreen | undefined;
  readonly #options: MountedTerminalOptions;
  readonly #abort = new AbortController();
  #stream: TerminalStream | undefined;
  /** The newest keys, until it is known whether they were typed. */
  #pending: { sequence: number; at: number } | undefined;
  #requestedEarlierAt = -Infinity;
  /** Earlier lines were shown; a new stream starts without them. */
  #wantsEarlier = false;

  constructor(options: MountedTerminalOptions) {
    this.#options = options;
    void this.#load();
  }

  close(): void {
    this.#abort.abort();
    this.#stream?.close();
    this.screen?.dispose();
  }

  type(inputs: readonly KeyInput[]): boolean {
    for (const input of inputs) {
      const sequence = this.#stream?.type(input);
      if (sequence === undefined) return false;
      this.#pending = { sequence, at: performance.now() };
    }
    this.screen?.followTyping();
    this.#options.update(({ unsure: _seen, ...info }) => info);
    return true;
  }

  /** Fits the size that the container has after the next frame: closing a panel may enlarge it. */
  fit(on: boolean): void {
    const { screen } = this;
    if (screen === undefined) return;
    requestAnimationFrame(() => {
      this.#stream?.type(on ? { type: "fit", ...screen.room() } : { type: "unfit" });
      screen.resetZoom();
    });
  }

  zoom(pixels: number): void {
    this.screen?.zoom(this.screen.fontPixels + pixels);
  }

  /** Scrolls up by `pages`, and requests earlier lines if only few are left. */
  showEarlier(pages = 0): void {
    const { screen } = this;
    const now = performance.now();
    if (screen === undefined) return;
    if (screen.terminal.buffer.active.baseY >= FEW_EARLIER_LINES) return screen.scrollUp(pages);
    if (now - this.#requestedEarlierAt < REQUEST_EARLIER_EVERY_MS) return;
    this.#requestedEarlierAt = now;
    this.#wantsEarlier = true;
    screen.expectEarlier(pages);
    this.#stream?.scrollback(SCROLLBACK_LINES_MAX);
  }

  text(): string {
    return this.screen?.text() ?? "";
  }

  retry(): void {
    void this.#stream?.open();
  }

  async #load(): Promise<void> {
    const { container } = this.#options;
    const { TerminalScreen } = await import("../terminal_screen.ts");
    const { signal } = this.#abort;
    if (signal.aborted) return;
    this.screen = new TerminalScreen({ container, onTop: () => this.showEarlier() });
    followPinch(container, { target: this.screen, signal });
    const update = (): void => document.visibilityState === "visible" ? this.#open() : this.#leave();
    document.addEventListener("visibilitychange", update, { signal });
    update();
  }

  #open(): void {
    const { screen } = this;
    if (screen === undefined || this.#stream !== undefined) return;
    const { name, openMirror, update } = this.#options;
    this.#stream = openMirror(name, {
      terminal: screen.terminal,
      onState: (stream) => this.#onState(stream),
      onStatus: ({ keys, fit }) => {
        if (keys !== undefined) this.#onKeys(keys);
        if (fit !== undefined) update((info) => ({ ...info, fit }));
      },
      onDrawn: () => screen.draw(),
    });
  }

  #leave(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  /** The state of keys and size belongs to one stream, so a new one resets it. */
  #onState(stream: TerminalState): void {
    const { update } = this.#options;
    if (stream.kind === "live") {
      if (this.#wantsEarlier) this.#stream?.scrollback(SCROLLBACK_LINES_MAX);
      return update((info) => ({ ...info, stream }));
    }
    const isUnsure = this.#pending !== undefined;
    this.#pending = undefined;
    update((info) => ({ stream, fit: "off", unsure: isUnsure || info.unsure === true }));
  }

  #onKeys(keys: KeyState): void {
    const { sequence = Infinity, at = 0 } = this.#pending ?? {};
    const isNewest = keys.sequence >= sequence;
    const latencyMs = isNewest ? performance.now() - at : undefined;
    if (isNewest && keys.state !== "held") this.#pending = undefined;
    this.#options.update((info) => ({ ...info, keys, latencyMs: latencyMs ?? info.latencyMs }));
  }
}
