/** Compares a composer's draft with what svc typed, allowing for blanks, wrapping and folded pastes. */
import type { AgentProfile, ScreenReading } from "../../agents/profile.ts";
import { canonicalText } from "../../protocol/canonical.ts";

/** A draft taller than its composer shows its end; this many matching characters are enough. */
export const END_LEAST_CHARS = 20;

/** A draft with fewer rows is complete: every agent shows this many rows, or a mark, before it scrolls. */
const SCROLLED_LEAST_ROWS = 5;

/** The beginning of the draft may be out of sight, including a `/` or `!` that changes what Enter does. */
export function mayHideStart({ draft = "", cut }: Pick<ScreenReading, "draft" | "cut">): boolean {
  return cut === true || draft.split("\n").length >= SCROLLED_LEAST_ROWS;
}

/** Characters that tmux or an agent may show differently: blanks, joiners, marks, and those outside the basic plane. */
const NOT_COMPARED = /[\s\p{C}\p{M}\p{Extended_Pictographic}\u{10000}-\u{10ffff}\ufffd]/gu;

function comparable(text: string): string {
  return canonicalText(text).normalize("NFKC").replace(NOT_COMPARED, "");
}

/** Compares texts without blanks and characters that terminals show differently. */
export function isSameText(one: string, other: string): boolean {
  return comparable(one) === comparable(other);
}

/** Text that svc typed and could not submit. */
export interface LeftBehind {
  /** The draft before it. */
  before: string;
  text: string;
  /** The draft that showed it, if one did. */
  shown?: string;
}

/** True if the draft is what svc left there. Folded pastes look alike: one must be the draft that svc saw. */
export function showsLeftBehind(
  draft: string,
  left: LeftBehind,
  profile: Pick<AgentProfile, "foldedPaste">,
): boolean {
  return profile.foldedPaste?.test(draft) ? draft === left.shown : composerShows(draft, left, profile);
}

/** True if the draft shows `before` followed by the typed `text`. */
export function composerShows(
  draft: string,
  { before, text }: { before: string; text: string },
  { foldedPaste }: Pick<AgentProfile, "foldedPaste">,
): boolean {
  if (draft === "" || draft.startsWith("!") !== (before + text).trimStart().startsWith("!")) return false;
  const [shown, typed] = [comparable(draft), comparable(before + text)];
  if (shown === typed) return true;
  if (foldedPaste?.test(draft)) return true;
  return shown.length >= END_LEAST_CHARS && typed.endsWith(shown);
}
