/** Sends files to the host, sealed, over a separate stream, as fast as the relay and the host take them. */
import { type Clock, delay, systemClock } from "../async/clock.ts";
import { TokenBucket } from "../async/token_bucket.ts";
import type { UploadState } from "../protocol/key_input.ts";
import {
  KEY_BYTES_PER_SECOND,
  UPLOAD_CHUNK_BYTES,
  UPLOAD_CHUNKS_AHEAD_MAX,
  UPLOAD_CONFIG_MAX_BYTES,
} from "../protocol/limits.ts";
import type { SessionName } from "./sessions.ts";
import type { TerminalState, TerminalStream } from "./terminal_stream.ts";
import type { TerminalViewer } from "./terminal_streams.ts";

/** The relay closes the connection of a phone that sends more; live keys need the rest. */
const PACE = { perSecond: KEY_BYTES_PER_SECOND * 0.6, burst: 8 * UPLOAD_CHUNK_BYTES };
/** A host that does not answer for this long is older, or this sign-in may only read. */
export const ANSWER_WITHIN_MS = 20_000;
/** A lost connection may come back within this time: the host keeps the received part of the file for as long. */
export const RESUME_WITHIN_MS = 600_000;

/** Time for the host to receive the user's cancellation. */
const STOPPED_WITHIN_MS = 5_000;

export type UploadResult =
  | { kind: "done"; path: string }
  /** `reason`: as the host gave it, or `lost`, `silent`, `old`, `unpaired`, `unreadable`, `empty`. `most`: bytes. */
  | { kind: "failed"; reason: string; most?: number | undefined }
  | { kind: "cancelled" };

export interface UploadOptions {
  open(name: SessionName, viewer: TerminalViewer): Pick<TerminalStream, "upload" | "close"> | undefined;
  /** `isWaiting`: for the connection. */
  onProgress(share: number, isWaiting: boolean): void;
  signal: AbortSignal;
  clock?: Clock;
}

type SentFile = Pick<File, "name" | "size" | "slice">;

/** Never rejects. Nothing of the file leaves the phone before the stream has proven that it is sealed for the paired host. */
export async function uploadFile(
  file: SentFile,
  { session, ...options }: UploadOptions & { session: SessionName },
): Promise<UploadResult> {
  if (file.size === 0) return { kind: "failed", reason: "empty" };
  if (file.size > UPLOAD_CONFIG_MAX_BYTES) return { kind: "failed", reason: "upload_too_large" };
  const sending = new Sending(file, options);
  const stream = options.open(session, sending.viewer);
  if (stream === undefined) return { kind: "failed", reason: "lost" };
  try {
    return await sending.run(stream);
  } finally {
    stream.close();
  }
}

/** The stream is gone; the upload continues over the next one. */
const INTERRUPTED = { kind: "interrupted" } as const;
type End = UploadResult | typeof INTERRUPTED;
type Sender = Pick<TerminalStream, "upload">;

/** One upload, in the order in which it happens. */
class Sending {
  readonly #file: SentFile;
  readonly #options: Omit<UploadOptions, "open">;
  readonly #clock: Clock;
  readonly #id = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  #stream: TerminalState = { kind: "opening" };
  #answer: UploadState | undefined;
  /** True once the file was announced over the current stream. */
  #isAnnounced = false;
  #wasInterrupted = false;
  #heardAt: number;
  #wake: () => void = () => {};

  constructor(file: SentFile, options: Omit<UploadOptions, "open">) {
    this.#file = file;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#heardAt = this.#clock.elapsed();
  }

  /** The stream also mirrors the session; its output is discarded. */
  readonly viewer: TerminalViewer = {
    terminal: { write: (_data, done) => done?.(), resize: () => {}, input: () => {} },
    onState: (state) => {
      if (state.kind !== this.#stream.kind) this.#heardAt = this.#clock.elapsed();
      this.#stream = state;
      this.#wake();
    },
    onStatus: ({ upload, keys }) => {
      // An older host takes the announcement for an unknown key.
      const isOld = keys?.reason === "invalid_body";
      const answer = isOld ? { id: this.#id, state: "refused", received: 0, reason: "old" } as const : upload;
      if (answer?.id !== this.#id) return;
      this.#answer = answer;
      this.#heardAt = this.#clock.elapsed();
      this.#wake();
    },
    onDrawn: () => {},
  };

  async run(stream: Sender): Promise<UploadResult> {
    const stop = (): void => this.#wake();
    this.#options.signal.addEventListener("abort", stop, { once: true });
    for (;;) {
      const end = await this.#try(stream);
      if (end.kind === "cancelled") await this.#stop(stream);
      if (end.kind !== "interrupted") return end;
      this.#options.onProgress((this.#answer?.received ?? 0) / this.#file.size, true);
      this.#answer = undefined;
      this.#isAnnounced = false;
      this.#wasInterrupted = true;
    }
  }

  /** Keeps the stream for a moment: when it closes, the host drops the frames that it has not opened yet. */
  async #stop(stream: Sender): Promise<void> {
    await stream.upload({ type: "upload.stop", id: this.#id });
    await delay(STOPPED_WITHIN_MS, { clock: this.#clock });
  }

  /** Sends the file over one stream, from the point that the host reports as received over earlier ones. */
  async #try(stream: Sender): Promise<End> {
    const { name, size } = this.#file;
    const opened = await this.#until(() => this.#stream.kind === "live");
    if (opened !== undefined) return opened;
    if (this.#stream.kind !== "live" || this.#stream.sealing !== "psk") return failed("unpaired");
    void stream.upload({ type: "upload", id: this.#id, name: Array.from(name).slice(-120).join(""), size });
    this.#isAnnounced = true;
    const end = await this.#until(() => this.#answer !== undefined) ??
      await this.#sendRest(stream) ??
      await this.#until(() => this.#answer?.state === "done");
    const { path } = this.#answer ?? {};
    return end ?? (path === undefined ? failed("lost") : { kind: "done", path });
  }

  async #sendRest(stream: Sender): Promise<End | undefined> {
    const { size } = this.#file;
    const pace = new TokenBucket(PACE, this.#clock.elapsed());
    for (let at = this.#answer?.received ?? 0; at < size; at += UPLOAD_CHUNK_BYTES) {
      const isNear = (): boolean =>
        at < (this.#answer?.received ?? 0) + UPLOAD_CHUNKS_AHEAD_MAX * UPLOAD_CHUNK_BYTES;
      const end = await this.#until(isNear);
      if (end !== undefined) return end;
      let data: Uint8Array;
      try {
        data = new Uint8Array(await this.#file.slice(at, at + UPLOAD_CHUNK_BYTES).arrayBuffer());
      } catch {
        return failed("unreadable");
      }
      for (let wait = 1; wait > 0;) {
        wait = pace.take(this.#clock.elapsed(), data.length);
        if (wait > 0) await delay(Math.ceil(wait * 1_000), { clock: this.#clock });
      }
      const gone = this.#ended();
      if (gone !== undefined) return gone;
      void stream.upload({ type: "upload.chunk", id: this.#id, at, data });
      this.#options.onProgress(at / size, false);
    }
    return undefined;
  }

  /** Resolves to undefined once the condition holds, else to the end because of which it never will. */
  async #until(condition: () => boolean): Promise<End | undefined> {
    for (;;) {
      const end = this.#ended();
      if (end !== undefined) return end;
      if (condition()) return undefined;
      const isComingBack = this.#wasInterrupted && this.#stream.kind !== "live";
      const limit = isComingBack ? RESUME_WITHIN_MS : ANSWER_WITHIN_MS;
      const isSilent = this.#clock.elapsed() - this.#heardAt >= limit;
      if (isSilent) return failed(isComingBack ? "lost" : "silent");
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const cancel = this.#clock.after(ANSWER_WITHIN_MS, resolve);
      await promise;
      cancel();
    }
  }

  #ended(): End | undefined {
    if (this.#options.signal.aborted) return { kind: "cancelled" };
    const { state, reason = "", most } = this.#answer ?? {};
    if (state === "refused") return { ...failed(reason), most };
    const stream = this.#stream;
    const isOver = stream.kind === "ended" && (stream.lasting || !this.#isAnnounced && !this.#wasInterrupted);
    if (isOver) return failed(stream.reason);
    return this.#isAnnounced && stream.kind !== "live" ? INTERRUPTED : undefined;
  }
}

function failed(reason: string): Extract<UploadResult, { kind: "failed" }> {
  return { kind: "failed", reason };
}

export type ShownUpload =
  | { kind: "sending"; name: string; share: number; isWaiting: boolean }
  | { kind: "failed"; name: string; result: Extract<UploadResult, { kind: "failed" }> };

export interface StartOptions {
  session: string;
  send(options: Pick<UploadOptions, "onProgress" | "signal">): Promise<UploadResult>;
  onStored(path: string): void;
}

interface Running {
  shown: ShownUpload;
  abort: AbortController;
}

/** The files that are being sent, one for each session. They continue when the session's view is left. */
export class RunningUploads {
  readonly #all = new Map<string, Running>();
  readonly #listeners = new Set<() => void>();

  /** Calls `listener` after every change. Returns a function that ends this. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  shown(session: string): ShownUpload | undefined {
    return this.#all.get(session)?.shown;
  }

  /** Replaces the session's previous file. */
  async start({ name }: Pick<File, "name">, { session, send, onStored }: StartOptions): Promise<void> {
    this.dismiss(session);
    const abort = new AbortController();
    const { signal } = abort;
    const show = (shown: ShownUpload): void => {
      if (signal.aborted) return;
      this.#all.set(session, { shown, abort });
      this.#changed();
    };
    const onProgress = (share: number, isWaiting: boolean): void =>
      show({ kind: "sending", name, share, isWaiting });
    onProgress(0, false);
    const result = await send({ onProgress, signal });
    if (signal.aborted) return;
    if (result.kind === "failed") return show({ kind: "failed", name, result });
    this.dismiss(session);
    if (result.kind === "done") onStored(result.path);
  }

  /** Cancels the session's upload, or removes its failure. */
  dismiss(session: string): void {
    this.#all.get(session)?.abort.abort();
    this.#all.delete(session);
    this.#changed();
  }

  /** Cancels all uploads when the account is left. */
  end(): void {
    for (const session of [...this.#all.keys()]) this.dismiss(session);
  }

  #changed(): void {
    const isSending = [...this.#all.values()].some(({ shown }) => shown.kind === "sending");
    globalThis.onbeforeunload = isSending ? askToStay : null;
    for (const listener of this.#listeners) listener();
  }
}

/** The browser chooses the text. Chrome before version 119 only checks `returnValue`. */
function askToStay(event: BeforeUnloadEvent): void {
  event.preventDefault();
  event.returnValue = "sending";
}

/** This page's uploads. */
export const UPLOADS = new RunningUploads();
