/** What the audit log says of a push. */
import type { AuditEntry } from "../home/log_files.ts";
import { canonicalDigest } from "../protocol/canonical.ts";
import type { Push } from "../protocol/push.ts";
import type { Outcome } from "./inject/context.ts";

/** The audit log's line for a push: never its text. */
export async function auditEntry(push: Push, outcome: Outcome, nowMs: number): Promise<AuditEntry> {
  const body = push.body ?? "";
  return {
    time: new Date(nowMs).toISOString(),
    device: push.from,
    session: outcome.agentSessionName ?? push.agentSessionName ?? "",
    pane: outcome.pane ?? "",
    digest: await canonicalDigest(body),
    length: body.length,
    outcome: outcome.reason ? `${outcome.state} ${outcome.reason}` : outcome.state,
  };
}
