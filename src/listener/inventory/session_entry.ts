/**
 * One tmux session as the inventory reports it, and the state of its agent: from its hooks, else from its screen, else from
 * tmux activity.
 */
import type { ScreenReading } from "../../agents/profile.ts";
import { agentKindOfProgram, agentProfile, isNewerThanMeasured } from "../../agents/profiles.ts";
import type { HookReport } from "../../home/control_socket.ts";
import { ASK_EVENT, ASK_REPORT_MS } from "../../home/notify_daemon.ts";
import { describeFaults } from "../../protocol/errors.ts";
import {
  AGENT_LABELS,
  isAgentKind,
  isSessionName,
  sessionLabel,
  sessionOrdinal,
} from "../../protocol/names.ts";
import { AgentState, SessionEntry } from "../../protocol/session.ts";
import { directoriesOf, type TmuxSession } from "../../tmux/sessions.ts";
import { isGuardedProgram } from "../inject/programs.ts";
import * as z from "zod/mini";
import type { HomePaths } from "../../home/paths.ts";
import { parseJson } from "../../protocol/json.ts";
import type { Files } from "../../runtime/types.ts";

/** Output within this time counts as work when nothing else shows the state. */
export const ACTIVE_MS = 6_000;
/** A session younger than this whose screen shows nothing is starting. */
export const STARTING_MS = 15_000;

/** What a session's screen showed. */
export interface ScreenCapture {
  reading: ScreenReading;
  /** By the clock's `elapsed`: when the screen was captured. */
  at: number;
}

export interface StateFacts {
  session: TmuxSession;
  screen: ScreenCapture | undefined;
  hint: HookHint | undefined;
  /** A question of `svc_ask` waits for an answer. */
  asking: boolean;
  /** The last state that the screen or a hook showed. */
  known: AgentState | undefined;
  /** Epoch milliseconds. */
  now: number;
  /** By the clock's `elapsed`, as the times of screen and hint are. */
  elapsed: number;
}

/** A dialog on the screen outweighs every hook: hooks report neither its end nor a turn ended by Esc. */
export function decideState(
  { session, screen, hint, asking, known, now, elapsed }: StateFacts,
): AgentState {
  if (!isAlive(session)) return "exited";
  const reading = screen?.reading;
  if (asking || reading?.focus === "dialog") return "waiting";
  if (hint && outweighsScreen(hint, screen, elapsed)) return hint.state;
  // A menu or pager may hide the agent, which goes on with what it did before.
  const shown = reading?.state ?? known;
  if (shown) return shown;
  // A clock that was set back makes both lie in the future.
  if (Math.abs(now - session.created * 1_000) < STARTING_MS) return "starting";
  return Math.abs(now - session.activity * 1_000) < ACTIVE_MS ? "working" : "idle";
}

/** When each session entered its state, by `stateKey`. */
export type KnownStates = Record<string, { state: AgentState; at: number }>;

/** Records when each session entered its state. Sessions are identified by server and id. */
export class StateClock {
  readonly #since: Map<string, KnownStates[string]>;
  /** The sessions whose state this listener has read. */
  readonly #seen = new Set<string>();

  /** `known`: what an earlier listener stored. */
  constructor(known: KnownStates = {}) {
    this.#since = new Map(Object.entries(known));
  }

  /** Epoch milliseconds since which `session` is in `state`. */
  since(session: TmuxSession, { state, now }: { state: AgentState; now: number }): number {
    const key = stateKey(session);
    const known = this.#since.get(key);
    const isFirst = !this.#seen.has(key);
    this.#seen.add(key);
    if (known?.state === state) return known.at;
    const at = isFirst ? firstSince(session, { state, now }) : now;
    this.#since.set(key, { state, at });
    return at;
  }

  /** Forgets sessions that are gone. */
  keep(sessions: readonly TmuxSession[]): void {
    const live = new Set(sessions.map(stateKey));
    for (const key of this.#since.keys()) if (!live.has(key)) this.#since.delete(key);
    for (const key of this.#seen) if (!live.has(key)) this.#seen.delete(key);
  }

  known(): KnownStates {
    return Object.fromEntries(this.#since);
  }
}

function stateKey({ socket, id, created }: TmuxSession): string {
  return `${socket} ${id} ${created}`;
}

/** Estimates when a state from before this listener's start began: an idle agent has been silent since then. */
function firstSince(
  { created, activity }: TmuxSession,
  { state, now }: { state: AgentState; now: number },
): number {
  if (state === "working") return now;
  return Math.min(now, (state === "starting" ? created : activity) * 1_000);
}

/** A hook's report outweighs the screen for this long, because the screen follows a moment later. */
export const HOOK_FRESH_MS = 1_500;
/** A question counts as waiting for this long after its asker's last report. */
export const ASK_LIFE_MS = 2 * ASK_REPORT_MS + 1_000;

export interface HookHint {
  state: AgentState;
  /** By the clock's `elapsed`. */
  at: number;
  /** What the screen showed when the hook reported. */
  before: AgentState | undefined;
}

/** False once the hint is old, or the screen has changed its state since. */
function outweighsScreen(
  { state, at, before }: HookHint,
  screen: ScreenCapture | undefined,
  elapsed: number,
): boolean {
  if (elapsed - at >= HOOK_FRESH_MS) return false;
  const shown = screen !== undefined && screen.at >= at ? screen.reading.state : undefined;
  return shown === undefined || shown === before || shown === state;
}

/**
 * True if the report can come from this session. An agent may start other agents, in other panes or tmux servers or for
 * other projects, that inherit the environment of its own pane.
 */
export function canComeFrom(report: HookReport, session: TmuxSession): boolean {
  const { recorded: { directory } } = session;
  const isItsPlace = directory === "" || isAtOrBelow(report.cwd, directory) ||
    isAtOrBelow(directory, report.cwd);
  return isItsPlace && isFromPaneOf(report, session);
}

/** True if another kind of agent reports, which the session's agent runs as a tool: both have the same pane. */
export function isFromTool({ event, agent }: HookReport, { recorded }: TmuxSession): boolean {
  return event !== ASK_EVENT && recorded.agent !== "" && agent !== recorded.agent;
}

/** True if the report can come from the pane of the session's agent, in whatever directory the agent works. */
function isFromPaneOf({ socket, pane }: HookReport, { socket: own, recorded }: TmuxSession): boolean {
  if (socket !== undefined && socket !== own) return false;
  return pane === undefined || recorded.pane === "" || pane === recorded.pane;
}

function isAtOrBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

interface Hinted {
  report: HookReport;
  hint: HookHint;
}

interface OpenAsk {
  report: HookReport;
  /** By the clock's `elapsed`, as `until` is. */
  since: number;
  until: number;
  /** The screen has shown an idle agent since. */
  hasIdled: boolean;
  /** The agent went on without the answer: some agents never cancel the call. */
  isAbandoned: boolean;
}

/** Hook reports by session name. A report counts only for a session it can come from. */
export class StateHints {
  #hints = new Map<string, Hinted>();
  /** Each session's open questions, by the id in their reports. */
  #asks = new Map<string, Map<string, OpenAsk>>();

  /** `before`: what the session's screen shows. */
  take(report: HookReport, { before, elapsed }: { before: AgentState | undefined; elapsed: number }): void {
    const { session, state } = report;
    if (session === undefined || state === undefined) return;
    if (report.event === ASK_EVENT) return this.#takeAsk(session, { report, elapsed });
    this.#hints.set(session, { report, hint: { state, at: elapsed, before } });
    const beginsTurn = state === "working" && report.tool === undefined;
    for (const ask of this.#asks.get(session)?.values() ?? []) {
      if (state === "idle" || (beginsTurn && ask.hasIdled)) ask.isAbandoned = true;
    }
  }

  #takeAsk(session: string, { report, elapsed }: { report: HookReport; elapsed: number }): void {
    const asks = this.#asks.get(session) ?? new Map<string, OpenAsk>();
    this.#asks.set(session, asks);
    for (const [id, { until }] of asks) if (elapsed >= until) asks.delete(id);
    const id = report.ask ?? "";
    if (report.state !== "waiting") return void asks.delete(id);
    const ask = asks.get(id) ?? { since: elapsed, hasIdled: false, isAbandoned: false };
    asks.set(id, { ...ask, report, until: elapsed + ASK_LIFE_MS });
  }

  hint(session: TmuxSession): HookHint | undefined {
    const found = this.#hints.get(session.name);
    return found !== undefined && canComeFrom(found.report, session) ? found.hint : undefined;
  }

  /** True if a question waits for an answer. Meanwhile the agent's screen shows it at work. */
  isAsking(
    session: TmuxSession,
    { screen, elapsed }: { screen: ScreenCapture | undefined; elapsed: number },
  ): boolean {
    let asking = false;
    for (const ask of this.#asks.get(session.name)?.values() ?? []) {
      if (ask.isAbandoned || elapsed >= ask.until || !canComeFrom(ask.report, session)) continue;
      const isIdle = screen?.reading.state === "idle" && screen.at >= ask.since + HOOK_FRESH_MS;
      ask.hasIdled ||= isIdle;
      asking ||= !isIdle;
    }
    return asking;
  }

  /** Forgets sessions that are gone. */
  keep(sessions: readonly TmuxSession[]): void {
    const names = new Set(sessions.map(({ name }) => name));
    for (const map of [this.#hints, this.#asks]) {
      for (const name of map.keys()) if (!names.has(name)) map.delete(name);
    }
  }
}

/** Titles, paths and session options are cut to this length: many sessions must fit into one frame. */
const TEXT_MAX_CHARS = 200;

function clipped(text: string): string {
  return text.slice(0, TEXT_MAX_CHARS).toWellFormed();
}

/** True if the phone shows the session. It shows agents, not all of the user's tmux sessions. */
export function isReported(session: TmuxSession): boolean {
  const agent = session.recorded.agent !== "" ||
    agentKindOfProgram(session.pane?.command ?? "", []) !== undefined;
  return agent || session.name.startsWith("svc-");
}

/** Why the relay would reject a whole report because of this session; undefined if it accepts it. */
export function entryFault(session: TmuxSession): string | undefined {
  const { error } = SessionEntry.safeParse(toEntry(session, NO_FACTS));
  return error && describeFaults(error);
}

/** True if the pane exists, is alive, runs no shell, and still has the recorded process id. */
export function isAlive(session: TmuxSession): boolean {
  const { pane, recorded } = session;
  if (pane === undefined || pane.dead || isGuardedProgram(pane.command)) return false;
  return recorded.pid === "" || Number(recorded.pid) === pane.pid;
}

interface EntryFacts {
  state: AgentState;
  /** Epoch milliseconds. */
  stateSince: number;
  muted: boolean;
  /** Version of the running agent. */
  version?: string | undefined;
  /** Configuration keys that widen what a phone may do. */
  widened?: readonly string[];
  /** The dialog that the agent shows. */
  dialog?: SessionEntry["dialog"];
  /** The usage limit that the agent has reached. */
  limit?: SessionEntry["limit"];
}

/** Placeholder facts, for an entry of which only what tmux reports matters. */
const NO_FACTS: EntryFacts = { state: "idle", stateSince: 0, muted: false };

export function toEntry(session: TmuxSession, facts: EntryFacts): SessionEntry {
  const { recorded, pane } = session;
  const named = recorded.project || session.name.replace(/^svc-/, "");
  const project = clipped(named);
  const agentLabel = isAgentKind(recorded.agent) ? AGENT_LABELS[recorded.agent] : "";
  const ordinal = sessionOrdinal(session.name, named) ?? 1;
  return {
    name: session.name,
    project,
    agent: clipped(recorded.agent),
    agentLabel,
    ordinal,
    label: agentLabel ? sessionLabel(project, agentLabel, ordinal) : session.name,
    state: facts.state,
    stateSince: facts.stateSince,
    attached: session.attached,
    lastActivity: session.activity * 1_000,
    createdAt: session.created * 1_000,
    cwd: clipped(pane?.path ?? recorded.directory),
    title: clipped(pane?.title ?? ""),
    cols: pane?.cols ?? 0,
    rows: pane?.rows ?? 0,
    muted: facts.muted,
    addressable: isSessionName(session.name) && isAlive(session),
    ...(facts.dialog === undefined ? {} : { dialog: facts.dialog }),
    ...(facts.limit === undefined ? {} : { limit: facts.limit }),
    ...versionsOf(recorded.agent, facts.version),
    ...(facts.widened === undefined || facts.widened.length === 0 ? {} : { widened: [...facts.widened] }),
  };
}

function versionsOf(kind: string, agentVersion: string | undefined): Partial<SessionEntry> {
  if (agentVersion === undefined || !isAgentKind(kind)) return {};
  const { measuredVersion } = agentProfile(kind);
  return isNewerThanMeasured(agentVersion, measuredVersion)
    ? { agentVersion, measuredVersion }
    : { agentVersion };
}

const StatesFile = z.record(z.string(), z.object({ state: AgentState, at: z.number() }));

export function isStatesText(text: string): boolean {
  return StatesFile.safeParse(parseJson(text)?.value).success;
}

export interface StatesStore {
  load(): Promise<KnownStates>;
  save(states: KnownStates): Promise<void>;
}

/** Stores in `states.json` when each session entered its state. For a broken file, tmux's own times are used. */
export function statesFile(files: Files, { states: path }: Pick<HomePaths, "states">): StatesStore {
  return {
    load: async () => StatesFile.safeParse(parseJson(await files.readText(path) ?? "")?.value).data ?? {},
    save: (states) => files.replaceText(path, `${JSON.stringify(states)}\n`, { mode: 0o600 }),
  };
}

/** A hook's report with the current name of its session. */
export type PlacedReport = HookReport & {
  /** It is from an agent of the same kind that the session's agent runs as a tool. */
  isOfTool?: true;
};

/** The session that a hook's report names. */
export interface NamedSession {
  name: string;
  /** The key of its agent's pane, see `paneKey`. Undefined if the name means several sessions. */
  pane: string | undefined;
  /** As the picker shows it. Undefined if the report is not from the session's agent, or no wrapper made the session. */
  label: string | undefined;
  /** Where its project may lie. */
  directories: string[];
  /** As in the report: its agent is still at work. */
  isOfTool?: true;
}

/** The session that a report names, if any. An agent belongs to it even while it works in another directory. */
export function namedSession(
  report: PlacedReport,
  all: readonly TmuxSession[],
): NamedSession | undefined {
  const named = all.filter(({ name }) => name === report.session);
  const fromPane = named.filter((session) => isFromPaneOf(report, session));
  const [own, another] = fromPane;
  const [{ name } = { name: undefined }] = named;
  if (name === undefined) return undefined;
  const isSure = own !== undefined && another === undefined && own.recorded.agent !== "" &&
    !isFromTool(report, own);
  const sessions = own === undefined ? named : fromPane;
  const [only, further] = sessions;
  return {
    name,
    pane: only === undefined || further !== undefined ? undefined : paneKey(only),
    label: isSure ? labelOf(own) : undefined,
    directories: sessions.flatMap(knownDirectories),
    ...(report.isOfTool ? { isOfTool: true } : {}),
  };
}

/** Identifies a session's pane and the process in it, even after the session was renamed. */
export function paneKey({ socket, id, pane }: Pick<TmuxSession, "socket" | "id" | "pane">): string {
  return `${socket} ${id} ${pane?.id ?? ""} ${pane?.pid ?? ""}`;
}

function knownDirectories(session: TmuxSession): string[] {
  return directoriesOf(session).filter((directory) => directory !== "");
}

function labelOf(session: TmuxSession): string {
  return toEntry(session, NO_FACTS).label;
}

/** A dialog that an agent shows on its screen. */
export interface OpenDialog {
  /** Also the id of the push that brings its text to the phones. */
  id: string;
  /** Epoch milliseconds. */
  since: number;
  text: string;
}

/** The notification for the phones when a session shows a new dialog. */
export function dialogNews(session: TmuxSession, { id, text }: OpenDialog): DialogNews {
  const { name, recorded } = session;
  return {
    id,
    session: name,
    pane: paneKey(session),
    agent: recorded.agent,
    label: labelOf(session),
    cwd: recorded.directory || session.pane?.path || "",
    directories: knownDirectories(session),
    text,
  };
}

/** An open dialog, for the phones. */
export interface DialogNews {
  /** Becomes the id of the push. */
  id: string;
  session: string;
  /** The key of its pane, see `paneKey`. */
  pane: string;
  agent: string;
  label: string;
  cwd: string;
  directories: string[];
  text: string;
}
