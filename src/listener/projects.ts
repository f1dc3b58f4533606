/**
 * The projects of this host: those in which svc has started agents (`projects.json`), and how a phone mutes and unmutes
 * them.
 */
import { runtime } from "#runtime";
import { changeMuted, covers, isMuted, type Muted, readMuted } from "../home/muted.ts";
import * as z from "zod/mini";
import type { HomePaths } from "../home/paths.ts";
import { parseJson } from "../protocol/json.ts";
import type { MutedProject } from "../protocol/session.ts";
import type { Push } from "../protocol/push.ts";
import type { Reason } from "../protocol/receipt.ts";
import type { Files } from "../runtime/types.ts";
import { directoriesOf, type TmuxSession } from "../tmux/sessions.ts";
import { type Outcome, refused } from "./inject/context.ts";
import type { Targets } from "./targets.ts";

export const KnownProject = z.object({
  /** As in session names. */
  project: z.string(),
  directory: z.string(),
});
export type KnownProject = z.infer<typeof KnownProject>;

const KnownProjectsFile = z.object({ projects: z.array(KnownProject) });

export function isProjectsText(text: string): boolean {
  return KnownProjectsFile.safeParse(parseJson(text)?.value).success;
}

/** Beyond this many, the oldest is dropped. */
export const KNOWN_PROJECTS_MAX = 200;

/** Only the daemon writes the file. */
export class KnownProjects {
  readonly #files: Files;
  readonly #path: string;
  #known: Promise<readonly KnownProject[]> | undefined;
  /** False while the file lacks a project, because it could not be written. */
  #isSaved = true;

  constructor(files: Files, { projects }: Pick<HomePaths, "projects">) {
    this.#files = files;
    this.#path = projects;
  }

  /** A broken file counts as empty: running agents are added again. */
  async list(): Promise<readonly KnownProject[]> {
    const known = this.#known ??= this.#read();
    try {
      return await known;
    } catch (error) {
      // As without a free file descriptor: the next call reads it again.
      if (this.#known === known) this.#known = undefined;
      throw error;
    }
  }

  /** Adds the projects that are new. Throws once if the file cannot be written, and writes it as soon as it can be. */
  async learn(seen: readonly KnownProject[]): Promise<void> {
    const known = await this.list();
    const added = seen.filter((one, index) =>
      !known.some(isSame(one)) && seen.findIndex(isSame(one)) === index
    );
    if (added.length === 0 && this.#isSaved) return;
    const projects = [...known, ...added].slice(-KNOWN_PROJECTS_MAX);
    this.#known = Promise.resolve(projects);
    const isReported = !this.#isSaved;
    this.#isSaved = false;
    try {
      await this.#files.replaceText(this.#path, `${JSON.stringify({ projects }, null, 2)}\n`, {
        mode: 0o600,
      });
      this.#isSaved = true;
    } catch (error) {
      if (!isReported) throw error;
    }
  }

  async #read(): Promise<readonly KnownProject[]> {
    const text = await this.#files.readText(this.#path) ?? "";
    return KnownProjectsFile.safeParse(parseJson(text)?.value).data?.projects ?? [];
  }
}

function isSame(one: KnownProject): (other: KnownProject) => boolean {
  return (other) => other.project === one.project && other.directory === one.directory;
}

/** The projects of the sessions that svc created. */
export function projectsOf(sessions: readonly TmuxSession[]): KnownProject[] {
  return sessions.flatMap(({ recorded: { agent, project, directory } }) =>
    agent === "" || project === "" || !directory.startsWith("/") ? [] : [{ project, directory }]
  );
}

/** The body of a push to a session. `createdAt` distinguishes it from a later one of the same name. */
const SESSION = /^(mute|unmute) (\d{1,16})$/;
/** The body of a push to no session, with a directory from the host's details. */
const DIRECTORY = /^unmute (\/.*)$/s;

export interface MuteOptions {
  targets: Pick<Targets, "sessions">;
  /** Edits the list of muted projects; one at a time. */
  change(edit: (before: Muted) => Muted): Promise<unknown>;
  /** Called when the list may have changed. */
  changed(): void;
}

/** The muted projects, for the host's details. */
export async function mutedProjects(paths: HomePaths): Promise<MutedProject[]> {
  const { directories, byPhone } = await readMuted(runtime.files, paths);
  return directories.map((directory) => ({
    directory,
    ...(byPhone.includes(directory) ? { byPhone: true } : {}),
  }));
}

/** The effects on this host's list of muted projects. */
export function mutingEffects(paths: HomePaths): Pick<MuteOptions, "change"> {
  return { change: (edit) => changeMuted(runtime.files, paths, edit) };
}

/**
 * Mutes or unmutes a project for a phone. It may unmute only what a phone has muted: `svc mute` is the local user's
 * decision.
 */
export async function muteProject(push: Push, options: MuteOptions): Promise<Outcome> {
  const edit = await editOf(push, options);
  if (typeof edit === "string") return refused(edit);
  let reason: Reason | undefined;
  await options.change((before) => {
    const after = edit(before);
    if (typeof after !== "string") return after;
    reason = after;
    return before;
  });
  options.changed();
  return reason === undefined ? { state: "submitted" } : refused(reason);
}

type Edit = (before: Muted) => Muted | Reason;

async function editOf(
  { agentSessionName: name, body = "" }: Push,
  { targets }: MuteOptions,
): Promise<Edit | Reason> {
  if (name === undefined || name === "") {
    const [, directory] = DIRECTORY.exec(body) ?? [];
    return directory === undefined ? "invalid_body" : (before) => unmute(before, (one) => one === directory);
  }
  const [, action, createdAt] = SESSION.exec(body) ?? [];
  if (action === undefined) return "invalid_body";
  const found = (await targets.sessions()).filter((one) => one.name === name);
  const [session] = found;
  if (session === undefined) return "no_such_session";
  if (found.length > 1) return "ambiguous_session";
  if (session.created * 1_000 !== Number(createdAt)) return "session_changed";
  const { directory } = session.recorded;
  if (directory === "") return "unknown_project";
  const all = directoriesOf(session);
  if (action === "unmute") return (before) => unmute(before, (one) => isMuted([one], ...all));
  return (before) => mute(before, session.recorded);
}

/** Adds what `svc mute` would mute in the session: the project, if the agent works below it. */
function mute(
  before: Muted,
  { directory, root }: Pick<TmuxSession["recorded"], "directory" | "root">,
): Muted {
  if (isMuted(before.directories, directory)) return before;
  const project = root !== "" && covers(root, directory) ? root : directory;
  return {
    directories: [...before.directories, project].sort(),
    byPhone: [...before.byPhone, project].sort(),
  };
}

/** Removes all matching directories or none: with one left, the project would stay muted. */
function unmute({ directories, byPhone }: Muted, isMeant: (directory: string) => boolean): Muted | Reason {
  if (directories.some((one) => isMeant(one) && !byPhone.includes(one))) return "muted_at_computer";
  const others = (list: string[]): string[] => list.filter((one) => !isMeant(one));
  return { directories: others(directories), byPhone: others(byPhone) };
}
