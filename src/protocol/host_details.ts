/** What a listener reports about its host besides the sessions, sealed for the paired phones. */
import * as z from "zod/mini";
import { parseJson } from "./json.ts";
import { SealedForPhones } from "./push.ts";

/** The type that the sealed details are bound to. */
export const DETAILS_TYPE = "host.details";

export const StartChoices = z.object({
  /** Kinds of agents that the host has. */
  agents: z.array(z.string()),
  projects: z.array(z.object({ project: z.string(), directory: z.string() })),
});
export type StartChoices = z.infer<typeof StartChoices>;

export const MutedProject = z.object({
  directory: z.string(),
  /** A phone muted it, so that a phone may unmute it. */
  byPhone: z.optional(z.boolean()),
});
export type MutedProject = z.infer<typeof MutedProject>;

export const HostDetails = z.object({
  /** The host's epoch milliseconds: a phone never replaces details by older ones. */
  at: z.number(),
  /** What a phone may start; missing if the host lets it start nothing. */
  start: z.optional(StartChoices),
  /** The muted projects; missing if the host takes no `project.mute`. */
  muted: z.optional(z.array(MutedProject)),
  /** The last line on the screen of each session, by its name; only sealed. */
  lines: z.optional(z.record(z.string(), z.string())),
});
export type HostDetails = z.infer<typeof HostDetails>;

/** `plain` only from a host that no phone is paired with. */
export const ReportedDetails = z.object({
  plain: z.optional(HostDetails),
  sealedFor: z.optional(SealedForPhones),
});
export type ReportedDetails = z.infer<typeof ReportedDetails>;

/** Undefined for a text that is not a host's details. */
export function parseDetails(text: string): HostDetails | undefined {
  return HostDetails.safeParse(parseJson(text)?.value).data;
}
