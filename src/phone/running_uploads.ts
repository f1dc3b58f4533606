/** The files that are being sent, one for each session. They continue when the session's view is left. */
import type { UploadOptions, UploadResult } from "./upload.ts";

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
