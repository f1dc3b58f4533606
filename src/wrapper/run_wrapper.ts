/** `svc <agent>`: runs the agent in its own tmux session, where a phone can reach it (docs/specification.md, "Wrapper"). */
import type { AgentProfile } from "../agents/profile.ts";
import { type Clock, delay, waitFor, withProgress } from "../async/clock.ts";
import type { DaemonHost, DaemonOptions } from "../home/daemon.ts";
import { shellLine } from "../runtime/system.ts";
import type { LineConnection, Runtime } from "../runtime/types.ts";
import { attachLine } from "../tmux/argv.ts";
import { endLeftovers, hasLostTerminal, processIdentity } from "../tmux/leftovers.ts";
import { TmuxError } from "../tmux/server.ts";
import {
  attachSession,
  forgetLastWords,
  prepareLastWords,
  sessionExists,
  spendClaim,
  takeLastWords,
  type TmuxAccess,
  trustedServer,
  tryTmux,
} from "./tmux_server.ts";
import { type ObtainedSession, obtainSession } from "./obtain_session.ts";
import { agentCommand, checkTerminal, checkTmux, resolveProject } from "./preflight.ts";
import { errorText } from "../async/error_text.ts";
import { decideDaemon } from "../home/daemon_decision.ts";

interface WrapperHost
  extends Pick<Runtime, "uid" | "files" | "commands" | "sockets" | "terminal" | "selfCommand"> {
  clock: Clock;
}

export interface WrapperRun extends DaemonOptions {
  profile: AgentProfile;
  /** The arguments after the agent's name: they are the agent's. */
  args: readonly string[];
  /** Start the session and print its name, without attaching. */
  detach: boolean;
  /** The listener waits for this run, so it must not be replaced in the meantime. */
  byListener?: boolean;
  /** Always creates a session instead of taking over an existing one. */
  isNew?: boolean;
  cwd: string;
}

/** An agent that exits this soon after its start printed a reason, which is shown again, in milliseconds. */
const SOON_MS = 15_000;
/** How long a wrapper that does not attach waits for an agent that ends at once, and how often it looks. */
const AT_ONCE_MS = 250;
const AT_ONCE_LOOK_MS = 10;
/** How long the terminal of a session that was killed may take to close, and how often it is checked. */
const TERMINAL_CLOSES_MS = 1_000;
const TERMINAL_LOOK_MS = 50;

/** Resolves with the exit code. Throws Error when something is missing, before anything is created. */
export async function runWrapper(host: WrapperHost, run: WrapperRun): Promise<number> {
  const agent = [...await agentCommand(host, run.profile), ...run.args];
  if (run.env.TMUX && !run.detach) return await runInPane(host, run, agent);
  if (!run.detach) checkTerminal(host, run.profile);
  const tmux = await trustedServer(host, run.env);
  const [listener, session] = await Promise.all([
    checkListener(host, run),
    obtain(host, run, { agent, tmux }),
  ]);
  if (listener.notice !== undefined) printLine(host, listener.notice);
  if (run.detach) return await announce(host, run, { tmux, session, listener });
  const pending: PendingWork = {};
  const code = await attach(host, run, {
    tmux,
    session,
    meanwhile: () => void (pending.work = listener.work()),
  });
  await settle(host, pending.work);
  return code;
}

/** Runs while the agent has the terminal. */
interface PendingWork {
  work?: Promise<string | undefined>;
}

async function settle(host: WrapperHost, work: PendingWork["work"]): Promise<void> {
  if (work === undefined) return;
  const { clock } = host;
  const failure = await withProgress(work, {
    clock,
    show: () => printLine(host, "Waiting for the listener to start …"),
  });
  if (failure !== undefined) printLine(host, failure);
}

/** Inside tmux the agent gets no new session, and the listener cannot reach its pane. */
async function runInPane(host: WrapperHost, run: WrapperRun, agent: readonly string[]): Promise<number> {
  const listener = await checkListener(host, run);
  if (listener.notice !== undefined) printLine(host, listener.notice);
  const { label, kind } = run.profile;
  printLine(host, `Already inside tmux: ${label} runs in this pane, where the phone cannot reach it.`);
  printLine(host, `To start it in a session that the phone can reach: svc --detach ${kind}`);
  const { SVC_SESSION: _outer, ...env } = run.env;
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
  const { profile, cwd, env, version, isNew = false } = run;
  const lastWords = (name: string): Promise<string | undefined> =>
    prepareLastWords(host.files, lastWordsFile(run, name), { now: host.clock.now() });
  try {
    return await obtainSession(tmux, {
      profile,
      project,
      cwd,
      env,
      version,
      agent,
      isNew,
      size: host.terminal.size(),
      lastWords: run.detach ? undefined : lastWords,
      now: () => host.clock.now(),
      announce: () => announceBegin(host, run.paths.socket),
      checkTmux: (running) => checkTmux(host, profile, { running }),
    });
  } catch (error) {
    if (!(error instanceof TmuxError)) throw error;
    throw new Error(`Cannot start ${profile.label}: tmux: ${error.message}`, { cause: error });
  }
}

async function announce(
  host: WrapperHost,
  run: WrapperRun,
  { tmux, session, listener }: { tmux: TmuxAccess; session: ObtainedSession; listener: ListenerCheck },
): Promise<number> {
  const work = listener.work();
  const isRunning = !await hasEnded(host, tmux, session);
  if (isRunning) host.terminal.write(`${session.name}\n`);
  else printEnded(host, run, "ended at once");
  await settle(host, work);
  return isRunning ? 0 : 1;
}

/** Waits a moment for the end of a new agent: without a terminal nobody would see what it printed. */
async function hasEnded(host: WrapperHost, tmux: TmuxAccess, session: ObtainedSession): Promise<boolean> {
  const { name, pid, created } = session;
  if (!created || pid === undefined) return false;
  const isGone = (): true | undefined => host.commands.kill(pid, 0) ? undefined : true;
  const limits = { clock: host.clock, limitMs: AT_ONCE_MS, everyMs: AT_ONCE_LOOK_MS };
  return await waitFor(() => Promise.resolve(isGone()), limits) === true && !await sessionExists(tmux, name);
}

interface Attachment {
  tmux: TmuxAccess;
  session: ObtainedSession;
  /** Called once the agent has the terminal. */
  meanwhile(): void;
}

/** Resolves with 0 when the agent ended or the user detached, else with tmux's exit code. */
async function attach(host: WrapperHost, run: WrapperRun, attachment: Attachment): Promise<number> {
  const { tmux, session: { name, pid, created } } = attachment;
  const started = host.clock.elapsed();
  const mayOutlive = run.profile.ignoresHangup && pid !== undefined;
  const agent = mayOutlive ? { pid, identity: await processIdentity(host, pid) } : undefined;
  const code = await holdTerminal(run, attachment);
  const wasSoon = host.clock.elapsed() - started < SOON_MS;
  // Not earlier: tmux discards what a slow terminal has not read when it takes over the terminal.
  if (!created) printReattached(host, run, name);
  if (await sessionExists(tmux, name)) {
    if (created) await forgetLastWords(host.files, lastWordsFile(run, name));
    if (code !== 0 && wasSoon) {
      // Else the next wrapper would start another session.
      await tryTmux(tmux, [spendClaim(name)]);
      printNotAttached(host, run, { tmux, name });
    }
    return code;
  }
  if (agent !== undefined && agent.identity !== "") await endLeftBehind(host, agent);
  if (!created) return 0;
  const output = await takeLastWords(host, lastWordsFile(run, name), { areShown: wasSoon });
  if (wasSoon && output === undefined) {
    printEnded(host, run, "ended at once, and nothing that it printed came through tmux");
  }
  if (wasSoon && output) host.terminal.write(`${output}\n`);
  return 0;
}

/** What the agent printed, if anything, is lost. */
function printEnded(host: WrapperHost, { profile, args }: WrapperRun, how: string): void {
  printLine(host, `${profile.label} ${how}.`);
  printLine(host, `To see what it prints: ${shellLine([profile.binary, ...profile.args, ...args])}`);
}

/** Ends the agent if its terminal is gone. A session that was renamed keeps its terminal, and its agent goes on. */
async function endLeftBehind(host: WrapperHost, agent: { pid: number; identity: string }): Promise<void> {
  const isLost = async (): Promise<boolean> =>
    await processIdentity(host, agent.pid) !== agent.identity || await hasLostTerminal(host, agent.pid);
  const limits = { clock: host.clock, limitMs: TERMINAL_CLOSES_MS, everyMs: TERMINAL_LOOK_MS };
  if (await waitFor(async () => await isLost() || undefined, limits)) await endLeftovers(host, agent);
}

/** Arguments such as `--version` end the agent at once: then there is nothing to attach, and tmux would report an error. */
async function holdTerminal(run: WrapperRun, { tmux, session, meanwhile }: Attachment): Promise<number> {
  const mayBeOver = session.created && run.args.length > 0;
  const isThere = !mayBeOver || await sessionExists(tmux, session.name);
  const attached = isThere ? attachSession(tmux, session.name) : Promise.resolve(0);
  meanwhile();
  return await attached;
}

function lastWordsFile({ paths }: WrapperRun, name: string): string {
  return `${paths.lastWords}/${name}`;
}

function printReattached(host: WrapperHost, run: WrapperRun, name: string): void {
  if (run.args.length === 0) return;
  printLine(
    host,
    `Reattached to ${name}, which was already running: the arguments after "${run.profile.kind}" were not used.`,
  );
}

/** Says how to attach later. tmux has printed the reason, such as "open terminal failed". */
function printNotAttached(
  host: WrapperHost,
  run: WrapperRun,
  { tmux, name }: { tmux: TmuxAccess; name: string },
): void {
  const terminal = run.env.TERM ?? "";
  const line = attachLine(tmux.socket, name);
  printLine(
    host,
    `Cannot attach: tmux cannot use the terminal "${terminal}" (TERM). ${name} goes on without it. To attach it from another terminal, run: ${line}`,
  );
}

/** Writes a line of svc to stderr. */
function printLine(host: Pick<WrapperHost, "terminal">, line: string): void {
  host.terminal.writeError(`svc: ${line}\n`);
}

export interface ListenerCheck {
  /** A line for the user, before the agent takes the terminal. */
  notice: string | undefined;
  /** Makes sure that a listener answers; resolves with an error message when none does. Never rejects. */
  work(): Promise<string | undefined>;
}

const NOT_SET_UP = "The phone is not set up on this machine: run svc up.";

/** A listener that does not answer within this time is checked thoroughly, in milliseconds. */
const ANSWER_LIMIT_MS = 500;

/**
 * Never throws. Unless `listener.version` calls for a start or restart, everything is left to `work`. Code that loads
 * the schemas runs only where there is something to do: it takes longer than everything else in a start.
 */
export async function checkListener(
  host: DaemonHost,
  options: DaemonOptions & { byListener?: boolean },
): Promise<ListenerCheck> {
  if (options.byListener) {
    return {
      notice: undefined,
      work: () => isListenerAlive(host, options.paths.socket).then(() => undefined),
    };
  }
  // A folder in its place: the daemon moves that away.
  const recorded = (await host.files.readText(options.paths.version).catch(() => undefined))?.trim();
  const { action } = decideDaemon({ running: recorded, installed: options.version });
  if (action === "start" || action === "restart") return await wakeListener(host, options);
  return { notice: undefined, work: () => wakeUnlessAlive(host, options) };
}

async function wakeUnlessAlive(host: DaemonHost, options: DaemonOptions): Promise<string | undefined> {
  if (await isListenerAlive(host, options.paths.socket)) return undefined;
  const { notice, work } = await wakeListener(host, options);
  return await work() ?? notice;
}

/** Starts or replaces the listener. Never throws: the agent starts even when the phone is not set up or the configuration is broken. */
async function wakeListener(host: DaemonHost, options: DaemonOptions): Promise<ListenerCheck> {
  const [
    { listenerApiKey, loadConfig, resolveWsUrl },
    { carryOut, decisionNotice, planDaemon },
  ] = await Promise.all([
    import("../home/config.ts"),
    import("../home/daemon.ts"),
  ]);
  try {
    const inputs = { config: await loadConfig(host.files, options.paths), env: options.env };
    if (!listenerApiKey(inputs) || !resolveWsUrl(inputs)) return onlyNotice(NOT_SET_UP);
    const decision = await planDaemon(host, options);
    return {
      notice: decisionNotice(decision, options.version),
      work: () => carryOut(host, options, decision).then(() => undefined, errorText),
    };
  } catch (error) {
    return onlyNotice(errorText(error));
  }
}

function onlyNotice(notice: string): ListenerCheck {
  return { notice, work: () => Promise.resolve(undefined) };
}

/** Reports a new session to the listener. True if any line comes back. */
async function isListenerAlive(host: DaemonHost, path: string): Promise<boolean> {
  const connection = await host.sockets.connect(path).catch(() => undefined);
  if (connection === undefined) return false;
  const isAlive = await answers(host, connection, "look");
  connection.close();
  return isAlive;
}

/**
 * Announces a session to the listener, which then attaches no client to tmux, and waits until it has none half attached.
 * Call the result when the session has begun.
 */
async function announceBegin(host: DaemonHost, path: string): Promise<() => void> {
  const connection = await host.sockets.connect(path).catch(() => undefined);
  if (connection === undefined) return () => {};
  await answers(host, connection, "begin");
  return () => connection.close();
}

/** Any line within ANSWER_LIMIT_MS is an answer: an older listener does not know every request. */
async function answers(
  { clock }: DaemonHost,
  connection: LineConnection,
  op: "begin" | "look",
): Promise<boolean> {
  const late = new AbortController();
  try {
    await connection.send(JSON.stringify({ op }));
    const line = connection.lines[Symbol.asyncIterator]().next();
    const wait = delay(ANSWER_LIMIT_MS, { clock, signal: late.signal });
    return await Promise.race([line.then(({ done }) => !done), wait.then(() => false, () => false)]);
  } catch {
    return false;
  } finally {
    late.abort();
  }
}
