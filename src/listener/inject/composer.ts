/** Whether an agent's composer shows what svc typed into it, whatever the agent makes of blanks, wraps and long pastes. */
import type { AgentProfile, ScreenReading } from "../../agents/profile.ts";
import { canonicalText } from "../../protocol/canonical.ts";

/** Of a draft that is taller than its composer the end shows, and this many characters of it are enough. */
export const END_LEAST_CHARS = 20;

/** A shorter draft is whole: every agent's input line shows so many rows, or a mark, before it scrolls. */
const SCROLLED_LEAST_ROWS = 5;

/** The beginning of the draft may be out of sight, and with it a slash or a `!` that decides what Enter does. */
export function mayHideStart({ draft = "", cut }: Pick<ScreenReading, "draft" | "cut">): boolean {
  return cut === true || draft.split("\n").length >= SCROLLED_LEAST_ROWS;
}

/** What neither tmux nor an agent shows as it was typed: blanks, joiners, marks, characters outside the basic plane. */
const NOT_COMPARED = /[\s\p{C}\p{M}\p{Extended_Pictographic}\u{10000}-\u{10ffff}\ufffd]/gu;

function comparable(text: string): string {
  return canonicalText(text).normalize("NFKC").replace(NOT_COMPARED, "");
}

/** The same text, but for blanks and characters that terminals show in different ways. */
export function isSameText(one: string, other: string): boolean {
  return comparable(one) === comparable(other);
}

/** `before` stood in the composer when `text` was typed behind it. */
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
