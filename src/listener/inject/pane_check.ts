/** Checks a pane (facts, screen, local user, guard) in one tmux request, and runs guarded commands in it. */
import { verbs } from "../../tmux/argv.ts";
import { TmuxError, type TmuxServer } from "../../tmux/server.ts";
import {
  dialogRowFormat,
  guardFormat,
  judgePane,
  type PaneFacts,
  type ProcessFacts,
  SYNCHRONIZED_FORMAT,
} from "./guard.ts";
import type { PaneContext } from "./context.ts";
import { type Outcome, refused } from "./outcome.ts";
import { mayAnswerDialogs } from "./policy.ts";
import { GUARD_REFUSED, guarded } from "./typing.ts";
import type { Screen, ScreenReading } from "../../agents/profile.ts";
import { fieldsFormat, oneLine, parseFields } from "../../tmux/fields.ts";
import type { Target } from "../targets.ts";

/** What a check found out about a pane. */
export interface PaneState extends Observation {
  process: ProcessFacts;
}

export type PaneCheck = { kind: "ready"; pane: PaneState } | { kind: "refused"; outcome: Outcome };

/** Observes the pane and applies the guard. */
export async function checkPane({ target, server, input, effects }: PaneContext): Promise<PaneCheck> {
  try {
    const { recordedPid, isProfiled } = target;
    const [observed, expected] = await Promise.all([
      observe(server, target),
      recordedPid === 0 ? undefined : effects.processFacts(recordedPid),
    ]);
    const { facts, reading } = observed;
    const process = facts.pid === recordedPid && expected || await effects.processFacts(facts.pid);
    const reason = judgePane(facts, { process, recordedPid, isProfiled });
    if (reason !== undefined) return { kind: "refused", outcome: refused(reason) };
    input.observed(reading, target.profile);
    return { kind: "ready", pane: { ...observed, process } };
  } catch (error) {
    if (error instanceof TmuxError) return { kind: "refused", outcome: failureOutcome(error) };
    throw error;
  }
}

/** The guard as a tmux format, for this pane as it was checked. */
export function guardOf({ target, policy }: Pick<PaneContext, "target" | "policy">, pane: PaneState): string {
  return guardFormat({
    pid: pane.facts.pid,
    command: pane.process.shellBelow ? pane.facts.command : undefined,
    dialog: mayAnswerDialogs(policy) ? undefined : target.profile.dialog,
    dialogRow: pane.dialogRow,
  });
}

/** Presses a key in one tmux queue with the guard. False if tmux found the guard false. Throws TmuxError. */
export async function pressKey(context: PaneContext, pane: PaneState, key: string): Promise<boolean> {
  const { target, server } = context;
  const commands = [verbs.leaveModes(target.pane), verbs.sendKey(target.pane, key)];
  const answer = await server.run(guarded(target.pane, guardOf(context, pane), commands));
  return !answer.includes(GUARD_REFUSED);
}

export interface Observation {
  facts: PaneFacts;
  screen: Screen;
  reading: ScreenReading;
  /** The first line, from 1, that looks like a dialog's; 0 if none does. */
  dialogRow: number;
  directory: string;
  /** Epoch seconds of the last key in a terminal attached to this session; 0 without one. */
  localUserActivity: number;
  /** Epoch seconds at which the session was created. */
  created: number;
}

const FIELDS = {
  session: "#{session_id}",
  created: "#{session_created}",
  dead: "#{pane_dead}",
  inputOff: "#{pane_input_off}",
  synchronized: SYNCHRONIZED_FORMAT,
  pid: "#{pane_pid}",
  command: "#{pane_current_command}",
  cursorX: "#{cursor_x}",
  cursorY: "#{cursor_y}",
  cursorVisible: "#{cursor_flag}",
  keypad: "#{keypad_flag}",
  cursorKeys: "#{keypad_cursor_flag}",
  title: "#{pane_title}",
  directory: oneLine("pane_current_path"),
};

const CLIENT_FIELDS = {
  control: "#{client_control_mode}",
  activity: "#{client_activity}",
  session: "#{session_id}",
};

/** Throws TmuxError when the pane or its session is gone. */
export async function observe(server: TmuxServer, target: Target): Promise<Observation> {
  const row = fieldsFormat("row", { row: dialogRowFormat(target.profile.dialog) });
  const output = await server.run(
    verbs.print(target.pane, fieldsFormat("facts", FIELDS)),
    verbs.print(target.pane, row),
    verbs.listClients(fieldsFormat("client", CLIENT_FIELDS)),
    verbs.captureScreen(target.pane),
  );
  return parseObservation(output, target);
}

export function parseObservation(output: string, target: Target): Observation {
  const lines = output.split("\n");
  const facts = parseFields(lines[0] ?? "", { tag: "facts", fields: FIELDS });
  const row = parseFields(lines[1] ?? "", { tag: "row", fields: { row: "" } });
  if (facts === undefined || row === undefined) throw new TmuxError("tmux printed no facts of the pane");
  const clients = lines.slice(2).map((line) => parseFields(line, { tag: "client", fields: CLIENT_FIELDS }));
  const end = clients.findIndex((client) => client === undefined);
  const people = clients.slice(0, end < 0 ? undefined : end).flatMap((client) =>
    client && client.control !== "1" && client.session === target.sessionId ? [Number(client.activity)] : []
  );
  const screen: Screen = {
    lines: end < 0 ? [] : lines.slice(2 + end),
    title: facts.title,
    cursor: {
      x: Number(facts.cursorX),
      y: Number(facts.cursorY),
      visible: facts.cursorVisible === "1",
    },
    applicationKeys: facts.keypad === "1" || facts.cursorKeys === "1",
  };
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
    localUserActivity: Math.max(0, ...people),
    created: Number(facts.created),
  };
}

/** What a tmux failure before the typing means: the pane went away, or tmux is broken. Nothing was typed. */
export function failureOutcome(error: TmuxError): Outcome {
  const gone = /can't find|no server running|no such/i.test(error.message);
  return refused(gone ? "pane_dead" : "tmux_failed");
}
