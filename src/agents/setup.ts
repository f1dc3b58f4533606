/** What `svc setup` registers in an agent, and what all registrations share: hook commands, the MCP server, time limits. */
import { ASK_TIMEOUT_MAX_SECONDS } from "../protocol/limits.ts";
import type { AgentKind } from "../protocol/names.ts";
import { shellQuote } from "../runtime/system.ts";
import type { Commands } from "../runtime/types.ts";
import { CARDS_ARGUMENT, GATES_ARGUMENT } from "./hooks.ts";

/** The environment of a setup. */
export interface SetupContext {
  /** The user's home directory. */
  home: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the launcher that hooks and MCP registrations run. */
  launcher: string;
  /** Absolute path of `plugin/`. */
  plugin: string;
}

export interface AgentSetup {
  /** A directory that its editor creates: it shows that the agent is installed even without its program. */
  trace?: string;
  files: readonly FileEdit[];
  /** Events whose hook only reports: the launcher runs it in the background, so that the agent does not wait. */
  backgroundEvents?: readonly string[];
  /** What will run or be allowed without asking the user, one line each. */
  trusts: readonly string[];
  /** The same for what only `finish` achieves. */
  finishTrusts?: readonly string[];
  /** What the user should know or do, one line each. */
  notes: readonly string[];
  finish?(host: FinishHost): Promise<FinishResult>;
}

/** An edit of a user's file: everything but svc's own entries stays as it is. */
export type FileEdit = JsonEdit | TomlEdit | OwnFile;

export interface JsonEdit {
  form: "json";
  /** The first that exists is edited; the first of all when none does. */
  paths: readonly string[];
  /** The content of a new file; `{}` by default. Null: a missing file is not created. */
  initial?: Readonly<Record<string, unknown>> | null;
  set?: readonly { at: readonly string[]; value: unknown }[];
  /** List entries. They go last, so that the indexes of the others do not change. */
  append?: readonly { at: readonly string[]; values: readonly unknown[] }[];
}

export interface TomlEdit {
  form: "toml";
  paths: readonly string[];
  /** Keys of a table that belongs to svc alone. */
  table: readonly string[];
  entries: Readonly<Record<string, string | number | readonly string[]>>;
}

/** A file that belongs to svc alone: a copy of one in `plugin/`, with `{{launcher}}` filled in. */
export interface OwnFile {
  form: "own";
  paths: readonly string[];
  source: string;
}

/** The result of what only the agent itself can do or report, once the files are written. */
export interface FinishResult {
  isOk: boolean;
  /** One line each for the user. */
  notes: readonly string[];
  /** Tables that the agent itself added to a TOML file on our behalf. */
  tables?: { path: string; keys: readonly (readonly string[])[] };
}

export interface FinishHost {
  commands: Pick<Commands, "run" | "pipe">;
  /** The agent's program; undefined when PATH has none. */
  program: string | undefined;
  /** The directory in which the agent runs. */
  cwd: string;
  env: Readonly<Record<string, string>>;
}

export const MCP_SERVER = "svc";
export const MCP_TOOLS = ["svc_ask", "svc_prompt", "svc_input", "svc_notify"] as const;
/** A client must wait for the longest question and some time for its result. */
export const TOOL_LIMIT_SECONDS = ASK_TIMEOUT_MAX_SECONDS + 100;
export const TOOL_LIMIT_MS = TOOL_LIMIT_SECONDS * 1_000;
/** How long an agent waits for a hook. A hook takes far less, and must not be cut off on a busy machine. */
const HOOK_LIMIT_SECONDS = 10;
/** The same for a hook that holds back a tool call or waits for a phone: it stops waiting by itself earlier. */
const CARD_HOOK_LIMIT_SECONDS = 600;

/** The command of the hook of a submitted prompt. */
function remoteHookCommand(launcher: string, kind: AgentKind): string {
  return `${shellQuote(launcher)} remote-hook ${kind} ${GATES_ARGUMENT}`;
}

/** The command of another event's hook, without a last argument: enough where no hook runs before the dialogs. */
export function ungatedHookCommand(launcher: string, kind: AgentKind, event: string): string {
  return `${shellQuote(launcher)} hook ${event} ${kind}`;
}

/** The events at which an agent runs svc, by what their hook does. */
export interface HookEvents {
  /** A prompt was submitted. */
  prompt: string;
  /** Events whose hooks only report. */
  reports: readonly string[];
  /** Events for whose hooks the agent waits before a tool runs or its dialog opens; they may answer the dialog. */
  gates: readonly string[];
}

interface HookForm {
  /** The last argument of the hook's command. */
  argument: string;
  limitSeconds: number;
}

const REPORT: HookForm = { argument: GATES_ARGUMENT, limitSeconds: HOOK_LIMIT_SECONDS };
const CARD: HookForm = { argument: CARDS_ARGUMENT, limitSeconds: CARD_HOOK_LIMIT_SECONDS };

interface HookRegistration {
  event: string;
  command: string;
  limitSeconds: number;
}

/** The entries of a hooks file that has a list for each event; `entryOf` writes one in the agent's format. */
export function appendHooks(
  { kind, launcher, events }: { kind: AgentKind; launcher: string; events: HookEvents },
  entryOf: (registration: HookRegistration) => unknown,
): NonNullable<JsonEdit["append"]> {
  const hook = (event: string, { argument, limitSeconds }: HookForm): HookRegistration => ({
    event,
    command: `${ungatedHookCommand(launcher, kind, event)} ${argument}`,
    limitSeconds,
  });
  return [
    { event: events.prompt, command: remoteHookCommand(launcher, kind), limitSeconds: HOOK_LIMIT_SECONDS },
    ...events.reports.map((event) => hook(event, REPORT)),
    ...events.gates.map((event) => hook(event, CARD)),
  ].map((registration) => ({ at: ["hooks", registration.event], values: [entryOf(registration)] }));
}

/** The names of all events, for the user to read. */
export function eventNames({ prompt, reports, gates }: HookEvents): string {
  return [prompt, ...reports, ...gates].join(", ");
}

/** Whether a hook entry runs any svc launcher: an earlier setup may have written another path. */
export function runsSvcHook(entry: unknown): boolean {
  return /\/bin\/svc'? (?:remote-hook|hook) /.test(JSON.stringify(entry));
}

/** Whether a server's entry starts any svc launcher. */
export function runsSvc(server: unknown): boolean {
  return /\/bin\/svc"/.test(JSON.stringify(server));
}
