/** The files that are being sent, one for each session. They go on when the session's view is left. */
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

  /** Called after every change, until the result is called. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  shown(session: string): ShownUpload | undefined {
    return this.#all.get(session)?.shown;
  }

  /** In place of the session's file before. */
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

  /** Cancels the session's file, or takes its failure away. */
  dismiss(session: string): void {
    this.#all.get(session)?.abort.abort();
    this.#all.delete(session);
    this.#changed();
  }

  /** The account is left. */
  end(): void {
    for (const session of [...this.#all.keys()]) this.dismiss(session);
  }

  #changed(): void {
    const isSending = [...this.#all.values()].some(({ shown }) => shown.kind === "sending");
    globalThis.onbeforeunload = isSending ? askToStay : null;
    for (const listener of this.#listeners) listener();
  }
}

/** In the browser's own words. Chrome before version 119 looks at the value alone. */
function askToStay(event: BeforeUnloadEvent): void {
  event.preventDefault();
  event.returnValue = "sending";
}

/** Those of this page. */
export const UPLOADS = new RunningUploads();
