/**
 * Types one keystroke into its pane: behind the guard, only if the screen permits it, and Enter only after a
 * newer screen.
 */
import type { Reason } from "../../protocol/receipt.ts";
import { type TmuxCommand, verbs } from "../../tmux/argv.ts";
import { TmuxError } from "../../tmux/server.ts";
import { EnterWatch } from "../inject/composer.ts";
import {
  CALM_LOOKS,
  CALM_STEP_MS,
  checkPane,
  failureOutcome,
  guardOf,
  isAtRest,
  mayOpenDialog,
  type PaneState,
  START_HOLD_MS,
} from "../inject/pane_check.ts";
import type { PaneContext, TypingContext } from "../inject/context.ts";
import { EARLY_MAX_MS } from "../inject/find_pane.ts";
import {
  afterInput,
  afterUncertainInput,
  continuesEscape,
  draftRefusal,
  isLineBegun,
  type Keystroke,
  mayBeElsewhere,
  mayReachDialog,
  needsCaughtUp,
  neverApproves,
  screenRefusal,
  submits,
} from "./keystroke_rules.ts";
import { ESCAPE_JOIN_MS, GATE_HOLD_MS, type InFlight } from "../inject/pane_input.ts";
import { guarded, isShellEscape, runTyping, type TypingRequests, typingRequests } from "../inject/guard.ts";
import { discardText } from "../inject/message_text.ts";

/** How long a key waits for a screen that is newer than the last key. */
export const STALE_LIMIT_MS = 4_000;
/** Pause between two checks of the screen. */
export const STALE_STEP_MS = 20;

/**
 * `held`: nothing was typed, and the same input may be typed later. `late`: nothing was typed, and it is too late to
 * type it. `unknown`: it may have been typed.
 */
export type KeystrokeOutcome =
  | { state: "typed" | "unknown" }
  | { state: "late" }
  | { state: "held" | "refused"; reason: Reason };

/** How long a keystroke has waited to be typed. */
export interface KeystrokeWait {
  /** False once the key is too late: its phone has left, or it has waited for longer than a person expects. */
  mayType(): boolean;
  /** Milliseconds since a dialog first held it; undefined if none has. */
  dialogMs?: number | undefined;
}

export interface KeystrokeContext extends PaneContext, Pick<TypingContext, "typed">, KeystrokeWait {
  /** Resolves after `ms`. */
  pause(ms: number): Promise<void>;
}

/** Reasons that pass by themselves. */
const HELD: ReadonlySet<Reason> = new Set([
  "dialog_open",
  "agent_working",
  "agent_starting",
  "unknown_screen",
]);

export async function typeKeystroke(context: KeystrokeContext, input: Keystroke): Promise<KeystrokeOutcome> {
  return await context.input.alone(() => typeAlone(context, input));
}

async function typeAlone(context: KeystrokeContext, input: Keystroke): Promise<KeystrokeOutcome> {
  const { target, policy } = context;
  // A message may have had the pane to itself for long.
  if (!context.mayType()) return { state: "late" };
  if (!await escapeIsRead(context, input)) return notTyped("screen_stale");
  const check = await checkPane(context);
  if (check.kind === "refused") return { state: "refused", reason: check.outcome.reason ?? "tmux_failed" };
  const { pane } = check;
  if (await context.effects.isMuted(pane.directory)) return { state: "refused", reason: "muted" };
  if (isLeftToLocalUser(context, pane)) return { state: "refused", reason: "desk_busy" };
  if (!target.isProfiled) return await typeUnrecognized(context, input, pane);
  const refusal = screenRefusal(input, { ...target, reading: pane.reading, policy });
  if (refusal !== undefined) return notTyped(startingOr(context, pane, refusal));
  const { model } = context.input;
  const mustCatchUp = needsCaughtUp(input, model, target.profile) || mayBeElsewhere(input, model);
  const ready = pane.reading.focus === "composer" && mustCatchUp
    ? await caughtUp(context, input, pane)
    : { pane };
  if ("reason" in ready) return notTyped(ready.reason);
  const isComposer = ready.pane.reading.focus === "composer";
  const { cut, cursorInCommand } = ready.pane.reading;
  const reason = isComposer
    ? draftRefusal(input, { ...target, model, cut, cursorInCommand, policy })
    : undefined;
  if (reason !== undefined) return notTyped(reason);
  if (!neverApproves(input) && mayOpenDialog(ready.pane, { ...context, ...target })) {
    return notTyped("agent_working");
  }
  return await typeInFlight(context, input, ready.pane);
}

/**
 * True if a dialog held the key and someone has typed at the computer since: it was meant for the dialog, and would change
 * or submit what is written there now.
 */
function isLeftToLocalUser({ dialogMs, now }: KeystrokeContext, pane: PaneState): boolean {
  if (dialogMs === undefined || pane.reading.focus === "dialog") return false;
  // The activity is in whole seconds.
  return (pane.localUserActivity + 1) * 1_000 > now() - dialogMs;
}

/** Waits until the agent has read an earlier Escape as a separate key. False if it stays busy for too long. */
async function escapeIsRead(context: KeystrokeContext, input: Keystroke): Promise<boolean> {
  const { input: paneInput } = context;
  if (!paneInput.model.afterEscape) return true;
  if (continuesEscape(input) && paneInput.sinceInputMs < ESCAPE_JOIN_MS) return false;
  if (paneInput.escapeWaitMs > 0) await context.pause(paneInput.escapeWaitMs);
  const begun = context.elapsed();
  while (!await isAtRest(context)) {
    if (context.elapsed() - begun >= STALE_LIMIT_MS) return false;
    await context.pause(CALM_STEP_MS);
  }
  return true;
}

function notTyped(reason: Reason): KeystrokeOutcome {
  return { state: HELD.has(reason) ? "held" : "refused", reason };
}

function startingOr({ target, now }: KeystrokeContext, pane: PaneState, reason: Reason): Reason {
  const isYoung = target.recordedPid !== 0 && Math.abs(now() - pane.created * 1_000) < START_HOLD_MS;
  return reason === "unknown_screen" && isYoung && pane.reading.focus === "unknown"
    ? "agent_starting"
    : reason;
}

/**
 * Waits until a screen shows the effect of every earlier key: the predicted draft, or one that shows the last text and
 * has not changed for a while in an agent at rest. A screen captured before the agent has read its keys confirms nothing.
 */
async function caughtUp(
  context: KeystrokeContext,
  keystroke: Keystroke,
  first: PaneState,
): Promise<{ pane: PaneState } | { reason: Reason }> {
  const { input, target, policy } = context;
  const begun = context.elapsed();
  for (let pane = first;;) {
    const { reading, reading: { focus } } = pane;
    if (focus !== "composer") {
      // A half-drawn screen: the key is held, unless such a screen would take it without these checks.
      const refusal = screenRefusal(keystroke, { ...target, reading, policy });
      const mayBeHeld = focus === "unknown" && refusal === "unknown_screen";
      return { reason: mayBeHeld ? startingOr(context, pane, refusal) : "screen_stale" };
    }
    if (input.model.isConfirmed) return { pane };
    const isResting = input.isCalm && await isAtRest(context);
    if (context.elapsed() - begun >= STALE_LIMIT_MS) return { reason: "screen_stale" };
    await context.pause(STALE_STEP_MS);
    const check = await checkPane(context);
    if (check.kind === "refused") return { reason: check.outcome.reason ?? "tmux_failed" };
    pane = check.pane;
    // This screen was captured after the rest began.
    if (isResting && input.isCalm && input.showsLastText && pane.reading.focus === "composer") {
      input.confirmCalm();
      return { pane };
    }
  }
}

/** Types while the agent's hooks, if it has any, keep dialogs from opening. */
async function typeInFlight(
  context: KeystrokeContext,
  input: Keystroke,
  pane: PaneState,
): Promise<KeystrokeOutcome> {
  const inFlight: InFlight | undefined = neverApproves(input)
    ? { mayGoOn: () => true, end: () => {} }
    : context.input.gate.begin();
  if (inFlight === undefined) return notTyped("agent_working");
  try {
    const outcome = await send(context, input, pane);
    if (outcome.state !== "typed" && outcome.state !== "unknown") return outcome;
    const after = outcome.state === "typed" ? afterInput : afterUncertainInput;
    const { model } = context.input;
    context.input.keyTyped(after(model, input, context.now()));
    // After a message nothing predicts the draft, and only the screen shows that it was empty.
    if (input.type !== "key" && pane.reading.draft === "") model.isFromPhone = true;
    if (mayEndAgent(context, input)) context.input.model.mayHaveLeft = true;
    context.typed();
    if (submits(input)) {
      context.input.entered();
      await untilSubmitted(context, input, pane);
    }
    return outcome;
  } finally {
    inFlight.end();
  }
}

/**
 * True if the key may end an agent that no wrapper started: the shell below may read what follows, while tmux still
 * names the agent.
 */
function mayEndAgent({ target }: KeystrokeContext, input: Keystroke): boolean {
  return target.recordedPid === 0 && input.type === "key" && input.key === "C-c";
}

/**
 * Waits until the agent has read the key: a dialog that opens before that would take it as its answer. After Enter, the
 * screen or an idle process shows that; other keys may leave the draft unchanged.
 */
async function untilSubmitted(context: KeystrokeContext, input: Keystroke, before: PaneState): Promise<void> {
  const { target, effects, elapsed, pause } = context;
  const { gate } = target.profile;
  if (gate === undefined) return;
  const isWatched = input.type === "key" && input.key === "Enter" &&
    context.input.isGated(target.profile, before.created);
  if (!isWatched) return gate.afterEnterMs > 0 ? await pause(gate.afterEnterMs) : undefined;
  const watch = new EnterWatch(before);
  const start = elapsed();
  for (let calm = 0; elapsed() - start < GATE_HOLD_MS;) {
    const check = await checkPane(context);
    if (check.kind === "refused") return;
    calm = await effects.isBusy(check.pane.facts.pid) === false ? calm + 1 : 0;
    watch.add(check.pane, elapsed());
    const isRead = watch.isRead || calm >= CALM_LOOKS;
    if (isRead && elapsed() - start >= gate.afterEnterMs) return;
    await pause(CALM_STEP_MS);
  }
}

/** Types into a pane of an unknown agent: with the guard, and no line that begins with `!`. */
async function typeUnrecognized(
  context: KeystrokeContext,
  input: Keystroke,
  pane: PaneState,
): Promise<KeystrokeOutcome> {
  const { input: paneInput, policy } = context;
  if (pane.reading.focus === "dialog" && !mayReachDialog(input, policy)) return notTyped("dialog_open");
  const beginsShell = input.type !== "key" && !paneInput.isLineBegun && isShellEscape(input.text);
  if (beginsShell && !policy.allowShellEscape) return notTyped("shell_escape");
  const outcome = await send(context, input, pane);
  const isBegun = isLineBegun(paneInput.isLineBegun, input);
  if (outcome.state === "typed") paneInput.isLineBegun = isBegun;
  if (outcome.state === "unknown") paneInput.isLineBegun &&= isBegun;
  context.typed();
  return outcome;
}

/** Sends the input behind the guard. If tmux found the guard false, a second check finds the reason. */
async function send(context: KeystrokeContext, input: Keystroke, pane: PaneState): Promise<KeystrokeOutcome> {
  const typing = requests(context, input, pane);
  const discard = (): Promise<boolean> => discardText(context.server, typing);
  try {
    const since = context.elapsed();
    for (const request of typing.fill) await context.server.run(...request);
    const isLate = context.elapsed() - since > EARLY_MAX_MS;
    const isStale = isLate && !await looksAs(context, pane);
    if (isStale || !context.mayType()) {
      await discard();
      return isStale ? { state: "held", reason: "screen_stale" } : { state: "late" };
    }
    if (await runTyping(context, typing.type)) return { state: "typed" };
  } catch (error) {
    const isDiscarded = await discard();
    if (!(error instanceof TmuxError)) throw error;
    if (!error.lost) return { state: "refused", reason: failureOutcome(error).reason ?? "tmux_failed" };
    if (!isDiscarded) return { state: "unknown" };
  }
  const again = await checkPane(context);
  if (again.kind === "refused") return { state: "refused", reason: again.outcome.reason ?? "tmux_failed" };
  return { state: "held", reason: "dialog_open" };
}

/** True if the screen has not changed: while tmux stalled, the user may have opened an editor. */
async function looksAs(
  context: KeystrokeContext,
  { reading: { focus, draft } }: PaneState,
): Promise<boolean> {
  const check = await checkPane(context);
  return check.kind === "ready" && check.pane.reading.focus === focus && check.pane.reading.draft === draft;
}

function requests(
  context: KeystrokeContext,
  input: Keystroke,
  pane: PaneState,
): TypingRequests {
  const id = context.target.pane;
  const guard = guardOf(context, pane, input.type === "key" ? input.key : undefined);
  const typed = (command: TmuxCommand): TypingRequests => ({
    fill: [],
    type: [guarded(id, guard, [verbs.leaveModes(id), command])],
    discard: [],
  });
  switch (input.type) {
    case "key":
      return typed(verbs.sendKey(id, input.key));
    case "text":
      return typed(verbs.sendLiteral(id, input.text));
    case "paste": {
      const isOverShell = pane.process.shellBelow && input.text.includes("\n");
      const isMarked = isOverShell || context.target.profile.typing.method === "marked";
      const method = isMarked ? "marked" : "paste";
      return typingRequests(id, { text: input.text, method, guard });
    }
  }
}
