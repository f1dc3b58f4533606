/** Runs a hook so that it never breaks its agent: whatever fails, nothing is said and the agent goes on. */
import { loadHooks } from "../agents/hooks/load.ts";
import type { HookInput } from "../agents/hooks/types.ts";
import { isAgentKind } from "../protocol/names.ts";
import type { Hook, HookHost } from "./host.ts";

/** An agent that never closes our stdin must not wait for ever, in milliseconds. */
export const INPUT_LIMIT_MS = 1_000;

export interface HookRun {
  hook: Hook;
  /** The agent's kind as the command line has it. */
  kind: string;
  /** The event as the command line has it; the hook of a prompt has but one. */
  event?: string;
  /** All of stdin. */
  readInput(): Promise<string>;
}

export async function runHook(host: HookHost, run: HookRun): Promise<void> {
  try {
    await dispatch(host, run);
  } catch {
    // A hook that says why it failed would say it to the agent.
  }
}

async function dispatch(host: HookHost, { hook, kind, event, readInput }: HookRun): Promise<void> {
  if (!isAgentKind(kind)) return;
  const take = hook(host);
  const [hooks, text] = await Promise.all([loadHooks(kind), within(INPUT_LIMIT_MS, readInput())]);
  const named = event ?? hooks?.promptEvent;
  const input = parseInput(text ?? "{}");
  if (hooks === undefined || named === undefined || input === undefined) return;
  await take({ kind, hooks, event: named, input });
}

/** One agent puts a byte order mark before its JSON. Throws when it is no JSON. */
function parseInput(text: string): HookInput | undefined {
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? { ...value } : undefined;
}

/** Undefined when it takes longer. Not `setTimeout`: its first call costs Deno several milliseconds, this one none. */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T | undefined> {
  const limit = AbortSignal.timeout(limitMs);
  const late = new Promise<undefined>((resolve) =>
    limit.addEventListener("abort", () => resolve(undefined), { once: true })
  );
  return await Promise.race([work, late]);
}
