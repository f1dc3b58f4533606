/** The line of the audit log for a push that ended: never its text. */
import type { AuditEntry } from "../home/audit.ts";
import { canonicalDigest } from "../protocol/canonical.ts";
import type { Push } from "../protocol/push.ts";
import type { Outcome } from "./inject/outcome.ts";

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
