/** Starts an agent for a phone, in a project this host knows, by running `svc --detach <agent>`; and `projects.json` with those. */
import { runtime } from "#runtime";
import * as z from "zod/mini";
import { agentProfile } from "../agents/profiles.ts";
import { daemonEnvironment } from "../home/daemon.ts";
import { isMuted, loadMuted } from "../home/muted.ts";
import type { HomePaths } from "../home/paths.ts";
import { parseJson } from "../protocol/json.ts";
import type { StartChoices } from "../protocol/host_details.ts";
import { AGENT_LABELS, type AgentKind, isAgentKind, isSessionName } from "../protocol/names.ts";
import { type Push, type StartData, startDataOf } from "../protocol/push.ts";
import type { Reason } from "../protocol/receipt.ts";
import type { Commands, Files } from "../runtime/types.ts";
import type { TmuxSession } from "../tmux/sessions.ts";
import { type Outcome, refused } from "./inject/context.ts";

export interface StartOptions extends StartEffects {
  /** The host's `allowAgentStart`. */
  allowed: boolean;
  projects(): Promise<readonly KnownProject[]>;
  /** Written before the agent may run. */
  record(id: string, step: "typing"): Promise<void>;
  log(line: string): void;
}

export interface StartEffects {
  isDirectory(path: string): Promise<boolean>;
  isMuted(directory: string): Promise<boolean>;
  /** Runs `svc --detach <agent>` there. Undefined if it did not end in time. */
  run(agent: AgentKind, directory: string): Promise<Ran | undefined>;
}

/** How `svc --detach` ended; `stdout` is the session's name. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** `submitted` names the session. Throws what `record` throws. */
export async function startAgent(push: Push, options: StartOptions): Promise<Outcome> {
  const place = await placeOf(startDataOf(push), options);
  if (typeof place === "string") return refused(place);
  await options.record(push.id, "typing");
  const ran = await options.run(place.agent, place.directory);
  if (ran === undefined) return { state: "unknown" };
  const name = ran.stdout.trim();
  if (ran.code === 0 && isSessionName(name)) return { state: "submitted", agentSessionName: name };
  options.log(`start ${push.id}: svc --detach ${place.agent} ended with ${ran.code}: ${ran.stderr.trim()}`);
  return refused("start_failed");
}

const BUILT_IN: AgentKind = "echo";

type Place = { agent: AgentKind; directory: string };

async function placeOf(asked: StartData | undefined, options: StartOptions): Promise<Place | Reason> {
  if (!options.allowed) return "start_not_allowed";
  if (asked === undefined) return "invalid_body";
  const { agent, project, directory } = asked;
  if (!isAgentKind(agent)) return "unknown_agent";
  const found = (await options.projects()).filter((known) =>
    known.project === project && (directory === undefined || known.directory === directory)
  );
  const [one, other] = await existing(found, options);
  if (one === undefined) return "unknown_project";
  if (other !== undefined) return "ambiguous_project";
  return await options.isMuted(one) ? "muted" : { agent, directory: one };
}

async function existing(found: readonly KnownProject[], options: StartOptions): Promise<string[]> {
  const there = await Promise.all(found.map(({ directory }) => options.isDirectory(directory)));
  return found.filter((_, index) => there[index]).map(({ directory }) => directory);
}

/** A start that takes longer may still happen, in milliseconds. */
const START_LIMIT_MS = 60_000;

interface StartEnvironment {
  paths: HomePaths;
  env: Readonly<Record<string, string>>;
}

/** The wrapper runs as a separate process, as a script would run it. */
export function startEffects({ paths, env }: StartEnvironment): StartEffects {
  const { files } = runtime;
  return {
    isDirectory: async (path) => (await files.info(path))?.isDirectory === true,
    isMuted: async (directory) => isMuted(await loadMuted(files, paths), directory),
    run: (agent, directory) => detach({ paths, env }, { agent, directory }),
  };
}

/** The projects of the sessions that svc created. */
export function projectsOf(sessions: readonly TmuxSession[]): KnownProject[] {
  return sessions.flatMap(({ recorded: { agent, project, directory } }) =>
    agent === "" || project === "" || !directory.startsWith("/") ? [] : [{ project, directory }]
  );
}

/** How long the list of installed agents is kept: to find it, every folder of PATH is searched. */
export const AGENTS_KEPT_MS = 60_000;

interface ChoicesOptions {
  commands: Pick<Commands, "which">;
  projects: Pick<KnownProjects, "list">;
  /** Epoch milliseconds. */
  now(): number;
}

/** The installed agents, else the built-in one; and the projects, the one that was learned last first. */
export function startChoices({ commands, projects, now }: ChoicesOptions): () => Promise<StartChoices> {
  let found: { agents: AgentKind[]; at: number } | undefined;
  return async () => {
    const at = now();
    if (found === undefined || Math.abs(at - found.at) >= AGENTS_KEPT_MS) {
      found = { agents: await installedAgents(commands), at };
    }
    return { agents: found.agents, projects: [...await projects.list()].reverse() };
  };
}

async function installedAgents(commands: Pick<Commands, "which">): Promise<AgentKind[]> {
  const kinds = Object.keys(AGENT_LABELS).filter(isAgentKind).filter((kind) => kind !== BUILT_IN);
  const paths = await Promise.all(kinds.map((kind) => commands.which(agentProfile(kind).binary)));
  const installed = kinds.filter((_, index) => paths[index] !== undefined);
  return installed.length > 0 ? installed : [BUILT_IN];
}

async function detach(
  { env, paths }: StartEnvironment,
  { agent, directory }: { agent: AgentKind; directory: string },
): Promise<Ran | undefined> {
  const signal = AbortSignal.timeout(START_LIMIT_MS);
  const argv = [...runtime.selfCommand(), "--detach", "--by-listener", agent];
  const options = { cwd: directory, env: daemonEnvironment(env, paths), signal };
  const { code, stdout, stderr } = await runtime.commands.run(argv, options);
  return signal.aborted ? undefined : { code, stdout: new TextDecoder().decode(stdout), stderr };
}

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
