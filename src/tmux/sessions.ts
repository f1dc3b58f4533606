/** Lists a tmux server's sessions, and captures the screens of several panes, in one tmux call each. */
import { fieldsFormat, oneLine, parseFields, TmuxError, type TmuxServer } from "./server.ts";
import { type TmuxCommand, verbs } from "./argv.ts";

/** The tmux user options that the wrapper sets on its sessions. */
export const SESSION_OPTIONS = {
  agent: "@svc_agent",
  project: "@svc_project",
  directory: "@svc_dir",
  /** The agent's pane id, `%<n>`. */
  pane: "@svc_pane",
  /** The agent's process id: the pane's own process. */
  pid: "@svc_pid",
  version: "@svc_version",
  /** Real path of the project's directory: a session of another directory with the same name belongs to another project. */
  root: "@svc_root",
  /** A wrapper's claim on the session. */
  claim: "@svc_claim",
} as const;

/**
 * Identifies one run of an agent on this host: a later session of the same name has another one, even on a new tmux
 * server.
 */
export function agentRun({ created, pane, pid }: Record<"created" | "pane" | "pid", string>): string {
  return `${created} ${pane} ${pid}`;
}

export interface TmuxPane {
  /** `%<n>`, never reused while the server lives. */
  id: string;
  pid: number;
  dead: boolean;
  command: string;
  title: string;
  path: string;
  cols: number;
  rows: number;
}

/** What a profile reads from a pane. */
export interface PaneScreen {
  lines: string[];
  title: string;
  /** 0-based. */
  cursor: { x: number; y: number; visible: boolean };
  /** The keypad or the cursor keys are in application mode, as in editors and pagers. */
  applicationKeys: boolean;
}

export interface TmuxSession {
  socket: string;
  /** `$<n>`, never reused while the server lives. */
  id: string;
  name: string;
  /** Epoch seconds. */
  created: number;
  activity: number;
  /** A terminal is attached, not just a control-mode client. */
  attached: boolean;
  /** What the wrapper recorded; empty strings for a session that it did not make. */
  recorded: Record<"agent" | "project" | "directory" | "root" | "claim" | "pane" | "pid", string>;
  /** The recorded agent's pane, else the active one of the active window; undefined when the recorded one is gone. */
  pane: TmuxPane | undefined;
  /** destroy-unattached or exit-unattached is set: a control client that detaches would end the session. */
  destroyedWhenUnattached: boolean;
}

/**
 * The directories in which the session's project may lie: those that the wrapper recorded, and the pane's current one;
 * "" for an unknown one.
 */
export function directoriesOf({ recorded, pane }: Pick<TmuxSession, "recorded" | "pane">): string[] {
  return [recorded.directory, recorded.root, pane?.path ?? ""];
}

const PANE_FIELDS = {
  session: "#{session_name}",
  sessionId: "#{session_id}",
  created: "#{session_created}",
  activity: "#{window_activity}",
  destroyUnattached: "#{destroy-unattached}",
  exitUnattached: "#{exit-unattached}",
  agent: "#{@svc_agent}",
  project: "#{@svc_project}",
  recordedPane: "#{@svc_pane}",
  recordedPid: "#{@svc_pid}",
  claim: "#{@svc_claim}",
  directory: oneLine("@svc_dir"),
  root: oneLine("@svc_root"),
  pane: "#{pane_id}",
  pid: "#{pane_pid}",
  dead: "#{pane_dead}",
  active: "#{&&:#{window_active},#{pane_active}}",
  command: oneLine("pane_current_command"),
  cols: "#{pane_width}",
  rows: "#{pane_height}",
  title: "#{pane_title}",
  path: oneLine("pane_current_path"),
};
type PaneFields = Record<keyof typeof PANE_FIELDS, string>;

const CLIENT_FIELDS = { control: "#{client_control_mode}", session: "#{client_session}" };

/** The commands that print what parseSessions reads; with a name, which must be valid, of that session only. */
export function sessionQuery(name?: string): readonly TmuxCommand[] {
  const filter = name === undefined ? undefined : `#{==:#{session_name},${name}}`;
  return [
    verbs.listPanes(fieldsFormat("pane", PANE_FIELDS), filter),
    verbs.listClients(fieldsFormat("client", CLIENT_FIELDS)),
  ];
}

/** Throws TmuxError when no server listens on the socket. */
export async function listSessions(server: TmuxServer, name?: string): Promise<TmuxSession[]> {
  return parseSessions(server.socket, await server.run(...sessionQuery(name)));
}

/** The sessions in what sessionQuery printed; other lines are ignored. */
export function parseSessions(socket: string, output: string): TmuxSession[] {
  const lines = output.split("\n");
  const clients = lines.flatMap((line) => parseFields(line, { tag: "client", fields: CLIENT_FIELDS }) ?? []);
  const attached = new Set(clients.filter((one) => one.control !== "1").map((one) => one.session));
  const panes = lines.flatMap((line) => parseFields(line, { tag: "pane", fields: PANE_FIELDS }) ?? []);
  const bySession = Map.groupBy(panes, (pane) => pane.sessionId);
  return [...bySession.values()].flatMap((group) => {
    const [first] = group;
    return first ? [toSession(socket, { first, group, attached: attached.has(first.session) })] : [];
  });
}

function toSession(
  socket: string,
  { first, group, attached }: { first: PaneFields; group: PaneFields[]; attached: boolean },
): TmuxSession {
  const chosen = first.recordedPane
    ? group.find((pane) => pane.pane === first.recordedPane)
    : group.find((pane) => pane.active === "1");
  return {
    socket,
    id: first.sessionId,
    name: first.session,
    created: Number(first.created),
    activity: Math.max(...group.map((pane) => Number(pane.activity))),
    attached,
    recorded: {
      agent: first.agent,
      project: first.project,
      directory: first.directory,
      root: first.root,
      claim: first.claim,
      pane: first.recordedPane,
      pid: first.recordedPid,
    },
    pane: chosen && toPane(chosen),
    destroyedWhenUnattached: isOn(first.destroyUnattached) || isOn(first.exitUnattached),
  };
}

/** A flag is 1 or 0; later versions of tmux name the choices of some options. */
function isOn(option: string): boolean {
  return !["", "0", "off"].includes(option);
}

function toPane(fields: PaneFields): TmuxPane {
  return {
    id: fields.pane,
    pid: Number(fields.pid),
    dead: fields.dead === "1",
    command: fields.command,
    title: fields.title,
    path: fields.path,
    cols: Number(fields.cols),
    rows: Number(fields.rows),
  };
}

/** The formats of a screen's fields other than its lines. */
export const SCREEN_FIELDS = {
  cursorX: "#{cursor_x}",
  cursorY: "#{cursor_y}",
  cursorVisible: "#{cursor_flag}",
  keypad: "#{keypad_flag}",
  cursorKeys: "#{keypad_cursor_flag}",
  title: "#{pane_title}",
};

/**
 * Captures screens, by pane id; none if one of the panes has ended. Cursor and lines are of the same moment: a cursor
 * of another one, outside the composer, would read as a dialog.
 */
export async function captureScreens(
  server: TmuxServer,
  panes: readonly string[],
): Promise<Map<string, PaneScreen>> {
  if (panes.length === 0) return new Map();
  const mark = `svc-screen-${crypto.randomUUID()}`;
  const format = fieldsFormat(mark, SCREEN_FIELDS);
  const commands = panes.flatMap((pane) => [verbs.print(pane, format), verbs.captureScreen(pane)]);
  try {
    return splitScreens(await server.run(...commands), { panes, mark });
  } catch (error) {
    if (error instanceof TmuxError) return new Map();
    throw error;
  }
}

function splitScreens(
  output: string,
  { panes, mark }: { panes: readonly string[]; mark: string },
): Map<string, PaneScreen> {
  const screens: PaneScreen[] = [];
  for (const line of output.split("\n")) {
    const fields = parseFields(line, { tag: mark, fields: SCREEN_FIELDS });
    if (fields === undefined) screens.at(-1)?.lines.push(withoutStrays(line));
    else screens.push(screenOf(fields, []));
  }
  return new Map(panes.flatMap((pane, index) => screens[index] ? [[pane, screens[index]]] : []));
}

/** A character without width at the start of a row or behind a blank: tmux 3.3a draws one that follows a blank elsewhere. */
const STRAYS = /(?<=^| )[\u200b-\u200d\u2060\ufeff]+/gu;

function withoutStrays(line: string): string {
  return line.replace(STRAYS, "");
}

export function screenOf(fields: Record<keyof typeof SCREEN_FIELDS, string>, lines: string[]): PaneScreen {
  return {
    lines: lines.map(withoutStrays),
    title: fields.title,
    cursor: {
      x: Number(fields.cursorX),
      y: Number(fields.cursorY),
      visible: fields.cursorVisible === "1",
    },
    applicationKeys: fields.keypad === "1" || fields.cursorKeys === "1",
  };
}
