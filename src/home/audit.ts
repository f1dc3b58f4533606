/** `audit.jsonl`: every remote input, one line each, never its text. */
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import type { Files } from "../runtime/types.ts";
import { RotatingFile } from "./rotating_file.ts";

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
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AUDIT_MAX_BYTES = 10_000_000;
export const AUDIT_KEPT = 3;

export interface Audit {
  /** Queues the entry; never throws. */
  record(entry: AuditEntry): void;
  /** Writes the queued entries and closes the file. */
  close(): Promise<void>;
}

export function openAudit(files: Files, path: string): Audit {
  const file = new RotatingFile(files, { path, maxBytes: AUDIT_MAX_BYTES, kept: AUDIT_KEPT });
  return {
    record: (entry) => file.append(JSON.stringify(entry)),
    close: () => file.close(),
  };
}

/** The entry on this line; undefined when the line is not an entry. */
export function parseAuditLine(line: string): AuditEntry | undefined {
  const entry = AuditEntry.safeParse(parseJson(line)?.value);
  return entry.success ? entry.data : undefined;
}
