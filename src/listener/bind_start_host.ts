/** Binds the start of agents to the real world: the wrapper runs as a program of its own, as a script would call it. */
import { daemonEnvironment } from "../home/daemon_env.ts";
import type { KnownProject, KnownProjects } from "../home/known_projects.ts";
import { isMuted, loadMuted } from "../home/muted.ts";
import type { AgentKind } from "../protocol/names.ts";
import { runtime } from "#runtime";
import type { TmuxSession } from "../tmux/sessions.ts";
import type { Ran, StartHost } from "./start_agent.ts";
import type { ListenerOptions } from "./types.ts";

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
