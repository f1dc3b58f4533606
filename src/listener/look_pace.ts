/** How soon the inventory is read again: every few seconds, and sooner while something happens in a session. */
import { INVENTORY_POLL_MS } from "../protocol/limits.ts";
import type { SessionEntry } from "../protocol/session.ts";

/** After a hook's report, and after input that svc typed, in milliseconds. */
export const LOOK_SOON_MS = 400;
/** For so long after it, in milliseconds: the agent's screen follows, and may change again. */
export const SOON_FOR_MS = 3_000;
/** While an agent works, starts or waits: it may be interrupted, or its dialog answered, and no hook reports that. */
export const LOOK_BUSY_MS = 1_000;
/** While someone is attached, or something was drawn a short time ago. */
export const LOOK_ATTENDED_MS = 1_500;
export const ATTENDED_FOR_MS = 15_000;
/** Never more often than this, in milliseconds, however many reports come. */
export const LOOK_GAP_MS = 200;

const BUSY: readonly SessionEntry["state"][] = ["working", "starting", "waiting"];

export class LookPace {
  #soonUntil = -Infinity;

  /** Something happened, or is about to. */
  soon(now: number): void {
    this.#soonUntil = now + SOON_FOR_MS;
  }

  /** Milliseconds from the reading of these sessions to the next one. */
  nextMs(sessions: readonly SessionEntry[], now: number): number {
    if (now < this.#soonUntil) return LOOK_SOON_MS;
    if (sessions.some(({ state }) => BUSY.includes(state))) return LOOK_BUSY_MS;
    const isAttended = sessions.some((one) => one.attached || now - one.lastActivity < ATTENDED_FOR_MS);
    return isAttended ? LOOK_ATTENDED_MS : INVENTORY_POLL_MS;
  }
}
