/** Checks a pane (facts, screen, local user, guard) in one tmux request, and runs guarded commands in it. */
import { type TmuxCommand, verbs } from "../../tmux/argv.ts";
import { TmuxError, type TmuxServer } from "../../tmux/server.ts";
import {
  dialogRowFormat,
  guardFormat,
  judgePane,
  type PaneFacts,
  type ProcessFacts,
  SYNCHRONIZED_FORMAT,
} from "./guard.ts";
import type { PaneContext } from "./inject_host.ts";
import { type Outcome, refused } from "./outcome.ts";
import { mayAnswerDialogs } from "./policy.ts";
import { GUARD_REFUSED, guarded } from "./typing.ts";
import type { Screen, ScreenReading } from "../../agents/profile.ts";
import { fieldsFormat, oneLine, parseFields } from "../../tmux/fields.ts";
import type { Target } from "../targets.ts";

/** The pane as it was seen, with what the operating system says of its process. */
export type Seen = Observation & { process: ProcessFacts };
export type PaneCheck = { seen: Seen } | { outcome: Outcome };

/** One look at the pane, and the guard's verdict. */
export async function checkPane({ target, server, input, host }: PaneContext): Promise<PaneCheck> {
  try {
    const { recordedPid } = target;
    const [seen, expected] = await Promise.all([
      observe(server, target),
      recordedPid === 0 ? undefined : host.processFacts(recordedPid),
    ]);
    const process = seen.pane.pid === recordedPid && expected || await host.processFacts(seen.pane.pid);
    const { recordedPid: recorded, isProfiled } = target;
    const reason = judgePane(seen.pane, { process, recordedPid: recorded, isProfiled });
    if (reason !== undefined) return { outcome: refused(reason) };
    input.look(seen.reading, target.profile);
    return { seen: { ...seen, process } };
  } catch (error) {
    if (error instanceof TmuxError) return { outcome: failureOutcome(error) };
    throw error;
  }
}

/** The guard for this pane as it was seen. */
export function guardOf({ target, host }: PaneContext, seen: Seen): string {
  return guardFormat({
    pid: seen.pane.pid,
    command: seen.process.shellBelow ? seen.pane.command : undefined,
    dialog: mayAnswerDialogs(host.policy) ? undefined : target.profile.dialog,
    dialogRow: seen.dialogRow,
  });
}

/** Presses one key in one tmux queue with the guard; false when tmux found the guard false. Throws TmuxError. */
export async function pressKey(context: PaneContext, seen: Seen, key: string): Promise<boolean> {
  return await runGuarded(context, seen, verbs.sendKey(context.target.pane, key));
}

/** The same for any command that types. */
export async function runGuarded(context: PaneContext, seen: Seen, command: TmuxCommand): Promise<boolean> {
  const { target, server } = context;
  const commands = [verbs.leaveModes(target.pane), command];
  const answer = await server.run(guarded(target.pane, guardOf(context, seen), commands));
  return !answer.includes(GUARD_REFUSED);
}

export interface Observation {
  pane: PaneFacts;
  screen: Screen;
  reading: ScreenReading;
  /** Where the screen has a line like a dialog's, from 1; 0 when nowhere. */
  dialogRow: number;
  directory: string;
  /** Epoch seconds of the last key of a person's client on this session; 0 without one. */
  localUserActivity: number;
  /** Epoch seconds at which the session began. */
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
    pane: {
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
