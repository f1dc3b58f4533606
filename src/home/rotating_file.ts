/** A file of lines that grows at its end, and is put aside when it is large. */
import type { AppendFile, Files } from "../runtime/types.ts";

export interface RotatingOptions {
  path: string;
  /** The file is put aside once it is larger, in bytes. */
  maxBytes: number;
  /** How many old files are kept, as `<path>.1` (the youngest) and so on. */
  kept: number;
}

/** Lines that wait for the disk; beyond it lines are dropped and counted. */
export const PENDING_LINES_MAX = 10_000;

/**
 * Lines are written in the order of the calls, and never by halves between two files. The old text is copied and the
 * file emptied in place, not renamed: the daemon's stdout and stderr are the same file, and must stay so.
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

  /** Queues one line, without its end. Never throws: what cannot be written is told by a later line that can. */
  append(line: string): void {
    if (this.#pending.length >= PENDING_LINES_MAX) this.#lost++;
    else this.#pending.push(line);
    this.#work ??= this.#drain().finally(() => this.#work = undefined);
  }

  /** Resolves once every line so far is written or given up. */
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
      const told = this.#lost;
      this.#pending = [];
      try {
        await this.#write(lossNote(told) + batch.map((line) => `${line}\n`).join(""));
        this.#lost -= told;
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
    this.#bytes += new TextEncoder().encode(text).length;
    if (this.#bytes > maxBytes) await this.#putAside();
  }

  async #putAside(): Promise<void> {
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
