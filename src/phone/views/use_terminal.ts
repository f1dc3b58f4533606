/** Keeps a session's terminal while it is on the page and visible: its screen, its stream, and their state. */
import * as z from "zod/mini";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { parseJson } from "../../protocol/json.ts";
import type { KeyInput } from "../../protocol/key_input.ts";
import { SCROLLBACK_LINES_MAX } from "../../protocol/limits.ts";
import type { KeyState } from "../../protocol/pane_frame.ts";
import { sessionKey, type SessionName } from "../sessions.ts";
import { TERMINALS_KEY } from "../preferences.ts";
import { followPinch } from "../terminal_input.ts";
import type { AwayFromEnd, TerminalScreen } from "../terminal_screen.ts";
import type { TerminalInfo } from "../terminal_status.ts";
import type { TerminalState, TerminalStream } from "../terminal_stream.ts";
import type { TerminalViewer } from "../terminal_streams.ts";

/** With fewer lines than this above the screen, there may be more to request. */
const FEW_EARLIER_LINES = 50;
const REQUEST_EARLIER_EVERY_MS = 2_000;
/** Scrolling up by a page leaves a few of its lines visible. */
const PAGE = 0.8;
/** While the phone turns, its width may change several times. */
const TURNED_MS = 300;
/** Someone who goes on typing after a break reads what happened to earlier keys at least for this long. */
const WARNED_MS = 4_000;

export type OpenMirror = (name: SessionName, viewer: TerminalViewer) => TerminalStream | undefined;

export interface Terminal {
  container: RefObject<HTMLDivElement | null>;
  info: TerminalInfo;
  /** False if the mirror is not live and nothing was sent. */
  type(inputs: readonly KeyInput[]): boolean;
  /** Shows in the status line why a key was not sent, until the next key. */
  say(text: string): void;
  /** A key was pressed while none can be sent. */
  miss(): void;
  fit(on: boolean): void;
  /** Scrolls up, and requests earlier output when needed. */
  showEarlier(): void;
  retry(): void;
  /** Changes the font size by this many pixels. */
  zoom(pixels: number): void;
  text(): string;
  /** Calls `listener` after each drawing. Returns a function that ends this. */
  onDrawn(listener: () => void): () => void;
  /** Requests earlier output if there is little of it. */
  loadEarlier(): void;
  showLatest(): void;
  /** The numbers of the lines that contain the text, which `showFound` marks. */
  find(text: string): number[];
  showFound(line: number | undefined): void;
  /** True if text that wraps at the phone's width is shown in place of the exact screen. */
  asText: boolean;
  showAsText(asText: boolean): void;
  /** The user has scrolled up in the text, or is back at its end. */
  setAway(away: AwayFromEnd | undefined): void;
}

const INITIAL: TerminalInfo = { stream: { kind: "opening" }, fit: "off" };

export function useTerminal(name: SessionName, openMirror: OpenMirror): Terminal {
  const container = useRef<HTMLDivElement>(null);
  const mounted = useRef<MountedTerminal>(null);
  const [info, setInfo] = useState(INITIAL);
  const key = sessionKey(name);
  const [asText, setAsText] = useState(() => readChoices(key).asText === true);
  /** Set while the text is scrolled up; the exact screen behind it scrolls separately. */
  const [awayInText, setAway] = useState<AwayFromEnd>();
  useEffect(() => {
    const element = container.current;
    if (element === null) return;
    setInfo(INITIAL);
    setAsText(readChoices(key).asText === true);
    setAway(undefined);
    const terminal = new MountedTerminal({ name, openMirror, container: element, update: setInfo });
    mounted.current = terminal;
    return () => terminal.close();
  }, [key]);
  return {
    container,
    info: asText ? { ...info, away: awayInText } : info,
    type: (inputs) => mounted.current?.type(inputs) ?? false,
    say: (said) => setInfo((before) => ({ ...before, said })),
    miss: () => setInfo((before) => ({ ...before, missed: true })),
    fit: (on) => mounted.current?.fit(on),
    showEarlier: () => mounted.current?.showEarlier(PAGE),
    retry: () => mounted.current?.retry(),
    zoom: (pixels) => mounted.current?.zoom(pixels),
    text: () => mounted.current?.text() ?? "",
    onDrawn: (listener) => mounted.current?.onDrawn(listener) ?? (() => undefined),
    loadEarlier: () => mounted.current?.showEarlier(),
    showLatest: () => mounted.current?.screen?.showLatest(),
    find: (text) => mounted.current?.screen?.find(text) ?? [],
    showFound: (line) => mounted.current?.screen?.showFound(line),
    asText,
    setAway,
    showAsText: (on) => {
      setAsText(on);
      setAway(undefined);
      mounted.current?.screen?.showLatest();
      writeChoices(key, { asText: on });
    },
  };
}

interface MountedTerminalOptions {
  name: SessionName;
  openMirror: OpenMirror;
  container: HTMLDivElement;
  update(change: (info: TerminalInfo) => TerminalInfo): void;
}

/** Opens the mirror while the terminal's code is loading, and mirrors only while the page is visible. */
class MountedTerminal {
  screen: TerminalScreen | undefined;
  readonly #options: MountedTerminalOptions;
  readonly #terminal = new LateTerminal();
  readonly #abort = new AbortController();
  #stream: TerminalStream | undefined;
  /** The newest keys, until the host has reported on them; `at`: when they were sent, unless a dialog holds them. */
  #pending: { sequence: number; at?: number } | undefined;
  #requestedEarlierAt = -Infinity;
  /** Earlier lines were requested; a new stream starts without them. */
  #wantsEarlier = false;
  readonly #listeners = new Set<() => void>();
  /** The user wants the session's window to fit: requested when the view opens, and not again after a break. */
  #wantsFit: boolean;
  #isFitAsked = false;
  /** The host reports that the window fits this phone. */
  #isFitted = false;
  #turning: ReturnType<typeof setTimeout> | undefined;
  #liveSince: number | undefined;
  /** A stream's first screen has no earlier lines, whatever was requested. */
  #isFirstScreen = true;

  constructor(options: MountedTerminalOptions) {
    this.#options = options;
    this.#wantsFit = this.#choices().fit === true;
    void this.#load();
    const update = (): void => document.visibilityState === "visible" ? this.#open() : this.#leave();
    document.addEventListener("visibilitychange", update, { signal: this.#abort.signal });
    update();
  }

  onDrawn(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #choices(): TerminalChoices {
    return readChoices(sessionKey(this.#options.name));
  }

  close(): void {
    this.#abort.abort();
    clearTimeout(this.#turning);
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
    const isRead = performance.now() - (this.#liveSince ?? Infinity) >= WARNED_MS;
    this.#options.update(({ unsure, missed, said: _read, ...info }) =>
      isRead ? info : { ...info, ...(unsure ? { unsure } : {}), ...(missed ? { missed } : {}) }
    );
    return true;
  }

  /** Fits the size that the container has after the next frame: closing a panel may enlarge it. */
  fit(on: boolean): void {
    this.#wantsFit = on;
    writeChoices(sessionKey(this.#options.name), { fit: on, font: undefined });
    requestAnimationFrame(() => this.#fitNow());
  }

  #fitNow(): void {
    const { screen } = this;
    if (screen === undefined || this.#abort.signal.aborted) return;
    this.#stream?.type(this.#wantsFit ? { type: "fit", ...screen.room() } : { type: "unfit" });
    screen.resetZoom();
  }

  /** While the window is fitted, it follows the width of the phone, which was turned, once that is settled. */
  #fitAgain(): void {
    clearTimeout(this.#turning);
    this.#turning = setTimeout(() => {
      const { screen } = this;
      if (this.#isFitted && screen !== undefined) this.#stream?.type({ type: "fit", ...screen.room() });
    }, TURNED_MS);
  }

  zoom(pixels: number): void {
    if (this.screen !== undefined) this.#setFont(this.screen.fontPixels + pixels);
  }

  #setFont(pixels: number): void {
    const { screen } = this;
    if (screen === undefined) return;
    screen.zoom(pixels);
    writeChoices(sessionKey(this.#options.name), { font: screen.fontPixels });
  }

  /** Scrolls up by `pages`, and requests earlier lines if none were requested or only few are left. */
  showEarlier(pages = 0): void {
    const { screen } = this;
    const now = performance.now();
    if (screen === undefined) return;
    const areMany = screen.terminal.buffer.active.baseY >= FEW_EARLIER_LINES;
    const hasScrolled = areMany && screen.scrollUp(pages);
    // Many lines may all have scrolled out of the screen since it was opened.
    if (areMany && this.#wantsEarlier) return;
    if (now - this.#requestedEarlierAt < REQUEST_EARLIER_EVERY_MS) return;
    this.#requestedEarlierAt = now;
    this.#wantsEarlier = true;
    screen.expectEarlier(hasScrolled ? 0 : pages);
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
    const screen = new TerminalScreen({
      container,
      onTop: (pages) => this.showEarlier(pages),
      onAway: (away) => this.#options.update((info) => ({ ...info, away })),
      onDrawn: () => this.#listeners.forEach((listener) => listener()),
      onWidth: () => this.#fitAgain(),
    });
    this.screen = screen;
    const { font } = this.#choices();
    if (font !== undefined) screen.zoom(font);
    const target = {
      get fontPixels(): number {
        return screen.fontPixels;
      },
      zoom: (pixels: number) => this.#setFont(pixels),
    };
    followPinch(container, { target, signal });
    this.#terminal.loaded(screen.terminal);
    if (this.#stream !== undefined) this.#onState(this.#stream.state);
  }

  #open(): void {
    if (this.#stream !== undefined) return;
    const { name, openMirror } = this.#options;
    this.#stream = openMirror(name, {
      terminal: this.#terminal,
      onState: (stream) => this.#onState(stream),
      onStatus: ({ keys, fit }) => {
        if (keys !== undefined) this.#onKeys(keys);
        if (fit !== undefined) this.#onFit(fit);
      },
      onDrawn: (isWhole) => {
        this.screen?.draw({ isWhole: isWhole && !this.#isFirstScreen });
        this.#isFirstScreen &&= !isWhole;
      },
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
      // Nothing is shown yet.
      if (this.screen === undefined) return;
      if (this.#wantsEarlier) this.#stream?.scrollback(SCROLLBACK_LINES_MAX);
      if (this.#wantsFit && !this.#isFitAsked) this.#fitNow();
      this.#isFitAsked = true;
      this.#liveSince ??= performance.now();
      return update((info) => ({ ...info, stream }));
    }
    this.#isFitted = false;
    this.#isFirstScreen = true;
    this.#liveSince = undefined;
    const isUnsure = this.#pending !== undefined;
    this.#pending = undefined;
    update(({ away, unsure, missed }) => ({
      ...{ stream, fit: "off", away },
      ...(isUnsure || unsure ? { unsure: true } : {}),
      ...(missed ? { missed } : {}),
    }));
  }

  #onFit(fit: TerminalInfo["fit"]): void {
    this.#isFitted = fit === "on";
    this.#options.update((info) => ({ ...info, fit }));
  }

  #onKeys(keys: KeyState): void {
    const { sequence = Infinity, at } = this.#pending ?? {};
    const isNewest = keys.sequence >= sequence;
    const isHeld = keys.state === "held";
    const latencyMs = isNewest && !isHeld && at !== undefined ? performance.now() - at : undefined;
    if (isNewest) this.#pending = isHeld ? { sequence } : undefined;
    this.#options.update((info) => ({ ...info, keys, latencyMs: latencyMs ?? info.latencyMs }));
  }
}

type FedTerminal = TerminalViewer["terminal"];

/** Queues what arrives before the terminal's code is loaded: at most the host's first credit. */
class LateTerminal implements FedTerminal {
  #terminal: FedTerminal | undefined;
  #waiting: ((terminal: FedTerminal) => void)[] = [];

  loaded(terminal: FedTerminal): void {
    this.#terminal = terminal;
    for (const act of this.#waiting.splice(0)) act(terminal);
  }

  write(data: string | Uint8Array, done?: () => void): void {
    this.#act((terminal) => terminal.write(data, done));
  }

  resize(cols: number, rows: number): void {
    this.#act((terminal) => terminal.resize(cols, rows));
  }

  input(data: string): void {
    this.#act((terminal) => terminal.input(data));
  }

  #act(act: (terminal: FedTerminal) => void): void {
    if (this.#terminal === undefined) this.#waiting.push(act);
    else act(this.#terminal);
  }
}

/** The user's view settings for a session's terminal. */
const Choices = z.object({
  /** In pixels; absent while the font fits the width. */
  font: z.optional(z.number()),
  fit: z.optional(z.boolean()),
  asText: z.optional(z.boolean()),
});
type TerminalChoices = z.infer<typeof Choices>;

/** The settings of this many sessions are stored; those changed longest ago are dropped first. */
const SESSIONS_MAX = 50;

type Store = Pick<Storage, "getItem" | "setItem">;

function readAll(store: () => Store): [string, TerminalChoices][] {
  const kept = z.array(z.tuple([z.string(), Choices]));
  try {
    return kept.safeParse(parseJson(store().getItem(TERMINALS_KEY) ?? "[]")?.value).data ?? [];
  } catch {
    return [];
  }
}

export function readChoices(session: string, store: () => Store = () => localStorage): TerminalChoices {
  return readAll(store).find(([key]) => key === session)?.[1] ?? {};
}

export function writeChoices(
  session: string,
  change: TerminalChoices,
  store: () => Store = () => localStorage,
): void {
  const all = readAll(store);
  const own = { ...all.find(([key]) => key === session)?.[1], ...change };
  const others = all.filter(([key]) => key !== session).slice(-(SESSIONS_MAX - 1));
  try {
    store().setItem(TERMINALS_KEY, JSON.stringify([...others, [session, own]]));
  } catch {
    // Without storage, the choice lasts until the session is left.
  }
}
