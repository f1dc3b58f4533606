/** When an inventory is reported (spec, section 1, "Inventory reporting"). */
import { INVENTORY_HEARTBEAT_MS } from "../protocol/limits.ts";
import type { SessionEntry } from "../protocol/session.ts";

export interface ReportFacts {
  current: readonly SessionEntry[];
  /** What was last reported on this connection; undefined right after connecting. */
  reported: readonly SessionEntry[] | undefined;
  /** Milliseconds since that report. */
  sinceReportMs: number;
}

/** A changed inventory at once, an unchanged one as the idle heartbeat. */
export function shouldReport(
  { current, reported, sinceReportMs }: ReportFacts,
): "changed" | "heartbeat" | undefined {
  if (reported === undefined || JSON.stringify(current) !== JSON.stringify(reported)) return "changed";
  return sinceReportMs >= INVENTORY_HEARTBEAT_MS ? "heartbeat" : undefined;
}
