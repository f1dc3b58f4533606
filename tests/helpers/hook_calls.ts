/** Recorded stdin of the real agents' hooks, with homes and projects renamed. */
import type { HookInput } from "../../src/agents/hooks.ts";

export interface HookCallSample {
  event: string;
  input: HookInput;
}

/** Returns in order: a prompt, its answer, a prompt with a permission dialog, a compaction, the end. */
export async function recordedCalls(kind: string): Promise<HookCallSample[]> {
  const url = new URL(`../testdata/hooks/${kind}.json`, import.meta.url);
  return JSON.parse(await Deno.readTextFile(url)).calls;
}

export async function recordedCall(kind: string, event: string): Promise<HookInput> {
  const call = (await recordedCalls(kind)).find((one) => one.event === event);
  if (call === undefined) throw new Error(`no recorded "${event}" of "${kind}"`);
  return call.input;
}
