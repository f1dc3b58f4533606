/** Decides why a message must wait before it is typed, from the state of its pane. */
import { mayHideStart } from "./composer.ts";
import type { Observation } from "./pane_check.ts";
import type { PaneInput } from "./pane_input.ts";
import { mayAnswerDialogs, type Policy } from "./policy.ts";
import type { Target } from "../targets.ts";

/** The local user is typing if they pressed a key within this time. */
export const LOCAL_USER_ACTIVE_MS = 2_000;
/** How long a message waits for the local user before it is refused. */
export const LOCAL_USER_HOLD_MS = 10_000;
/** An agent without a composer on its screen is starting until its session is this old. */
export const START_HOLD_MS = 60_000;

export type HoldReason =
  | "dialog_open"
  | "agent_starting"
  | "unknown_screen"
  | "screen_stale"
  | "agent_working"
  | "desk_busy";

export interface HoldContext extends Pick<Target, "recordedPid" | "profile" | "isProfiled"> {
  input: Pick<PaneInput, "isGated" | "isIdle">;
  now: number;
  sendAnyway: boolean;
  policy: Policy;
}

/**
 * Undefined if the message may be typed. A dialog takes precedence over the local user. `sendAnyway` does not apply to a
 * draft that begins with `!`, which would turn the message into a shell command, nor to one whose beginning is out of
 * sight.
 */
export function holdReason(pane: Observation, context: HoldContext): HoldReason | undefined {
  const { reading } = pane;
  const { now, policy, sendAnyway } = context;
  if (reading.focus === "dialog" && !mayAnswerDialogs(policy)) return "dialog_open";
  if (lacksComposer(pane, context)) {
    const isYoung = context.recordedPid !== 0 && now - pane.created * 1_000 < START_HOLD_MS;
    return isYoung && reading.focus === "unknown" ? "agent_starting" : "unknown_screen";
  }
  if (reading.draft?.startsWith("!") || mayHideStart(reading)) return "desk_busy";
  if (mayOpenDialog(pane, context)) return "agent_working";
  if (sendAnyway) return undefined;
  const typedAt = pane.localUserActivity * 1_000;
  const isActive = typedAt > 0 && now - typedAt < LOCAL_USER_ACTIVE_MS;
  return isActive || reading.draft ? "desk_busy" : undefined;
}

function lacksComposer({ reading }: Observation, { isProfiled, policy }: HoldContext): boolean {
  return isProfiled && reading.focus !== "composer" && reading.focus !== "dialog" &&
    !policy.allowUnknownScreens;
}

/**
 * A turn is running and no hook holds its dialogs back: one may open at any moment, before the screen shows it. Panes of
 * unknown agents are exempt.
 */
export function mayOpenDialog(
  { reading, created }: Pick<Observation, "reading" | "created">,
  { input, profile, isProfiled, policy }: Pick<HoldContext, "input" | "profile" | "isProfiled" | "policy">,
): boolean {
  if (!isProfiled || policy.steer || mayAnswerDialogs(policy)) return false;
  return !input.isGated(profile, created) && !input.isIdle(reading);
}
