/** `projects.json`: the directories in which svc has started agents, so that a phone may start one there again. */
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import type { Files } from "../runtime/types.ts";
import type { HomePaths } from "./paths.ts";

export const KnownProject = z.object({
  /** As in session names. */
  project: z.string(),
  directory: z.string(),
});
export type KnownProject = z.infer<typeof KnownProject>;

const KnownProjectsFile = z.object({ projects: z.array(KnownProject) });

/** Beyond this many, the oldest is dropped. */
export const KNOWN_PROJECTS_MAX = 200;

/** Only the daemon writes the file. */
export class KnownProjects {
  readonly #files: Files;
  readonly #path: string;
  #known: Promise<readonly KnownProject[]> | undefined;

  constructor(files: Files, { projects }: Pick<HomePaths, "projects">) {
    this.#files = files;
    this.#path = projects;
  }

  /** A broken file counts as empty: running agents are added again. */
  list(): Promise<readonly KnownProject[]> {
    this.#known ??= this.#read();
    return this.#known;
  }

  /** Adds the projects that are new. */
  async learn(seen: readonly KnownProject[]): Promise<void> {
    const known = await this.list();
    const added = seen.filter((one, index) =>
      !known.some(isSame(one)) && seen.findIndex(isSame(one)) === index
    );
    if (added.length === 0) return;
    const projects = [...known, ...added].slice(-KNOWN_PROJECTS_MAX);
    this.#known = Promise.resolve(projects);
    await this.#files.replaceText(this.#path, `${JSON.stringify({ projects }, null, 2)}\n`, { mode: 0o600 });
  }

  async #read(): Promise<readonly KnownProject[]> {
    const text = await this.#files.readText(this.#path) ?? "";
    return KnownProjectsFile.safeParse(parseJson(text)?.value).data?.projects ?? [];
  }
}

function isSame(one: KnownProject): (other: KnownProject) => boolean {
  return (other) => other.project === one.project && other.directory === one.directory;
}
