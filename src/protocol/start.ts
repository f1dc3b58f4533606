/** What a phone asks for when it starts an agent: `data` of an `agent.start`, or the JSON text that it seals. */
import * as z from "zod/mini";
import { parseJson } from "./json.ts";

/** Nothing else goes to the host: no path that it does not know, and no word for the agent. */
export const StartData = z.object({
  /** The word after `svc`. */
  agent: z.string().check(z.regex(/^[a-z][a-z0-9-]{0,31}$/, "the word after svc that starts the agent")),
  /** As the inventory names it. */
  project: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,80}$/, "1 to 80 characters of A-Z a-z 0-9 _ -")),
  /** Which one, where the host knows several directories of this name. */
  directory: z.optional(z.string().check(z.startsWith("/", "an absolute path"), z.maxLength(1_000))),
});
export type StartData = z.infer<typeof StartData>;

/** Undefined when the push asks for nothing that could be started. `body` is what was sealed. */
export function startDataOf(
  push: { sealed?: unknown; body?: string | undefined; data?: unknown },
): StartData | undefined {
  const asked = push.sealed === undefined ? push.data : parseJson(push.body ?? "")?.value;
  return StartData.safeParse(asked).data;
}
