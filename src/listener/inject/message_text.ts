/** A message's text: how it is typed, and what the newest screen shows of it until it is submitted. */
import type { TmuxCommand } from "../../tmux/argv.ts";
import { TmuxError, type TmuxServer } from "../../tmux/server.ts";
import {
  composerShows,
  DRAW_LIMIT_MS,
  isFolded,
  isSameText,
  type LeftBehind,
  mayHideStart,
} from "./composer.ts";
import type { Command, InjectContext, Outcome, PaneContext, WrittenMarker } from "./context.ts";
import { runTyping, typedText, typingMethod, type TypingRequests, typingRequests } from "./guard.ts";
import { failureOutcome, guardOf, type HoldReason, type PaneState } from "./pane_check.ts";
import type { InFlight } from "./pane_input.ts";
import { beginsCommand, mayAnswerDialogs } from "./policy.ts";
import { showsEarlier } from "./remove_text.ts";

/** How long the composer may take to show the text on a busy machine. */
export const SHOW_LIMIT_MS = 60_000;
/** The same once a dialog was open, since the text may have gone into it. */
export const AFTER_DIALOG_LIMIT_MS = 5_000;
/** After this time the pane is released to keys and to the agent's tool calls. */
export const SHOW_HOLD_MS = 2_000;
/**
 * How long the text of an ended message is held when it cannot be removed at once. Less than the relay waits for its
 * receipt.
 */
export const EXPIRED_HOLD_MS = 60_000;

type TextAttempt = PaneContext & Pick<InjectContext, "record"> & { command: Pick<Command, "id" | "body"> };

interface FilledText {
  type: TmuxCommand[];
  filled: Promise<void>;
  /** Deletes the buffer, so that nothing can type it anymore. False if it was gone, or there was none. */
  discard(): Promise<boolean>;
}

/** Begins to fill a paste buffer, if the text needs one. Nothing is typed. */
export function fillText({ command, target, server, ...attempt }: TextAttempt, pane: PaneState): FilledText {
  const { typing } = target.profile;
  const requests = typingRequests(target.pane, {
    text: typedText(command.body, typing),
    method: typingMethod(command.body, { typing, shellBelow: pane.process.shellBelow }),
    guard: guardOf({ target, ...attempt }, pane),
  });
  const fill = async (): Promise<void> => {
    for (const request of requests.fill) await server.run(...request);
  };
  const filled = fill();
  const discard = async (): Promise<boolean> => {
    await filled.catch(() => {});
    return await discardText(server, requests);
  };
  filled.catch(() => {});
  return { type: requests.type, filled, discard };
}

/**
 * Deletes a filled or partly filled buffer, which tmux would keep as long as it runs. False if it was gone, or there
 * was none.
 */
export async function discardText(
  server: TmuxServer,
  { discard }: Pick<TypingRequests, "discard">,
): Promise<boolean> {
  if (discard.length === 0) return false;
  return await server.run(...discard).then(() => true, () => false);
}

/**
 * Types the text behind the guard. `refused`: nothing was typed, because tmux found the guard false at the moment of typing
 * or has lost the buffer. `typed`: the text is in the pane, or may be after a lost connection: Enter follows only when the
 * composer shows it. The journal already says "typing".
 */
export async function typeText(
  { command, target, server, input, record }: TextAttempt,
  { type, filled, discard }: FilledText,
): Promise<"typed" | "refused" | Outcome> {
  try {
    await filled;
  } catch (error) {
    await discard();
    return isLost(error) ? await note("accepted", "refused") : failed(error);
  }
  try {
    if (!await runTyping({ server, input }, type)) return await note("accepted", "refused");
  } catch (error) {
    const isDiscarded = await discard();
    if (!isLost(error)) return failed(error);
    if (isDiscarded) return await note("accepted", "refused");
    // No composer will show it, and Enter might submit what the local user has typed.
    if (!target.isProfiled) return { state: "unknown" };
  }
  input.forgetKeys();
  return await note("typed", "typed");

  /** After a crash the step before means the same, or an unknown outcome: a full disk changes nothing here. */
  async function note<T>(step: "accepted" | "typed", result: T): Promise<T> {
    await record(command.id, step).catch(() => {});
    return result;
  }
}

function isLost(error: unknown): boolean {
  return error instanceof TmuxError && error.lost;
}

function failed(error: unknown): Outcome {
  if (!(error instanceof TmuxError)) throw error;
  return failureOutcome(error);
}

type TypedContext = PaneContext & InjectContext & { command: Command };

/** A text that svc has typed and not yet submitted. */
export interface Typed {
  text: LeftBehind;
  /** The last check before it was typed. */
  untouched: PaneState;
  at: number;
  /** Undefined while the text is held: if it is submitted then, the local user did it. */
  marker: WrittenMarker | undefined;
  inFlight: InFlight | undefined;
  /** Since when the composer shows it. */
  shownSince?: number;
  /** Since when the composer shows something else. */
  missingSince?: number;
  /** Since when the focus has been unknown. */
  unknownSince?: number;
  /** A dialog was open since, and the text may have gone into it. */
  hadDialog?: boolean;
  /** Since when it must be removed: the message has expired, was cancelled, or came from a phone that is revoked. */
  overSince?: number;
  /** The keys that remove it have had no effect yet. */
  isStuck?: boolean;
  /** An earlier listener typed it, and the journal says that Enter was not pressed. */
  isLeft?: boolean;
}

/** Returns the text that an earlier listener typed. Unless the composer shows it, its outcome is unknown. */
export function leftBefore(
  { command, elapsed }: Pick<TypedContext, "command" | "elapsed">,
  untouched: PaneState,
): Typed {
  const text = { before: "", text: command.body, ...command.left };
  const at = elapsed();
  return { text, untouched, at, marker: undefined, inFlight: undefined, hadDialog: true, isLeft: true };
}

/**
 * Decides what to do with the typed text: press Enter (`shown`), wait, remove it (`over`), or hold it for a reason. The
 * text of an expired message is removed once it is drawn, and neither a dialog nor a tool call is in the way.
 */
export function typedStatus(
  attempt: TypedContext,
  typed: Typed,
  at: { pane: PaneState; now: number },
): "shown" | "wait" | "over" | HoldReason {
  const status = draftStatus(attempt, typed, at);
  if (status === "lost" || (typed.isStuck && at.pane.reading.draft === "")) return "over";
  if (attempt.now() < attempt.command.expiresAt) return status;
  typed.overSince ??= at.now;
  const isFree = status === "shown" && !attempt.input.isInCall;
  if (isFree || !mayTakeBackLater(typed, at.now)) return "over";
  return status === "shown" ? "agent_working" : status;
}

/** True if the text of an ended message, which cannot be removed now, may be removed within EXPIRED_HOLD_MS. */
export function mayTakeBackLater({ text, overSince }: Typed, now: number): boolean {
  return text.before === "" && overSince !== undefined && now - overSince < EXPIRED_HOLD_MS;
}

/** Returns whether the newest screen shows the typed text, has lost it, or needs a wait; or why the text is held. */
function draftStatus(
  attempt: TypedContext,
  typed: Typed,
  { pane, now }: { pane: PaneState; now: number },
): "shown" | "wait" | "lost" | HoldReason {
  const { command, target: { isProfiled, profile }, policy } = attempt;
  const { reading } = pane;
  if (reading.focus === "dialog" && !mayAnswerDialogs(policy)) {
    typed.hadDialog = true;
    delete typed.missingSince;
    return "dialog_open";
  }
  if (reading.draft === undefined) {
    if (!isProfiled || policy.allowUnknownScreens || reading.focus === "dialog") {
      if (typed.hadDialog) return "lost";
      return now - typed.at >= profile.typing.settleMs ? "shown" : "wait";
    }
    typed.unknownSince ??= now;
    return now - typed.unknownSince >= DRAW_LIMIT_MS ? "unknown_screen" : "wait";
  }
  delete typed.unknownSince;
  if (showsWhole(attempt, typed, pane)) {
    delete typed.missingSince;
    typed.text.shown = reading.draft;
    typed.shownSince ??= now;
    const { settleMs, settleAtLeastMs = 0 } = profile.typing;
    const isKeyed = typingMethod(command.body, { ...profile, shellBelow: false }) === "plain";
    const isSettled = isKeyed ? now - typed.at >= settleMs : now - typed.shownSince >= settleAtLeastMs;
    return isSettled ? "shown" : "wait";
  }
  delete typed.shownSince;
  typed.missingSince ??= now;
  const missing = now - typed.missingSince;
  const limit = typed.hadDialog ? AFTER_DIALOG_LIMIT_MS : SHOW_LIMIT_MS;
  return missing >= limit ? "lost" : missing >= SHOW_HOLD_MS ? "screen_stale" : "wait";
}

/**
 * True if Enter submits the text and nothing else. While it was held, another paste may have taken its place, and a phone
 * may have removed its beginning: what is left could be a command.
 */
function showsWhole(
  attempt: TypedContext,
  { text, inFlight, isLeft = false }: Typed,
  pane: PaneState,
): boolean {
  const { target: { profile }, input } = attempt;
  const { reading: { draft = "", cut } } = pane;
  const isHeld = isLeft || inFlight === undefined;
  const isShown = isHeld ? showsEarlier(attempt, text, pane) : composerShows(draft, text, profile);
  if (!isShown || isFolded(draft, profile)) return isShown;
  const whole = text.before + text.text;
  const isSame = isSameText(draft, whole);
  if (isHeld && !isSame && (isLeft || input.model.isSinceMessage)) return false;
  const isComplete = isSame || !mayHideStart({ draft, cut });
  return !isComplete || beginsCommand(draft) === beginsCommand(whole);
}

/** The outcome of a message that was typed when nothing shows whether it was submitted. */
export function unconfirmed({ target, policy }: Pick<PaneContext, "target" | "policy">): Outcome {
  return target.isProfiled && !policy.allowUnknownScreens
    ? { state: "unknown", reason: "not_confirmed" }
    : { state: "typed" };
}
