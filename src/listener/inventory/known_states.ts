/** `states.json`: since when each session is in its state, for the next listener. */
import * as z from "zod/mini";
import type { HomePaths } from "../../home/paths.ts";
import { parseJson } from "../../protocol/json.ts";
import { AgentState } from "../../protocol/session.ts";
import type { Files } from "../../runtime/types.ts";
import type { KnownStates } from "./session_entry.ts";

const StatesFile = z.record(z.string(), z.object({ state: AgentState, at: z.number() }));

export interface StatesStore {
  load(): Promise<KnownStates>;
  save(states: KnownStates): Promise<void>;
}

/** A broken file counts as empty: tmux's own times stand in for it. */
export function statesFile(files: Files, { states: path }: Pick<HomePaths, "states">): StatesStore {
  return {
    load: async () => StatesFile.safeParse(parseJson(await files.readText(path) ?? "")?.value).data ?? {},
    save: (states) => files.replaceText(path, `${JSON.stringify(states)}\n`, { mode: 0o600 }),
  };
}
