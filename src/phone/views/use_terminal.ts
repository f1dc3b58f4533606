/** Holds a session's terminal for as long as it is on the page and looked at: the screen, its stream, and what is told of both. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { KeyInput } from "../../protocol/key_input.ts";
import type { KeyState } from "../../protocol/pane_frame.ts";
import { SCROLLBACK_LINES_MAX } from "../../protocol/limits.ts";
import { draftKey, type SessionName } from "../names.ts";
import { followPinch } from "../terminal_gestures.ts";
import { plainText } from "../terminal_plain.ts";
import type { TerminalScreen } from "../terminal_screen.ts";
import type { TerminalState, TerminalStream } from "../terminal_stream.ts";
import type { TerminalViewer } from "../terminal_streams.ts";
import type { TerminalTold } from "../terminal_words.ts";

/** Fewer lines than this above the screen may be all there is, or all that was sent: asking tells. */
const ABOVE_FEW_LINES = 50;
const ABOVE_EVERY_MS = 2_000;
/** Of the place's height: a few lines of the page before stay in sight. */
const PAGE = 0.8;

export type OpenMirror = (name: SessionName, viewer: TerminalViewer) => TerminalStream | undefined;

export interface Terminal {
  place: RefObject<HTMLDivElement | null>;
  told: TerminalTold;
  /** False when nothing was sent: the mirror does not stand. */
  type(inputs: readonly KeyInput[]): boolean;
  fit(on: boolean): void;
  above(): void;
  again(): void;
  /** Letters larger or smaller by so many pixels. */
  zoom(pixels: number): void;
  text(): string;
}

const INITIAL: TerminalTold = { stream: { kind: "opening" }, fit: "off" };

export function useTerminal(name: SessionName, openMirror: OpenMirror): Terminal {
  const place = useRef<HTMLDivElement>(null);
  const held = useRef<Held>(null);
  const [told, setTold] = useState(INITIAL);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    setTold(INITIAL);
    const holding = new Held({ name, openMirror, place: element, tell: setTold });
    held.current = holding;
    return () => holding.close();
  }, [draftKey(name)]);
  return {
    place,
    told,
    type: (inputs) => held.current?.type(inputs) ?? false,
    fit: (on) => held.current?.fit(on),
    above: () => held.current?.above(PAGE),
    again: () => held.current?.again(),
    zoom: (pixels) => held.current?.zoom(pixels),
    text: () => held.current?.text() ?? "",
  };
}

interface HeldOptions {
  name: SessionName;
  openMirror: OpenMirror;
  place: HTMLDivElement;
  tell(change: (told: TerminalTold) => TerminalTold): void;
}

/** The terminal's code is loaded first; a page in the background has no mirror. */
class Held {
  screen: TerminalScreen | undefined;
  readonly #options: HeldOptions;
  readonly #abort = new AbortController();
  #stream: TerminalStream | undefined;
  /** The newest keys, until it is known what became of them. */
  #pending: { sequence: number; at: number } | undefined;
  #askedAbove = -Infinity;
  /** Lines above the screen were shown: a new stream begins without. */
  #hasAbove = false;

  constructor(options: HeldOptions) {
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
    this.screen?.typedInto();
    this.#options.tell(({ unsure: _read, ...told }) => told);
    return true;
  }

  /** To the place as it is after the next drawing: whoever asks may give it room. */
  fit(on: boolean): void {
    const { screen } = this;
    if (screen === undefined) return;
    requestAnimationFrame(() => {
      this.#stream?.type(on ? { type: "fit", ...screen.room() } : { type: "unfit" });
      screen.unzoom();
    });
  }

  zoom(pixels: number): void {
    this.screen?.zoom(this.screen.fontPixels + pixels);
  }

  /** Goes up so many pages, when that is asked for, and fetches the lines that are not there yet. */
  above(pages = 0): void {
    const { screen } = this;
    const now = performance.now();
    if (screen === undefined) return;
    if (screen.terminal.buffer.active.baseY >= ABOVE_FEW_LINES) return screen.up(pages);
    if (now - this.#askedAbove < ABOVE_EVERY_MS) return;
    this.#askedAbove = now;
    this.#hasAbove = true;
    screen.expectAbove(pages);
    this.#stream?.scrollback(SCROLLBACK_LINES_MAX);
  }

  text(): string {
    return this.screen ? plainText(this.screen.terminal) : "";
  }

  again(): void {
    void this.#stream?.open();
  }

  async #load(): Promise<void> {
    const { place } = this.#options;
    const { TerminalScreen } = await import("../terminal_screen.ts");
    const { signal } = this.#abort;
    if (signal.aborted) return;
    this.screen = new TerminalScreen({ place, onTop: () => this.above() });
    followPinch(place, { target: this.screen, signal });
    const look = (): void => document.visibilityState === "visible" ? this.#open() : this.#leave();
    document.addEventListener("visibilitychange", look, { signal });
    look();
  }

  #open(): void {
    const { screen } = this;
    if (screen === undefined || this.#stream !== undefined) return;
    const { name, openMirror, tell } = this.#options;
    this.#stream = openMirror(name, {
      terminal: screen.terminal,
      onState: (stream) => this.#stands(stream),
      onStatus: ({ keys, fit }) => {
        if (keys !== undefined) this.#typed(keys);
        if (fit !== undefined) tell((told) => ({ ...told, fit }));
      },
      onDrawn: () => screen.draw(),
    });
  }

  #leave(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  /** What was said of keys and size counts for the stream on which it was said. */
  #stands(stream: TerminalState): void {
    const { tell } = this.#options;
    if (stream.kind === "live") {
      if (this.#hasAbove) this.#stream?.scrollback(SCROLLBACK_LINES_MAX);
      return tell((told) => ({ ...told, stream }));
    }
    const isUnsure = this.#pending !== undefined;
    this.#pending = undefined;
    tell((told) => ({ stream, fit: "off", unsure: isUnsure || told.unsure === true }));
  }

  #typed(keys: KeyState): void {
    const { sequence = Infinity, at = 0 } = this.#pending ?? {};
    const isNewest = keys.sequence >= sequence;
    const latencyMs = isNewest ? performance.now() - at : undefined;
    if (isNewest && keys.state !== "held") this.#pending = undefined;
    this.#options.tell((told) => ({ ...told, keys, latencyMs: latencyMs ?? told.latencyMs }));
  }
}
