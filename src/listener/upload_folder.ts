/**
 * The folder `~/.svc/uploads`: makes room for a new file, and removes old ones. File names are made here, with only a
 * plain extension from the phone's name.
 */
import type { Clock } from "../async/clock.ts";
import { encodeHex, sha256Hex } from "../async/encodings.ts";
import { errorText } from "../async/error_text.ts";
import { Mutex } from "../async/mutex.ts";
import type { Files } from "../runtime/types.ts";

/** How long a file is kept. */
export const UPLOADS_KEPT_MS = 7 * 86_400_000;
/**
 * Bytes kept for one phone, or the size of the largest file that the host accepts if that is more. The oldest files are
 * removed first.
 */
export const UPLOADS_PER_PHONE_BYTES = 67_108_864;
/** All phones together may use this many times that. More is refused: no phone's file is removed for another's. */
export const UPLOADS_PHONES = 4;
/** How often old files are looked for. */
export const UPLOADS_SWEEP_MS = 3_600_000;

/**
 * The names of files that svc made, the only ones that are counted and removed: time, phone, random part, extension.
 */
const OWN_NAME = /^\d{8}-\d{6}-([0-9a-f]{8})-[0-9a-f]{16}(?:\.[a-z0-9]{1,10})?$/;

export interface UploadFolderOptions {
  files: Pick<Files, "makeDirectory" | "realPath" | "info" | "chmod" | "list" | "remove" | "createText">;
  uid: number;
  /** `~/.svc`, and the folder in it. */
  root: string;
  directory: string;
  /** 0 refuses all files. */
  maxBytes: number;
  clock: Clock;
  log(line: string): void;
}

interface KeptFile {
  path: string;
  phone: string;
  size: number;
  mtimeMs: number;
}

export class UploadFolder {
  readonly options: UploadFolderOptions;
  /** Room is made for one file at a time. */
  readonly #making = new Mutex();
  /** Files that are being written, with the size that they will have. */
  readonly #growing = new Map<string, number>();
  #cancelSweep: () => void = () => {};

  constructor(options: UploadFolderOptions) {
    this.options = options;
    this.#sweep();
  }

  close(): void {
    this.#cancelSweep();
  }

  /** The file is complete or removed. */
  settled(path: string): void {
    this.#growing.delete(path);
  }

  /** Creates an empty file and resolves to its path, or to undefined if there is no room for it. */
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

  /** Throws Error for a link, or a folder of another account: others could choose where files go. */
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
      throw new Error(
        `Cannot store files in "${directory}": it is a link, or belongs to another account. Move it away.`,
      );
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

  /** Lists the kept files, oldest first. One that is still being written counts with its final size. */
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

function sizeOf(files: readonly KeptFile[]): number {
  return files.reduce((total, { size }) => total + size, 0);
}

function fileName(name: string, { tag, now }: { tag: string; now: number }): string {
  const stamp = new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
  const random = encodeHex(crypto.getRandomValues(new Uint8Array(8)));
  const extension = /\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase();
  return `${stamp}-${tag}-${random}${extension === undefined ? "" : `.${extension}`}`;
}
