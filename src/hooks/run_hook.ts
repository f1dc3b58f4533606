/** Runs a hook so that it never disturbs its agent: on any failure it prints nothing, and the agent goes on. */
import type { AgentHooks, HookInput } from "../agents/hooks.ts";
import { loadHooks } from "../agents/registry.ts";
import type { HookReport } from "../home/control_messages.ts";
import type { HomePaths } from "../home/paths.ts";
import { type AgentKind, isAgentKind } from "../protocol/names.ts";
import type { Files, LocalSockets } from "../runtime/types.ts";

export interface HookHost {
  files: Files;
  sockets: Pick<LocalSockets, "connect">;
  paths: HomePaths;
  /** Epoch milliseconds. */
  now(): number;
  /** `SVC_SESSION`: the session in which svc started the agent. */
  session: string | undefined;
  /** `TMUX_PANE`: the pane in which the agent runs, `%<n>`. */
  pane: string | undefined;
  /** The registration that ran this hook makes the agent ask at the gate before each tool call. */
  gates: boolean;
  /** Gives the text to the agent. */
  print(text: string): void;
}

export interface HookCall {
  kind: AgentKind;
  hooks: AgentHooks;
  /** The agent's name for it. */
  event: string;
  input: HookInput;
}

/** Called before the agent's input has arrived, to start what does not depend on it; the result handles the call. */
export type Hook = (host: HookHost) => (call: HookCall) => Promise<void>;

/** The fields of every report: whose it is. */
export function reportOf(host: HookHost, { event, kind }: HookCall, directory: string): HookReport {
  const { session, pane, gates } = host;
  return { event, agent: kind, cwd: directory, session, pane, ...(gates ? { gates } : {}) };
}

/** How long a hook waits for an agent that never closes our stdin, in milliseconds. */
export const INPUT_LIMIT_MS = 1_000;

export interface HookRun {
  hook: Hook;
  /** The agent's kind as given on the command line. */
  kind: string;
  /** The event as given on the command line; left out for the prompt hook. */
  event?: string;
  /** All of stdin, already being read. */
  input: Promise<string>;
}

export async function runHook(host: HookHost, run: HookRun): Promise<void> {
  try {
    await dispatch(host, run);
  } catch {
    // Printing the reason would print it to the agent.
  }
}

async function dispatch(host: HookHost, run: HookRun): Promise<void> {
  const { hook, kind } = run;
  if (!isAgentKind(kind)) return;
  const handle = hook(host);
  const hooks = await loadHooks(kind);
  const event = run.event ?? hooks?.promptEvent;
  if (hooks === undefined || event === undefined) return;
  const input = parseInput(await within(INPUT_LIMIT_MS, run.input) ?? "{}");
  if (input !== undefined) await handle({ kind, hooks, event, input });
}

/** One agent puts a byte order mark before its JSON. Throws if it is not JSON. */
function parseInput(text: string): HookInput | undefined {
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? { ...value } : undefined;
}

/** Undefined if it takes longer. A timer costs Deno more than the rest of a hook, so a settled promise sets none. */
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
