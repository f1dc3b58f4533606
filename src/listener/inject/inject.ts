/** The injection: the steps of the spec (section 4), each made safe, in order. */
import { TmuxError } from "../../tmux/server.ts";
import { composerShows } from "./composer.ts";
import { failureOutcome } from "./pane_check.ts";
import type { Attempt, Command, InjectHost, WrittenMarker } from "./inject_host.ts";
import { type HoldReason, holdReason, LOCAL_USER_HOLD_MS } from "./hold_reason.ts";
import { type Outcome, refused, Stopping } from "./outcome.ts";
import { checkPane, guardOf, type PaneCheck, pressKey, type Seen } from "./pane_check.ts";
import type { InFlight, LeftBehind } from "./pane_input.ts";
import { enterWasLost, Pictures, ScreenConfirmation } from "./confirm.ts";
import { mayAnswerDialogs } from "./policy.ts";
import { changesApproval } from "./policy.ts";
import { GUARD_REFUSED, isShellEscape, typedText, typingMethod, typingRequests } from "./typing.ts";

/** How often a held message looks again; a hook's report is quicker. */
export const HOLD_STEP_MS = 200;
/** Time for a phone's last key to reach the agent. */
export const KEY_SETTLE_MS = 300;
/** How long the composer may take to show the text on a busy machine. */
export const SHOW_LIMIT_MS = 60_000;
/** The same once a dialog has been open, since the text may have gone into it. */
export const AFTER_DIALOG_LIMIT_MS = 5_000;
/** After this time the pane is released to keys and to the agent's tool calls. */
export const SHOW_HOLD_MS = 2_000;
/** A screen that is being drawn may be unreadable for so long. */
export const DRAW_LIMIT_MS = 500;
/** Pauses between looks at the screen while a change is expected; the last one repeats. */
export const SHOW_STEPS_MS = [1, 2, 4, 8, 16, 25] as const;
/** How long proof is awaited after Enter. */
export const PROOF_LIMIT_MS = 10_000;
/** The same for a screen that no profile reads, where only a hook can prove submission. */
export const HOOK_PROOF_LIMIT_MS = 1_000;
/** Text that is still in the composer after this time: Enter was lost, and is pressed once more. */
export const ENTER_AGAIN_MS = 800;
/** Most keys pressed to empty a composer. */
export const REMOVE_KEYS_MAX = 400;
/** How long the effect of one of them may take to show. */
export const REMOVE_STEP_MS = 1_000;

/**
 * Types one message into its pane and proves it. `refused`: it did not get in. Text is never typed twice. Throws
 * Stopping when the daemon stops before anything was typed.
 */
export async function inject(command: Command, host: InjectHost): Promise<Outcome> {
  // 1. Name and target; from here on the pane's id is its only name.
  const resolved = await host.resolve(command.session);
  if ("refused" in resolved) return refused(resolved.refused);
  const { target } = resolved;
  const attempt = { command, target, server: host.server(target), input: host.input(target), host };
  return { ...await injectInto(attempt), pane: target.pane };
}

async function injectInto(attempt: Attempt): Promise<Outcome> {
  const { command, target, host } = attempt;
  // 2. The guard.
  const first = await checkPane(attempt);
  if ("outcome" in first) return first.outcome;
  if (await host.isMuted(first.seen.directory)) return refused("muted");
  // 3. The rate limit.
  const waitSeconds = host.takeToken(command.session);
  if (waitSeconds > 0) return refused("rate_limited", waitSeconds);
  if (isShellEscape(command.body) && !host.policy.allowShellEscape) return refused("shell_escape");
  if (target.isProfiled && changesApproval(command.body, target.profile, host.policy)) {
    return refused("approval_change");
  }
  let looked: Seen | undefined = first.seen;
  for (let [held, typed]: [Held, Typed | undefined] = [{}, undefined];;) {
    try {
      const step = await attempt.input.alone(({ waited }) => {
        const seen = waited ? undefined : looked;
        return typed === undefined ? typeWhenReady(attempt, held, seen) : submitTyped(attempt, typed);
      });
      looked = undefined;
      if (step.kind === "ended") return step.outcome;
      typed = step.typed;
      held = reportHold(attempt, held, step.reason);
      if (isOverdue(attempt, held)) return refused("desk_busy");
      await host.pause(HOLD_STEP_MS);
    } catch (error) {
      if (!(error instanceof Stopping) || typed === undefined) throw error;
      return leaveBehind(attempt, typed.text);
    }
  }
}

type Step =
  | { kind: "ended"; outcome: Outcome }
  /** Something stands in the way; `typed` where the text is in the composer already. */
  | { kind: "held"; reason: HoldReason | undefined; typed?: Typed };

/** The reason a waiting message last reported, and since when it has waited for the local user. */
interface Held {
  reason?: HoldReason;
  localUserSince?: number;
}

/** Each new reason is reported once. */
function reportHold({ command, host }: Attempt, held: Held, reason: HoldReason | undefined): Held {
  if (reason === undefined) return held;
  if (held.reason !== reason) host.report(command.id, { state: "held", reason });
  return reason === "desk_busy" ? { reason, localUserSince: held.localUserSince ?? host.now() } : { reason };
}

/** True once the message has waited long enough for the local user. */
function isOverdue({ host }: Attempt, { localUserSince }: Held): boolean {
  return localUserSince !== undefined && host.now() - localUserSince >= LOCAL_USER_HOLD_MS;
}

/**
 * One try, alone in the pane: a look, unless there was one just now, and when nothing stands in the way, everything up
 * to the proof.
 */
async function typeWhenReady(attempt: Attempt, { reason: before }: Held, looked?: Seen): Promise<Step> {
  const { command, target, host, input } = attempt;
  const settle = Math.max(input.escapeWaitMs, input.model.keyAt + KEY_SETTLE_MS - host.now());
  if (settle > 0) await host.pause(settle);
  const check: PaneCheck = looked !== undefined && settle <= 0 ? { seen: looked } : await checkPane(attempt);
  if ("outcome" in check) return { kind: "ended", outcome: check.outcome };
  if (host.now() >= command.expiresAt) return { kind: "ended", outcome: { state: "expired" } };
  // 4. to 6. The screen, the agent's turn, the local user.
  const seen = await withoutLeftBehind(attempt, check.seen);
  const { sendAnyway } = command;
  const reason = holdReason(seen, { ...target, input, now: host.now(), sendAnyway, policy: host.policy });
  const inFlight = reason === undefined ? input.gate.begin() : undefined;
  if (inFlight === undefined) return { kind: "held", reason: reason ?? "agent_working" };
  try {
    // 7. The marker, and the journal. The agent's hook runs right after Enter.
    const [marker] = await Promise.all([
      host.writeMarker(seen.directory, command.body),
      host.record(command.id, "typing"),
    ]);
    // 8. The text.
    const typing = await typeText(attempt, seen);
    if (typing === "typed") {
      const text = { before: seen.reading.draft ?? "", text: command.body };
      return await submitTyped(attempt, { text, untouched: seen, at: host.now(), marker, inFlight });
    }
    await marker.withdraw();
    return typing === "refused" ? { kind: "held", reason: before } : { kind: "ended", outcome: typing };
  } finally {
    inFlight.end();
  }
}

/** `refused`: tmux found the guard false at the moment of typing. The journal says "typing" already. */
async function typeText(attempt: Attempt, seen: Seen): Promise<"typed" | "refused" | Outcome> {
  const { command, target, server, input, host } = attempt;
  const { typing } = target.profile;
  const requests = typingRequests(target.pane, {
    text: typedText(command.body, typing),
    method: typingMethod(command.body, { typing, shellBelow: seen.process.shellBelow }),
    guard: guardOf(attempt, seen),
  });
  try {
    for (const request of requests.fill) await server.run(...request);
    const answer = await server.run(...requests.type);
    const isTyped = !answer.includes(GUARD_REFUSED);
    if (isTyped) input.forgetKeys();
    await host.record(command.id, isTyped ? "typed" : "accepted");
    return isTyped ? "typed" : "refused";
  } catch (error) {
    if (!(error instanceof TmuxError)) throw error;
    return error.lost ? { state: "unknown" } : failureOutcome(error);
  }
}

/** A text that svc has typed and not yet submitted. */
interface Typed {
  text: LeftBehind;
  /** The last check before it was typed. */
  untouched: Seen;
  at: number;
  /** Undefined while the text is held: whatever is submitted then was not submitted by svc. */
  marker: WrittenMarker | undefined;
  inFlight: InFlight | undefined;
  /** Since when the composer shows it. */
  shownSince?: number;
  /** Since when the composer shows something else. */
  missingSince?: number;
  /** Since when the focus has been unknown. */
  unknownSince?: number;
  /** A dialog has been open since then, and the text may have gone into it. */
  hadDialog?: boolean;
}

/** 9. Enter once the composer shows the text, again guarded. What cannot be submitted is removed. */
async function submitTyped(attempt: Attempt, typed: Typed): Promise<Step> {
  const { command, host } = attempt;
  try {
    for (let looks = 0;; looks++) {
      const check = await checkPane(attempt);
      if ("outcome" in check) return await abandon(attempt, typed, check.outcome);
      const now = host.now();
      const view = viewOf(attempt, typed, { seen: check.seen, now });
      if (view === "lost" || now >= command.expiresAt) {
        return { kind: "ended", outcome: await takeBack(attempt, typed, check.seen) };
      }
      if (view === "shown") return await enter(attempt, typed, check.seen);
      if (view !== "wait") return await holdTyped(typed, view);
      await host.pause(SHOW_STEPS_MS[looks] ?? SHOW_STEPS_MS[5]);
    }
  } catch (error) {
    if (error instanceof TmuxError) return await abandon(attempt, typed, failureOutcome(error));
    if (error instanceof Stopping) return { kind: "ended", outcome: leaveBehind(attempt, typed.text) };
    throw error;
  }
}

/** What to do with a typed text, by the newest screen: press Enter, wait, give it up, or hold it for a reason. */
function viewOf(
  { command, target, host }: Attempt,
  typed: Typed,
  { seen: { reading }, now }: { seen: Seen; now: number },
): "shown" | "wait" | "lost" | HoldReason {
  const { typing } = target.profile;
  if (reading.focus === "dialog" && !mayAnswerDialogs(host.policy)) {
    typed.hadDialog = true;
    delete typed.missingSince;
    return "dialog_open";
  }
  if (reading.draft === undefined) {
    if (!target.isProfiled || host.policy.allowUnknownScreens || reading.focus === "dialog") {
      if (typed.hadDialog) return "lost";
      return now - typed.at >= typing.settleMs ? "shown" : "wait";
    }
    typed.unknownSince ??= now;
    return now - typed.unknownSince >= DRAW_LIMIT_MS ? "unknown_screen" : "wait";
  }
  delete typed.unknownSince;
  const isKeyed = typingMethod(command.body, { typing, shellBelow: false }) === "plain";
  if (composerShows(reading.draft, typed.text, target.profile)) {
    delete typed.missingSince;
    typed.shownSince ??= now;
    const isSettled = isKeyed
      ? now - typed.at >= typing.settleMs
      : now - typed.shownSince >= (typing.settleAtLeastMs ?? 0);
    return isSettled ? "shown" : "wait";
  }
  delete typed.shownSince;
  typed.missingSince ??= now;
  const missing = now - typed.missingSince;
  const limit = typed.hadDialog ? AFTER_DIALOG_LIMIT_MS : SHOW_LIMIT_MS;
  return missing >= limit ? "lost" : missing >= SHOW_HOLD_MS ? "screen_stale" : "wait";
}

/** Leaves the text in the composer. If it is submitted meanwhile, the local user did it. */
async function holdTyped(typed: Typed, reason: HoldReason): Promise<Step> {
  typed.inFlight?.end();
  await typed.marker?.withdraw();
  return { kind: "held", reason, typed: { ...typed, marker: undefined, inFlight: undefined } };
}

async function enter(attempt: Attempt, typed: Typed, before: Seen): Promise<Step> {
  const { command, target, input, host } = attempt;
  const inFlight = typed.inFlight ?? input.gate.begin();
  if (inFlight === undefined) return await holdTyped(typed, "agent_working");
  try {
    const marker = typed.marker ?? await host.writeMarker(before.directory, command.body);
    const isSent = inFlight.mayGoOn() && await pressKey(attempt, before, "Enter");
    if (!isSent) return await holdTyped({ ...typed, marker, inFlight }, "agent_working");
    input.entered();
    host.typed();
    const { afterEnterMs = 0 } = target.profile.gate ?? {};
    if (afterEnterMs > 0) await host.pause(afterEnterMs);
    inFlight.end();
    // 10. The proof; 11. the journal and the acknowledgement are the caller's.
    const outcome = await prove(attempt, { ...typed, marker }, before);
    if (target.profile.takesNoMarkers || outcome.state === "refused") await marker.withdraw();
    return { kind: "ended", outcome };
  } finally {
    inFlight.end();
  }
}

/** The pane is gone, or takes nothing any more: Enter was not sent. */
async function abandon({ target }: Attempt, typed: Typed, why: Outcome): Promise<Step> {
  await typed.marker?.withdraw();
  return { kind: "ended", outcome: target.isProfiled ? why : { ...why, state: "typed" } };
}

/** The daemon is stopping, or the text cannot be removed: the next message removes it. */
function leaveBehind({ target, input }: Attempt, text: LeftBehind): Outcome {
  input.leftBehind = text;
  return { state: target.isProfiled ? "unknown" : "typed", reason: "screen_stale" };
}

/** Enter was not sent in time: the text is removed, where it shows. */
async function takeBack(attempt: Attempt, typed: Typed, seen: Seen): Promise<Outcome> {
  const { command, target, host } = attempt;
  await typed.marker?.withdraw();
  if (!target.isProfiled) return { state: "typed", reason: typed.hadDialog ? "dialog_open" : "screen_stale" };
  const isRemoved = await removeText(attempt, typed.text, seen);
  if (!isRemoved) return leaveBehind(attempt, typed.text);
  return host.now() >= command.expiresAt ? { state: "expired" } : refused("not_submitted");
}

/** Enter was sent: `submitted` when that can be shown. */
async function prove(
  attempt: Attempt,
  typed: Typed & { marker: WrittenMarker },
  before: Seen,
): Promise<Outcome> {
  const { host, command, target } = attempt;
  const { marker, untouched } = typed;
  const start = host.now();
  const pictures = new Pictures(before.screen);
  const confirmation = new ScreenConfirmation(command.body, { untouched, before });
  const isRead = before.reading.draft !== undefined;
  let now: Seen = before;
  try {
    host.report(command.id, { state: "typed" });
    for (
      let [looks, again] = [0, false];
      host.now() - start < (isRead ? PROOF_LIMIT_MS : HOOK_PROOF_LIMIT_MS);
    ) {
      if (await marker.taken()) return { state: "submitted" };
      const check = await checkPane(attempt);
      if ("outcome" in check) break;
      now = check.seen;
      if (confirmation.add(now, host.now())) return { state: "submitted" };
      pictures.add(now.screen);
      const isLate = host.now() - start >= ENTER_AGAIN_MS;
      if (isLate && !again && enterWasLost(before, now, pictures.count)) {
        again = true;
        await pressAgain(attempt, now);
      }
      await host.pause(SHOW_STEPS_MS[looks++] ?? SHOW_STEPS_MS[5]);
    }
    if (await marker.taken()) return { state: "submitted" };
    if (isRead && target.isProfiled) {
      if (await removeText(attempt, typed.text, now)) return refused("not_submitted");
      // It may stand in the composer when the dialog that swallowed Enter closes.
      attempt.input.leftBehind = typed.text;
    }
  } catch (error) {
    if (!(error instanceof TmuxError) && !(error instanceof Stopping)) throw error;
    if (await marker.taken()) return { state: "submitted" };
  }
  return target.isProfiled && !host.policy.allowUnknownScreens
    ? { state: "unknown", reason: "not_confirmed" }
    : { state: "typed" };
}

/** Presses Enter again, but only if no dialog can have opened meanwhile. */
async function pressAgain(attempt: Attempt, seen: Seen): Promise<void> {
  const { input, target, host } = attempt;
  const isSafe = input.isGated(target.profile, seen.created) || input.isIdle(seen.reading) ||
    host.policy.steer ||
    !target.isProfiled;
  const inFlight = isSafe ? input.gate.begin() : undefined;
  try {
    if (inFlight !== undefined) await pressKey(attempt, seen, "Enter");
  } finally {
    inFlight?.end();
  }
}

/** Removes a text that svc had left in the composer, and returns the pane as it is then. */
async function withoutLeftBehind(attempt: Attempt, seen: Seen): Promise<Seen> {
  const { input } = attempt;
  if (input.leftBehind === undefined || seen.reading.draft === undefined) return seen;
  const isRemoved = await removeText(attempt, input.leftBehind, seen);
  input.leftBehind = undefined;
  const check = isRemoved ? await checkPane(attempt) : { seen };
  return "seen" in check ? check.seen : seen;
}

/** Empties the composer if it shows what svc typed. False if it shows something else or cannot be emptied. */
async function removeText(attempt: Attempt, text: LeftBehind, first: Seen): Promise<boolean> {
  const { target, input, host } = attempt;
  const isOurs = composerShows(first.reading.draft ?? "", text, target.profile);
  const inFlight = isOurs && text.before === "" ? input.gate.begin() : undefined;
  if (inFlight === undefined) return false;
  try {
    for (let [keys, seen] = [0, first]; keys < REMOVE_KEYS_MAX && inFlight.mayGoOn(); keys++) {
      const before = seen.reading.draft;
      if (before === undefined || before === "") return before === "";
      if (!await pressKey(attempt, seen, keys % 2 === 0 ? "C-u" : "BSpace")) return false;
      const until = host.now() + REMOVE_STEP_MS;
      while (seen.reading.draft === before && host.now() < until) {
        await host.pause(SHOW_STEPS_MS[5]);
        const check = await checkPane(attempt);
        if ("outcome" in check) return false;
        seen = check.seen;
      }
    }
    return false;
  } finally {
    inFlight.end();
  }
}
