/** `svc agents`: checks the screens of installed agents, and saves one as a fixture without the user's text. */
import { runtime } from "#runtime";
import { agentKindOfProgram, agentProfile } from "../agents/profiles.ts";
import { AGENT_KINDS } from "../agents/registry.ts";
import { AGENT_LABELS, type AgentKind, isAgentKind } from "../protocol/names.ts";
import type { AgentProfile, Screen, ScreenReading } from "../agents/profile.ts";
import { verbs } from "../tmux/argv.ts";
import { TmuxDiscovery } from "../tmux/discovery.ts";
import type { TmuxPane, TmuxSession } from "../tmux/sessions.ts";
import { checkAgent, parseScreen, SCREEN_FORMAT, type ScreenResult } from "./agent_screens.ts";
import { installedVersion } from "./checks/agents/presence.ts";
import { defineCommand, parseOptions, runSubcommand } from "./command.ts";
import { CommandExit, EXIT_FAILED, paint, print, printJson, UsageError } from "./output.ts";

const START_LIMIT_SECONDS = 60;

export async function run(args: readonly string[]): Promise<number> {
  return await runSubcommand(args, {
    name: "agents",
    summary:
      "Check that svc recognizes the screens of the installed agents, or save one for a report: svc agents check | record.",
    examples: ["svc agents check", "svc agents check codex --json", "svc agents record svc-app --out report"],
    subcommands: { check, record },
  });
}

/** Types nothing that starts a turn. The agents run in the current folder, with the trust that they have there. */
async function check(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "agents check",
    summary:
      "Run installed agents in a private tmux, in the current folder, and print which of their screens svc recognizes. Exits with 1 when one is not recognized.",
    examples: ["svc agents check", "svc agents check cc codex", "svc agents check --json"],
  })
    .argument("[kind...]", "the agents (default: all that are installed)")
    .option(
      "--wait <seconds>",
      "how long an agent may take to show its first screen",
      String(START_LIMIT_SECONDS),
    )
    .option("--json", "print the results as JSON");
  const parsed = parseOptions(command, args);
  const { json, wait } = parsed.opts();
  const startLimitMs = Number(wait) * 1_000;
  if (!(startLimitMs > 0)) throw new UsageError(`Cannot wait "${wait}" seconds: give a number above 0`);
  const kinds = await chosenKinds(parsed.args);
  const results = await untilStopped((signal) =>
    checkAll(kinds, { startLimitMs, signal, isQuiet: json === true })
  );
  if (json) printJson(results);
  else if (kinds.length === 0) print("No agent is installed here.");
  return results.every(({ recognized }) => recognized) ? 0 : EXIT_FAILED;
}

type CheckResult = ScreenResult & { kind: AgentKind; version: string | undefined };

interface CheckRun {
  startLimitMs: number;
  signal: AbortSignal;
  /** Prints nothing. */
  isQuiet: boolean;
}

async function checkAll(
  kinds: readonly AgentKind[],
  { startLimitMs, signal, isQuiet }: CheckRun,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const kind of kinds) {
    signal.throwIfAborted();
    const version = await installedVersion(runtime, kind);
    if (!isQuiet) print(heading(kind, version));
    for await (const result of checkAgent(kind, { startLimitMs, signal })) {
      results.push({ kind, version, ...result });
      if (!isQuiet) { for (const line of resultLines(result)) print(line); }
    }
  }
  return results;
}

/** The exit codes with which a shell reports a command that was ended by the signal. */
const STOP_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Aborts `work` on Ctrl-C, SIGTERM or hang-up, so that it can clean up. Throws CommandExit then. */
async function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const offs = (["SIGHUP", "SIGINT", "SIGTERM"] as const).map((signal) =>
    runtime.onSignal(signal, () => stop.abort(new CommandExit(STOP_CODES[signal])))
  );
  try {
    return await work(stop.signal);
  } catch (error) {
    // Ctrl-C may have interrupted a tmux command too, which then fails with a different error.
    stop.signal.throwIfAborted();
    throw error;
  } finally {
    for (const off of offs) off();
  }
}

async function chosenKinds(names: readonly string[]): Promise<AgentKind[]> {
  const unknown = names.find((name) => !isAgentKind(name));
  if (unknown !== undefined) {
    throw new UsageError(
      `Cannot check "${unknown}": it is not an agent. The agents are ${AGENT_KINDS.join(", ")}`,
    );
  }
  const wanted = names.length > 0 ? names.filter(isAgentKind) : AGENT_KINDS.filter((kind) => kind !== "echo");
  const found = await Promise.all(wanted.map((kind) => isInstalled(kind)));
  const missing = wanted.filter((_, at) => !found[at]);
  if (names.length > 0 && missing.length > 0) {
    throw new UsageError(`Cannot check "${missing[0]}": it is not installed here`);
  }
  return wanted.filter((_, at) => found[at]);
}

async function isInstalled(kind: AgentKind): Promise<boolean> {
  return kind === "echo" || await runtime.commands.which(agentProfile(kind).binary) !== undefined;
}

function heading(kind: AgentKind, version: string | undefined): string {
  const { measuredVersion } = agentProfile(kind);
  const measured = measuredVersion === "" ? "" : `, tested with ${measuredVersion}`;
  return paint(`${AGENT_LABELS[kind]} ${version ?? ""}`.trim() + measured, "bold");
}

function resultLines({ name, recognized, found, printed }: ScreenResult): string[] {
  const line = `  ${recognized ? paint("✓", "green") : paint("✗", "red")} ${name}: ${found}`;
  return printed === undefined
    ? [line]
    : [`${line}. It printed:`, ...printed.split("\n").map((text) => `    ${text}`)];
}

async function record(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "agents record",
    summary:
      "Save what a session shows as a fixture for a report, with letters replaced by x and digits by 0 outside the agent's own interface.",
    examples: ["svc agents record svc-app", "svc agents record svc-app --out report"],
  })
    .argument("<session>", "the session's name, as in svc sessions")
    .option("--out <folder>", "where to write (default: a new folder here, named after the session)");
  const parsed = parseOptions(command, args);
  const [session] = parsed.processedArgs;
  const { folder, found } = await recordScreen(session, parsed.opts().out);
  print(`Wrote ${folder}/screen.txt and ${folder}/meta.json: ${found}.`);
  print(
    "Read both before you attach them to a report: only you know whether they still contain anything private.",
  );
  return 0;
}

interface Recorded {
  folder: string;
  /** What the profile reads there, as text. */
  found: string;
}

/** Throws Error when there is no such session, or no known agent in it. */
export async function recordScreen(name: string, folder: string | undefined): Promise<Recorded> {
  const { discovery, session, pane } = await findSession(name);
  const kind = await kindOf(session, pane);
  const output = await discovery.server(session.socket).run(
    verbs.print(pane.id, SCREEN_FORMAT),
    verbs.captureScreen(pane.id),
  );
  const profile = agentProfile(kind);
  const shown = parseScreen(output);
  const { lines, ...others } = redactScreen(shown, frameWords(profile));
  const reading = profile.readScreen(shown);
  const meta = { version: await installedVersion(runtime, kind) ?? "", ...others, expect: expected(reading) };
  const out = folder ?? `${runtime.cwd()}/svc-screen-${name.replace(/[^A-Za-z0-9_-]/g, "_")}`;
  await runtime.files.makeDirectory(out);
  await runtime.files.writeText(`${out}/screen.txt`, `${lines.join("\n")}\n`);
  await runtime.files.writeText(`${out}/meta.json`, `${JSON.stringify(meta, null, 2)}\n`);
  return { folder: out, found: `svc reads ${reading.focus}, ${reading.state ?? "no state"}` };
}

/** What the profile reads today, with the draft redacted. The person who reports the bug corrects it. */
function expected({ state, focus, draft, ...others }: ScreenReading): Record<string, unknown> {
  return {
    state: state ?? null,
    focus,
    draft: draft === undefined ? null : redactedDraft(draft),
    ...others,
  };
}

function redactedDraft(draft: string): string {
  return draft.replace(/\p{L}/gu, "x").replace(/\p{N}/gu, "0");
}

interface FoundSession {
  discovery: TmuxDiscovery;
  session: TmuxSession;
  pane: TmuxPane;
}

async function findSession(name: string): Promise<FoundSession> {
  const { uid, env, files, commands } = runtime;
  const discovery = new TmuxDiscovery({ uid, env, files, commands }, {
    now: Date.now,
    openServer: () => undefined,
  });
  const session = (await discovery.sessions({ deep: true })).find((one) => one.name === name);
  if (session?.pane === undefined) {
    throw new Error(`Cannot record "${name}": no such session is running here. See: svc sessions`);
  }
  return { discovery, session, pane: session.pane };
}

async function kindOf({ name, recorded }: TmuxSession, pane: TmuxPane): Promise<AgentKind> {
  if (isAgentKind(recorded.agent)) return recorded.agent;
  const { stdout } = await runtime.commands.run(["ps", "-ww", "-o", "args=", "-p", String(pane.pid)]);
  const argv = new TextDecoder().decode(stdout).trim().split(" ");
  const kind = agentKindOfProgram(pane.command, argv);
  if (kind === undefined) {
    throw new Error(`Cannot record "${name}": "${pane.command}" is not an agent that svc knows`);
  }
  return kind;
}

/** Words that agents use for keys and choices: they are kept. */
const FRAME_WORDS = `
  agents allow always answer any approval approve ask awaiting back build cancel change chat choose clear close commands confirm continue
  ctrl delete deny don't edit enter esc exit fullscreen for go help home hooks idle in insert interrupt keep manual menu message
  mode model models more navigate no normal on once open or page permission plan press proceed quit reject return
  resume review save search select send sessions settings shell shift shortcuts skip space start status stop submit switch
  tab then to toggle transcript trust type up use visual working yes you your
`.trim().split(/\s+/);

/** Characters that tmux counts as two columns wide. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** Letters become `x` or `X`, digits `0`, of the same width; the words in `keep` stay. */
export function redactText(text: string, keep: ReadonlySet<string>): string {
  return text.replace(
    /[\p{L}\p{M}\p{N}]+(?:'[\p{L}]+)?/gu,
    (word) => keep.has(word.toLowerCase()) ? word : redactWord(word),
  );
}

function redactWord(word: string): string {
  return Array.from(word, (character) => {
    if (WIDE.test(character)) return "ｘ";
    if (/\p{M}/u.test(character)) return "";
    if (character === "'") return character;
    if (/\p{N}/u.test(character)) return "0";
    return /\p{Lu}/u.test(character) ? "X" : "x";
  }).join("");
}

/** The words of the agent's own interface: those of its dialogs, and those that all agents use. */
export function frameWords({ dialog, label }: Pick<AgentProfile, "dialog" | "label">): ReadonlySet<string> {
  const marks = [...dialog.lines, ...dialog.titles].flatMap((mark) => mark.match(/[A-Za-z]{2,}/g) ?? []);
  return new Set([...FRAME_WORDS, label, ...marks].map((word) => word.toLowerCase()));
}

export function redactScreen(screen: Screen, keep: ReadonlySet<string>): Screen {
  const lines = screen.lines.map((line) => redactText(line, keep));
  return { ...screen, lines, title: redactText(screen.title, keep) };
}
