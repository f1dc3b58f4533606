/** An append-only file of lines that is rotated when it gets large. */
import type { AppendFile, Files } from "../runtime/types.ts";
import { utf8Length } from "../async/utf8.ts";

export interface RotatingOptions {
  path: string;
  /** The file is rotated once it is larger than this, in bytes. */
  maxBytes: number;
  /** How many old files are kept, as `<path>.1` (the newest) and so on. */
  kept: number;
}

/** At most this many lines wait for the disk; further ones are dropped and counted. */
export const PENDING_LINES_MAX = 10_000;

/**
 * Lines are written in the order of the calls, each whole in one file. Rotating copies the text and truncates the file
 * instead of renaming it, because the daemon's stdout and stderr are the same file.
 */
export class RotatingFile {
  readonly #files: Files;
  readonly #options: RotatingOptions;
  #pending: string[] = [];
  #work: Promise<void> | undefined;
  #file: AppendFile | undefined;
  #bytes = 0;
  #lost = 0;

  constructor(files: Files, options: RotatingOptions) {
    this.#files = files;
    this.#options = options;
  }

  /** Queues one line, without its line end. Never throws: a later line reports how many could not be written. */
  append(line: string): void {
    if (this.#pending.length >= PENDING_LINES_MAX) this.#lost++;
    else this.#pending.push(line);
    this.#work ??= this.#drain().finally(() => this.#work = undefined);
  }

  /** Resolves once every queued line is written or dropped. */
  async flush(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  async close(): Promise<void> {
    await this.flush();
    this.#file?.close();
    this.#file = undefined;
  }

  async #drain(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      const reported = this.#lost;
      this.#pending = [];
      try {
        await this.#write(lossNote(reported) + batch.map((line) => `${line}\n`).join(""));
        this.#lost -= reported;
      } catch {
        this.#lost += batch.length;
        this.#file?.close();
        this.#file = undefined;
      }
    }
  }

  async #write(text: string): Promise<void> {
    const { path, maxBytes } = this.#options;
    if (this.#file === undefined) {
      this.#file = await this.#files.openAppend(path, { mode: 0o600 });
      this.#bytes = (await this.#files.info(path))?.size ?? 0;
    }
    await this.#file.append(text);
    this.#bytes += utf8Length(text);
    if (this.#bytes > maxBytes) await this.#rotate();
  }

  async #rotate(): Promise<void> {
    const { path, kept } = this.#options;
    for (let age = kept - 1; age >= 1; age--) {
      if (await this.#files.info(`${path}.${age}`)) {
        await this.#files.rename(`${path}.${age}`, `${path}.${age + 1}`);
      }
    }
    await this.#files.replaceText(`${path}.1`, await this.#files.readText(path) ?? "", { mode: 0o600 });
    await this.#files.writeText(path, "", { mode: 0o600 });
    this.#bytes = 0;
  }
}

function lossNote(lost: number): string {
  return lost === 0 ? "" : `! ${lost} line(s) could not be written here\n`;
}
