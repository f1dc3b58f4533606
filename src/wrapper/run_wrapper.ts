/** `svc <agent>`: the agent in a tmux session of its own, reachable from the phone (spec, section 1). */
import { TmuxError } from "../tmux/server.ts";
import { attach, prepareLastWords, say } from "./attach.ts";
import { checkListener, type ListenerCheck } from "./listener_check.ts";
import { type ObtainedSession, obtainSession } from "./obtain_session.ts";
import { agentCommand, checkTerminal, checkTmux } from "./preflight.ts";
import { resolveProject } from "./project.ts";
import type { TmuxAccess } from "./tmux_calls.ts";
import { trustedServer } from "./tmux_server.ts";
import type { WrapperHost, WrapperRun } from "./types.ts";

/** After this time a person is told what is waited for, in milliseconds. */
const PATIENCE_MS = 1_000;

/** Resolves with the exit code. Throws what stands in the way, in one sentence, before anything is made. */
export async function runWrapper(host: WrapperHost, run: WrapperRun): Promise<number> {
  const agent = [...await agentCommand(host, run.profile), ...run.args];
  if (run.env.TMUX && !run.detach) return await runInPane(host, run, agent);
  if (!run.detach) checkTerminal(host, run.profile);
  const tmux = await trustedServer(host, run.env);
  const [listener, session] = await Promise.all([
    checkListener(host, run),
    obtain(host, run, { agent, tmux }),
  ]);
  if (listener.notice !== undefined) say(host, listener.notice);
  if (run.detach) return await announce(host, { session, listener });
  const ending: Ending = {};
  const code = await attach(host, run, {
    tmux,
    session,
    meanwhile: () => void (ending.work = listener.work()),
  });
  await settle(host, ending.work);
  return code;
}

/** Work that goes on while the agent has the terminal. */
interface Ending {
  work?: Promise<string | undefined>;
}

async function settle(host: WrapperHost, work: Ending["work"]): Promise<void> {
  const cancel = host.clock.after(PATIENCE_MS, () => say(host, "Waiting for the listener to start …"));
  const failure = await work;
  cancel();
  if (failure !== undefined) say(host, failure);
}

/** Rule 5: inside tmux there is no session of its own, and the listener cannot reach this pane. */
async function runInPane(host: WrapperHost, run: WrapperRun, agent: readonly string[]): Promise<number> {
  const listener = await checkListener(host, run);
  if (listener.notice !== undefined) say(host, listener.notice);
  say(host, `Inside tmux already: ${run.profile.label} runs in this pane, where the phone cannot reach it.`);
  const { SVC_SESSION: _another, ...env } = run.env;
  const running = host.commands.runInherited(agent, { env: { ...env, ...run.profile.env } });
  const work = listener.work();
  const code = await running;
  await settle(host, work);
  return code;
}

async function obtain(
  host: WrapperHost,
  run: WrapperRun,
  { agent, tmux }: { agent: readonly string[]; tmux: TmuxAccess },
): Promise<ObtainedSession> {
  const project = await resolveProject({ env: run.env, cwd: run.cwd, files: host.files });
  const { profile, cwd, env, version } = run;
  const lastWords = (name: string): Promise<string> => prepareLastWords(host, run, name);
  try {
    return await obtainSession(tmux, {
      ...{ profile, project, cwd, env, version, agent },
      size: host.terminal.size(),
      lastWords: run.detach ? undefined : lastWords,
      now: () => host.clock.now(),
      checkTmux: (running) => checkTmux(host, profile, { running }),
    });
  } catch (error) {
    if (error instanceof TmuxError) throw new Error(`Cannot start ${profile.label}: tmux: ${error.message}`);
    throw error;
  }
}

async function announce(
  host: WrapperHost,
  { session, listener }: { session: ObtainedSession; listener: ListenerCheck },
): Promise<number> {
  host.terminal.write(`${session.name}\n`);
  await settle(host, listener.work());
  return 0;
}
