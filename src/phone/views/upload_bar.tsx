/** The upload of a file, above the message field: its progress, or why it failed. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatNumber } from "../format_time.ts";
import { SESSION_TEXT } from "../session_text.ts";
import {
  type ShownUpload,
  type StartOptions,
  type UploadOptions,
  type UploadResult,
  UPLOADS,
} from "../upload.ts";
import { Icon } from "./shared.tsx";

const { upload: TEXT } = SESSION_TEXT;
const MEGABYTE = 1_048_576;

export interface FileUpload {
  shown: ShownUpload | undefined;
  start(file: File): void;
  /** Cancels the upload, or removes its failure. */
  dismiss(): void;
}

interface Options extends Pick<StartOptions, "session" | "onStored"> {
  send(file: File, options: Pick<UploadOptions, "onProgress" | "signal">): Promise<UploadResult>;
}

/** A session uploads one file at a time. */
export function useUpload({ session, send, onStored }: Options): FileUpload {
  const [, redraw] = useState(0);
  useEffect(() => UPLOADS.follow(() => redraw((count) => count + 1)), []);
  return {
    shown: UPLOADS.shown(session),
    dismiss: () => UPLOADS.dismiss(session),
    start: (file) => void UPLOADS.start(file, { session, onStored, send: (options) => send(file, options) }),
  };
}

function whyNot({ reason, most }: Extract<UploadResult, { kind: "failed" }>): string {
  if (reason === "upload_too_large") return TEXT.tooLarge(sizeOf(most));
  const known: Partial<Record<string, string>> = TEXT.reasons;
  const ended: Partial<Record<string, string>> = SESSION_TEXT.terminal.ends;
  return known[reason] ?? ended[reason] ?? TEXT.other(reason);
}

function sizeOf(bytes: number | undefined): string {
  return bytes === undefined ? "" : `${formatNumber(Math.floor(bytes / MEGABYTE * 10) / 10)}\u00a0MB`;
}

export function UploadBar({ upload }: { upload: FileUpload }): JSX.Element | null {
  const { shown, dismiss } = upload;
  if (shown === undefined) return null;
  const isSending = shown.kind === "sending";
  return (
    <div class="upload-bar" data-kind={shown.kind}>
      <p class="upload-name" role="status">
        {shown.kind === "failed"
          ? TEXT.failed(shown.name)
          : shown.isWaiting
          ? TEXT.waiting(shown.name)
          : TEXT.sending(shown.name)}
        {shown.kind === "failed" && <span>{whyNot(shown.result)}</span>}
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

/** Opens the browser's picker for photos, camera and files. */
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
