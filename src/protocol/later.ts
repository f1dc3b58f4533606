/** When a message is typed, if not at once: `data.later` of an `agent.command`. */
import * as z from "zod/mini";

export const Later = z.discriminatedUnion("kind", [
  /** At this time, in epoch milliseconds by the relay's clock. */
  z.object({ kind: z.literal("at"), at: z.int().check(z.minimum(0)) }),
  /** Once the agent is idle. */
  z.object({ kind: z.literal("idle") }),
  /** Once the agent's usage limit has reset. */
  z.object({ kind: z.literal("reset") }),
]);
export type Later = z.infer<typeof Later>;

/** Undefined for a message that is typed at once; `invalid` if `data.later` is not a time that this version knows. */
export function laterOf(
  { data }: { data?: Readonly<Record<string, unknown>> | undefined },
): Later | "invalid" | undefined {
  const later = data?.["later"];
  return later === undefined ? undefined : Later.safeParse(later).data ?? "invalid";
}

/** The text that a sealed message is bound to. */
export function laterText(later: Later): string {
  return later.kind === "at" ? `later at ${later.at}` : `later ${later.kind}`;
}
