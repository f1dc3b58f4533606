/** Records what `svc setup` changed, with a copy of each earlier file, in `~/.svc/setup`, so that it can be undone. */
import * as z from "zod/mini";
import type { HomePaths } from "../../home/paths.ts";
import { sha256Hex } from "../../async/encodings.ts";
import { parseJson } from "../../protocol/json.ts";
import type { Files } from "../../runtime/types.ts";

const Entry = z.object({
  /** Name of the copy from before the first change, in the same directory; null if there was no file. */
  backup: z.nullable(z.string()),
  /** SHA-256 of the text that setup wrote; if it differs, someone has changed the file since. */
  left: z.string(),
  /** The topmost directory that was created for the file. */
  made: z.nullable(z.string()),
  /** Tables that the agent itself added on svc's behalf. */
  tables: z.array(z.array(z.string())),
});
export type Entry = z.infer<typeof Entry>;

const Entries = z.record(z.string(), Entry);

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

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** The text from before the first change; undefined if there was no file or it is not known. */
  async before(path: string): Promise<string | undefined> {
    const backup = this.#entries.get(path)?.backup;
    return backup ? await this.#files.readText(`${this.#directory}/${backup}`) : undefined;
  }

  /** True if the file is exactly as setup wrote it. */
  async isUntouched(path: string, text: string | undefined): Promise<boolean> {
    const entry = this.#entries.get(path);
    return entry !== undefined && text !== undefined && entry.left === await sha256Hex(text);
  }

  /** Called before a change. Only the first call keeps the text. */
  async keep(path: string, { text, made }: { text: string | undefined; made: string | null }): Promise<void> {
    if (this.#entries.has(path)) return;
    const backup = text === undefined ? null : await this.#writeBackup(path, text);
    this.#entries.set(path, { backup, left: "", made, tables: [] });
    await this.#save();
  }

  /** Called after a change. `restorable`: the kept text is still what the file would be without svc. */
  async left(path: string, text: string, options: { restorable: boolean }): Promise<void> {
    const entry = this.#entries.get(path);
    if (entry === undefined) return;
    this.#entries.set(path, { ...entry, left: options.restorable ? await sha256Hex(text) : "" });
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
