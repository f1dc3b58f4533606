/** `svc status`: the listener, the relay and the sessions on one screen. */
import { runtime } from "#runtime";
import { relayErrorText } from "../client/certificate_fault.ts";
import type { DaemonStatus } from "../home/control_socket.ts";
import { daemonStatus, isLockFree, recordedPid } from "../home/daemon.ts";
import type { HomePaths } from "../home/paths.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths, daemonHost } from "./context.ts";
import { duration, EXIT_FAILED, inLine, paint, print, printJson } from "./output.ts";
import { type ListedEntry, listEntries, sessionTable } from "./sessions.ts";
import { addressInputs, relayApi } from "./settings.ts";

interface RelayView {
  baseUrl: string | null;
  reachable: boolean;
  version: string | null;
  /** Why it could not be reached. */
  problem: string | null;
  sessions: ListedEntry[];
}

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "status",
    summary:
      "Show the listener, the relay and the sessions. Exits with 1 when the listener is not running, or does not answer.",
    examples: ["svc status", "svc status --json"],
  }).option("--json", "print it as JSON");
  const options = parseOptions(command, args).opts();
  const paths = await accountPaths();
  const [daemon, relay] = await Promise.all([daemonStatus(daemonHost(), paths), viewRelay(paths)]);
  const listener = daemon ?? await absence(paths);
  if (options.json) printJson(toJson(listener, relay));
  else for (const line of screen(listener, relay)) print(line);
  return daemon === undefined ? EXIT_FAILED : 0;
}

async function viewRelay(paths: HomePaths): Promise<RelayView> {
  const view: RelayView = { baseUrl: null, reachable: false, version: null, problem: null, sessions: [] };
  try {
    const api = relayApi(paths, await addressInputs(paths));
    view.baseUrl = api.baseUrl;
    view.version = (await api.health()).version;
    view.reachable = true;
    view.sessions = listEntries((await api.sessions()).devices);
  } catch (error) {
    view.problem = relayErrorText(error);
  }
  return view;
}

/** A listener that hangs, or whose socket was deleted, keeps a new one from starting. */
interface Absence {
  running: boolean;
  answers: false;
  /** As its pid file says. */
  pid: number | null;
}

function toJson(listener: DaemonStatus | Absence, { sessions, ...relay }: RelayView): unknown {
  const view = "answers" in listener
    ? { ...listener, version: null, connected: false }
    : { running: true, answers: true, ...listener };
  return { listener: view, relay, sessions };
}

async function absence(paths: HomePaths): Promise<Absence> {
  if (await isLockFree(runtime.files, paths)) return { running: false, answers: false, pid: null };
  return { running: true, answers: false, pid: await recordedPid(runtime.files, paths) ?? null };
}

function screen(daemon: DaemonStatus | Absence, relay: RelayView): string[] {
  return [
    `Listener  ${listenerLine(daemon)}`,
    `Relay     ${relayLine(relay)}`,
    "",
    ...(relay.reachable && relay.problem === null ? sessionTable(relay.sessions, Date.now()) : []),
  ];
}

function listenerLine(daemon: DaemonStatus | Absence): string {
  if ("answers" in daemon) {
    const why = daemon.running
      ? "running, but it does not answer. Run: svc listener --restart"
      : "not running. Starting an agent starts it: svc cc";
    return paint(why, "red");
  }
  const since = duration(Date.now() - daemon.startedAt);
  const link = daemon.connected
    ? paint(`connected to ${daemon.wsUrl}`, "green")
    : paint(`not connected to ${daemon.wsUrl}: see svc logs`, "yellow");
  return `v${daemon.version}, process ${daemon.pid} on ${runtime.hostname()}, for ${since}, ${link}`;
}

function relayLine({ baseUrl, version, problem }: RelayView): string {
  // Both may be the relay's words, which must not add a line.
  if (problem !== null) return paint(inLine(problem), "red");
  return paint(inLine(`v${version} at ${baseUrl}`), "green");
}
