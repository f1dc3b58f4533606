/** `svc mcp`: the MCP server that an agent starts, on standard input and output. */
import { runtime } from "#runtime";
import { delay, systemClock } from "../async/clock.ts";
import { deviceNameOf, listenerApiKey, loadConfig, resolveWsUrl } from "../home/config.ts";
import { ASK_EVENT, notifyDaemon, type OwnPane, ownPane } from "../home/notify_daemon.ts";
import { isAnyMuted, loadMuted } from "../home/muted.ts";
import type { HostSealing } from "../home/host_sealing.ts";
import type { HomePaths } from "../home/paths.ts";
import type { RelaySettings } from "../mcp/ask_client.ts";
import type { AskingSession } from "../mcp/serve.ts";
import type { WaitingReport } from "../mcp/follow_question.ts";
import { VERSION } from "../protocol/version.ts";
import { type CutLine, splitLines } from "../runtime/input.ts";
import { verbs } from "../tmux/argv.ts";
import { spawningServer, tmuxEnvironment, withEnvironment } from "../tmux/server.ts";
import { agentRun, SESSION_OPTIONS } from "../tmux/sessions.ts";
import { accountPaths, workingDirectory } from "./context.ts";
import { printError, UsageError } from "./output.ts";
import { addressInputs, listenerSettings, pairingHost } from "./settings.ts";

const HELP = `Usage: svc mcp

The MCP server of svc on standard input and output: svc_ask, svc_prompt, svc_input and svc_notify reach the
user on their phone. Agents start it; svc setup registers it.

Examples, with Claude's own command line and in an agent's configuration:
  claude mcp add -s user svc -- svc mcp
  {"mcpServers": {"svc": {"command": "svc", "args": ["mcp"]}}}
`;

/** Longest message of a client; a question has at most 16 KiB. A longer message is refused. */
const LINE_MAX_BYTES = 1_048_576;

/** How long the last reports may delay the end, in milliseconds. */
const LAST_REPORT_MS = 1_000;

const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export async function run(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    runtime.terminal.write(HELP);
    return 0;
  }
  if (args.length > 0) throw new UsageError(`Cannot use "${args.join(" ")}": svc mcp takes no arguments`);
  if (runtime.terminal.isInputTerminal()) {
    printError("Waiting for an MCP client on standard input: agents start this command. End it with Ctrl-D.");
  }
  // The folder may be deleted while the agent runs.
  const cwd = workingDirectory();
  const [{ refuseLongLine, serveMcp }, { WaitingReports }] = await Promise.all([
    import("../mcp/serve.ts"),
    import("../mcp/follow_question.ts"),
  ]);
  const refuse = (line: CutLine): void => {
    const refusal = refuseLongLine(line, LINE_MAX_BYTES);
    if (refusal !== undefined) runtime.terminal.write(refusal);
  };
  const reports = new WaitingReports((report) => reportWaiting(report, cwd));
  await serveMcp({
    lines: {
      read: splitLines(runtime.terminal.input(), LINE_MAX_BYTES, { onTooLong: refuse }),
      write: (text) => runtime.terminal.write(text),
    },
    settings: relaySettings,
    sealing: mcpSealing,
    hostname: await hostname(),
    session: runtime.env.get("SVC_SESSION"),
    sessionNow,
    isMuted: () => isMutedHere(cwd),
    version: VERSION,
    clock: systemClock,
    random: Math.random,
    secondOutlet: async () => (await loadConfig(runtime.files, await accountPaths())).secondOutlet,
    reportWaiting: (report) => reports.take(report),
    onStop: (stop) => STOP_SIGNALS.forEach((signal) => runtime.onSignal(signal, stop)),
  });
  // A report reads tmux first, which may hang.
  await Promise.race([reports.idle(), delay(LAST_REPORT_MS, { clock: systemClock })]);
  return 0;
}

/** The name that the listener uses. A configuration that cannot be read is reported at the first call. */
async function hostname(): Promise<string> {
  const config = await loadConfig(runtime.files, await accountPaths()).catch(() => ({}));
  return deviceNameOf(config, runtime.hostname());
}

/** Loaded at the first call only, because an agent waits for its servers to start. */
export async function mcpSealing(
  { baseUrl, apiKey }: RelaySettings,
  account?: HomePaths,
): Promise<HostSealing> {
  const [{ createRelayApi }, { hostKeys, hostSealing }] = await Promise.all([
    import("../client/api.ts"),
    import("../home/host_sealing.ts"),
  ]);
  const paths = account ?? await accountPaths();
  const host = await pairingHost(paths, createRelayApi({ baseUrl, apiKey }));
  return hostSealing(hostKeys(host), { config: () => loadConfig(runtime.files, paths) });
}

/** The listener's settings, because it types the late answers. Throws an Error that names what is missing. */
async function relaySettings(): Promise<RelaySettings> {
  const paths = await accountPaths();
  const inputs = await addressInputs(paths);
  const hasAddress = resolveWsUrl(inputs) !== undefined;
  if (!hasAddress || listenerApiKey(inputs) === undefined) {
    const missing = hasAddress ? "apiKey" : "wsUrl";
    throw new Error(
      `Cannot reach the phone: svc is not set up on this machine, "${paths.config}" has no ${missing}. The user sets it up with: svc up`,
    );
  }
  return listenerSettings(paths, inputs);
}

/** The session in which svc started the agent. Its name is the original one if the agent does not pass on its pane. */
async function sessionNow(): Promise<AskingSession & Partial<OwnPane> | undefined> {
  const name = runtime.env.get("SVC_SESSION");
  const own = await ownPane(runtime);
  if (name === undefined) return undefined;
  const read = await readPane(own, ["session_name", "session_created", SESSION_OPTIONS.pid]);
  if (read === undefined || own.pane === undefined) return { name };
  const [now = "", created = "", pid = ""] = read;
  return { name: now, run: agentRun({ created, pane: own.pane, pid }), ...own };
}

/** Values of tmux for the pane in which svc started the agent; undefined in any other pane. */
async function readPane(
  { pane, socket }: Partial<OwnPane>,
  names: readonly string[],
): Promise<string[] | undefined> {
  if (pane === undefined || socket === undefined) return undefined;
  const commands = withEnvironment(runtime.commands, tmuxEnvironment(runtime.env.all()));
  // tmux would expand a pane's id in the format as a part of the time.
  const format = [SESSION_OPTIONS.pane, ...names].map((name) => `#{${name}}`).join("\t");
  const printed = await spawningServer(commands, socket).run(verbs.print(pane, format)).catch(() => "");
  const [recorded, ...values] = printed.trimEnd().split("\t");
  return recorded === pane ? values : undefined;
}

/** An agent belongs to the project in which svc started it, also while it works in another directory. */
async function isMutedHere(cwd: string): Promise<boolean> {
  const [{ files }, paths] = [runtime, await accountPaths()];
  // Saves asking tmux.
  if ((await loadMuted(files, paths)).length === 0) return false;
  const recorded = await readPane(await ownPane(runtime), [SESSION_OPTIONS.directory, SESSION_OPTIONS.root]);
  const directories = [cwd, ...recorded ?? []].filter((directory) => directory !== "");
  return await isAnyMuted(files, paths, directories);
}

/** Reports to the listener that the session waits for its user, or no longer does. */
async function reportWaiting(waiting: WaitingReport, cwd: string): Promise<void> {
  const { name: session, ...where } = await sessionNow() ?? {};
  if (session === undefined) return;
  const paths = await accountPaths().catch(() => undefined);
  if (paths === undefined) return;
  const report = { event: ASK_EVENT, agent: "mcp", cwd, session, ...where, ...waiting };
  await notifyDaemon({ sockets: runtime.sockets, path: paths.socket }, { op: "hook", report });
}
