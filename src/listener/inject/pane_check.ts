/**
 * Checks a pane (facts, screen, local user, guard), mostly in one tmux request, runs guarded commands in it, and decides
 * why a message must wait.
 */
import { verbs } from "../../tmux/argv.ts";
import { fieldsFormat, oneLine, parseFields, TmuxError, type TmuxServer } from "../../tmux/server.ts";
import {
  dialogRowFormat,
  guarded,
  guardFormat,
  isShellEscape,
  judgePane,
  type PaneFacts,
  type ProcessFacts,
  READABLE_FORMAT,
  runTyping,
  SYNCHRONIZED_FORMAT,
} from "./guard.ts";
import { type Outcome, type PaneContext, refused } from "./context.ts";
import { SCREEN_FIELDS, screenOf } from "../../tmux/sessions.ts";
import type { Screen, ScreenReading } from "../../agents/profile.ts";
import { agentKindOfProgram } from "../../agents/profiles.ts";
import { compiledMarks } from "../../agents/read_screen.ts";
import type { Reason } from "../../protocol/receipt.ts";
import type { Place, Target, Targets } from "../targets.ts";
import { hidesText, mayHideStart } from "./composer.ts";
import type { ComposerModel, PaneInput } from "./pane_input.ts";
import { beginsCommand, mayAnswerDialogs, type Policy } from "./policy.ts";

/** What a check found out about a pane. */
export interface PaneState extends Observation {
  process: ProcessFacts;
}

export type PaneCheck = { kind: "ready"; pane: PaneState } | { kind: "refused"; outcome: Outcome };

interface CheckOptions {
  /** Whether the screen is searched for a dialog's lines. Without that nothing can be typed behind the guard. */
  search?: boolean;
}

interface ObserveOptions extends CheckOptions {
  /** See `PaneInput.mustSearch`. */
  mustSearch?: boolean;
}

/**
 * Observes the pane and applies the guard. An agent whose profile does not read this screen, since it was started by a
 * launcher or after the target was found, is refused: its dialogs would not be recognized.
 */
export async function checkPane(
  { target, server, input, effects, policy }: PaneContext,
  { search = true }: CheckOptions = {},
): Promise<PaneCheck> {
  try {
    const { panePid, recordedPid, isProfiled } = target;
    const [observed, expected] = await Promise.all([
      observe(server, target, { search, mustSearch: input.mustSearch }),
      effects.processFacts(panePid, { findAgent: !isProfiled }),
    ]);
    const { facts, reading } = observed;
    const process = facts.pid === panePid
      ? expected
      : await effects.processFacts(facts.pid, { findAgent: !isProfiled });
    const reason = process.hasAgent && !isProfiled
      ? "unknown_screen"
      : judgePane(facts, { process, recordedPid, isProfiled, policy }) ??
        replacedAgent(target, facts, process);
    if (reason !== undefined) return { kind: "refused", outcome: refused(reason) };
    input.observed(reading, target.profile);
    // The guard was false for another reason, or the dialog has closed.
    if (observed.dialogRow === NO_ROW) input.mustSearch = false;
    return { kind: "ready", pane: { ...observed, process } };
  } catch (error) {
    if (error instanceof TmuxError) return { kind: "refused", outcome: failureOutcome(error) };
    throw error;
  }
}

/**
 * In a session without a wrapper, the shell may start another program after the agent while a mirror is open, and once
 * tmux was started again, another session may have the pane's id. The target must be resolved again.
 */
function replacedAgent(
  { panePid, recordedPid, isProfiled, profile: { kind } }: Target,
  { pid }: PaneFacts,
  { foreground, argv, shellBelow }: ProcessFacts,
): Reason | undefined {
  if (recordedPid === 0 && pid !== panePid) return "unknown_screen";
  if (!isProfiled || recordedPid !== 0 || !shellBelow || kind === undefined) return undefined;
  return agentKindOfProgram(foreground, argv) === kind ? undefined : "unknown_screen";
}

/** The guard as a tmux format, for this pane as it was checked; `key`: one that is sent behind it. */
export function guardOf(
  { target, policy }: Pick<PaneContext, "target" | "policy">,
  pane: PaneState,
  key?: string,
): string {
  return guardFormat({
    pid: pane.facts.pid,
    command: pane.facts.command,
    isOverShell: pane.process.shellBelow,
    dialog: mayAnswerDialogs(policy) ? undefined : target.profile.dialog,
    dialogRow: pane.dialogRow,
    cursor: key === "Enter" ? pane.screen.cursor : undefined,
  });
}

/** Presses a key in one tmux queue with the guard. False if tmux found the guard false. Throws TmuxError. */
export async function pressKey(context: PaneContext, pane: PaneState, key: string): Promise<boolean> {
  const { target } = context;
  const commands = [verbs.leaveModes(target.pane), verbs.sendKey(target.pane, key)];
  return await runTyping(context, [guarded(target.pane, guardOf(context, pane, key), commands)]);
}

/** Presses Enter. False if tmux found the guard false. After a lost connection the screen shows what became of the key. */
export async function pressEnter(context: PaneContext, pane: PaneState): Promise<boolean> {
  return await pressKey(context, pane, "Enter").catch((error) => {
    if (error instanceof TmuxError && error.lost) return true;
    throw error;
  });
}

/** After this many consecutive checks of an idle process, the agent has read its input and drawn the result. */
export const CALM_LOOKS = 3;
/** Longer than agents delay drawing. */
export const CALM_STEP_MS = 50;

/**
 * True if the agent has read its input and drawn the result: only a screen captured after that shows the effect of
 * earlier keys. Also true if the system does not report whether it is busy.
 */
export async function isAtRest(
  { target, effects, pause }: Pick<PaneContext, "target" | "effects"> & { pause(ms: number): Promise<void> },
): Promise<boolean> {
  for (let looks = 1;; looks++) {
    if (await effects.isBusy(target.panePid)) return false;
    if (looks === CALM_LOOKS) return true;
    await pause(CALM_STEP_MS);
  }
}

/** Time for a phone's last keystroke to reach the agent. */
export const KEY_SETTLE_MS = 300;

/**
 * Checks the pane once the phone's last keys have had time to take effect, or returns `fresh` if it shows that;
 * `hasSettled` if the effect is visible.
 */
export async function checkAfterKeys(
  context: PaneContext & { pause(ms: number): Promise<void> },
  { fresh, ...options }: CheckOptions & { fresh: PaneState | undefined },
): Promise<{ check: PaneCheck; hasSettled: boolean }> {
  const { input, now, pause } = context;
  // A clock that was set back makes the last key lie in the future.
  const settleMs = Math.max(
    input.escapeWaitMs,
    Math.min(KEY_SETTLE_MS, input.model.keyAt + KEY_SETTLE_MS - now()),
  );
  if (settleMs > 0) await pause(settleMs);
  if (input.mayHaveLeft) {
    const isResting = await isAtRest(context);
    const check = await checkPane(context, options);
    return { check, hasSettled: !input.mayHaveLeft || (isResting && input.isCalm) };
  }
  const isFresh = fresh !== undefined && settleMs <= 0;
  const check: PaneCheck = isFresh ? { kind: "ready", pane: fresh } : await checkPane(context, options);
  return { check, hasSettled: true };
}

export interface Observation {
  facts: PaneFacts;
  screen: Screen;
  reading: ScreenReading;
  /** The first line, from 1, that looks like a dialog's; 0 if none does, -1 if the screen is too large to be read. */
  dialogRow: number;
  directory: string;
  /** Epoch seconds of the last key in a terminal that is attached to this session or shows this window; 0 without one. */
  localUserActivity: number;
  /** Epoch seconds at which the session was created. */
  created: number;
}

/** The row of a screen that was not searched: the guard is false then. */
const NOT_SEARCHED = -2;
/** The row of a screen that shows no dialog's line. */
const NO_ROW = 0;

const FIELDS = {
  window: "#{window_id}",
  created: "#{session_created}",
  dead: "#{pane_dead}",
  inputOff: "#{pane_input_off}",
  synchronized: SYNCHRONIZED_FORMAT,
  pid: "#{pane_pid}",
  command: oneLine("pane_current_command"),
  ...SCREEN_FIELDS,
  directory: oneLine("pane_current_path"),
};

const CLIENT_FIELDS = {
  control: "#{client_control_mode}",
  activity: "#{client_activity}",
  session: "#{session_id}",
  /** The one that it shows. */
  window: "#{window_id}",
};

/**
 * Reads facts, clients and screen of the pane. Throws TmuxError when the pane or its session is gone. A search costs tmux
 * more than all else together, so it searches only a screen that shows a dialog's line, or that is too large to be read.
 * Where a dialog matters, the guard searches again in any case.
 */
export async function observe(
  server: TmuxServer,
  target: Target,
  { search = true, mustSearch = false }: ObserveOptions = {},
): Promise<Observation> {
  if (!search) return await observeOnce(server, target, String(NOT_SEARCHED));
  if (!mustSearch) {
    const observed = await observeOnce(server, target, String(NO_ROW));
    const { lines } = observed.screen;
    if (lines.length > 0 && !compiledMarks(target.profile.dialog).inLines(lines)) return observed;
  }
  return await observeOnce(server, target, dialogRowFormat(target.profile.dialog));
}

/** `rowFormat`: prints the observation's `dialogRow`. */
async function observeOnce(server: TmuxServer, target: Target, rowFormat: string): Promise<Observation> {
  const row = fieldsFormat("row", { row: rowFormat });
  const read = (): Promise<string> =>
    server.run(
      verbs.print(target.pane, fieldsFormat("facts", FIELDS)),
      verbs.print(target.pane, row),
      verbs.listClients(fieldsFormat("client", CLIENT_FIELDS)),
      verbs.ifFormat(target.pane, READABLE_FORMAT, { then: [verbs.captureScreen(target.pane)] }),
    );
  // The connection may have ended with another session.
  const output = await read().catch((error) => {
    if (error instanceof TmuxError && error.lost) return read();
    throw error;
  });
  return parseObservation(output, target);
}

/** What a session shows at the computer. */
export interface LocalView {
  /** Epoch milliseconds of the last key in a terminal that is attached to the session or shows its window; 0 without one. */
  lastKeyAt: number;
  hasDialog: boolean;
  /** As the screen shows it; an interrupted agent is idle, although it waits for a hook. */
  state: ScreenReading["state"];
}

/** Reads what the session shows at the computer; undefined for an unknown session. */
export async function readLocalView(
  targets: Pick<Targets, "follow" | "server">,
  place: Place,
): Promise<LocalView & { place: Place } | undefined> {
  const resolved = await targets.follow(place);
  if (resolved.kind === "refused") return undefined;
  const { target, target: { session, socket, pane } } = resolved;
  const view = localViewOf(await observe(targets.server(target), target, { search: false }));
  return { ...view, place: { session, socket, pane } };
}

export function localViewOf({ localUserActivity, reading }: Observation): LocalView {
  const { focus, interrupted } = reading;
  return {
    lastKeyAt: localUserActivity * 1_000,
    hasDialog: focus === "dialog",
    state: interrupted ? "idle" : reading.state,
  };
}

export function parseObservation(output: string, target: Target): Observation {
  const lines = output.split("\n");
  const facts = parseFields(lines[0] ?? "", { tag: "facts", fields: FIELDS });
  const row = parseFields(lines[1] ?? "", { tag: "row", fields: { row: "" } });
  if (facts === undefined || row === undefined) throw new TmuxError("tmux printed no facts of the pane");
  const clients = lines.slice(2).map((line) => parseFields(line, { tag: "client", fields: CLIENT_FIELDS }));
  const end = clients.findIndex((client) => client === undefined);
  // A window may be shown by several sessions: those of a group, or that it is linked into.
  const people = clients.slice(0, end < 0 ? undefined : end).filter((client) =>
    client?.control !== "1" && (client?.session === target.sessionId || client?.window === facts.window)
  );
  const screen: Screen = screenOf(facts, end < 0 ? [] : lines.slice(2 + end));
  return {
    facts: {
      dead: facts.dead === "1",
      inputOff: facts.inputOff === "1",
      synchronized: facts.synchronized === "1",
      pid: Number(facts.pid),
      command: facts.command,
    },
    screen,
    reading: target.profile.readScreen(screen),
    dialogRow: Number(row.row),
    directory: facts.directory,
    localUserActivity: Math.max(0, ...people.map((client) => Number(client?.activity))),
    created: Number(facts.created),
  };
}

/** What a tmux failure before the typing means: the pane went away, or tmux is broken. Nothing was typed. */
export function failureOutcome(error: TmuxError): Outcome {
  const gone = /can't find|no server running|no such/i.test(error.message);
  return { ...refused(gone ? "pane_dead" : "tmux_failed"), failure: error.message };
}

/** The local user is typing if they pressed a key within this time. */
export const LOCAL_USER_ACTIVE_MS = 2_000;
/** How long a message waits for the local user before it is refused. */
export const LOCAL_USER_HOLD_MS = 10_000;
/** An agent without a composer on its screen is starting until its session is this old, or it calls a tool. */
export const START_HOLD_MS = 60_000;

export type HoldReason =
  | "dialog_open"
  | "agent_starting"
  | "unknown_screen"
  | "screen_stale"
  | "agent_working"
  | "desk_busy"
  | "phone_draft"
  | "host_files";

export interface HoldContext extends Pick<Target, "recordedPid" | "profile" | "isProfiled"> {
  input: Pick<PaneInput, "isGated" | "isIdle" | "isInCall"> & {
    model: Pick<ComposerModel, "isFromPhone" | "keyAt">;
  };
  now: number;
  sendAnyway: boolean;
  policy: Policy;
}

/**
 * Returns why a message must wait; undefined if it may be typed. A dialog takes precedence over the local user.
 * `sendAnyway` does not apply to a draft that begins with `!` or `/`, which would make the message part of a command
 * that was not checked, nor to one whose beginning is out of sight, or folded into a placeholder.
 */
export function holdReason(pane: Observation, context: HoldContext): HoldReason | undefined {
  const { reading } = pane;
  const { now, policy, sendAnyway } = context;
  if (reading.focus === "dialog" && !mayAnswerDialogs(policy)) return "dialog_open";
  if (lacksComposer(pane, context)) {
    const isYoung = context.recordedPid !== 0 && Math.abs(now - pane.created * 1_000) < START_HOLD_MS;
    const mayStart = isYoung && !context.input.isInCall && reading.focus === "unknown";
    return mayStart ? "agent_starting" : "unknown_screen";
  }
  const typedAt = pane.localUserActivity * 1_000;
  const { isFromPhone, keyAt } = context.input.model;
  const busy = isFromPhone && reading.draft && typedAt <= keyAt ? "phone_draft" : "desk_busy";
  if (hidesCommand(reading, context)) return busy;
  if (mayOpenDialog(pane, context) || mayChangeView(pane, context)) return "agent_working";
  if (sendAnyway) return undefined;
  if (!isLocalUserActive(pane, now) && !reading.draft) return undefined;
  return busy;
}

/** `now`: epoch milliseconds. */
export function isLocalUserActive(
  { localUserActivity }: Pick<Observation, "localUserActivity">,
  now: number,
): boolean {
  return localUserActivity > 0 && Math.abs(now - localUserActivity * 1_000) < LOCAL_USER_ACTIVE_MS;
}

/** True if text that is typed after the draft becomes part of its command, or may. */
function hidesCommand({ draft = "", cut }: ScreenReading, { profile, policy }: HoldContext): boolean {
  if (isShellEscape(draft) || mayHideStart({ draft, cut }) || hidesText(draft, profile)) return true;
  return beginsCommand(draft) && !policy.allowApprovalChange;
}

function lacksComposer({ reading }: Observation, { isProfiled, policy }: HoldContext): boolean {
  return isProfiled && reading.focus !== "composer" && reading.focus !== "dialog" &&
    !policy.allowUnknownScreens;
}

/**
 * True if a turn is running and no hook holds its dialogs back: one may open at any moment, before the screen shows it.
 * Panes of unknown agents are exempt.
 */
export function mayOpenDialog(
  { reading, created }: Pick<Observation, "reading" | "created">,
  { input, profile, isProfiled, policy }: Pick<HoldContext, "input" | "profile" | "isProfiled" | "policy">,
): boolean {
  if (!isProfiled || policy.steer || mayAnswerDialogs(policy)) return false;
  return !input.isGated(profile, created) && !input.isIdle(reading);
}

/** True if Enter was pressed and no screen has shown its effect yet, in an agent that then draws another view. */
function mayChangeView({ reading }: Observation, { input, profile }: HoldContext): boolean {
  return profile.opensView === true && reading.state === "idle" && !input.isIdle(reading);
}

/** True if no dialog can have opened since the first Enter: those of a gated agent wait longer than ENTER_AGAIN_MS. */
export function mayPressAgain(
  { reading, created }: Observation,
  { input, target, policy }: Pick<PaneContext, "input" | "target" | "policy">,
): boolean {
  return input.isGated(target.profile, created) || input.isIdle(reading) || policy.steer ||
    !target.isProfiled;
}
