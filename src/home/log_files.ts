/** Rotated log files: `listener.log`, and `audit.jsonl`, which records every remote input but never its text. */
import { utf8Length } from "../async/encodings.ts";
import { AuditEntry, type AuditPage } from "../protocol/audit.ts";
import { parseJson } from "../protocol/json.ts";
import { AUDIT_ENTRIES_SHOWN_MAX, AUDIT_PAGE_MAX } from "../protocol/limits.ts";
import type { AppendFile, Files } from "../runtime/types.ts";

export interface RotatingOptions {
  path: string;
  /** The file is rotated once it is larger than this, in bytes. */
  maxBytes: number;
  /** How many old files are kept, as `<path>.1` (the newest) and so on. */
  kept: number;
}

const LINE_END = 0x0a;

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
  /** Rotates beyond this many bytes: more than `maxBytes` after a failed rotation. */
  #limit: number;
  /** `.1` already begins with this file's lines: the file could not be emptied. */
  #isCopied = false;
  #lost = 0;

  constructor(files: Files, options: RotatingOptions) {
    this.#files = files;
    this.#options = options;
    this.#limit = options.maxBytes;
  }

  /** Queues one line, without its line end. Never throws: a later line reports how many could not be written. */
  append(line: string): void {
    if (this.#pending.length >= PENDING_LINES_MAX) this.#lost++;
    else this.#pending.push(line);
    this.#work ??= this.#drain();
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
    // No await after the last check: a line appended in between would not start a drain.
    this.#work = undefined;
  }

  async #write(text: string): Promise<void> {
    const { path } = this.#options;
    // The user may have removed or moved the file: lines written to it would be lost.
    if (this.#file !== undefined && await this.#files.info(path) === undefined) {
      this.#file.close();
      this.#file = undefined;
    }
    if (this.#file === undefined) {
      this.#file = await this.#files.openAppend(path, { mode: 0o600 });
      const before = await this.#files.readBytes(path) ?? new Uint8Array();
      this.#bytes = before.length;
      // A line that a crash has cut off must not merge with the next one.
      if (before.length > 0 && before.at(-1) !== LINE_END) await this.#file.append("\n");
    }
    await this.#file.append(text);
    this.#bytes += utf8Length(text);
    if (this.#bytes > this.#limit) await this.#rotate();
  }

  /**
   * Copies before it renames, so that a full disk leaves every file as it was. Never throws: a failed rotation is tried
   * again when the file has grown by a fiftieth of the limit, because each try copies the whole file.
   */
  async #rotate(): Promise<void> {
    const { path, maxBytes } = this.#options;
    const copy = `${path}.new`;
    try {
      await this.#files.replaceText(copy, await this.#files.readText(path) ?? "", { mode: 0o600 });
      if (!this.#isCopied) await this.#freeNewest();
      await this.#files.rename(copy, `${path}.1`);
      this.#isCopied = true;
      await this.#files.writeText(path, "", { mode: 0o600 });
      this.#isCopied = false;
      this.#bytes = 0;
      this.#limit = maxBytes;
    } catch {
      this.#limit = this.#bytes + maxBytes / 50;
      await this.#files.remove(copy).catch(() => false);
    }
  }

  /** Renames `.1`, and older files only up to the first free name: after a failure nothing is renamed twice. */
  async #freeNewest(): Promise<void> {
    const { path, kept } = this.#options;
    let free = 1;
    while (free < kept && await this.#files.info(`${path}.${free}`) !== undefined) free++;
    for (let age = free - 1; age >= 1; age--) {
      await this.#files.rename(`${path}.${age}`, `${path}.${age + 1}`);
    }
  }
}

function lossNote(lost: number): string {
  return lost === 0 ? "" : `! ${lost} line(s) could not be written here\n`;
}

const AUDIT_MAX_BYTES = 10_000_000;
const AUDIT_KEPT = 3;

export interface Audit {
  /** Queues the entry; never throws. */
  record(entry: AuditEntry): void;
  /** The entries after the newest `skip`, newest first, including queued ones. */
  page(skip: number): Promise<AuditPage>;
  /** Writes the queued entries and closes the file. */
  close(): Promise<void>;
}

export function openAudit(files: Files, path: string): Audit {
  const file = new RotatingFile(files, { path, maxBytes: AUDIT_MAX_BYTES, kept: AUDIT_KEPT });
  return {
    record: (entry) => file.append(JSON.stringify(entry)),
    page: async (skip) => {
      await file.flush();
      return await readPage(files, { path, skip });
    },
    close: () => file.close(),
  };
}

/** Reads the rotated files only as far as needed, because they are large. */
async function readPage(files: Files, { path, skip }: { path: string; skip: number }): Promise<AuditPage> {
  const end = Math.min(skip + AUDIT_PAGE_MAX, AUDIT_ENTRIES_SHOWN_MAX);
  const found: AuditEntry[] = [];
  for (let age = 0; age <= AUDIT_KEPT && found.length <= end; age++) {
    const text = await files.readText(age === 0 ? path : `${path}.${age}`);
    if (text === undefined) continue;
    // Backwards by hand: splitting ten megabytes for one page takes too long.
    for (let to = text.length; to > 0 && found.length <= end;) {
      const from = text.lastIndexOf("\n", to - 1);
      const entry = parseAuditLine(text.slice(from + 1, to));
      if (entry !== undefined) found.push(entry);
      to = from;
    }
  }
  const more = found.length > end && end < AUDIT_ENTRIES_SHOWN_MAX;
  return { skip, entries: found.slice(skip, end), more };
}

/** The entry on this line; undefined when the line is not an entry. */
export function parseAuditLine(line: string): AuditEntry | undefined {
  const entry = AuditEntry.safeParse(parseJson(line)?.value);
  return entry.success ? entry.data : undefined;
}

const LOG_MAX_BYTES = 10_000_000;
const LOG_KEPT = 3;

export interface ListenerLog {
  /** Queues the line; never throws. */
  line(text: string): void;
  /** Writes what is queued and closes the file. */
  close(): Promise<void>;
}

interface LogOptions {
  path: string;
  /** Epoch milliseconds. */
  now: () => number;
  /** Prints each line in the foreground. Not called again once it has thrown: the terminal or the reader is gone. */
  echo?: ((line: string) => void) | undefined;
}

export function openLog(files: Files, { path, now, echo }: LogOptions): ListenerLog {
  const file = new RotatingFile(files, { path, maxBytes: LOG_MAX_BYTES, kept: LOG_KEPT });
  let print = echo;
  return {
    line(text) {
      const stamped = stampLine(text, now());
      file.append(stamped);
      try {
        print?.(stamped);
      } catch {
        print = undefined;
      }
    },
    close: () => file.close(),
  };
}

/** `[<time>] <text>`, except the failure line, `! …`, which has no time. Control characters are replaced, so that a relay's text can neither forge a line nor control a terminal. */
export function stampLine(text: string, now: number): string {
  const line = text.replace(/[\r\n]+/g, " ").replace(/[\x00-\x1f\x7f-\x9f]/g, "\ufffd");
  return line.startsWith("! ") ? line : `[${new Date(now).toISOString()}] ${line}`;
}

/** The first line of a run (docs/specification.md, Logs and audit): the reliable indicator of the running build. */
export function startLine(version: string, wsUrl: string): string {
  return `svc listener starting — v${version} — ${wsUrl}`;
}

/** Color codes, which runtimes use in their error messages. */
const ESCAPES = /\x1b\[[0-9;?]*[ -/]*[@-~]/g;
/** A reason given by the listener itself: a line of its log, or an error printed before there was a log. */
const OWN_REASON = /^(?:\[[\d-]+T[\d:.]+Z\] Cannot run the listener: |svc: )/;
/** How a runtime reports an uncaught error; the lines after it are its stack. */
const UNCAUGHT = /^(?:error: |Uncaught |[A-Z]\w*(?:Error|Exception)\b.*: )/;

/** Why a listener that wrote these lines did not start: its own reason, else the error that ended it, else the last line. */
export function failedStartReason(log: string): string | undefined {
  const lines = log.replace(ESCAPES, "").split("\n").map((line) => line.trimEnd()).filter((line) =>
    line !== ""
  );
  const own = lines.findLast((line) => OWN_REASON.test(line));
  if (own !== undefined) return own.replace(OWN_REASON, "");
  return lines.findLast((line) => UNCAUGHT.test(line)) ?? lines.at(-1);
}
