/** Fetches a long request from its host, part by part over a sealed stream, and checks it against the card's digest. */
import { type Clock, systemClock } from "../async/clock.ts";
import { sha256Hex } from "../async/encodings.ts";
import { Wakeup } from "../async/wakeup.ts";
import type { WholeRequest } from "../protocol/ask.ts";
import { CARD_PART_CHARS } from "../protocol/limits.ts";
import type { RequestPart } from "../protocol/pane_frame.ts";
import type { SessionName } from "./sessions.ts";
import type { TerminalState, TerminalStream } from "./terminal_stream.ts";
import type { TerminalViewer } from "./terminal_streams.ts";

/** Parts requested ahead of what has arrived: few, so that pings get through on a slow connection. */
const PARTS_AHEAD = 3;
/** A part that has not arrived after this time is requested again: the host may have slowed this phone down. */
export const ASK_AGAIN_MS = 4_000;
/** The phone gives up when nothing new has arrived for this long, even if it was offline. */
export const SILENT_MS = 30_000;

export type FetchedRequest =
  | { kind: "whole"; text: string }
  /** `gone`: the host has no such card. `changed`: it is not the request that the card names. */
  | { kind: "failed"; reason: "lost" | "silent" | "unpaired" | "gone" | "changed" }
  | { kind: "cancelled" };

export interface FetchOptions {
  /** The card's id. */
  id: string;
  session: SessionName;
  whole: Pick<WholeRequest, "length" | "digest">;
  open(name: SessionName, viewer: TerminalViewer): Pick<TerminalStream, "upload" | "close"> | undefined;
  onProgress(share: number): void;
  signal: AbortSignal;
  clock?: Clock;
}

/** Never rejects. */
export function fetchRequest(options: FetchOptions): Promise<FetchedRequest> {
  return new Fetching(options).fetch();
}

/** One fetch, in the order in which it happens. What has arrived is kept when the stream breaks and is opened again. */
class Fetching {
  readonly #options: FetchOptions;
  readonly #clock: Clock;
  readonly #news: Wakeup;
  #stream: TerminalState = { kind: "opening" };
  /** All that has arrived without a gap. */
  #text = "";
  /** Parts after a gap, by their offset. */
  readonly #ahead = new Map<number, string>();
  /** When each missing part was requested, by its offset. */
  readonly #asked = new Map<number, number>();
  #failure: Extract<FetchedRequest, { kind: "failed" }>["reason"] | undefined;
  #heardAt: number;

  constructor(options: FetchOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#news = new Wakeup(this.#clock);
    this.#heardAt = this.#clock.elapsed();
  }

  /** The stream also mirrors the session; its output is discarded. */
  readonly viewer: TerminalViewer = {
    terminal: { write: (_data, done) => done?.(), resize: () => {}, input: () => {} },
    onState: (state) => {
      this.#stream = state;
      // Requests on the last stream are not answered on a new one.
      if (state.kind !== "live") this.#asked.clear();
      this.#news.wake();
    },
    onStatus: ({ part }) => {
      if (part?.card !== this.#options.id) return;
      this.#take(part);
      this.#news.wake();
    },
    onDrawn: () => {},
  };

  async fetch(): Promise<FetchedRequest> {
    const stream = this.#options.open(this.#options.session, this.viewer);
    const fetched = stream && await this.#fetch(stream);
    stream?.close();
    return fetched ?? { kind: "failed", reason: "lost" };
  }

  async #fetch(stream: Pick<TerminalStream, "upload">): Promise<FetchedRequest> {
    const { whole, signal } = this.#options;
    while (this.#text.length < whole.length) {
      if (signal.aborted) return { kind: "cancelled" };
      const reason = this.#fault();
      if (reason !== undefined) return { kind: "failed", reason };
      if (this.#stream.kind === "live") this.#ask(stream);
      await this.#news.wait(ASK_AGAIN_MS, signal).catch(() => {});
    }
    const isMeant = await sha256Hex(this.#text) === whole.digest;
    return isMeant ? { kind: "whole", text: this.#text } : { kind: "failed", reason: "changed" };
  }

  #fault(): Extract<FetchedRequest, { kind: "failed" }>["reason"] | undefined {
    if (this.#failure !== undefined) return this.#failure;
    const stream = this.#stream;
    if (stream.kind === "live" && stream.sealing !== "psk") return "unpaired";
    if (stream.kind === "ended" && stream.lasting) return "lost";
    if (this.#clock.elapsed() - this.#heardAt < SILENT_MS) return undefined;
    return stream.kind === "live" ? "silent" : "lost";
  }

  #ask(stream: Pick<TerminalStream, "upload">): void {
    const { id, whole } = this.#options;
    const now = this.#clock.elapsed();
    const first = this.#text.length;
    for (
      let at = first;
      at < Math.min(whole.length, first + PARTS_AHEAD * CARD_PART_CHARS);
      at += CARD_PART_CHARS
    ) {
      const isAsked = now - (this.#asked.get(at) ?? -Infinity) < ASK_AGAIN_MS;
      if (isAsked || this.#ahead.has(at)) continue;
      this.#asked.set(at, now);
      void stream.upload({ type: "card.part", card: id, at });
    }
  }

  /** Drops parts that were not requested, so that a host cannot fill this phone's memory. */
  #take({ at, text }: RequestPart): void {
    if (!this.#asked.has(at) || at < this.#text.length) return;
    const { whole } = this.#options;
    if (text === "") return void (this.#failure = "gone");
    if (text.length !== Math.min(CARD_PART_CHARS, whole.length - at)) return void (this.#failure = "changed");
    this.#heardAt = this.#clock.elapsed();
    this.#asked.delete(at);
    this.#ahead.set(at, text);
    for (let next = this.#ahead.get(this.#text.length); next !== undefined;) {
      this.#ahead.delete(this.#text.length);
      this.#text += next;
      next = this.#ahead.get(this.#text.length);
    }
    this.#options.onProgress(this.#text.length / whole.length);
  }
}
