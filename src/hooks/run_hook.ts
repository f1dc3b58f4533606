/** Runs an agent's hook: it reports to the listener, informs the model of REMOTE mode, and never disturbs the agent. */
import {
  type DialogCall,
  type HookInput,
  type HookMeaning,
  isFromSubagent,
  textOf,
} from "../agents/hooks.ts";
import { loadHooks } from "../agents/registry.ts";
import type { HookReport } from "../home/control_socket.ts";
import { askPhones, type DaemonSocket, notifyDaemon, waitAtGate } from "../home/notify_daemon.ts";
import { isAgentKind } from "../protocol/names.ts";
import type { LocalSockets } from "../runtime/types.ts";
import type { Conversation, HookCall, RemoteHost } from "./follow_remote.ts";

export interface HookHost extends RemoteHost {
  sockets: Pick<LocalSockets, "connect">;
  /** `SVC_SESSION`: the session in which svc started the agent. */
  session: string | undefined;
  /** The resolved path of the socket of that pane's tmux server. */
  tmuxSocket: string | undefined;
  /** This hook's registration makes each tool call wait at the gate. */
  gates: boolean;
  /** This hook's registration gives it enough time to wait for a phone. */
  cards?: boolean;
}

/** How long a hook waits for an agent that never closes its stdin, in milliseconds. */
export const INPUT_LIMIT_MS = 1_000;
/** How long a hook that may wait for a phone reads: its input may be megabytes long, and its agents close stdin. */
export const CARD_INPUT_LIMIT_MS = 10_000;

export interface HookRun {
  /** The agent's kind as given on the command line. */
  kind: string;
  /** The event as given on the command line; left out for the prompt hook. */
  event?: string;
  /** All of stdin, already being read. */
  input: Promise<string>;
}

/** Prints nothing on a failure, because the reason would go to the agent. */
export async function runHook(host: HookHost, run: HookRun): Promise<void> {
  try {
    await dispatch(host, run);
  } catch {
    // The agent continues.
  }
}

async function dispatch(host: HookHost, run: HookRun): Promise<void> {
  const { kind } = run;
  if (!isAgentKind(kind)) return;
  const handle = run.event === undefined ? promptHook(host) : eventHook(host);
  const hooks = await loadHooks(kind);
  const event = run.event ?? hooks?.promptEvent;
  if (hooks === undefined || event === undefined) return;
  const limitMs = host.cards === true ? CARD_INPUT_LIMIT_MS : INPUT_LIMIT_MS;
  const input = parseInput(await within(limitMs, run.input) ?? "{}");
  if (input !== undefined) await handle({ kind, hooks, event, input });
}

/** Called before the agent's input has arrived, to start what does not depend on it; the result handles the call. */
type Hook = (host: HookHost) => (call: HookCall) => Promise<void>;

/** Handles a submitted prompt: informs the model when the user starts to drive from the phone, and when that ends. */
export const promptHook: Hook = (host) => {
  const outstanding = readOutstanding(host);
  return async (call) => await takePrompt(host, call, await outstanding);
};

/** The names of the markers and states in the home; none if it cannot be read. */
interface Outstanding {
  markers: string[];
  remote: string[];
}

async function readOutstanding({ files, paths }: HookHost): Promise<Outstanding> {
  const list = (path: string): Promise<string[]> => files.list(path).catch(() => []);
  const [markers, remote] = await Promise.all([list(paths.markers), list(paths.remote)]);
  return { markers, remote };
}

/** Keyed by the directory in the input, never by the environment: some agents' hooks run in a shared server. */
async function takePrompt(host: HookHost, call: HookCall, { markers, remote }: Outstanding): Promise<void> {
  const { kind, hooks, input } = call;
  // A prompt to a subagent: no one typed it, and the agent's own turn may have ended.
  if (isFromSubagent(input)) return;
  const [directory, id, prompt] = [hooks.directoryOf(input), hooks.sessionOf(input), hooks.promptOf(input)];
  if (directory === undefined || id === undefined || prompt === undefined) return;
  const conversation = { agent: kind, id };
  // Otherwise the local user typed this and no message from a phone is outstanding, so nothing else is loaded.
  if (markers.length > 0 || await isNamedIn(remote, conversation)) {
    const { followPrompt } = await import("./follow_remote.ts");
    await followPrompt(host, call, { directory, conversation, prompt });
  }
  const report = { ...reportOf(host, call, directory), state: "working" } as const;
  await notifyDaemon({ sockets: host.sockets, path: host.paths.socket }, { op: "hook", report });
}

async function isNamedIn(remote: readonly string[], conversation: Conversation): Promise<boolean> {
  if (remote.length === 0) return false;
  const { remoteName } = await import("./follow_remote.ts");
  return remote.includes(await remoteName(conversation));
}

/** Handles every other event: reports states, tool calls and final messages; a tool call waits at the gate. */
export const eventHook: Hook = (host) => (call) => takeEvent(host, call);

async function takeEvent(host: HookHost, call: HookCall): Promise<void> {
  const directory = call.hooks.directoryOf(call.input);
  if (directory === undefined) return;
  const { state, notification, session, tool } = ownMeaning(call);
  if (session !== undefined) {
    const { followSession } = await import("./follow_remote.ts");
    await followSession(host, call, { directory, kind: session });
  }
  const news = notification && (await import("./news.ts")).toNews(call, notification, directory);
  const report = { ...reportOf(host, call, directory), state, news, tool };
  const socket = { sockets: host.sockets, path: host.paths.socket };
  if (tool?.step === "before") await waitAtGate(socket, report);
  else await notifyDaemon(socket, { op: "hook", report });
  const dialog = host.cards === true ? call.hooks.dialogOf?.(call.event, call.input) : undefined;
  if (dialog !== undefined) await answerDialog(host, call, { socket, report, dialog });
}

/** Prints a phone's answer, or nothing when the agent should ask at the computer. */
async function answerDialog(
  { print }: HookHost,
  { hooks, event, input }: HookCall,
  { socket, report, dialog }: { socket: DaemonSocket; report: HookReport; dialog: DialogCall },
): Promise<void> {
  const answer = await askPhones(socket, { report, call: dialog });
  const output = answer && hooks.answerOutput?.({ event, input }, answer);
  if (output !== undefined) print(output);
}

/** The end of a subagent is not the end of the turn. */
function ownMeaning({ hooks, event, input }: HookCall): HookMeaning {
  const meaning = hooks.meaning(event, input);
  const isSubagentStop = meaning.notification?.type === "agent.stop" && isFromSubagent(input);
  return isSubagentStop ? {} : meaning;
}

/** A longer id or word is left out, because the listener would refuse the report. */
const ID_MAX_CHARS = 200;
const SOURCE_MAX_CHARS = 50;

/** The fields of every report, which identify the agent and, where another one means another agent, its conversation. */
function reportOf(host: HookHost, { event, kind, hooks, input }: HookCall, directory: string): HookReport {
  const { session, pane, tmuxSocket: socket, gates } = host;
  const own = { event, agent: kind, cwd: directory, session, pane, socket };
  // A subagent may have one of its own.
  const isSure = hooks.hasSeveralConversations !== true && !isFromSubagent(input);
  const conversation = isSure ? upTo(ID_MAX_CHARS, hooks.sessionOf(input)) : undefined;
  const source = /^sessionStart$/i.test(event) ? upTo(SOURCE_MAX_CHARS, textOf(input, "source")) : undefined;
  return { ...own, conversation, source, ...(gates ? { gates } : {}) };
}

function upTo(most: number, text: string | undefined): string | undefined {
  return text === undefined || text.length > most ? undefined : text;
}

/** One agent puts a byte order mark before its JSON. Throws if it is not JSON. */
function parseInput(text: string): HookInput | undefined {
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? { ...value } : undefined;
}

/** Resolves with undefined if `work` takes longer. `setTimeout` would cost Deno more than the rest of a hook. */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T | undefined> {
  const pending = Symbol();
  const soon = await Promise.race([work, Promise.resolve(pending)]);
  if (typeof soon !== "symbol") return soon;
  const limit = AbortSignal.timeout(limitMs);
  const late = new Promise<undefined>((resolve) =>
    limit.addEventListener("abort", () => resolve(undefined), { once: true })
  );
  return await Promise.race([work, late]);
}
