/**
 * Types one live input into its pane: behind the guard, only where the screen shows that it may, Enter only after a
 * newer screen.
 */
import type { Reason } from "../../protocol/receipt.ts";
import { type TmuxCommand, verbs } from "../../tmux/argv.ts";
import { TmuxError } from "../../tmux/server.ts";
import { mayOpenDialog, START_HOLD_MS } from "../inject/hold_reason.ts";
import { failureOutcome } from "../inject/pane_check.ts";
import type { InjectHost, PaneContext } from "../inject/inject_host.ts";
import {
  afterInput,
  continuesEscape,
  draftRefusal,
  isLineBegun,
  needsCaughtUp,
  neverApproves,
  screenRefusal,
  submits,
  type TypedInput,
} from "./keystroke_rules.ts";
import { checkPane, guardOf, type Seen } from "../inject/pane_check.ts";
import { ESCAPE_JOIN_MS, type InFlight } from "../inject/pane_input.ts";
import { GUARD_REFUSED, guarded, typingRequests } from "../inject/typing.ts";

/** How long a key waits for a screen that is newer than the last key. */
export const STALE_LIMIT_MS = 4_000;
/** After this many looks in a row at an idle process, the agent has read its input. */
export const CALM_LOOKS = 3;
export const CALM_STEP_MS = 50;
/** Pause between two looks at the screen. */
export const STALE_STEP_MS = 20;

/** `held`: nothing was typed, and the same input may go in later. */
export type KeyOutcome = { state: "typed" } | { state: "held" | "refused"; reason: Reason };

export interface KeyContext extends PaneContext {
  host: PaneContext["host"] & Pick<InjectHost, "isMuted" | "isBusy" | "now" | "typed">;
  /** Resolves after `ms`. */
  pause(ms: number): Promise<void>;
}

/** Reasons that go away by themselves. */
const HELD: ReadonlySet<Reason> = new Set([
  "dialog_open",
  "agent_working",
  "agent_starting",
  "unknown_screen",
]);

export async function typeInput(context: KeyContext, input: TypedInput): Promise<KeyOutcome> {
  return await context.input.alone(() => typeAlone(context, input));
}

async function typeAlone(context: KeyContext, input: TypedInput): Promise<KeyOutcome> {
  const { host, target } = context;
  if (!await escapeIsRead(context, input)) return notTyped("screen_stale");
  const check = await checkPane(context);
  if ("outcome" in check) return { state: "refused", reason: check.outcome.reason ?? "tmux_failed" };
  const { seen } = check;
  if (await host.isMuted(seen.directory)) return { state: "refused", reason: "muted" };
  if (!target.isProfiled) return await typeUnrecognised(context, input, seen);
  const refusal = screenRefusal(input, { ...target, reading: seen.reading, policy: host.policy });
  if (refusal !== undefined) return notTyped(startsNow(context, seen, refusal));
  const ready = seen.reading.focus === "composer" && needsCaughtUp(input, context.input.model, target.profile)
    ? await caughtUp(context, seen)
    : { seen };
  if ("reason" in ready) return notTyped(ready.reason);
  const isComposer = ready.seen.reading.focus === "composer";
  const { model } = context.input;
  const { cut } = ready.seen.reading;
  const reason = isComposer ? draftRefusal(input, { ...target, model, cut, policy: host.policy }) : undefined;
  if (reason !== undefined) return notTyped(reason);
  if (!neverApproves(input) && mayOpenDialog(ready.seen, { ...context, ...target, policy: host.policy })) {
    return notTyped("agent_working");
  }
  return await typeInFlight(context, input, ready.seen);
}

/** Waits until the agent has read an earlier Escape as a key of its own; false when it stays busy for too long. */
async function escapeIsRead(context: KeyContext, input: TypedInput): Promise<boolean> {
  const { input: pane, host, target } = context;
  if (!pane.model.afterEscape) return true;
  if (continuesEscape(input) && host.now() < pane.model.keyAt + ESCAPE_JOIN_MS) return false;
  if (pane.escapeWaitMs > 0) await context.pause(pane.escapeWaitMs);
  const begun = host.now();
  for (let calm = 0; calm < CALM_LOOKS;) {
    calm = await host.isBusy(target.panePid) ? 0 : calm + 1;
    if (host.now() - begun >= STALE_LIMIT_MS) return false;
    if (calm < CALM_LOOKS) await context.pause(CALM_STEP_MS);
  }
  return true;
}

function notTyped(reason: Reason): KeyOutcome {
  return { state: HELD.has(reason) ? "held" : "refused", reason };
}

function startsNow({ target, host }: KeyContext, seen: Seen, reason: Reason): Reason {
  const isYoung = target.recordedPid !== 0 && host.now() - seen.created * 1_000 < START_HOLD_MS;
  return reason === "unknown_screen" && isYoung && seen.reading.focus === "unknown"
    ? "agent_starting"
    : reason;
}

/**
 * Waits until a screen shows what became of every earlier key: the draft that was foreseen, or one that has not changed
 * for a while in an agent that is not busy. A screen that was read before the agent has read its keys proves nothing.
 */
async function caughtUp(context: KeyContext, first: Seen): Promise<{ seen: Seen } | { reason: Reason }> {
  const { input, host } = context;
  const begun = host.now();
  for (let seen = first;;) {
    if (seen.reading.focus !== "composer") return { reason: "screen_stale" };
    if (input.model.isConfirmed) return { seen };
    if (input.isCalm && !await host.isBusy(seen.pane.pid)) {
      input.confirmCalm();
      return { seen };
    }
    if (host.now() - begun >= STALE_LIMIT_MS) return { reason: "screen_stale" };
    await context.pause(STALE_STEP_MS);
    const check = await checkPane(context);
    if ("outcome" in check) return { reason: check.outcome.reason ?? "tmux_failed" };
    seen = check.seen;
  }
}

/** Types while the agent's hooks, where it has them, keep dialogs from opening. */
async function typeInFlight(context: KeyContext, input: TypedInput, seen: Seen): Promise<KeyOutcome> {
  const { host, target } = context;
  const inFlight: InFlight | undefined = neverApproves(input)
    ? { mayGoOn: () => true, end: () => {} }
    : context.input.gate.begin();
  if (inFlight === undefined) return notTyped("agent_working");
  try {
    const outcome = await send(context, input, seen);
    if (outcome.state !== "typed") return outcome;
    Object.assign(context.input.model, afterInput(context.input.model, input, host.now()));
    if (submits(input)) {
      context.input.entered();
      const { afterEnterMs = 0 } = target.profile.gate ?? {};
      if (afterEnterMs > 0) await context.pause(afterEnterMs);
    }
    host.typed();
    return outcome;
  } finally {
    inFlight.end();
  }
}

/** A pane of no known agent: typed into as the spec has it, with the guard, and without a line that begins with `!`. */
async function typeUnrecognised(context: KeyContext, input: TypedInput, seen: Seen): Promise<KeyOutcome> {
  const pane = context.input;
  const { policy } = context.host;
  if (seen.reading.focus === "dialog" && policy.approval === "none") return notTyped("dialog_open");
  const beginsShell = input.type !== "key" && !pane.isLineBegun && input.text.trimStart().startsWith("!");
  if (beginsShell && !policy.allowShellEscape) return notTyped("shell_escape");
  const outcome = await send(context, input, seen);
  if (outcome.state === "typed") pane.isLineBegun = isLineBegun(pane.isLineBegun, input);
  context.host.typed();
  return outcome;
}

/** If tmux found the guard false, a second check finds the reason. */
async function send(context: KeyContext, input: TypedInput, seen: Seen): Promise<KeyOutcome> {
  const { fill, type } = requests(context, input, seen);
  try {
    for (const request of fill) await context.server.run(...request);
    const answer = await context.server.run(...type);
    if (!answer.includes(GUARD_REFUSED)) return { state: "typed" };
  } catch (error) {
    if (!(error instanceof TmuxError)) throw error;
    return { state: "refused", reason: failureOutcome(error).reason ?? "tmux_failed" };
  }
  const again = await checkPane(context);
  if ("outcome" in again) return { state: "refused", reason: again.outcome.reason ?? "tmux_failed" };
  return { state: "held", reason: "dialog_open" };
}

function requests(
  context: KeyContext,
  input: TypedInput,
  seen: Seen,
): { fill: TmuxCommand[][]; type: TmuxCommand[] } {
  const { pane } = context.target;
  const guard = guardOf(context, seen);
  const typed = (command: TmuxCommand): { fill: TmuxCommand[][]; type: TmuxCommand[] } => ({
    fill: [],
    type: [guarded(pane, guard, [verbs.leaveModes(pane), command])],
  });
  switch (input.type) {
    case "key":
      return typed(verbs.sendKey(pane, input.key));
    case "text":
      return typed(verbs.sendLiteral(pane, input.text));
    case "paste": {
      const method = seen.process.shellBelow && input.text.includes("\n") ? "marked" : "paste";
      return typingRequests(pane, { text: input.text, method, guard });
    }
  }
}
