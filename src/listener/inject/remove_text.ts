/** Removes text that svc typed and could not submit from an agent's composer. */
import { type LeftBehind, showsLeftBehind } from "./composer.ts";
import type { PaneContext } from "./context.ts";
import { checkPane, type PaneState, pressKey } from "./pane_check.ts";

/** Most keys pressed to empty a composer. */
export const REMOVE_KEYS_MAX = 400;
/** How long the effect of one of them may take to show. */
export const REMOVE_STEP_MS = 1_000;
/** Pause between two checks of the screen after a key. */
const REMOVE_POLL_MS = 25;

/** `pause` resolves after `ms`, or earlier when a hook reported. */
type RemoveContext = PaneContext & { pause(ms: number): Promise<void> };

/** Removes text that svc left in the composer earlier, and returns the resulting pane state. */
export async function withoutLeftBehind(context: RemoveContext, pane: PaneState): Promise<PaneState> {
  const { input } = context;
  if (input.leftBehind === undefined || pane.reading.draft === undefined) return pane;
  const isRemoved = await removeText(context, input.leftBehind, pane);
  input.leftBehind = undefined;
  if (!isRemoved) return pane;
  const check = await checkPane(context);
  return check.kind === "refused" ? pane : check.pane;
}

/** Removes text that a killed listener left in the composer; what cannot be removed now, the next message removes. */
export async function removeEarlier(context: RemoveContext, text: LeftBehind): Promise<void> {
  const { input, target } = context;
  input.leftBehind = text;
  await input.alone(async () => {
    const check = await checkPane(context);
    const { draft = "" } = check.kind === "ready" ? check.pane.reading : {};
    if (check.kind === "refused" || !showsLeftBehind(draft, text, target.profile)) return;
    if (await removeText(context, text, check.pane)) input.leftBehind = undefined;
  });
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
  if (await removeText(context, text, now)) return true;
  const { draft } = now.reading;
  const mayBeThere = draft === undefined || showsLeftBehind(draft, text, context.target.profile);
  if (mayBeThere) context.input.leftBehind = text;
  return false;
}

/** Empties the composer if it shows exactly what svc typed. False if it shows something else or cannot be emptied. */
export async function removeText(
  context: RemoveContext,
  text: LeftBehind,
  first: PaneState,
): Promise<boolean> {
  const { target, input } = context;
  const isOurs = showsLeftBehind(first.reading.draft ?? "", text, target.profile);
  const inFlight = isOurs && text.before === "" ? input.gate.begin() : undefined;
  if (inFlight === undefined) return false;
  try {
    for (let [keys, pane] = [0, first]; keys < REMOVE_KEYS_MAX && inFlight.mayGoOn(); keys++) {
      const before = pane.reading.draft;
      if (before === undefined || before === "") return before === "";
      if (!await pressKey(context, pane, keys % 2 === 0 ? "C-u" : "BSpace")) return false;
      const until = context.elapsed() + REMOVE_STEP_MS;
      while (pane.reading.draft === before && context.elapsed() < until) {
        await context.pause(REMOVE_POLL_MS);
        const check = await checkPane(context);
        if (check.kind === "refused") return false;
        pane = check.pane;
      }
    }
    return false;
  } finally {
    inFlight.end();
  }
}
