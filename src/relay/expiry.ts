/** When the relay itself ends a push: what nobody took expires, what somebody may have taken becomes unknown. */
import type { DeviceRecord, StoredPush } from "../store/store.ts";

/** How long after its time a push that a listener may hold waits for that listener's word. */
export const EXPIRY_GRACE_MS = 120_000;

/**
 * A push is its listener's to close from the moment it may have been sent: when the listener was connected at any time
 * since it was accepted. A listener that stays silent, or away, leaves it `unknown`: it may have been typed. A question
 * has no listener: it expires.
 */
export function endOfDuePush(
  { push, receipt }: StoredPush,
  { listener, now }: { listener: DeviceRecord | undefined; now: number },
): "expired" | "unknown" | undefined {
  if (receipt.final || now < push.expiresAt) return undefined;
  if (push.type === "ask") return "expired";
  const seen = listener !== undefined && (listener.online || listener.lastSeen >= push.createdAt);
  if (receipt.state === "queued" && !seen) return "expired";
  return now >= push.expiresAt + EXPIRY_GRACE_MS ? "unknown" : undefined;
}
