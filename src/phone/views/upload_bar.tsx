/** The upload of a file, above the message field: its progress, or why it failed. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { STRINGS } from "../strings.ts";
import type { UploadOptions, UploadResult } from "../upload.ts";
import { Icon } from "./shared.tsx";

const { upload: TEXT } = STRINGS;
const MEGABYTE = 1_048_576;

type Shown =
  | { kind: "sending"; name: string; share: number }
  | { kind: "failed"; name: string; why: string };

export interface FileUpload {
  shown: Shown | undefined;
  start(file: File): void;
  /** Cancels it, or takes its failure away. */
  dismiss(): void;
}

interface Options {
  /** It is cancelled when the user leaves the session. */
  session: string;
  send(file: File, options: Pick<UploadOptions, "onProgress" | "signal">): Promise<UploadResult>;
  onStored(path: string): void;
}

/** One file at a time. */
export function useUpload({ session, send, onStored }: Options): FileUpload {
  const [shown, show] = useState<Shown>();
  const running = useRef<AbortController>(null);
  const dismiss = (): void => {
    running.current?.abort();
    running.current = null;
    show(undefined);
  };
  useEffect(() => dismiss, [session]);
  const start = async (file: File): Promise<void> => {
    dismiss();
    const { name } = file;
    const abort = new AbortController();
    running.current = abort;
    show({ kind: "sending", name, share: 0 });
    const onProgress = (share: number): void => {
      if (!abort.signal.aborted) show({ kind: "sending", name, share });
    };
    const result = await send(file, { onProgress, signal: abort.signal });
    if (abort.signal.aborted) return;
    running.current = null;
    if (result.kind === "done") onStored(result.path);
    show(result.kind === "failed" ? { kind: "failed", name, why: whyNot(result) } : undefined);
  };
  return { shown, dismiss, start: (file) => void start(file) };
}

function whyNot({ reason, most }: Extract<UploadResult, { kind: "failed" }>): string {
  if (reason === "upload_too_large") return TEXT.tooLarge(sizeOf(most));
  const known: Partial<Record<string, string>> = TEXT.reasons;
  const ended: Partial<Record<string, string>> = STRINGS.terminal.ends;
  return known[reason] ?? ended[reason] ?? TEXT.other(reason);
}

function sizeOf(bytes: number | undefined): string {
  return bytes === undefined ? "" : `${(Math.floor(bytes / MEGABYTE * 10) / 10).toLocaleString()} MB`;
}

export function UploadBar({ upload }: { upload: FileUpload }): JSX.Element | null {
  const { shown, dismiss } = upload;
  if (shown === undefined) return null;
  const isSending = shown.kind === "sending";
  return (
    <div class="upload-bar" data-kind={shown.kind}>
      <p class="upload-name" role="status">
        {isSending ? TEXT.sending(shown.name) : TEXT.failed(shown.name)}
        {isSending || <span>{shown.why}</span>}
      </p>
      {isSending && <progress max={1} value={shown.share} aria-label={TEXT.sending(shown.name)} />}
      <button
        type="button"
        class="quiet"
        aria-label={isSending ? TEXT.cancel : TEXT.dismiss}
        onClick={dismiss}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}

/** The browser's own choice of photos, camera and files. */
export function FileButton({ onFile, onDone }: { onFile(file: File): void; onDone(): void }): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const choose = ({ currentTarget }: { currentTarget: HTMLInputElement }): void => {
    const [file] = currentTarget.files ?? [];
    if (file === undefined) return;
    onFile(file);
    onDone();
  };
  return (
    <>
      <button type="button" class="secondary" onClick={() => input.current?.click()}>{TEXT.choose}</button>
      <input ref={input} type="file" hidden aria-label={TEXT.choose} onChange={choose} />
    </>
  );
}
