/** Removes text that svc typed and could not submit from an agent's composer. */
import {
  appearsIn,
  hidesText,
  isFolded,
  type LeftBehind,
  mayHideStart,
  type RestOfText,
  showsLeftBehind,
  showsRest,
} from "./composer.ts";
import type { PaneContext, WrittenMarker } from "./context.ts";
import {
  checkPane,
  type HoldReason,
  isAtRest,
  isLocalUserActive,
  LOCAL_USER_ACTIVE_MS,
  type PaneState,
  pressKey,
} from "./pane_check.ts";
import type { PaneInput } from "./pane_input.ts";
import { slashCommand } from "./policy.ts";

/** Maximum number of keys pressed to empty a composer. */
export const REMOVE_KEYS_MAX = 400;
/** How long the effect of one key may take to show. */
export const REMOVE_STEP_MS = 1_000;
/**
 * After this many keys in a row without effect, no more are pressed: an agent that hangs reads all of them when it
 * wakes, and they would delete what the local user has typed by then.
 */
export const REMOVE_STUCK_KEYS = 3;
/** While the draft stays unchanged, further keys are pressed only after this time. */
export const REMOVE_AGAIN_MS = 10_000;
/** How long a busy agent may take to draw what an earlier listener typed. */
export const EARLIER_DRAW_MS = 5_000;
/** How long an agent whose composer was emptied may take to show that it had read Enter before. */
export const TAKEN_GRACE_MS = 3_000;
/** Pause between two checks of the screen after a key. */
const REMOVE_POLL_MS = 25;

/** `kept`: the composer shows something else, or takes no keys now. `stuck`: keys were pressed and changed nothing. */
export type Removal = "removed" | "kept" | "stuck";

/** `pause` resolves after `ms`, or earlier when a hook reported. */
type RemoveContext = PaneContext & { pause(ms: number): Promise<void> };

/**
 * Removes text that svc left in the composer earlier, and returns the resulting pane state; or why the next message must
 * wait, because the text is still there.
 */
export async function withoutLeftBehind(
  context: RemoveContext,
  first: PaneState,
): Promise<PaneState | HoldReason> {
  const { input, now } = context;
  const { leftBehind: text } = input;
  if (text === undefined || first.reading.draft === undefined) return first;
  const before = await untilShown(context, text, first);
  if (!shows(context, text, before)) return without(input, before);
  if (input.isInCall) return "agent_working";
  if (text.before !== "" || isLocalUserActive(before, now())) return "desk_busy";
  const removal = await removeText(context, text, before);
  const check = await checkPane(context);
  if (removal === "removed") input.leftBehind = undefined;
  if (check.kind === "refused") return "screen_stale";
  const after = removal === "removed" ? check.pane : await untilShown(context, text, check.pane);
  if (removal === "removed" || !shows(context, text, after)) return without(input, after);
  const { localUserActivity = Infinity } = text.rest ?? {};
  return after.localUserActivity > localUserActivity ? "desk_busy" : "screen_stale";
}

/**
 * Forgets the text if the composer shows another draft, or an empty one: what it does not show is not removed later.
 */
function without(input: PaneInput, pane: PaneState): PaneState {
  if (pane.reading.draft !== undefined) input.leftBehind = undefined;
  return pane;
}

/** Checks again while the composer shows another draft, for a limited time: the screen may mix two frames. */
async function untilShown(context: RemoveContext, text: LeftBehind, first: PaneState): Promise<PaneState> {
  const until = context.elapsed() + REMOVE_STEP_MS;
  for (let pane = first;;) {
    if (!pane.reading.draft || shows(context, text, pane) || context.elapsed() >= until) return pane;
    await context.pause(REMOVE_POLL_MS);
    const check = await checkPane(context);
    if (check.kind === "refused") return pane;
    pane = check.pane;
  }
}

/** True if the composer shows the text, or what the keys that remove it have left. */
function shows(context: RemoveContext, text: LeftBehind, pane: PaneState): boolean {
  if (!pane.reading.draft) return false;
  return text.rest === undefined ? showsEarlier(context, text, pane) : showsRest(pane.reading, text);
}

/**
 * Removes text that a killed listener left in the composer; the next message removes what cannot be removed now. A busy
 * agent may not have drawn the text yet.
 */
export async function removeEarlier(context: RemoveContext, text: LeftBehind): Promise<void> {
  const { input, elapsed, pause } = context;
  input.leftBehind = text;
  await input.alone(async () => {
    for (const until = elapsed() + EARLIER_DRAW_MS;;) {
      const hasDrawn = await isAtRest(context) || elapsed() >= until;
      const check = await checkPane(context);
      if (check.kind === "refused") return;
      if (showsEarlier(context, text, check.pane)) {
        const removal = await removeText(context, text, check.pane);
        if (removal === "removed") input.leftBehind = undefined;
        return;
      }
      if (hasDrawn) return;
      await pause(REMOVE_POLL_MS);
    }
  });
}

/**
 * True if the draft is what an earlier listener typed. A folded paste must be the one that was seen. If none was, any
 * counts if the composer was empty, and neither the local user, a phone nor svc has typed since.
 */
export function showsEarlier(
  { target: { profile }, input, now }: Pick<PaneContext, "target" | "input" | "now">,
  text: LeftBehind,
  { reading: { draft = "" }, localUserActivity }: PaneState,
): boolean {
  const { emptyAt, shown } = text;
  if (shown === undefined && emptyAt !== undefined && isFolded(draft, profile)) {
    const localUserUntil = localUserActivity * 1_000 + LOCAL_USER_ACTIVE_MS;
    const isUntouched = Math.max(localUserUntil, input.typedAt) <= emptyAt;
    // After a clock was set back, a later key may have an earlier time.
    if (isUntouched && emptyAt <= now()) text.shown = draft;
  }
  return showsLeftBehind(draft, text, profile);
}

/**
 * After Enter: empties the composer if it still shows the text. If that fails although the text may be there, the next
 * message removes it.
 */
export async function removeUnsent(
  context: RemoveContext,
  text: LeftBehind,
  now: PaneState,
): Promise<boolean> {
  if (await removeText(context, text, now) === "removed") return true;
  const { draft } = now.reading;
  const mayBeThere = draft === undefined || showsLeftBehind(draft, text, context.target.profile);
  if (mayBeThere) context.input.leftBehind = text;
  return false;
}

/** A message after Enter. */
interface SentMessage {
  body: string;
  marker: WrittenMarker;
  /** The last check before it was typed. */
  untouched: PaneState;
}

/**
 * Finds out what became of a message whose text was removed after Enter. An agent that had stalled reads Enter first,
 * and the keys of the removal then meet an empty composer. `removed`: it rests with an empty composer, nothing shows
 * the message, and no hook can take its marker anymore.
 */
export async function afterRemoval(
  context: RemoveContext,
  { body, marker, untouched }: SentMessage,
): Promise<"taken" | "removed" | "unclear"> {
  const { input, elapsed, pause } = context;
  for (let [until, isQuiet] = [elapsed() + TAKEN_GRACE_MS, true];; await pause(REMOVE_POLL_MS)) {
    if (await marker.taken()) return "taken";
    const isLast = elapsed() >= until;
    const isResting = !isLast || await isAtRest(context);
    const check = await checkPane(context);
    if (check.kind === "refused") return "unclear";
    const { reading, screen } = check.pane;
    const isEmpty = reading.focus === "composer" && reading.draft === "";
    const isShown = isEmpty && appearsIn(screen, { body, untouched: untouched.screen });
    isQuiet &&= isEmpty && isResting && !isShown && reading.state === "idle" && !input.isInCall;
    if (!isLast) continue;
    if (isShown) return "taken";
    // A slash command is shown by no hook and by no text above the composer, but most of them change the screen.
    const isChanged = screen.lines.join("\n") !== untouched.screen.lines.join("\n");
    if (!isQuiet || (slashCommand(body) !== undefined && isChanged)) return "unclear";
    return await marker.withdraw() ? "removed" : "taken";
  }
}

/** Empties the composer if it shows exactly what svc typed, or what earlier keys have left of it. */
export async function removeText(
  context: RemoveContext,
  text: LeftBehind,
  first: PaneState,
): Promise<Removal> {
  const { target: { profile }, input } = context;
  if (awaitsEffect(context, text, first)) return "stuck";
  const { reading: { draft = "" }, localUserActivity } = first;
  const isOurs = text.rest === undefined
    ? showsLeftBehind(draft, text, profile)
    : showsRest(first.reading, text);
  const inFlight = isOurs && text.before === "" ? input.gate.begin() : undefined;
  if (inFlight === undefined) return "kept";
  try {
    let [pane, withoutEffect] = [first, 0];
    for (let keys = 0; keys < REMOVE_KEYS_MAX && inFlight.mayGoOn(); keys++) {
      const { draft: before } = pane.reading;
      if (before === undefined || before === "") return before === "" ? "removed" : "kept";
      // An agent that wakes may show what the local user has typed meanwhile.
      if (keys > 0 && !showsRest(pane.reading, text)) return "kept";
      if (withoutEffect === REMOVE_STUCK_KEYS) return "stuck";
      const { rest } = text;
      text.rest = { ...visiblePart(pane, profile), pressedAt: context.elapsed(), localUserActivity };
      if (!await pressKey(context, pane, keys % 2 === 0 ? "C-u" : "BSpace")) {
        text.rest = rest;
        return "kept";
      }
      const after = await afterKey(context, { text, rest: text.rest });
      if (after === undefined) return "kept";
      withoutEffect = after.reading.draft === before ? withoutEffect + 1 : 0;
      pane = after;
    }
    return "kept";
  } finally {
    inFlight.end();
  }
}

/** The part of the text that the composer shows. */
function visiblePart(
  { reading, reading: { draft = "" } }: Pick<PaneState, "reading">,
  profile: PaneContext["target"]["profile"],
): Pick<RestOfText, "draft" | "isPart"> {
  return { draft, isPart: mayHideStart(reading) || hidesText(draft, profile) };
}

/**
 * True if keys that remove the text were pressed, and nothing shows yet that the agent has read them. No more are
 * pressed for a while, and none once the local user has pressed a key: the agent would read them after that.
 */
function awaitsEffect(
  { elapsed }: Pick<RemoveContext, "elapsed">,
  { rest }: LeftBehind,
  { reading, localUserActivity }: PaneState,
): boolean {
  if (rest?.pressedAt === undefined || reading.draft !== rest.draft) return false;
  return localUserActivity > rest.localUserActivity || elapsed() - rest.pressedAt < REMOVE_AGAIN_MS;
}

/**
 * Waits for the effect of a key that removes text. Undefined if the pane takes no more keys, or the local user has pressed
 * one. A screen without a composer may be half drawn, and one with another draft may mix two frames.
 */
async function afterKey(
  context: RemoveContext,
  { text, rest }: { text: LeftBehind; rest: RestOfText },
): Promise<PaneState | undefined> {
  for (const until = context.elapsed() + REMOVE_STEP_MS;;) {
    await context.pause(REMOVE_POLL_MS);
    const check = await checkPane(context);
    if (check.kind === "refused") return undefined;
    const { pane, pane: { reading, localUserActivity } } = check;
    const { draft } = reading;
    if (draft === "") return pane;
    if (localUserActivity > rest.localUserActivity) return undefined;
    if (draft !== undefined && draft !== rest.draft && showsRest(reading, text)) {
      text.rest = { ...visiblePart(pane, context.target.profile), localUserActivity: rest.localUserActivity };
      return pane;
    }
    if (reading.focus === "dialog" || context.elapsed() >= until) return pane;
  }
}
