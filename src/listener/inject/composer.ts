/** What the composer shows: whether it is the text that svc typed, and after Enter whether the agent took it. */
import type { AgentProfile, Screen, ScreenReading } from "../../agents/profile.ts";
import { canonicalText } from "../../protocol/canonical.ts";
import { slashCommand } from "./policy.ts";

/** A draft taller than its composer shows its end; this many matching characters are enough. */
export const END_LEAST_CHARS = 20;

/** A draft with fewer rows is complete: every agent shows this many rows, or a mark, before it scrolls. */
const SCROLLED_LEAST_ROWS = 5;

/** True if the beginning of the draft may be out of sight, including a `/` or `!` that changes what Enter does. */
export function mayHideStart({ draft = "", cut }: Pick<ScreenReading, "draft" | "cut">): boolean {
  return cut === true || draft.split("\n").length >= SCROLLED_LEAST_ROWS;
}

/** Characters that tmux or an agent may show differently: blanks, joiners, marks, and those outside the basic plane. */
const NOT_COMPARED = /[\s\p{C}\p{M}\p{Extended_Pictographic}\u{10000}-\u{10ffff}\ufffd]/gu;

/** The subset that is ignored in a text of symbols alone: blanks, joiners, marks, skin tones. */
const NOT_SYMBOLS = /[\s\p{Cc}\p{Cf}\p{Cs}\p{M}\p{Emoji_Modifier}\ufffd]/gu;

/** Both texts without what may be shown differently. If nothing else is left of one, their symbols are compared. */
function comparable(one: string, other: string): [string, string] {
  const without = (ignored: RegExp): [string, string] => {
    const form = (text: string): string => canonicalText(text).normalize("NFKC").replace(ignored, "");
    return [form(one), form(other)];
  };
  const letters = without(NOT_COMPARED);
  return letters.includes("") ? without(NOT_SYMBOLS) : letters;
}

/** Compares texts without blanks and characters that terminals show differently. */
export function isSameText(one: string, other: string): boolean {
  const [first, second] = comparable(one, other);
  return first === second;
}

/** True if the draft is the text, or enough of its end. */
function isEndOf(draft: string, text: string): boolean {
  const [shown, all] = comparable(draft, text);
  return shown === all || (shown.length >= END_LEAST_CHARS && all.endsWith(shown));
}

/** True if the draft contains the text, or is the end of it, as in a composer that scrolls. */
export function showsTyped(draft: string, text: string): boolean {
  const [shown, typed] = comparable(draft, text);
  return shown.includes(typed) || isEndOf(draft, text);
}

/** Text that svc typed and could not submit. */
export interface LeftBehind {
  /** The draft before it. */
  before: string;
  text: string;
  /** The draft that showed it, if one did. */
  shown?: string | undefined;
  /** When it was typed into an empty composer, or an earlier listener was about to, epoch milliseconds. */
  emptyAt?: number | undefined;
  /** The rest that the keys that remove it have left, as far as the screen has shown. */
  rest?: RestOfText | undefined;
}

/** The draft that was last seen while a text was being removed. */
export interface RestOfText {
  draft: string;
  /** There may be more of the text than it shows. */
  isPart: boolean;
  /** When the newest key whose effect no screen has shown was pressed, by the clock's `elapsed`. */
  pressedAt?: number;
  /** Epoch seconds of the local user's last key before the first of these keys. */
  localUserActivity: number;
}

/** True if the draft is what svc left there. Folded pastes look alike: one must equal the draft that svc saw. */
export function showsLeftBehind(
  draft: string,
  left: LeftBehind,
  profile: Pick<AgentProfile, "foldedPaste">,
): boolean {
  return showsFolded(draft, left.before, profile)
    ? draft === left.shown
    : composerShows(draft, left, profile);
}

/**
 * True if the draft is what further keys at its end may have left of the text. A part from the middle of the text
 * counts only if the composer may not show all of it: otherwise the local user typed it.
 */
export function showsRest(
  reading: Pick<ScreenReading, "draft" | "cut">,
  { text, rest }: Pick<LeftBehind, "text" | "rest">,
): boolean {
  const { draft = "" } = reading;
  if (rest === undefined) return false;
  const isStartOf = (whole: string): boolean => {
    const [shown, all] = comparable(draft, whole);
    return all.startsWith(shown);
  };
  if (isStartOf(rest.draft) || (rest.isPart && isStartOf(text))) return true;
  const [shown, all] = comparable(draft, text);
  return mayHideStart(reading) && all.includes(shown);
}

/** True if the draft shows `before` followed by the typed `text`. */
export function composerShows(
  draft: string,
  { before, text }: { before: string; text: string },
  profile: Pick<AgentProfile, "foldedPaste">,
): boolean {
  if (draft === "" || draft.startsWith("!") !== (before + text).trimStart().startsWith("!")) return false;
  return showsFolded(draft, before, profile) || isEndOf(draft, before + text);
}

/** True if the draft is the placeholder of a pasted text, or `before` and the placeholder. */
function showsFolded(
  draft: string,
  before: string,
  profile: Pick<AgentProfile, "foldedPaste">,
): boolean {
  if (isFolded(draft, profile)) return true;
  const shown = draft.replace(/\s/g, "");
  const at = endingPlaceholder(shown, profile);
  return at > 0 && isSameText(shown.slice(0, at), before);
}

/** True if the draft is nothing but the placeholder of a pasted text. Narrow panes wrap one in brackets. */
export function isFolded(draft: string, profile: Pick<AgentProfile, "foldedPaste">): boolean {
  const shown = draft.replace(/\s/g, "");
  return profile.foldedPaste?.test(draft) === true ||
    shown.startsWith("[") && endingPlaceholder(shown, profile) === 0;
}

/** Where the placeholder begins that ends a draft without blanks; -1 without one. */
function endingPlaceholder(shown: string, { foldedPaste }: Pick<AgentProfile, "foldedPaste">): number {
  return foldedPaste === undefined ? -1 : shown.search(placeholderOf(foldedPaste, { end: "$" }));
}

/** True if the draft has a placeholder in place of a pasted text. */
export function hidesText(draft: string, { foldedPaste }: Pick<AgentProfile, "foldedPaste">): boolean {
  return foldedPaste !== undefined && placeholderOf(foldedPaste).test(draft.replace(/\s/g, ""));
}

/** Matches the placeholder anywhere in a draft without blanks: agents wrap it in narrow panes. */
function placeholderOf({ source, flags }: RegExp, { end = "" } = {}): RegExp {
  return new RegExp(source.replace(/^\^|\$$/g, "").replaceAll(" ", "") + end, flags);
}

/** A working agent redraws all the time: after this many screen changes it has read all input before the first. */
export const CHANGES_AT_WORK = 3;
/**
 * Once the composer has been out of sight, a screen must last this long to confirm anything, in milliseconds: an agent
 * that closes a dialog draws its composer empty first and puts the draft back in a later frame.
 */
export const STEADY_MS = 1_500;
/** A screen may be unreadable for this long while it is being drawn. */
export const DRAW_LIMIT_MS = 500;
/** How much of a message's first line is searched for: narrow panes wrap the rest. */
const SHOWN_CHARS = 24;

interface ObservedScreen {
  screen: Screen;
  reading: ScreenReading;
}

/** The screen at each moment that matters. */
export interface ConfirmScreens {
  /** Before anything was typed. */
  untouched: ObservedScreen;
  /** Right before Enter. */
  before: ObservedScreen;
  now: ObservedScreen;
}

/**
 * True if the composer showed the text and is empty now. Or if it is gone, and either a slash command opened another
 * screen, or the text appears where it was not before.
 */
export function screenConfirms(body: string, { untouched, before, now }: ConfirmScreens): boolean {
  const { reading, screen } = now;
  if (!before.reading.draft) {
    // The composer was unreadable: the text above it, or the start of work, is enough.
    if (reading.focus === "dialog") return false;
    if (reading.draft === "" && appearsIn(screen, { body, untouched: untouched.screen })) return true;
    const stateBefore = before.reading.state;
    return stateBefore !== undefined && stateBefore !== "working" && reading.state === "working";
  }
  if (reading.draft !== undefined) return reading.draft === "";
  if (slashCommand(body) !== undefined) return true;
  return appearsIn(screen, { body, untouched: untouched.screen });
}

/** Watches the screens after Enter for one that confirms the submission. */
export class ScreenConfirmation {
  #body: string;
  #screens: Pick<ConfirmScreens, "untouched" | "before">;
  /** Since Enter the composer was out of sight at least once. */
  #wasGone = false;
  #since: number | undefined;

  constructor(body: string, screens: Pick<ConfirmScreens, "untouched" | "before">) {
    this.#body = body;
    this.#screens = screens;
  }

  /** True when `now`, read at `at` (milliseconds), confirms that the agent took the message. */
  add(now: ObservedScreen, at: number): boolean {
    this.#wasGone ||= Boolean(this.#screens.before.reading.draft) && now.reading.draft === undefined;
    if (!screenConfirms(this.#body, { ...this.#screens, now })) {
      this.#since = undefined;
      return false;
    }
    this.#since ??= at;
    return !this.#wasGone || at - this.#since >= STEADY_MS;
  }
}

/** True if the screen shows the message, and did not before anything was typed. */
export function appearsIn(
  screen: Screen,
  { body, untouched }: { body: string; untouched: Screen },
): boolean {
  return shows(screen, body) && !shows(untouched, body);
}

function shows(screen: Screen, body: string): boolean {
  const line = body.trimStart().split("\n", 1)[0]?.slice(0, SHOWN_CHARS).trim() ?? "";
  return line !== "" && screen.lines.some((shown) => shown.includes(line));
}

/** Watches the screens after Enter: whether the agent has read the key, or lost it. */
export class EnterWatch {
  readonly #before: ObservedScreen;
  #now: ObservedScreen;
  /** Screens that differ from the one before. */
  #changes = 0;
  #goneSince: number | undefined;
  #at = 0;

  constructor(before: ObservedScreen) {
    this.#before = before;
    this.#now = before;
  }

  /** `at`: milliseconds. */
  add(now: ObservedScreen, at: number): void {
    if (now.screen.lines.join("\n") !== this.#now.screen.lines.join("\n")) this.#changes++;
    this.#goneSince = now.reading.draft === undefined ? this.#goneSince ?? at : undefined;
    this.#now = now;
    this.#at = at;
  }

  /**
   * True once the composer no longer shows the text: before that, a dialog that opens would take the key as its answer.
   * Never true for a screen that no profile reads. One that lost its composer may be half drawn: it counts only after
   * DRAW_LIMIT_MS.
   */
  get isRead(): boolean {
    const { draft } = this.#before.reading;
    if (draft === undefined) return false;
    if (draft === "") return true;
    if (this.#goneSince !== undefined) return this.#at - this.#goneSince >= DRAW_LIMIT_MS;
    return this.#now.reading.draft !== draft;
  }

  /**
   * True if the same text is still in the composer, in a working agent after CHANGES_AT_WORK. Gemini may take an Enter
   * after a paste as a line feed: a tall draft then shows one row less of its beginning.
   */
  get isLost(): boolean {
    const { focus, cut, draft = "", state } = this.#now.reading;
    const isThere = (focus === "composer" || cut === true) && draft !== "" &&
      isEndOf(draft, this.#before.reading.draft ?? "");
    return isThere && (state !== "working" || this.#changes >= CHANGES_AT_WORK);
  }
}
