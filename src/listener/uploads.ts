/**
 * Files that paired phones send: announced, then received chunk by chunk into `~/.svc/uploads`, over several streams if
 * necessary.
 */
import { sha256Hex } from "../async/encodings.ts";
import { errorText } from "../async/error_text.ts";
import { Mutex } from "../async/mutex.ts";
import { TokenBuckets } from "../async/token_bucket.ts";
import { setNewest } from "../async/newest.ts";
import type { AuditEntry } from "../protocol/audit.ts";
import { UPLOAD_CHUNKS_AHEAD_MAX } from "../protocol/limits.ts";
import type { UploadInput, UploadState } from "../protocol/key_input.ts";
import type { AppendFile, Files } from "../runtime/types.ts";
import { directoriesOf, type TmuxSession } from "../tmux/sessions.ts";
import { UploadFolder, type UploadFolderOptions } from "./upload_folder.ts";

/** Files that one phone, and all phones together, may be sending at a time. */
export const UPLOADS_OPEN_PER_PHONE = 2;
export const UPLOADS_OPEN_MAX = 8;
/** Files that one phone may announce. */
const ANNOUNCED = { perSecond: 0.5, burst: 10 };
/** A file is given up when no chunk arrives for this long. */
export const UPLOAD_STALL_MS = 60_000;
/** A file whose stream was lost waits this long for the phone's next one. */
export const UPLOAD_PARKED_MS = 600_000;
/** Stored files whose answer is repeated if the phone did not get the first one. */
const STORED_KNOWN_MAX = 32;
/** Steps that may wait for the disk; a phone that keeps to its window has fewer. */
const STEPS_WAITING_MAX = 4 * UPLOAD_CHUNKS_AHEAD_MAX;

export interface UploadsOptions extends UploadFolderOptions {
  files: UploadFolderOptions["files"] & Pick<Files, "openAppend">;
  sessions(): Promise<TmuxSession[]>;
  /** True if the project in one of these directories is muted. */
  isMuted(...directories: string[]): Promise<boolean>;
  record(entry: AuditEntry): void;
}

export interface UploadStream {
  /** The stream is sealed with the secret of a pairing: the relay sees neither name nor content. */
  isProven: boolean;
  /** The device id that the phone claims, which its secret proves. */
  phone: string;
  names: Pick<AuditEntry, "device" | "session" | "pane">;
  answer(state: UploadState): void;
}

export class Uploads {
  readonly options: UploadsOptions;
  /** How many files each phone is sending. */
  readonly #open = new Map<string, number>();
  readonly #announced = new TokenBuckets(ANNOUNCED);
  /** Incomplete files, oldest first: the phone's next stream continues those of a lost one. */
  readonly #unfinished = new Map<string, StreamUploads>();
  readonly #stored = new Map<string, UploadState>();
  readonly folder: UploadFolder;

  constructor(options: UploadsOptions) {
    this.options = options;
    this.folder = new UploadFolder(options);
  }

  ofStream(stream: UploadStream): StreamUploads {
    return new StreamUploads(this, stream);
  }

  /** Removes incomplete files. */
  async close(): Promise<void> {
    this.folder.close();
    for (const owner of [...this.#unfinished.values()]) await owner.abandon();
  }

  /** Begins a file of this phone. Returns why it may not begin one now, or undefined. */
  async begin(phone: string): Promise<"rate_limited" | "upload_busy" | undefined> {
    const { clock } = this.options;
    if (this.#announced.take(phone, clock.elapsed()) > 0) return "rate_limited";
    const busy = this.#busy(phone);
    const parked = [...this.#unfinished.values()].find((owner) =>
      owner.isOver && (busy === "all" || owner.phone === phone)
    );
    if (busy !== undefined) await parked?.abandon();
    if (this.#busy(phone) !== undefined) return "upload_busy";
    this.#open.set(phone, (this.#open.get(phone) ?? 0) + 1);
    return undefined;
  }

  #busy(phone: string): "phone" | "all" | undefined {
    if ((this.#open.get(phone) ?? 0) >= UPLOADS_OPEN_PER_PHONE) return "phone";
    const all = [...this.#open.values()].reduce((total, count) => total + count, 0);
    return all >= UPLOADS_OPEN_MAX ? "all" : undefined;
  }

  /** Records which stream is receiving this file; undefined once it is complete or given up. */
  hold(key: string, owner: StreamUploads | undefined): void {
    this.#unfinished.delete(key);
    if (owner !== undefined) this.#unfinished.set(key, owner);
  }

  /** Takes over the unfinished file of an earlier stream, if there is one. */
  async resume(key: string): Promise<OpenUpload | undefined> {
    return await this.#unfinished.get(key)?.handOver(key);
  }

  keepStored(key: string, state: UploadState): void {
    setNewest(this.#stored, [key, state], { max: STORED_KNOWN_MAX });
  }

  stored(key: string): UploadState | undefined {
    return this.#stored.get(key);
  }

  ended(phone: string, path: string | undefined): void {
    const left = (this.#open.get(phone) ?? 1) - 1;
    if (left > 0) this.#open.set(phone, left);
    else this.#open.delete(phone);
    if (path !== undefined) this.folder.settled(path);
  }
}

interface OpenUpload {
  /** Identifies the file, whichever stream of its phone sends it. */
  key: string;
  id: number;
  size: number;
  received: number;
  path: string;
  file: AppendFile;
  cancelStall(): void;
}

/** The files of one stream, one at a time. */
export class StreamUploads {
  readonly #uploads: Uploads;
  readonly #stream: UploadStream;
  readonly #steps = new Mutex();
  #open: OpenUpload | undefined;
  /** The stream has ended. */
  isOver = false;

  constructor(uploads: Uploads, stream: UploadStream) {
    this.#uploads = uploads;
    this.#stream = stream;
  }

  get phone(): string {
    return this.#stream.phone;
  }

  async take(input: UploadInput): Promise<void> {
    if (this.isOver) return;
    // The phone exceeds its window: this is dropped, and the gap ends the file.
    if (this.#steps.size >= STEPS_WAITING_MAX) return;
    // Cancelling is the last thing that a phone does before it leaves.
    const isLast = input.type === "upload.stop";
    await this.#steps.run(() => this.isOver && !isLast ? undefined : this.#step(input));
  }

  /** Ends the stream. An incomplete file waits for the phone's next one. */
  async close(): Promise<void> {
    this.isOver = true;
    await this.#steps.run(() => this.#park());
  }

  async abandon(): Promise<void> {
    await this.#steps.run(() => this.#giveUp());
  }

  /** Gives the unfinished file to another stream; undefined if this one no longer has it. */
  async handOver(key: string): Promise<OpenUpload | undefined> {
    return await this.#steps.run(() => {
      const open = this.#open;
      if (open?.key !== key) return undefined;
      open.cancelStall();
      this.#open = undefined;
      return open;
    });
  }

  #park(): void {
    const open = this.#open;
    if (open === undefined) return;
    open.cancelStall();
    open.cancelStall = this.#uploads.options.clock.after(UPLOAD_PARKED_MS, () => void this.abandon());
  }

  async #step(input: UploadInput): Promise<void> {
    switch (input.type) {
      case "upload":
        return await this.#begin(input);
      case "upload.chunk":
        return await this.#chunk(input);
      case "upload.stop":
        if (this.#open?.id === input.id) await this.#giveUp();
    }
  }

  async #begin({ id, name, size }: Extract<UploadInput, { type: "upload" }>): Promise<void> {
    const { options } = this.#uploads;
    const { phone } = this.#stream;
    const key = JSON.stringify([phone, this.#stream.names.session, id, size]);
    const refusal = await this.#refusal(size).catch((error) => this.#notStored(error));
    if (refusal === undefined && await this.#goesOn(key)) return;
    const reason = refusal ?? await this.#uploads.begin(phone);
    if (reason !== undefined) return await this.#refused(id, { reason, size });
    let path: string | undefined;
    try {
      path = await this.#uploads.folder.create(phone, { name, size });
      if (path === undefined) {
        this.#uploads.ended(phone, undefined);
        return await this.#refused(id, { reason: "upload_full", size });
      }
      const file = await options.files.openAppend(path, { mode: 0o600 });
      this.#open = { key, id, size, received: 0, path, file, cancelStall: () => {} };
      this.#uploads.hold(key, this);
      this.#startStallTimer();
      this.#stream.answer({ id, state: "taking", received: 0 });
    } catch (error) {
      if (path !== undefined) await options.files.remove(path).catch(() => false);
      this.#uploads.ended(phone, path);
      await this.#refused(id, { reason: this.#notStored(error), size });
    }
  }

  /** True if a lost stream has received part of this file, which is then continued, or all of it. */
  async #goesOn(key: string): Promise<boolean> {
    const stored = this.#uploads.stored(key);
    if (stored !== undefined) this.#stream.answer(stored);
    if (stored !== undefined) return true;
    const open = await this.#uploads.resume(key);
    if (open === undefined) return false;
    this.#open = open;
    this.#uploads.hold(key, this);
    this.#startStallTimer();
    this.#stream.answer({ id: open.id, state: "taking", received: open.received });
    return true;
  }

  #notStored(error: unknown): "upload_not_stored" {
    this.#uploads.options.log(`uploads: not stored: ${errorText(error)}`);
    return "upload_not_stored";
  }

  async #refusal(size: number): Promise<string | undefined> {
    const { maxBytes, sessions, isMuted } = this.#uploads.options;
    if (this.#open !== undefined) return "upload_busy";
    if (!this.#stream.isProven) return "sealed_required";
    if (maxBytes === 0) return "upload_not_allowed";
    if (size > maxBytes) return "upload_too_large";
    const found = (await sessions()).filter(({ name }) => name === this.#stream.names.session);
    return await isMuted(...found.flatMap(directoriesOf)) ? "muted" : undefined;
  }

  /** Chunks must come in order and without a gap. Those of a refused file may still arrive, and are ignored. */
  async #chunk({ id, at, data }: Extract<UploadInput, { type: "upload.chunk" }>): Promise<void> {
    const open = this.#open;
    if (open?.id !== id) return;
    const { received, size } = open;
    if (at !== received || received + data.length > size) return await this.#fail("upload_damaged");
    try {
      await open.file.append(data);
      open.received += data.length;
      if (open.received === size) await this.#finish(open);
      else this.#stream.answer({ id, state: "taking", received: open.received });
      this.#startStallTimer();
    } catch (error) {
      await this.#fail(this.#notStored(error));
    }
  }

  async #finish({ key, id, size, path, file, cancelStall }: OpenUpload): Promise<void> {
    await file.sync();
    file.close();
    cancelStall();
    this.#open = undefined;
    this.#uploads.ended(this.#stream.phone, path);
    this.#uploads.hold(key, undefined);
    const state: UploadState = { id, state: "done", received: size, path };
    this.#uploads.keepStored(key, state);
    await this.#record(path, { size, outcome: "upload stored" });
    this.#stream.answer(state);
  }

  /** Gives the file up if nothing more comes. */
  #startStallTimer(): void {
    const open = this.#open;
    if (open === undefined) return;
    open.cancelStall();
    open.cancelStall = this.#uploads.options.clock.after(
      UPLOAD_STALL_MS,
      () => void this.#steps.run(() => this.#open === open ? this.#fail("upload_stalled") : undefined),
    );
  }

  async #fail(reason: string): Promise<void> {
    const { id, size } = this.#open ?? { id: 0, size: 0 };
    await this.#giveUp();
    await this.#refused(id, { reason, size });
  }

  async #giveUp(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    open.cancelStall();
    this.#uploads.hold(open.key, undefined);
    open.file.close();
    const { files, log } = this.#uploads.options;
    await files.remove(open.path).catch((error) => log(`uploads: not removed: ${errorText(error)}`));
    this.#uploads.ended(this.#stream.phone, open.path);
  }

  async #refused(id: number, { reason, size }: { reason: string; size: number }): Promise<void> {
    const { maxBytes } = this.#uploads.options;
    await this.#record("", { size, outcome: `upload refused ${reason}` });
    this.#stream.answer({ id, state: "refused", received: 0, reason, most: maxBytes });
  }

  async #record(path: string, { size, outcome }: { size: number; outcome: string }): Promise<void> {
    const { record, clock } = this.#uploads.options;
    const time = new Date(clock.now()).toISOString();
    record({ time, ...this.#stream.names, digest: await sha256Hex(path), length: size, outcome });
  }
}
