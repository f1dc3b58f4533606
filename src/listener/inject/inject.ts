/** Injects one message into its pane (docs/specification.md, Injection). The numbers count the steps as they happen, in more detail than there. */
import { TmuxError } from "../../tmux/server.ts";
import { EnterWatch, isFolded, type LeftBehind, ScreenConfirmation } from "./composer.ts";
import {
  beginTyping,
  type Command,
  type InjectContext,
  type Outcome,
  type PaneContext,
  paneContext,
  refused,
  Stopping,
  TakenOver,
  type WrittenMarker,
} from "./context.ts";
import {
  checkAfterKeys,
  checkPane,
  failureOutcome,
  type HoldReason,
  holdReason,
  LOCAL_USER_HOLD_MS,
  mayPressAgain,
  type PaneState,
  pressEnter,
} from "./pane_check.ts";
import { EARLY_MAX_MS, type EarlyPanes, findAsked } from "./find_pane.ts";
import type { InFlight } from "./pane_input.ts";
import { changesApproval, endsAgent } from "./policy.ts";
import { afterRemoval, removeText, removeUnsent, withoutLeftBehind } from "./remove_text.ts";
import { isShellEscape } from "./guard.ts";
import {
  fillText,
  leftBefore,
  mayTakeBackLater,
  type Typed,
  typedStatus,
  typeText,
  unconfirmed,
} from "./message_text.ts";

/** How often a held message checks its pane again; a hook's report makes it check sooner. */
export const HOLD_STEP_MS = 200;
/** Pauses between checks of the screen while a change is expected; the last one repeats. */
export const CHECK_STEPS_MS = [1, 2, 4, 8, 16, 25] as const;
/** How long to wait for confirmation after Enter. */
export const CONFIRM_LIMIT_MS = 10_000;
/** The same for a screen that no profile reads, where only a hook can confirm. */
export const HOOK_CONFIRM_LIMIT_MS = 1_000;
/** If the text is still in the composer after this time, Enter was lost and is pressed once more. */
export const ENTER_AGAIN_MS = 800;

/** One message that is being typed into one pane. */
type Attempt = InjectContext & PaneContext & { command: Command };

/**
 * Types one message into its pane and confirms it. `refused`: it was not submitted. Text is never typed twice. Throws
 * Stopping if the daemon stops before Enter was pressed: the next listener goes on with what is left in the composer.
 */
export async function inject(
  command: Command,
  context: InjectContext,
  early: Pick<EarlyPanes, "take"> = { take: () => Promise.resolve(undefined) },
): Promise<Outcome> {
  // 1. Name and target: from here on the pane's id is its only name.
  // 2. The guard.
  const found = await findAsked(command, context, early);
  if (found.kind === "refused") return refused(found.reason);
  const { target, check, isMuted, begun } = found;
  const attempt = { ...paneContext(context, target), command };
  const first = check.kind === "ready" && isMuted
    ? { kind: "refused", outcome: refused("muted") } as const
    : check;
  if (first.kind === "ready") {
    return { ...await injectInto(attempt, { first: first.pane, begun }), pane: target.pane };
  }
  if (command.left) attempt.input.leftBehind = { before: "", text: command.body, ...command.left };
  return { ...first.outcome, pane: target.pane };
}

async function injectInto(
  attempt: Attempt,
  { first, begun }: { first: PaneState; begun: number },
): Promise<Outcome> {
  const { command, target, policy, input } = attempt;
  const left = command.left && beginTyping(command.turn) ? leftBefore(attempt, first) : undefined;
  // 3. The rate limit, and what phones may not send.
  const waitSeconds = left ? 0 : attempt.rateLimit.take(target.session);
  if (waitSeconds > 0) return refused("rate_limited", waitSeconds);
  if (isShellEscape(command.body) && !policy.allowShellEscape) return refused("shell_escape");
  if (target.isProfiled && changesApproval(command.body, target.profile, policy)) {
    return refused("approval_change");
  }
  // 4. to 10. One round after another, until nothing stands in the way.
  let checked: PaneState | undefined = first;
  let held: Held = {};
  let typed: Typed | undefined = left;
  while (true) {
    try {
      if (command.turn.step === "withdrawn") return { state: "withdrawn" };
      if (typed === undefined && command.turn.takeBack) return command.turn.takeBack;
      const step = await input.alone((others) => {
        // The check is out of date once other inputs came after it.
        const pane = others === begun ? checked : undefined;
        return typed === undefined ? typeWhenReady(attempt, held, pane) : submitTyped(attempt, typed);
      });
      checked = undefined;
      if (step.kind === "ended") return step.outcome;
      typed = step.typed;
      if (typed && target.isProfiled && typed.text.before === "") command.turn.step = "held";
      held = reportHold(attempt, held, step.reason);
      if (isOverdue(attempt, held)) return refused(held.reason ?? "desk_busy");
      await attempt.pause(HOLD_STEP_MS);
      attempt.signal.throwIfAborted();
    } catch (error) {
      if (!(error instanceof Stopping) || typed === undefined) throw error;
      return await handOver(attempt, typed.text, error);
    }
  }
}

/**
 * Leaves the text in the composer. Once the journal says that Enter was not pressed, the message stays with the relay,
 * and the next listener continues it. The journal holds nothing of a draft but the placeholder of a paste.
 */
async function handOver(attempt: Attempt, text: LeftBehind, error: Stopping): Promise<Outcome> {
  const { command, target } = attempt;
  if (error instanceof TakenOver || !target.isProfiled) return leaveBehind(attempt, text);
  // The next listener removes what the journal calls typed.
  if (command.turn.takeBack !== undefined) throw error;
  const shown = isFolded(text.shown ?? "", target.profile) ? text.shown : undefined;
  const isRecorded = await attempt.record(command.id, "left", { shown }).then(() => true, () => false);
  if (!isRecorded) return leaveBehind(attempt, text);
  throw error;
}

const MUTED: Step = { kind: "ended", outcome: refused("muted") };
const ENDS: Step = { kind: "ended", outcome: refused("end_not_allowed") };

type Step =
  | { kind: "ended"; outcome: Outcome }
  /** `typed` if the text is in the composer already. */
  | { kind: "held"; reason: HoldReason | undefined; typed?: Typed };

/**
 * One attempt, with no other input into the pane: checks it, unless `checked` is fresh, and if nothing stands in the
 * way does everything up to the confirmation. Throws Stopping if another listener may have the message by then.
 */
async function typeWhenReady(attempt: Attempt, { reason: before }: Held, checked?: PaneState): Promise<Step> {
  const { command, command: { sendAnyway }, target, input, policy, effects } = attempt;
  // Searching a large screen delays tmux's other sessions, so a held message skips it.
  const search = before === undefined || input.leftBehind !== undefined;
  const { check, hasSettled } = await checkAfterKeys(attempt, { fresh: checked, search });
  if (check.kind === "refused") return { kind: "ended", outcome: check.outcome };
  if (attempt.now() >= command.expiresAt) return { kind: "ended", outcome: { state: "expired" } };
  // 4. to 6. The screen, the agent's turn, the local user.
  const pane = await withoutLeftBehind(attempt, check.pane);
  if (typeof pane === "string") return { kind: "held", reason: pane };
  if (pane.reading.focus === "composer" && !hasSettled) return { kind: "held", reason: before };
  const reason = holdReason(pane, { ...target, input, now: attempt.now(), sendAnyway, policy });
  // While it was held, the project may have been muted.
  if (reason === undefined && before !== undefined && await effects.isMuted(pane.directory)) return MUTED;
  if (target.isProfiled && endsAgent((pane.reading.draft ?? "") + command.body, policy)) return ENDS;
  if (reason === undefined && !search) return await typeWhenReady(attempt, {});
  const inFlight = reason === undefined ? input.gate.begin() : undefined;
  if (inFlight === undefined) return { kind: "held", reason: reason ?? "agent_working" };
  try {
    return await typeInto(attempt, pane, { before, inFlight });
  } finally {
    inFlight.end();
  }
}

/** Types, once nothing stands in the way. `before`: why the message was held. */
async function typeInto(
  attempt: Attempt,
  pane: PaneState,
  { before, inFlight }: { before: HoldReason | undefined; inFlight: InFlight },
): Promise<Step> {
  const { command, target } = attempt;
  attempt.signal.throwIfAborted();
  if (!beginTyping(command.turn)) return { kind: "ended", outcome: { state: "withdrawn" } };
  // 7. The marker, and the journal. The agent's hook runs right after Enter. 8. The text. A paste buffer is filled
  // meanwhile: until it is pasted, which follows the journal, nothing is in the pane.
  const { pane: id, socket, panePid } = target;
  const since = attempt.elapsed();
  const marking = attempt.effects.writeMarker(pane.directory, {
    body: command.body,
    pane: id,
    socket,
    panePid,
  });
  const text = fillText(attempt, pane);
  const earlier = { emptyAt: pane.reading.draft === "" ? attempt.now() : undefined };
  const noting = attempt.record(command.id, "typing", earlier);
  const [marked, noted] = await Promise.allSettled([marking, noting, text.filled]);
  const marker = marked.status === "fulfilled" ? marked.value : undefined;
  const isWritten = marker !== undefined && noted.status === "fulfilled";
  if (!isWritten || attempt.signal.reason instanceof TakenOver || !await isStillReady(attempt, pane, since)) {
    await text.discard();
    await marker?.withdraw();
    if (noted.status === "fulfilled") await attempt.record(command.id, "accepted").catch(() => {});
    command.turn.step = "waiting";
    return { kind: "held", reason: isWritten ? before : "host_files" };
  }
  const typing = await typeText(attempt, text);
  if (typing === "typed") {
    const { draft } = pane.reading;
    const emptyAt = draft === "" ? attempt.now() : undefined;
    const text = { before: draft ?? "", text: command.body, emptyAt };
    return await submitTyped(attempt, { text, untouched: pane, at: attempt.elapsed(), marker, inFlight });
  }
  await marker.withdraw();
  if (typing === "refused") command.turn.step = "waiting";
  return typing === "refused" ? { kind: "held", reason: before } : { kind: "ended", outcome: typing };
}

/** Checks the pane again if the disk has stalled: the local user may have opened an editor or begun a draft. */
async function isStillReady(attempt: Attempt, pane: PaneState, since: number): Promise<boolean> {
  if (attempt.elapsed() - since <= EARLY_MAX_MS) return true;
  const { command: { sendAnyway }, target, input, policy } = attempt;
  const check = await checkPane(attempt);
  if (check.kind === "refused") return false;
  const { reading } = check.pane;
  const isSame = reading.focus === pane.reading.focus && reading.draft === pane.reading.draft;
  return isSame &&
    holdReason(check.pane, { ...target, input, now: attempt.now(), sendAnyway, policy }) === undefined;
}

/** 9. Presses Enter once the composer shows the text, again guarded. Text that cannot be submitted is removed. */
async function submitTyped(attempt: Attempt, typed: Typed): Promise<Step> {
  try {
    for (let checks = 0;; checks++) {
      const check = await checkPane(attempt);
      if (check.kind === "refused") return await abandon(attempt, typed, check.outcome);
      const status = typedStatus(attempt, typed, { pane: check.pane, now: attempt.elapsed() });
      if (status === "over") return await takeBack(attempt, typed, check);
      if (status === "shown") return await enterOrTakeBack(attempt, typed, check.pane);
      if (status !== "wait") return await holdTyped(typed, status);
      await attempt.pause(CHECK_STEPS_MS[checks] ?? CHECK_STEPS_MS[5]);
    }
  } catch (error) {
    if (error instanceof TmuxError) return await abandon(attempt, typed, failureOutcome(error));
    if (error instanceof TakenOver) return { kind: "ended", outcome: leaveBehind(attempt, typed.text) };
    throw error;
  }
}

/** Presses Enter, or removes the text: the project may be muted by now, the message cancelled, its phone revoked. */
async function enterOrTakeBack(attempt: Attempt, typed: Typed, pane: PaneState): Promise<Step> {
  const { command: { turn }, input: { isInCall }, effects } = attempt;
  const wasHeld = typed.inFlight === undefined && !isInCall;
  const isMuted = wasHeld && await effects.isMuted(pane.directory);
  // During a tool call nothing can be removed: wait for its end.
  if (turn.takeBack !== undefined && isInCall) return await holdTyped(typed, "agent_working");
  if (isMuted || turn.takeBack) {
    if (turn.takeBack) typed.overSince ??= attempt.elapsed();
    return await takeBack(attempt, typed, { pane, why: isMuted ? "muted" : undefined });
  }
  turn.step = "typing";
  return await enter(attempt, typed, pane);
}

const SUBMITTED: Step = { kind: "ended", outcome: { state: "submitted" } };

/** Withdraws the marker, once. False if a hook has taken it: the local user has submitted the text. */
async function withdrawMarker(typed: Typed): Promise<boolean> {
  const { marker } = typed;
  // Withdrawn twice, it would look like one that a hook has taken.
  typed.marker = undefined;
  return marker === undefined || await marker.withdraw();
}

/** Leaves the text in the composer. If it gets submitted, the local user did it. */
async function holdTyped(typed: Typed, reason: HoldReason): Promise<Step> {
  typed.inFlight?.end();
  if (!await withdrawMarker(typed)) return SUBMITTED;
  return { kind: "held", reason, typed: { ...typed, marker: undefined, inFlight: undefined } };
}

async function enter(attempt: Attempt, typed: Typed, before: PaneState): Promise<Step> {
  const { target, input } = attempt;
  const inFlight = typed.inFlight ?? input.gate.begin();
  if (inFlight === undefined) return await holdTyped(typed, "agent_working");
  try {
    const marker = typed.marker ?? await announceEnter(attempt, typed, before);
    if (marker === undefined) return await holdTyped({ ...typed, inFlight }, "host_files");
    Object.assign(typed, { marker, isLeft: false });
    if (attempt.signal.reason instanceof TakenOver) throw attempt.signal.reason;
    const mayPress = inFlight.mayGoOn() && attempt.command.turn.takeBack === undefined;
    const isSent = mayPress && await pressEnter(attempt, before);
    if (!isSent) return await holdTyped({ ...typed, marker, inFlight }, "agent_working");
    input.entered();
    attempt.typed();
    // 10. The confirmation. 11. The caller writes the journal and acknowledges.
    const outcome = await confirm(attempt, { ...typed, marker, inFlight }, before);
    if (target.profile.takesNoMarkers) await marker.withdraw();
    return { kind: "ended", outcome };
  } finally {
    inFlight.end();
  }
}

/** Writes the marker, and "typed" if the journal still says "left". Undefined when they cannot be written. */
async function announceEnter(
  { command, target, effects, record }: Attempt,
  typed: Typed,
  before: PaneState,
): Promise<WrittenMarker | undefined> {
  try {
    if (typed.isLeft) await record(command.id, "typed");
    const { pane, socket, panePid } = target;
    return await effects.writeMarker(before.directory, { body: command.body, pane, socket, panePid });
  } catch {
    return undefined;
  }
}

/** The pane is gone or takes no input. If it comes back, the next message removes the text, which got no Enter. */
async function abandon({ target, input }: Attempt, typed: Typed, why: Outcome): Promise<Step> {
  if (!await withdrawMarker(typed)) return SUBMITTED;
  input.leftBehind = typed.text;
  return { kind: "ended", outcome: target.isProfiled ? why : { ...why, state: "typed" } };
}

/** Another listener took over, or the text cannot be removed now: the next message removes it. */
function leaveBehind({ target, input }: Attempt, text: LeftBehind): Outcome {
  input.leftBehind = text;
  return { state: target.isProfiled ? "unknown" : "typed", reason: "screen_stale" };
}

/** Enter was not sent in time, or must not be sent anymore: removes the text if the screen shows it. */
async function takeBack(
  attempt: Attempt,
  typed: Typed,
  { pane, why = "not_submitted" }: { pane: PaneState; why?: "not_submitted" | "muted" | undefined },
): Promise<Step> {
  const { target, command: { turn } } = attempt;
  if (!await withdrawMarker(typed)) return SUBMITTED;
  if (!target.isProfiled) {
    const reason = typed.hadDialog ? "dialog_open" : "screen_stale";
    return { kind: "ended", outcome: { state: "typed", reason } };
  }
  if (await takeOut(attempt, typed, pane)) {
    const outcome = typed.overSince === undefined ? refused(why) : { state: "expired" as const };
    return { kind: "ended", outcome: turn.takeBack ?? outcome };
  }
  if (mayTakeBackLater(typed, attempt.elapsed())) return await holdTyped(typed, "screen_stale");
  return { kind: "ended", outcome: leaveBehind(attempt, typed.text) };
}

/** True once the composer is empty. Keys that changed nothing are not repeated: the agent reads them when it wakes. */
async function takeOut(attempt: Attempt, typed: Typed, pane: PaneState): Promise<boolean> {
  if (typed.isStuck) return pane.reading.draft === "";
  const removal = await removeText(attempt, typed.text, pane);
  typed.isStuck = removal === "stuck";
  return removal === "removed";
}

/** After Enter: `submitted` once the marker was taken or the screen confirms it. */
async function confirm(
  attempt: Attempt,
  typed: Typed & { marker: WrittenMarker; inFlight: InFlight },
  before: PaneState,
): Promise<Outcome> {
  const { command, target } = attempt;
  const { marker, untouched } = typed;
  const { afterEnterMs = 0 } = target.profile.gate ?? {};
  const start = attempt.elapsed();
  const confirmation = new ScreenConfirmation(command.body, { untouched, before });
  const watch = new EnterWatch(before);
  const isRead = before.reading.draft !== undefined;
  let now: PaneState = before;
  let inFlight: InFlight | undefined = typed.inFlight;
  try {
    attempt.report(command.id, { state: "typed" });
    for (
      let [checks, again] = [0, false];
      attempt.elapsed() - start < (isRead ? CONFIRM_LIMIT_MS : HOOK_CONFIRM_LIMIT_MS);
    ) {
      if (await marker.taken()) return { state: "submitted" };
      const check = await checkPane(attempt);
      if (check.kind === "refused" && check.outcome.reason !== "tmux_failed") break;
      const time = attempt.elapsed();
      if (check.kind === "ready") watch.add(now = check.pane, time);
      // Dialogs wait until the agent has read Enter, for at most GATE_HOLD_MS.
      if (watch.isRead && time - start >= afterEnterMs) inFlight?.end();
      if (check.kind === "ready" && confirmation.add(now, time)) return { state: "submitted" };
      // An agent without a gate counts as working for longer than ENTER_AGAIN_MS.
      if (time - start >= ENTER_AGAIN_MS && !again && watch.isLost && mayPressAgain(now, attempt)) {
        inFlight = inFlight?.mayGoOn() ? inFlight : attempt.input.gate.begin();
        again = inFlight !== undefined && command.turn.takeBack === undefined &&
          await pressEnter(attempt, now);
      }
      await attempt.pause(CHECK_STEPS_MS[checks++] ?? CHECK_STEPS_MS[5]);
    }
    if (await marker.taken()) return { state: "submitted" };
    const end = isRead && target.isProfiled ? await takeBackUnread(attempt, { ...typed, now }) : undefined;
    if (end !== undefined) return end;
  } catch (error) {
    if (!(error instanceof TmuxError) && !(error instanceof TakenOver)) throw error;
    if (await marker.taken()) return { state: "submitted" };
    attempt.input.leftBehind = typed.text;
  } finally {
    inFlight?.end();
  }
  return unconfirmed(attempt);
}

/** Removes a text whose Enter the agent seems not to have read. Undefined if it may have read it after all. */
async function takeBackUnread(
  attempt: Attempt,
  { text, untouched, marker, now }: Typed & { marker: WrittenMarker; now: PaneState },
): Promise<Outcome | undefined> {
  if (!await removeUnsent(attempt, text, now)) {
    // For example, a dialog of the agent's new turn takes the composer's place.
    if (!await marker.taken()) return undefined;
    attempt.input.leftBehind = undefined;
    return { state: "submitted" };
  }
  const end = await afterRemoval(attempt, { body: attempt.command.body, marker, untouched });
  if (end === "taken") return { state: "submitted" };
  return end === "removed" ? refused("not_submitted") : undefined;
}

type HeldContext = Pick<InjectContext, "elapsed" | "report"> & { command: Pick<Command, "id"> };

/** The last reported hold reason, and since when the message has waited for the local user. */
interface Held {
  reason?: HoldReason;
  localUserSince?: number;
}

/** Each new reason is reported once. */
function reportHold(attempt: HeldContext, held: Held, reason: HoldReason | undefined): Held {
  if (reason === undefined) return held;
  if (held.reason !== reason) attempt.report(attempt.command.id, { state: "held", reason });
  return reason === "desk_busy" || reason === "phone_draft"
    ? { reason, localUserSince: held.localUserSince ?? attempt.elapsed() }
    : { reason };
}

/** True once the message has waited long enough for the local user. */
function isOverdue(attempt: HeldContext, { localUserSince }: Held): boolean {
  return localUserSince !== undefined && attempt.elapsed() - localUserSince >= LOCAL_USER_HOLD_MS;
}
