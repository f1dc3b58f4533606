/** Runs a hook so that it never breaks its agent: whatever fails, nothing is said and the agent goes on. */
import type { HookInput } from "../agents/hooks.ts";
import { loadHooks } from "../agents/registry.ts";
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
  /** All of stdin, being read already. */
  input: Promise<string>;
}

export async function runHook(host: HookHost, run: HookRun): Promise<void> {
  try {
    await dispatch(host, run);
  } catch {
    // A hook that says why it failed would say it to the agent.
  }
}

async function dispatch(host: HookHost, run: HookRun): Promise<void> {
  const { hook, kind } = run;
  if (!isAgentKind(kind)) return;
  const take = hook(host);
  const hooks = await loadHooks(kind);
  const event = run.event ?? hooks?.promptEvent;
  if (hooks === undefined || event === undefined) return;
  const input = parseInput(await within(INPUT_LIMIT_MS, run.input) ?? "{}");
  if (input !== undefined) await take({ kind, hooks, event, input });
}

/** One agent puts a byte order mark before its JSON. Throws when it is no JSON. */
function parseInput(text: string): HookInput | undefined {
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? { ...value } : undefined;
}

/** Undefined when it takes longer. A timer costs Deno more than the rest of a hook, so none is set for what is there. */
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
