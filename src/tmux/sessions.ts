/** Every session of a tmux server with its panes and the people attached, by one tmux call. */
import { fieldsFormat, oneLine, parseFields } from "./fields.ts";
import { verbs } from "./argv.ts";
import type { TmuxServer } from "./server.ts";

/** The user options of a session that the wrapper made. */
export const SESSION_OPTIONS = {
  agent: "@svc_agent",
  project: "@svc_project",
  directory: "@svc_dir",
  /** The agent's pane id, `%<n>`. */
  pane: "@svc_pane",
  /** The agent's process id: the pane's own process. */
  pid: "@svc_pid",
  version: "@svc_version",
} as const;

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
  /** 0-based. */
  cursor: { x: number; y: number; visible: boolean };
  /** The program has the keypad or the cursor keys in application mode, as editors and pagers do. */
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
  /** A client that is no control-mode client is attached. */
  attached: boolean;
  /** What the wrapper recorded; empty strings for a session that it did not make. */
  recorded: { agent: string; project: string; directory: string; pane: string; pid: string };
  /** The recorded agent's pane, else the active one of the active window; undefined when the recorded one is gone. */
  pane: TmuxPane | undefined;
  /** The user has set destroy-unattached: a control client's leaving would end the session. */
  destroyedWhenUnattached: boolean;
}

const PANE_FIELDS = {
  session: "#{session_name}",
  sessionId: "#{session_id}",
  created: "#{session_created}",
  activity: "#{window_activity}",
  destroyUnattached: "#{destroy-unattached}",
  agent: "#{@svc_agent}",
  project: "#{@svc_project}",
  recordedPane: "#{@svc_pane}",
  recordedPid: "#{@svc_pid}",
  directory: oneLine("@svc_dir"),
  pane: "#{pane_id}",
  pid: "#{pane_pid}",
  dead: "#{pane_dead}",
  active: "#{&&:#{window_active},#{pane_active}}",
  command: "#{pane_current_command}",
  cols: "#{pane_width}",
  rows: "#{pane_height}",
  cursorX: "#{cursor_x}",
  cursorY: "#{cursor_y}",
  cursorVisible: "#{cursor_flag}",
  keypad: "#{keypad_flag}",
  cursorKeys: "#{keypad_cursor_flag}",
  title: "#{pane_title}",
  path: oneLine("pane_current_path"),
};
type PaneFields = Record<keyof typeof PANE_FIELDS, string>;

const CLIENT_FIELDS = { control: "#{client_control_mode}", session: "#{client_session}" };

/** Throws TmuxError when no server listens on the socket. */
export async function listSessions(server: TmuxServer): Promise<TmuxSession[]> {
  const output = await server.run(
    verbs.listPanes(fieldsFormat("pane", PANE_FIELDS)),
    verbs.listClients(fieldsFormat("client", CLIENT_FIELDS)),
  );
  return parseSessions(server.socket, output);
}

/** The sessions in what `listSessions` asked tmux to print. */
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
      pane: first.recordedPane,
      pid: first.recordedPid,
    },
    pane: chosen && toPane(chosen),
    destroyedWhenUnattached: first.destroyUnattached === "1",
  };
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
    cursor: {
      x: Number(fields.cursorX),
      y: Number(fields.cursorY),
      visible: fields.cursorVisible === "1",
    },
    applicationKeys: fields.keypad === "1" || fields.cursorKeys === "1",
  };
}
