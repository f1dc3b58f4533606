/** The audit log: one entry for each remote input, never its text. */
import * as z from "zod/mini";
import { maxLength } from "./lengths.ts";
import { AUDIT_PAGE_MAX } from "./limits.ts";

export const AuditEntry = z.object({
  /** ISO 8601. */
  time: z.string(),
  /** Who sent it: the device's or the key's id. */
  device: z.string(),
  session: z.string(),
  /** The pane's id, `%<n>`; empty when no pane was found. */
  pane: z.string(),
  /** Hex SHA-256 of the canonical text. */
  digest: z.string(),
  /** Length of the text in characters. */
  length: z.number(),
  /** The outcome, with its reason if there is one: `submitted`, `refused shell_in_pane`. */
  outcome: z.string(),
  /**
   * For an agent's dialog: its tool, the digest of the request, the decision and the decisions that were offered. For
   * anything else but a message, keys or a file: the push's type, such as `agent.end`.
   */
  about: z.optional(z.string()),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** A part of the audit log, newest first. */
export const AuditPage = z.object({
  /** Number of newer entries before these. */
  skip: z.number(),
  entries: z.array(AuditEntry).check(maxLength(AUDIT_PAGE_MAX)),
  /** True if there are older entries. */
  more: z.boolean(),
});
export type AuditPage = z.infer<typeof AuditPage>;
