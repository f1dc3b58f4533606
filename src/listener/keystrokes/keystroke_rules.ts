/** Pure rules for keystrokes: their cost and rate limit, and what they may do in an agent's composer. */
import { TokenBucket } from "../../async/token_bucket.ts";
import type { ScreenReading } from "../../agents/profile.ts";
import type { KeyInput } from "../../protocol/key_input.ts";
import type { Reason } from "../../protocol/receipt.ts";
import { hidesText, mayHideStart } from "../inject/composer.ts";
import { canonicalText } from "../../protocol/canonical.ts";
import { isLonePath, isShellEscape } from "../inject/guard.ts";
import type { ComposerModel } from "../inject/pane_input.ts";
import { changesApproval, endsAgent, mayAnswerDialogs, type Policy } from "../inject/policy.ts";
import type { TargetProfile } from "../targets.ts";
import { KEYS_PER_SECOND } from "../../protocol/limits.ts";

/** Input that is typed, as opposed to fitting the window. */
export type Keystroke = Extract<KeyInput, { type: "text" | "key" | "paste" }>;

/** Keys allowed in every known agent's composer, except those its profile forbids. */
export const PHONE_KEYS: readonly string[] = [
  ...["Escape", "Enter", "Tab", "BSpace", "DC", "Space"],
  ...["Up", "Down", "Left", "Right", "Home", "End", "PPage", "NPage", "C-c"],
  ...["C-a", "C-b", "C-e", "C-f", "C-h", "C-k", "C-u", "C-w", "M-b", "M-d", "M-f", "M-BSpace", "M-Enter"],
];
/** Keys that leave a screen without answering it: allowed everywhere except in a dialog. */
const WAY_OUT = new Set(["Escape", "Up", "Down", "Left", "Right"]);
/** Keys that are safe even if a dialog opens: they interrupt or scroll. */
const NEVER_APPROVES = new Set([...WAY_OUT, "C-c", "PPage", "NPage"]);
/** Keys that reject a dialog. */
const REJECTS = new Set(["Escape", "C-c"]);
/** Keys that change how some agent asks for approval. */
const APPROVAL_KEYS = new Set(["BTab", "C-y"]);
/** Keys after which the agent may act on the draft. */
const SUBMITS = new Set(["Enter", "M-Enter", "Tab"]);
/** Keys after which the agent may show something other than its composer: all but those that edit or move. */
const MAY_LEAVE = (key: string): boolean => SUBMITS.has(key) || !PHONE_KEYS.includes(key);
/** Keys that move the cursor and leave the draft as it is. */
const MOVES = new Set(["Left", "Home", "C-a", "C-b", "M-b"]);
/** Keys that end the current input line. */
const LINE_ENDS = new Set(["Enter", "Escape", "C-c", "C-u", "C-d"]);

export function costOf(input: Keystroke): number {
  switch (input.type) {
    case "text":
      return Array.from(input.text).length;
    case "key":
      return 1;
    case "paste":
      return PASTE_COST;
  }
}

export function submits(input: Keystroke): boolean {
  return input.type === "key" && SUBMITS.has(input.key);
}

export function neverApproves(input: Keystroke): boolean {
  return input.type === "key" && NEVER_APPROVES.has(input.key);
}

/**
 * True if the composer must have caught up with every earlier key first: this one submits, may begin a shell command,
 * acts differently on an empty draft, or may be folded behind an unknown draft.
 */
export function needsCaughtUp(input: Keystroke, model: ComposerModel, profile: TargetProfile): boolean {
  if (input.type === "paste" && model.expected === undefined) return true;
  if (input.type !== "key") return input.text.includes("!");
  const mayBeEmpty = model.expected === undefined || model.expected.trim() === "";
  return submits(input) || (isForbiddenWhenEmpty(input.key, profile) && mayBeEmpty);
}

/** True if the agent may have left its composer since the screen was captured: there a letter can be a command. */
export function mayBeElsewhere(input: Keystroke, { mayHaveLeft, isConfirmed }: ComposerModel): boolean {
  return mayHaveLeft && !isConfirmed && !neverApproves(input);
}

function isForbiddenWhenEmpty(key: string, { keys }: TargetProfile): boolean {
  return keys.forbiddenWhenEmpty?.includes(key) ?? false;
}

/** Continuations of an escape sequence after ESC (ECMA-48, section 5.3): CSI, SS3, and strings. */
const CONTINUES_ESCAPE = /^[[OP\]X^_N]/;

/** True for text that an agent would combine with an Escape it has not read yet. */
export function continuesEscape(input: Keystroke): boolean {
  return input.type !== "key" && CONTINUES_ESCAPE.test(input.text);
}

/** Whether the host lets phones answer an open dialog with this input. */
export function mayReachDialog(input: Keystroke, policy: Policy): boolean {
  const rejects = input.type === "key" && REJECTS.has(input.key);
  return mayAnswerDialogs(policy) || (rejects && policy.approval === "reject");
}

/** Why this screen of a known agent refuses the input. Undefined if the draft decides. */
export function screenRefusal(
  input: Keystroke,
  { reading, profile, policy }: { reading: ScreenReading; profile: TargetProfile; policy: Policy },
): Reason | undefined {
  const key = input.type === "key" ? input.key : undefined;
  if (key !== undefined && APPROVAL_KEYS.has(key) && !policy.allowApprovalChange) return "approval_change";
  switch (reading.focus) {
    case "dialog":
      if (!mayReachDialog(input, policy)) return "dialog_open";
      return REJECTS.has(key ?? "") || allowedKey(key, profile, policy) ? undefined : "key_not_allowed";
    case "menu":
      return menuTakes(input, { reading, profile }) ? undefined : "unknown_screen";
    case "unknown":
      if (key !== undefined && WAY_OUT.has(key)) return undefined;
      if (!policy.allowUnknownScreens) return "unknown_screen";
      return allowedKey(key, profile, policy) ? undefined : "key_not_allowed";
    case "composer":
      return allowedKey(key, profile, policy) ? undefined : "key_not_allowed";
  }
}

function allowedKey(key: string | undefined, { keys }: TargetProfile, policy: Policy): boolean {
  if (key === undefined || APPROVAL_KEYS.has(key) && policy.allowApprovalChange) return true;
  if (keys.forbidden.includes(key)) return false;
  return PHONE_KEYS.includes(key) || keys.alsoAllowed.includes(key);
}

function menuTakes(
  input: Keystroke,
  { reading, profile }: { reading: ScreenReading; profile: TargetProfile },
): boolean {
  const menu = Object.hasOwn(profile.menus, reading.menu ?? "")
    ? profile.menus[reading.menu ?? ""]
    : undefined;
  if (input.type === "key") return WAY_OUT.has(input.key) || (menu?.keys.includes(input.key) ?? false);
  return input.type === "text" && (menu?.text?.test(input.text) ?? false);
}

interface DraftContext extends Pick<ScreenReading, "cut" | "cursorInCommand"> {
  model: ComposerModel;
  profile: TargetProfile;
  policy: Policy;
}

/**
 * Why the input is refused because of the draft. Call it once the model has caught up, where `needsCaughtUp` requires
 * that.
 */
export function draftRefusal(
  input: Keystroke,
  { model, cut, cursorInCommand, profile, policy }: DraftContext,
): Reason | undefined {
  const draft = model.seen ?? "";
  if (input.type !== "key") {
    if (!isShellEscape(input.text) || policy.allowShellEscape) return undefined;
    const isBehindText = canonicalText(draft) !== "" && !isShellEscape(draft) && model.isAtEnd;
    return isBehindText ? undefined : "shell_escape";
  }
  if (draft.trim() === "" && model.isConfirmed && isForbiddenWhenEmpty(input.key, profile)) {
    return "key_not_allowed";
  }
  if (!submits(input)) return undefined;
  const takesAny = policy.allowApprovalChange && policy.allowShellEscape;
  const text = takesAny ? draft : wholeDraft(model, draft, profile);
  if (text === undefined || !takesAny && mayHideStart({ draft, cut })) return "screen_stale";
  if (isShellEscape(text) && !policy.allowShellEscape) return "shell_escape";
  if (input.key === "Tab") return undefined;
  if (endsAgent(text, policy)) return "end_not_allowed";
  // The highlighted suggestion may be a different command from the one in the draft, even before a path.
  const mayRunAnother = (model.hasMovedChoice || cursorInCommand) && canonicalText(text).startsWith("/");
  const runsPath = profile.typing.spaceAfter === "tail" && isLonePath(draft);
  if ((mayRunAnother || runsPath) && !policy.allowApprovalChange) return "approval_change";
  return changesApproval(text, profile, policy) ? "approval_change" : undefined;
}

/** The draft with what phones have pasted in place of placeholders; undefined if it hides an unknown text. */
function wholeDraft(
  { expected }: ComposerModel,
  draft: string,
  profile: Pick<TargetProfile, "foldedPaste">,
): string | undefined {
  if (!hidesText(draft, profile)) return draft;
  return expected === undefined || hidesText(expected, profile) ? undefined : expected;
}

/** The expected effect of an input on the draft. */
export function afterInput(model: ComposerModel, input: Keystroke, now: number): ComposerModel {
  const leaves = input.type === "key" && MAY_LEAVE(input.key);
  const mayHaveLeft = leaves || (model.mayHaveLeft && !model.isConfirmed);
  const awaitsView = leaves ? !submits(input) : model.awaitsView && !model.isConfirmed;
  const next: ComposerModel = {
    ...model,
    mayHaveLeft,
    awaitsView,
    lastText: "",
    isConfirmed: false,
    afterEscape: false,
    isSinceMessage: true,
    keyAt: now,
  };
  const text = typedText(input);
  if (text !== undefined) {
    const expected = model.isAtEnd && model.expected !== undefined ? model.expected + text : undefined;
    const hasPaste = model.hasPaste || input.type === "paste";
    const isFromPhone = model.isFromPhone || model.expected === "";
    return { ...next, expected, hasPaste, hasMovedChoice: false, isFromPhone, lastText: text };
  }
  const key = input.type === "key" ? input.key : "";
  if (key === "Enter") {
    return { ...next, expected: "", isAtEnd: true, hasPaste: false, hasMovedChoice: false };
  }
  if (key === "BSpace") next.lastText = withoutLast(model.lastText);
  if (key === "BSpace" && model.isAtEnd && model.expected !== undefined && !model.hasPaste) {
    return { ...next, expected: withoutLast(model.expected) };
  }
  if (MOVES.has(key)) {
    return { ...model, isAtEnd: false, afterEscape: false, isSinceMessage: true, keyAt: now };
  }
  const hasMovedChoice = model.hasMovedChoice || key === "Up" || key === "Down";
  return { ...next, expected: undefined, isAtEnd: false, hasMovedChoice, afterEscape: key === "Escape" };
}

function withoutLast(text: string): string {
  return Array.from(text).slice(0, -1).join("");
}

/** The same for an input that may not have arrived. */
export function afterUncertainInput(model: ComposerModel, input: Keystroke, now: number): ComposerModel {
  const next = afterInput(model, input, now);
  return {
    ...next,
    isConfirmed: false,
    expected: undefined,
    isAtEnd: false,
    hasPaste: model.hasPaste || next.hasPaste,
    hasMovedChoice: model.hasMovedChoice || next.hasMovedChoice,
  };
}

function typedText(input: Keystroke): string | undefined {
  if (input.type !== "key") return input.text;
  return input.key === "Space" ? " " : undefined;
}

/** Whether text was typed into the current line, for panes of unknown agents. */
export function isLineBegun(before: boolean, input: Keystroke): boolean {
  if (input.type === "key") return before && !LINE_ENDS.has(input.key);
  return before || input.text.trim() !== "";
}

/** A paste counts as this many keys. */
export const PASTE_COST = 20;

export class KeystrokeLimit {
  readonly #bucket: TokenBucket;

  constructor(now: number) {
    this.#bucket = new TokenBucket({ perSecond: KEYS_PER_SECOND, burst: KEYS_PER_SECOND }, now);
  }

  /** Takes `cost` tokens and returns 0, or takes none and returns the milliseconds until there is one. */
  take(cost: number, now: number): number {
    const seconds = this.#bucket.secondsUntil(now, 1);
    if (seconds > 0) return Math.ceil(seconds * 1_000);
    this.#bucket.charge(now, cost);
    return 0;
  }
}
