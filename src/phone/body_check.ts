/** Whether a text can be sent, judged with the wire's own rule before it leaves the phone. */
import { FORBIDDEN_CONTROLS, normalizeBody } from "../protocol/canonical.ts";
import { BODY_MAX_BYTES } from "../protocol/limits.ts";
import { Body } from "../protocol/push.ts";

/** From this many bytes on the field tells how long the text is. */
const SIZE_SHOWN_FROM_BYTES = BODY_MAX_BYTES * 0.8;

export interface BodyCheck {
  sendable: boolean;
  bytes: number;
  showSize: boolean;
  fault?: "too_long" | "controls";
}

export function checkBody(text: string): BodyCheck {
  const body = normalizeBody(text);
  const bytes = new TextEncoder().encode(body).length;
  const showSize = bytes >= SIZE_SHOWN_FROM_BYTES;
  if (bytes > BODY_MAX_BYTES) return { sendable: false, bytes, showSize, fault: "too_long" };
  if (FORBIDDEN_CONTROLS.test(body)) return { sendable: false, bytes, showSize, fault: "controls" };
  return { sendable: body.trim() !== "" && Body.safeParse(text).success, bytes, showSize };
}
