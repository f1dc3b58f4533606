/** Starts an agent for a phone, in a project this host knows, by running `svc --detach <agent>`. */
import type { KnownProject, KnownProjects } from "../home/known_projects.ts";
import { type AgentKind, isAgentKind, isSessionName } from "../protocol/names.ts";
import { type Push, type StartData, startDataOf } from "../protocol/push.ts";
import type { Reason } from "../protocol/receipt.ts";
import { type Outcome, refused } from "./inject/outcome.ts";
import { daemonEnvironment } from "../home/daemon.ts";
import { isMuted, loadMuted } from "../home/muted.ts";
import { runtime } from "#runtime";
import type { TmuxSession } from "../tmux/sessions.ts";
import type { ListenerOptions } from "./types.ts";

export interface StartHost {
  /** The host's `allowAgentStart`. */
  allowed: boolean;
  projects(): Promise<readonly KnownProject[]>;
  isDirectory(path: string): Promise<boolean>;
  isMuted(directory: string): Promise<boolean>;
  /** From here on an agent may run. */
  record(id: string, step: "typing"): Promise<void>;
  /** Runs `svc --detach <agent>` there; undefined when it did not end in time. */
  run(agent: AgentKind, directory: string): Promise<Ran | undefined>;
  log(line: string): void;
}

/** How it ended; `stdout` is the session's name. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** `submitted` names the session. Throws what `record` throws. */
export async function startAgent(push: Push, host: StartHost): Promise<Outcome> {
  const place = await placeOf(startDataOf(push), host);
  if (typeof place === "string") return refused(place);
  await host.record(push.id, "typing");
  const ran = await host.run(place.agent, place.directory);
  if (ran === undefined) return { state: "unknown" };
  const name = ran.stdout.trim();
  if (ran.code === 0 && isSessionName(name)) return { state: "submitted", agentSessionName: name };
  host.log(`start ${push.id}: svc --detach ${place.agent} ended with ${ran.code}: ${ran.stderr.trim()}`);
  return refused("start_failed");
}

type Place = { agent: AgentKind; directory: string };

async function placeOf(asked: StartData | undefined, host: StartHost): Promise<Place | Reason> {
  if (!host.allowed) return "start_not_allowed";
  if (asked === undefined) return "invalid_body";
  const { agent, project, directory } = asked;
  if (!isAgentKind(agent)) return "unknown_agent";
  const found = (await host.projects()).filter((known) =>
    known.project === project && (directory === undefined || known.directory === directory)
  );
  const [one, other] = await existing(found, host);
  if (one === undefined) return "unknown_project";
  if (other !== undefined) return "ambiguous_project";
  return await host.isMuted(one) ? "muted" : { agent, directory: one };
}

async function existing(found: readonly KnownProject[], host: StartHost): Promise<string[]> {
  const there = await Promise.all(found.map(({ directory }) => host.isDirectory(directory)));
  return found.filter((_, index) => there[index]).map(({ directory }) => directory);
}

/** A start that takes longer may still happen, in milliseconds. */
const START_LIMIT_MS = 60_000;

export type StartOptions = Pick<ListenerOptions, "paths" | "config" | "env" | "log">;

export function bindStartHost(
  options: StartOptions,
  given: Pick<StartHost, "record"> & { projects: KnownProjects },
): StartHost {
  const { files } = runtime;
  return {
    allowed: options.config.allowAgentStart === true,
    projects: () => given.projects.list(),
    isDirectory: async (path) => (await files.info(path))?.isDirectory === true,
    isMuted: async (directory) => isMuted(await loadMuted(files, options.paths), directory),
    record: given.record,
    run: (agent, directory) => detach(options, { agent, directory }),
    log: options.log,
  };
}

/** What sessions that svc made tell of their projects. */
export function projectsOf(sessions: readonly TmuxSession[]): KnownProject[] {
  return sessions.flatMap(({ recorded: { agent, project, directory } }) =>
    agent === "" || project === "" || !directory.startsWith("/") ? [] : [{ project, directory }]
  );
}

async function detach(
  { env, paths }: StartOptions,
  { agent, directory }: { agent: AgentKind; directory: string },
): Promise<Ran | undefined> {
  const signal = AbortSignal.timeout(START_LIMIT_MS);
  const argv = [...runtime.selfCommand(), "--detach", "--by-listener", agent];
  const options = { cwd: directory, env: daemonEnvironment(env, paths), signal };
  const { code, stdout, stderr } = await runtime.commands.run(argv, options);
  return signal.aborted ? undefined : { code, stdout: new TextDecoder().decode(stdout), stderr };
}
