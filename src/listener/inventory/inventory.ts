/** Builds the inventory of this user's agent sessions on all tmux servers, and decides when to read it again. */
import { dialogText, lastLine } from "../../agents/screen_texts.ts";
import { agentProfile, unknownAgent } from "../../agents/profiles.ts";
import { compiledMarks, MAX_SCREEN_COLUMNS, MAX_SCREEN_ROWS } from "../../agents/read_screen.ts";
import { systemClock } from "../../async/clock.ts";
import { utf8Length } from "../../async/encodings.ts";
import type { HookReport } from "../../home/control_socket.ts";
import { isAgentKind } from "../../protocol/names.ts";
import { INVENTORY_POLL_MS, SESSIONS_MAX, TEXT_FRAME_MAX_BYTES } from "../../protocol/limits.ts";
import type { AgentState, DialogAction, SessionEntry } from "../../protocol/session.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import {
  agentRun,
  captureScreens,
  directoriesOf,
  type PaneScreen,
  type TmuxSession,
} from "../../tmux/sessions.ts";
import type { Asker } from "../inject/context.ts";
import { Conversations, Dialogs, type Reported, UsageLimits } from "./pane_records.ts";
import {
  canComeFrom,
  decideState,
  entryFault,
  isAlive,
  isFromTool,
  isReported,
  type KnownStates,
  type NamedSession,
  namedSession,
  type OpenDialog,
  paneKey,
  type PlacedReport,
  type ScreenCapture,
  StateClock,
  StateHints,
  type StatesStore,
  toEntry,
} from "./session_entry.ts";

/** Delay until the next read after a hook's report, or after svc typed something. */
export const POLL_SOON_MS = 400;
/** How long POLL_SOON_MS applies: the agent's screen follows, and may change again. */
export const POLL_SOON_FOR_MS = 3_000;
/** While an agent works, starts or waits: no hook reports an interrupt or an answered dialog. */
export const POLL_BUSY_MS = 500;
/** While a terminal is attached, or a session was active within ATTENDED_FOR_MS. */
export const POLL_ATTENDED_MS = 1_500;
export const ATTENDED_FOR_MS = 15_000;
/** The minimum delay between two reads, however many hooks report, and the delay while a dialog may be half drawn. */
export const POLL_GAP_MS = 200;

/** Bytes of the sessions in one report. The rest of its frame is for the host's details, sealed for the phones. */
const SESSIONS_MAX_BYTES = TEXT_FRAME_MAX_BYTES - 65_536;
/** Characters of a session's name that the log shows. */
const NAME_SHOWN_CHARS = 100;

/** In place of a screen that is too large to be read. */
const UNREAD: PaneScreen = {
  lines: [],
  title: "",
  cursor: { x: 0, y: 0, visible: false },
  applicationKeys: false,
};

const BUSY: readonly AgentState[] = ["working", "starting", "waiting"];

export interface InventoryOptions {
  sessions(): Promise<TmuxSession[]>;
  server(socket: string): TmuxServer;
  /** Loads the muted projects; the result is true if the project in one of the directories is muted. */
  muted(): Promise<(...directories: string[]) => boolean>;
  /** The version of the agent that runs as this process, where the system shows it. */
  version?(pid: number): Promise<string | undefined>;
  /** What a phone may do with an open dialog. */
  dialogActions?: readonly DialogAction[];
  /** The agent of this session shows a new dialog. */
  dialogOpened?(session: TmuxSession, dialog: OpenDialog): void;
  /** The pane with this key (see `paneKey`) has shown no dialog since `at`, by `elapsed`. */
  dialogClosed?(pane: string, at: number): void;
  /** Configuration keys that widen what a phone may do. */
  widened?: readonly string[];
  /** Stores when each session entered its state, across restarts of the listener. */
  states?: StatesStore;
  /** Called once for each session that is left out of the inventory. */
  log?(line: string): void;
  /** Epoch milliseconds. */
  now?(): number;
  /** Milliseconds since some fixed moment: the wall clock may jump. */
  elapsed?(): number;
}

interface CapturedScreen extends ScreenCapture {
  /** When the screen was captured, in epoch milliseconds: tmux counts activity by the wall clock. */
  epochMs: number;
  /** The session's activity when the screen was captured, in epoch seconds. */
  activity: number;
  line: string | undefined;
  /** The last state that the screen or a hook showed. */
  known: AgentState | undefined;
}

export class Inventory {
  readonly #options: InventoryOptions;
  readonly #now: () => number;
  readonly #elapsed: () => number;
  /** Undefined before the first read. */
  #clock: StateClock | undefined;
  #savedStates = "";
  #unsaved: KnownStates | undefined;
  #saving: Promise<void> | undefined;
  readonly #hints = new StateHints();
  readonly #conversations = new Conversations();
  /** By pane. */
  readonly #screens = new Map<string, CapturedScreen>();
  /** By pane. */
  readonly #versions = new Map<string, string | undefined>();
  readonly #dialogs = new Dialogs();
  /** The panes whose dialog was reported as open: since when, by `elapsed`, the screen has not shown it. */
  readonly #withDialog = new Map<string, number | undefined>();
  readonly #limits = new UsageLimits();
  /** The names of the sessions that the last read left out. */
  #leftOut: ReadonlySet<string> = new Set();
  #sessions: TmuxSession[] = [];
  #entries: SessionEntry[] = [];
  /** By `elapsed`. */
  #soonUntil = -Infinity;

  constructor(options: InventoryOptions) {
    this.#options = options;
    this.#now = options.now ?? systemClock.now;
    this.#elapsed = options.elapsed ?? systemClock.elapsed;
  }

  /** Takes a hook's report. A report may name a session that it does not come from. */
  take(report: HookReport): void {
    this.readSoon();
    const session = this.#sessions.find(({ name }) => name === report.session);
    if (session !== undefined && (!canComeFrom(report, session) || isFromTool(report, session))) return;
    const before = session && this.#screens.get(paneKey(session))?.reading.state;
    this.#hints.take(report, { before, elapsed: this.#elapsed() });
    this.#limits.takeReport(this.#reported(report), session);
  }

  #reported(report: HookReport): Reported {
    return { report, now: this.#now(), elapsed: this.#elapsed() };
  }

  /** The session of a report that came before a read found it, or that names it as it was called when its agent started. */
  #sessionOfEarly(report: HookReport): TmuxSession | undefined {
    if (report.session === undefined) return undefined;
    const now = this.#sessionIn(report)?.name ?? report.session;
    const session = this.#sessions.find(({ name }) => name === now);
    if (session === undefined || !canComeFrom(report, session)) return undefined;
    return isFromTool(report, session) ? undefined : session;
  }

  /**
   * Replaces the session's name in the report, which the agent got at its start, by the one that its pane's session has
   * now. What an agent reports that this one runs as a tool is neither its state nor news of it.
   */
  placed(report: HookReport): PlacedReport {
    const own = this.#sessionIn(report);
    if (report.session === undefined) return report;
    if (own === undefined) {
      this.#conversations.takeUnplaced(this.#reported(report));
      return report;
    }
    const placed = { ...report, session: own.name };
    if (report.agent !== own.recorded.agent) return placed;
    const { reading, at } = this.#screens.get(paneKey(own)) ?? {};
    const idleAt = reading?.state === "idle" ? at : undefined;
    return this.#conversations.isOfTool(paneKey(own), report, { idleAt, elapsed: this.#elapsed() })
      ? { ...placed, state: undefined, news: undefined, isOfTool: true }
      : placed;
  }

  /** The session that svc recorded for the report's pane. */
  #sessionIn({ pane, socket: reported }: HookReport): TmuxSession | undefined {
    return this.#sessions.find(({ socket, recorded }) =>
      recorded.agent !== "" && recorded.pane === pane && socket === reported
    );
  }

  /** The pane of a report that came before a read found its session. */
  #paneOfEarly(report: HookReport): string | undefined {
    const own = this.#sessionIn(report);
    return own?.recorded.agent === report.agent ? paneKey(own) : undefined;
  }

  /** The agent of the only session with this name; undefined if svc did not start it. */
  agentOf(name: string): Asker | undefined {
    const [found, another] = this.#sessions.filter((session) => session.name === name);
    return found === undefined || another !== undefined ? undefined : agentIn(found);
  }

  /** The name that this agent's session has; undefined once it has ended. */
  sessionOf({ socket, run }: Asker): string | undefined {
    return this.#sessions.find((one) => one.socket === socket && agentIn(one)?.run === run)?.name;
  }

  /** The session that a hook's report names; undefined if the last read found none. */
  namedIn(report: PlacedReport): NamedSession | undefined {
    return namedSession(report, this.#sessions);
  }

  /** Something happened in a session: `nextReadMs` is short for a while. */
  readSoon(): void {
    this.#soonUntil = this.#elapsed() + POLL_SOON_FOR_MS;
  }

  /** Milliseconds from the last read to the next. */
  nextReadMs(): number {
    const now = this.#now();
    if (this.#dialogs.isAnyOpening) return POLL_GAP_MS;
    if (this.#elapsed() < this.#soonUntil) return POLL_SOON_MS;
    if (this.#entries.some(({ state }) => BUSY.includes(state))) return POLL_BUSY_MS;
    const isAttended = this.#entries.some((one) => one.attached || now - one.lastActivity < ATTENDED_FOR_MS);
    return isAttended ? POLL_ATTENDED_MS : INVENTORY_POLL_MS;
  }

  /** The sessions, sorted by name. */
  async read(): Promise<SessionEntry[]> {
    const found = (await this.#options.sessions()).filter(isReported);
    const sorted = this.#withoutFaults(found).sort((a, b) => a.name < b.name ? -1 : 1);
    const sessions = sorted.slice(0, SESSIONS_MAX);
    await this.#readScreens(sessions);
    await this.#readVersions(sessions);
    const muted = await this.#options.muted();
    this.#sessions = sessions;
    this.#conversations.placeEarly((report) => this.#paneOfEarly(report));
    this.#limits.takeEarly((report) => this.#sessionOfEarly(report));
    const clock = this.#clock ??= new StateClock(await this.#options.states?.load());
    clock.keep(sessions);
    this.#forget(sessions);
    this.#reportClosedDialogs();
    const entries = sessions.map((session) => this.#entry(session, { muted, clock }));
    this.#saveStates(clock);
    this.#entries = fitting(entries);
    return this.#entries;
  }

  #withoutFaults(sessions: readonly TmuxSession[]): TmuxSession[] {
    const faults = new Map<TmuxSession, string>();
    for (const session of sessions) {
      const fault = entryFault(session);
      if (fault === undefined) continue;
      faults.set(session, fault);
      if (this.#leftOut.has(session.name)) continue;
      const name = session.name.slice(0, NAME_SHOWN_CHARS);
      this.#options.log?.(`! left out of the inventory: the session "${name}": ${fault}`);
    }
    this.#leftOut = new Set([...faults.keys()].map(({ name }) => name));
    return sessions.filter((session) => !faults.has(session));
  }

  /**
   * Saves the states, for which the report does not wait. Of several changes meanwhile only the last one is written.
   */
  #saveStates(clock: StateClock): void {
    const states = clock.known();
    const text = JSON.stringify(states);
    if (text === this.#savedStates) return;
    this.#savedStates = text;
    this.#unsaved = states;
    this.#saving ??= this.#save();
  }

  /** The sessions are reported even if the file cannot be written. */
  async #save(): Promise<void> {
    for (let states = this.#unsaved; states !== undefined; states = this.#unsaved) {
      this.#unsaved = undefined;
      await this.#options.states?.save(states).catch(() => {});
    }
    // Nothing is awaited after the loop's last check: states that came in between would start no save.
    this.#saving = undefined;
  }

  /** Resolves once the states of the last read are written. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  #entry(
    session: TmuxSession,
    { muted, clock }: { muted: (...directories: string[]) => boolean; clock: StateClock },
  ): SessionEntry {
    const [now, elapsed] = [this.#now(), this.#elapsed()];
    const screen = this.#screens.get(paneKey(session));
    const hint = this.#hints.hint(session);
    if (screen !== undefined) screen.known = newest(screen, hint) ?? screen.known;
    const asking = this.#hints.isAsking(session, { screen, elapsed });
    const state = decideState({ session, screen, hint, asking, known: screen?.known, now, elapsed });
    const stateSince = clock.since(session, { state, now });
    const limit = this.#limits.of(paneKey(session), { state, now });
    return toEntry(session, {
      state,
      stateSince,
      muted: muted(...directoriesOf(session)),
      ...(limit === undefined ? {} : { limit }),
      dialog: this.#dialogOf(session),
      version: this.#versions.get(paneKey(session)),
      widened: this.#options.widened ?? [],
    });
  }

  /** Read once per pane: a running agent keeps its version when it is upgraded. */
  async #readVersions(sessions: readonly TmuxSession[]): Promise<void> {
    for (const session of sessions) {
      const key = paneKey(session);
      if (this.#versions.has(key) || session.pane === undefined || session.recorded.agent === "") continue;
      this.#versions.set(key, await this.#options.version?.(session.pane.pid));
    }
  }

  /** Captures the screens that may have changed since their last capture, with one call per server. */
  async #readScreens(sessions: readonly TmuxSession[]): Promise<void> {
    const stale = sessions.filter((one) => one.pane && !this.#isCurrent(one));
    const [large, small] = [stale.filter(isTooLarge), stale.filter((one) => !isTooLarge(one))];
    for (const session of large) this.#remember(session, { screen: UNREAD, ...this.#moment() });
    const servers = Map.groupBy(small, (session) => session.socket);
    for (const [socket, group] of servers) {
      const panes = group.flatMap((session) => session.pane?.id ?? []);
      const moment = this.#moment();
      const screens = await captureScreens(this.#options.server(socket), panes);
      for (const session of group) {
        this.#remember(session, { screen: screens.get(session.pane?.id ?? ""), ...moment });
      }
    }
  }

  #moment(): Pick<CapturedScreen, "at" | "epochMs"> {
    return { at: this.#elapsed(), epochMs: this.#now() };
  }

  /** tmux counts activity in whole seconds, so output may follow in the second of a capture. */
  #isCurrent(session: TmuxSession): boolean {
    const screen = this.#screens.get(paneKey(session));
    return screen !== undefined && screen.activity === session.activity &&
      screen.epochMs >= (session.activity + 1) * 1_000 && !this.#dialogs.isDoubtful(paneKey(session));
  }

  #remember(
    session: TmuxSession,
    { screen, at, epochMs }: { screen: PaneScreen | undefined } & Pick<CapturedScreen, "at" | "epochMs">,
  ): void {
    if (screen === undefined || session.pane === undefined) return;
    const kind = session.recorded.agent;
    const profile = isAgentKind(kind) ? agentProfile(kind) : unknownAgent;
    const { lines, cursor } = screen;
    const reading = profile.readScreen(screen);
    const known = this.#screens.get(paneKey(session))?.known;
    const line = lastLine(lines, { reading, cursorRow: cursor.y });
    this.#screens.set(paneKey(session), { activity: session.activity, at, epochMs, reading, known, line });
    if (kind === "") return;
    const text = reading.focus === "dialog" ? dialogText(lines, compiledMarks(profile.dialog)) : undefined;
    const mayBeHalfDrawn = reading.focus === "unknown";
    const isNew = this.#dialogs.take(paneKey(session), { text, at: epochMs, mayBeHalfDrawn });
    const dialog = isNew ? this.#dialogs.of(paneKey(session)) : undefined;
    if (dialog !== undefined) {
      this.#withDialog.set(paneKey(session), undefined);
      this.#options.dialogOpened?.(session, dialog);
    }
    this.#limits.takeScreen(paneKey(session), { lines, now: epochMs });
  }

  #dialogOf(session: TmuxSession): SessionEntry["dialog"] {
    const dialog = isAlive(session) ? this.#dialogs.of(paneKey(session)) : undefined;
    return dialog && { id: dialog.id, since: dialog.since, can: [...this.#options.dialogActions ?? []] };
  }

  /** The last line of each live session, by its name. */
  lines(): Record<string, string> {
    return Object.fromEntries(
      this.#sessions.filter(isAlive).flatMap((session) => {
        const line = this.#screens.get(paneKey(session))?.line;
        return line === undefined ? [] : [[session.name, line]];
      }),
    );
  }

  /** The dialog that the session of this name showed last. */
  dialogOf(name: string): OpenDialog | undefined {
    const session = this.#sessions.find((one) => one.name === name);
    return session && this.#dialogs.of(paneKey(session));
  }

  #reportClosedDialogs(): void {
    for (const [pane, since = this.#elapsed()] of this.#withDialog) {
      if (this.#dialogs.of(pane) !== undefined) {
        this.#withDialog.set(pane, this.#dialogs.isDoubtful(pane) ? since : undefined);
        continue;
      }
      this.#withDialog.delete(pane);
      this.#options.dialogClosed?.(pane, since);
    }
  }

  #forget(sessions: readonly TmuxSession[]): void {
    const panes = new Set(sessions.map(paneKey));
    for (const key of this.#screens.keys()) if (!panes.has(key)) this.#screens.delete(key);
    for (const key of this.#versions.keys()) if (!panes.has(key)) this.#versions.delete(key);
    this.#dialogs.keep(panes);
    this.#conversations.keep(panes);
    this.#limits.keep(panes);
    this.#hints.keep(sessions);
  }
}

function agentIn({ socket, name, created, recorded: { pane, pid } }: TmuxSession): Asker | undefined {
  if (pane === "") return undefined;
  return { session: name, socket, pane, run: agentRun({ created: String(created), pane, pid }) };
}

/** Returns the first entries that fit: the relay closes a connection that sends too long a frame. */
function fitting(entries: readonly SessionEntry[]): SessionEntry[] {
  let bytes = 0;
  return entries.filter((entry) => (bytes += utf8Length(JSON.stringify(entry)) + 1) <= SESSIONS_MAX_BYTES);
}

/** No profile reads a screen this large, and capturing it would delay the other sessions. */
function isTooLarge({ pane }: TmuxSession): boolean {
  return pane !== undefined && (pane.cols > MAX_SCREEN_COLUMNS || pane.rows > MAX_SCREEN_ROWS);
}

/** The state in the newer of screen and hint. Undefined if neither shows one. */
function newest(
  screen: ScreenCapture,
  hint: { state: AgentState; at: number } | undefined,
): AgentState | undefined {
  const shown = screen.reading.state;
  return hint !== undefined && (shown === undefined || hint.at > screen.at) ? hint.state : shown;
}
