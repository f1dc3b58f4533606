/** What `svc setup` writes to `~/.svc`: the launcher for all registrations, and a record of changes to undo them. */
import * as z from "zod/mini";
import type { HomePaths } from "../../home/paths.ts";
import { sha256Hex } from "../../async/encodings.ts";
import { parseJson } from "../../protocol/json.ts";
import type { Files } from "../../runtime/types.ts";
import { CARDS_ARGUMENT } from "../../agents/hooks.ts";
import { folderOf, shellQuote, shellWords } from "../../runtime/system.ts";

const LAUNCHER_MODE = 0o700;

export interface LauncherOptions {
  /** `~/.svc`, unless the environment names another. */
  root: string;
  /** Events whose hook runs in the background once its input has been read, so that the agent does not wait. */
  backgroundEvents: readonly string[];
}

/**
 * The launcher's text. Every registration runs it, so that only one file changes when svc moves. A hook that cannot run
 * prints nothing and exits 0: in some agents any other code stops the prompt.
 */
export function launcherText(
  command: readonly string[],
  { root, backgroundEvents }: LauncherOptions,
): string {
  const background = [...new Set(backgroundEvents)].map((event) => `"hook ${event}"`);
  const run = command.map(shellQuote).join(" ");
  const files = command.filter((word) => word.startsWith("/"));
  const isThere = ["true", ...files.map((file) => `[ -e ${shellQuote(file)} ]`)].join(" && ");
  return [
    "#!/bin/sh",
    "# Runs svc, wherever it lies. Written by svc setup.",
    `: "\${SVC_HOME:=${root.replace(/["$`\\]/g, "\\$&")}}"`,
    "export SVC_HOME",
    // Deno does not start in a deleted folder, even if it was created again. There `pwd` fails in some shells, and
    // others lose the path.
    'pwd -P >/dev/null 2>&1 && [ -d "$PWD" ] || cd /',
    'case "$1 $2" in',
    ...(background.length === 0 ? [] : [
      `${background.join(" | ")})`,
      "  input=$(cat)",
      `  { printf '%s\\n' "$input" | ${run} "$@"; } >/dev/null 2>&1 &`,
      "  exit 0 ;;",
    ]),
    '"remote-hook "* | "hook "*)',
    // A hook that waits for a phone must end by the agent's signal, hence `exec`. Copilot sends none, and treats a hook
    // that was ended by a signal as a refusal.
    `  [ "$4" = ${CARDS_ARGUMENT} ] && [ "$3" != copilot ] && ${isThere} && exec ${run} "$@" 2>/dev/null`,
    `  ${run} "$@" 2>/dev/null`,
    "  exit 0 ;;",
    "esac",
    `exec ${run} "$@"`,
    "",
  ].join("\n");
}

/** The command that a launcher runs; undefined for a text that svc did not write. */
export function commandOf(launcher: string): string[] | undefined {
  const [, words] = /^exec ('.*') "\$@"$/m.exec(launcher) ?? [];
  return words === undefined ? undefined : shellWords(words);
}

/** False if the launcher was already up to date. */
export async function writeLauncher(files: Files, paths: HomePaths, text: string): Promise<boolean> {
  if (await files.readText(paths.launcher) === text && await files.isExecutable(paths.launcher)) return false;
  await files.makeDirectory(folderOf(paths.launcher), {
    mode: LAUNCHER_MODE,
  });
  await files.replaceText(paths.launcher, text, { mode: LAUNCHER_MODE });
  return true;
}

const Entry = z.object({
  /** Name of the copy from before the first change, in the same directory; null if there was no file. */
  backup: z.nullable(z.string()),
  /** SHA-256 of the text that setup wrote; if it differs, someone has changed the file since. */
  left: z.string(),
  /** The same for the text that setup is about to write. */
  next: z.optional(z.string()),
  /** The topmost directory that was created for the file. */
  made: z.nullable(z.string()),
  /** Tables that the agent itself added on svc's behalf. */
  tables: z.array(z.array(z.string())),
});
export type Entry = z.infer<typeof Entry>;

interface Change {
  text: string | undefined;
  made: string | null;
  after: string | undefined;
}

const Entries = z.record(z.string(), Entry);

/** Records what was changed, with a copy of each earlier file. */
export class Manifest {
  #files: Files;
  #directory: string;
  #entries: Map<string, Entry>;

  private constructor(files: Files, directory: string, entries: Map<string, Entry>) {
    this.#files = files;
    this.#directory = directory;
    this.#entries = entries;
  }

  /** An unreadable manifest counts as missing: a removal then removes svc's entries one by one. */
  static async open(files: Files, paths: HomePaths): Promise<Manifest> {
    const text = await files.readText(`${paths.setup}/manifest.json`);
    const parsed = Entries.safeParse(parseJson(text ?? "")?.value);
    return new Manifest(files, paths.setup, new Map(parsed.success ? Object.entries(parsed.data) : []));
  }

  get(path: string): Entry | undefined {
    return this.#entries.get(path);
  }

  /** The files that setup changed. */
  get paths(): string[] {
    return [...this.#entries.keys()];
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** The text from before the first change; undefined if there was no file or it is not known. */
  async before(path: string): Promise<string | undefined> {
    const backup = this.#entries.get(path)?.backup;
    return backup ? await this.#files.readText(`${this.#directory}/${backup}`) : undefined;
  }

  /** True if the file is exactly as setup wrote it, or as it was before: setup may have been killed before or after a write. */
  async isUntouched(path: string, text: string | undefined): Promise<boolean> {
    const entry = this.#entries.get(path);
    if (entry === undefined) return false;
    if (text === undefined) return entry.backup === null;
    const digest = await sha256Hex(text);
    return entry.left === digest || entry.next === digest || await this.before(path) === text;
  }

  /** Called before a change. Only the first call keeps the text. `after`: the text to be written, if restorable. */
  async keep(path: string, { text, made, after }: Change): Promise<void> {
    const entry = this.#entries.get(path) ?? {
      backup: text === undefined ? null : await this.#writeBackup(path, text),
      left: "",
      made,
      tables: [],
    };
    this.#entries.set(path, { ...entry, next: after && await sha256Hex(after) });
    await this.#save();
  }

  /** Called after a change. `restorable`: the kept text is still what the file would be without svc. */
  async left(path: string, text: string, options: { restorable: boolean }): Promise<void> {
    const entry = this.#entries.get(path);
    if (entry === undefined) return;
    const left = options.restorable ? await sha256Hex(text) : "";
    this.#entries.set(path, { ...entry, left, next: undefined });
    await this.#save();
  }

  async addTables(path: string, tables: readonly (readonly string[])[]): Promise<void> {
    const entry = this.#entries.get(path);
    if (entry === undefined) return;
    this.#entries.set(path, { ...entry, tables: tables.map((keys) => [...keys]) });
    await this.#save();
  }

  /** Called after a removal; the last call removes the directory too. */
  async forget(path: string): Promise<void> {
    const backup = this.#entries.get(path)?.backup;
    if (!this.#entries.delete(path)) return;
    if (backup) await this.#files.remove(`${this.#directory}/${backup}`);
    if (this.isEmpty) await this.#files.remove(this.#directory, { recursive: true });
    else await this.#save();
  }

  async #writeBackup(path: string, text: string): Promise<string> {
    const name = `${(await sha256Hex(path)).slice(0, 12)}-${path.slice(path.lastIndexOf("/") + 1)}`;
    await this.#files.makeDirectory(this.#directory, { mode: 0o700 });
    await this.#files.replaceText(`${this.#directory}/${name}`, text, { mode: 0o600 });
    return name;
  }

  async #save(): Promise<void> {
    await this.#files.makeDirectory(this.#directory, { mode: 0o700 });
    const path = `${this.#directory}/manifest.json`;
    const text = `${JSON.stringify(Object.fromEntries(this.#entries), null, 2)}\n`;
    if (await this.#files.readText(path) === text) return;
    await this.#files.replaceText(path, text, { mode: 0o600 });
  }
}
