/**
 * Files that paired phones send: announced, taken chunk by chunk into `~/.svc/uploads`, and removed after a while. A file
 * has a name made here; of the phone's name only a plain extension is kept.
 */
import type { Clock } from "../async/clock.ts";
import { encodeHex, sha256Hex } from "../async/encodings.ts";
import { errorText } from "../async/error_text.ts";
import { Mutex } from "../async/mutex.ts";
import { TokenBuckets } from "../async/token_bucket.ts";
import type { AuditEntry } from "../home/log_files.ts";
import { UPLOAD_CHUNKS_AHEAD_MAX } from "../protocol/limits.ts";
import type { UploadInput, UploadState } from "../protocol/key_input.ts";
import type { AppendFile, Files } from "../runtime/types.ts";

/** How long a file is kept. */
export const UPLOADS_KEPT_MS = 7 * 86_400_000;
/** Bytes kept for one phone: its oldest files go first. At least the largest file that the host takes. */
export const UPLOADS_PER_PHONE_BYTES = 67_108_864;
/** All phones together may have as many times that. More is refused: no phone's file goes for another's. */
export const UPLOADS_PHONES = 4;
/** Files that one phone, and all phones together, may be sending at a time. */
export const UPLOADS_OPEN_PER_PHONE = 2;
export const UPLOADS_OPEN_MAX = 8;
/** Files that one phone may announce. */
const ANNOUNCED = { perSecond: 0.5, burst: 10 };
/** A file of which nothing comes for this long is given up. */
export const UPLOAD_STALL_MS = 60_000;
/** How often old files are looked for. */
export const UPLOADS_SWEEP_MS = 3_600_000;
/** Steps that may wait for the disk; a phone that keeps to its window has fewer. */
const STEPS_WAITING_MAX = 4 * UPLOAD_CHUNKS_AHEAD_MAX;

/** Only what svc has made is counted and removed: time, phone, random part, extension. */
const OWN_NAME = /^\d{8}-\d{6}-([0-9a-f]{8})-[0-9a-f]{16}(?:\.[a-z0-9]{1,10})?$/;

export interface UploadsOptions {
  files: Pick<
    Files,
    "makeDirectory" | "realPath" | "info" | "chmod" | "list" | "remove" | "createText" | "openAppend"
  >;
  uid: number;
  /** `~/.svc`, and the folder in it. */
  root: string;
  directory: string;
  /** 0 refuses all files. */
  maxBytes: number;
  clock: Clock;
  /** The session's project is muted. */
  isMuted(session: string): Promise<boolean>;
  record(entry: AuditEntry): void;
  log(line: string): void;
}

export interface UploadStream {
  /** The stream is sealed with the secret of a pairing: the relay sees neither name nor content. */
  isProven: boolean;
  /** As the phone named itself, which its secret proves. */
  phone: string;
  names: Pick<AuditEntry, "device" | "session" | "pane">;
  answer(state: UploadState): void;
}

interface KeptFile {
  path: string;
  phone: string;
  size: number;
  mtimeMs: number;
}

export class Uploads {
  readonly options: UploadsOptions;
  /** How many files each phone is sending. */
  readonly #open = new Map<string, number>();
  readonly #announced = new TokenBuckets(ANNOUNCED);
  /** Room is made for one file at a time. */
  readonly #making = new Mutex();
  /** Files that are being written, with the size that they will have. */
  readonly #growing = new Map<string, number>();
  #cancelSweep: () => void = () => {};

  constructor(options: UploadsOptions) {
    this.options = options;
    this.#sweep();
  }

  ofStream(stream: UploadStream): StreamUploads {
    return new StreamUploads(this, stream);
  }

  close(): void {
    this.#cancelSweep();
  }

  /** Why this phone may not begin a file now; undefined if it may, and then it has begun one. */
  begin(phone: string): "rate_limited" | "upload_busy" | undefined {
    const { clock } = this.options;
    if (this.#announced.take(phone, clock.elapsed()) > 0) return "rate_limited";
    const all = [...this.#open.values()].reduce((total, count) => total + count, 0);
    const own = this.#open.get(phone) ?? 0;
    if (own >= UPLOADS_OPEN_PER_PHONE || all >= UPLOADS_OPEN_MAX) return "upload_busy";
    this.#open.set(phone, own + 1);
    return undefined;
  }

  ended(phone: string, path: string | undefined): void {
    const left = (this.#open.get(phone) ?? 1) - 1;
    if (left > 0) this.#open.set(phone, left);
    else this.#open.delete(phone);
    if (path !== undefined) this.#growing.delete(path);
  }

  /** An empty file with a new name; undefined if there is no room for it. */
  create(phone: string, { name, size }: { name: string; size: number }): Promise<string | undefined> {
    return this.#making.run(async () => {
      const { files, directory, clock } = this.options;
      await this.#checkFolder();
      const tag = (await sha256Hex(phone)).slice(0, 8);
      if (!await this.#makeRoom(tag, size)) return undefined;
      const path = `${directory}/${fileName(name, { tag, now: clock.now() })}`;
      if (!await files.createText(path, "", { mode: 0o600 })) throw new Error(`"${path}" exists`);
      this.#growing.set(path, size);
      return path;
    });
  }

  /** A link in its place, or a folder of another account, would let others choose where files go. */
  async #checkFolder(): Promise<void> {
    const { files, directory, root, uid } = this.options;
    await files.makeDirectory(directory, { mode: 0o700 });
    const [real, realRoot, info] = await Promise.all([
      files.realPath(directory),
      files.realPath(root),
      files.info(directory),
    ]);
    const name = directory.slice(directory.lastIndexOf("/"));
    if (real !== `${realRoot}${name}` || info?.isDirectory !== true || info.uid !== uid) {
      throw new Error(`"${directory}" must be a folder of this account and no link`);
    }
    if ((info.mode & 0o077) !== 0) await files.chmod(directory, 0o700);
  }

  /** Removes the phone's oldest files. False, and nothing is removed, if that would not be enough. */
  async #makeRoom(tag: string, size: number): Promise<boolean> {
    const { files, maxBytes } = this.options;
    const perPhone = Math.max(UPLOADS_PER_PHONE_BYTES, maxBytes);
    const kept = await this.#kept();
    const own = kept.filter(({ phone }) => phone === tag);
    let over = size + Math.max(sizeOf(own) - perPhone, sizeOf(kept) - UPLOADS_PHONES * perPhone);
    const old: KeptFile[] = [];
    for (const file of own) {
      if (over <= 0) break;
      if (this.#growing.has(file.path)) continue;
      old.push(file);
      over -= file.size;
    }
    if (over > 0) return false;
    for (const { path } of old) await files.remove(path);
    return true;
  }

  /** The oldest first; one that is being written counts as a whole. */
  async #kept(): Promise<KeptFile[]> {
    const { files, directory } = this.options;
    const kept: KeptFile[] = [];
    for (const name of await files.list(directory)) {
      const phone = OWN_NAME.exec(name)?.[1];
      const path = `${directory}/${name}`;
      const info = phone === undefined ? undefined : await files.info(path);
      if (phone === undefined || info?.isFile !== true) continue;
      kept.push({ path, phone, size: this.#growing.get(path) ?? info.size, mtimeMs: info.mtimeMs });
    }
    return kept.sort((one, other) => one.mtimeMs - other.mtimeMs);
  }

  #sweep(): void {
    const { clock } = this.options;
    this.#cancelSweep = clock.after(UPLOADS_SWEEP_MS, () => this.#sweep());
    void this.#making.run(() => this.removeOld());
  }

  async removeOld(): Promise<void> {
    const { files, clock, log } = this.options;
    try {
      for (const { path, mtimeMs } of await this.#kept()) {
        const isOld = clock.now() - mtimeMs > UPLOADS_KEPT_MS;
        if (isOld && !this.#growing.has(path)) await files.remove(path);
      }
    } catch (error) {
      log(`uploads: old files not removed: ${errorText(error)}`);
    }
  }
}

interface OpenUpload {
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
  #isOver = false;

  constructor(uploads: Uploads, stream: UploadStream) {
    this.#uploads = uploads;
    this.#stream = stream;
  }

  async take(input: UploadInput): Promise<void> {
    if (this.#isOver) return;
    // It does not keep to its window: what it sends from here on is dropped, and the file with it.
    if (this.#steps.size >= STEPS_WAITING_MAX) return;
    await this.#steps.run(() => this.#isOver ? undefined : this.#step(input));
  }

  /** What is not complete is removed. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.#steps.run(() => this.#giveUp());
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
    const refusal = await this.#refusal(size).catch((error) => this.#notStored(error));
    const reason = refusal ?? this.#uploads.begin(phone);
    if (reason !== undefined) return await this.#refused(id, { reason, size });
    let path: string | undefined;
    try {
      path = await this.#uploads.create(phone, { name, size });
      if (path === undefined) {
        this.#uploads.ended(phone, undefined);
        return await this.#refused(id, { reason: "upload_full", size });
      }
      const file = await options.files.openAppend(path, { mode: 0o600 });
      this.#open = { id, size, received: 0, path, file, cancelStall: () => {} };
      this.#await();
      this.#stream.answer({ id, state: "taking", received: 0 });
    } catch (error) {
      if (path !== undefined) await options.files.remove(path).catch(() => false);
      this.#uploads.ended(phone, path);
      await this.#refused(id, { reason: this.#notStored(error), size });
    }
  }

  #notStored(error: unknown): "upload_not_stored" {
    this.#uploads.options.log(`uploads: not stored: ${errorText(error)}`);
    return "upload_not_stored";
  }

  async #refusal(size: number): Promise<string | undefined> {
    const { maxBytes, isMuted } = this.#uploads.options;
    if (this.#open !== undefined) return "upload_busy";
    if (!this.#stream.isProven) return "sealed_required";
    if (maxBytes === 0) return "upload_not_allowed";
    if (size > maxBytes) return "upload_too_large";
    return await isMuted(this.#stream.names.session) ? "muted" : undefined;
  }

  /** In order and without a gap. Chunks of a file that was refused may still arrive, and are ignored. */
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
      this.#await();
    } catch (error) {
      await this.#fail(this.#notStored(error));
    }
  }

  async #finish({ id, size, path, file, cancelStall }: OpenUpload): Promise<void> {
    await file.sync();
    file.close();
    cancelStall();
    this.#open = undefined;
    this.#uploads.ended(this.#stream.phone, path);
    await this.#record(path, { size, outcome: "upload stored" });
    this.#stream.answer({ id, state: "done", received: size, path });
  }

  /** Gives the file up if nothing more comes. */
  #await(): void {
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

function sizeOf(files: readonly KeptFile[]): number {
  return files.reduce((total, { size }) => total + size, 0);
}

function fileName(name: string, { tag, now }: { tag: string; now: number }): string {
  const stamp = new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
  const random = encodeHex(crypto.getRandomValues(new Uint8Array(8)));
  const extension = /\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase();
  return `${stamp}-${tag}-${random}${extension === undefined ? "" : `.${extension}`}`;
}
