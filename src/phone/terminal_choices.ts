/** How the user looks at each session's terminal, kept on this phone: letter size, fitting, exact or as text. */
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";

const Choices = z.object({
  /** Pixels; absent while the letters fit the width. */
  font: z.optional(z.number()),
  fit: z.optional(z.boolean()),
  asText: z.optional(z.boolean()),
});
export type TerminalChoices = z.infer<typeof Choices>;

const KEPT = "svc.terminals";
/** Sessions whose choices are kept; the ones chosen longest ago go first. */
const SESSIONS_MAX = 50;

type Store = Pick<Storage, "getItem" | "setItem">;

function readAll(store: Store): [string, TerminalChoices][] {
  const kept = z.array(z.tuple([z.string(), Choices]));
  return kept.safeParse(parseJson(store.getItem(KEPT) ?? "[]")?.value).data ?? [];
}

export function readChoices(session: string, store: Store = localStorage): TerminalChoices {
  return readAll(store).find(([key]) => key === session)?.[1] ?? {};
}

export function writeChoices(session: string, change: TerminalChoices, store: Store = localStorage): void {
  const all = readAll(store);
  const own = { ...all.find(([key]) => key === session)?.[1], ...change };
  const others = all.filter(([key]) => key !== session).slice(-(SESSIONS_MAX - 1));
  try {
    store.setItem(KEPT, JSON.stringify([...others, [session, own]]));
  } catch {
    // A browser that keeps nothing: the choice lasts until the session is left.
  }
}
