/** Decides from the screens before and after Enter whether the agent took a message. */
import type { Screen } from "../../agents/profile.ts";
import type { Observation } from "./pane_check.ts";
import { slashCommand } from "./policy.ts";

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

type ObservedScreen = Pick<Observation, "screen" | "reading">;

/** The screen at each moment that matters. */
export interface ConfirmScreens {
  /** Before anything was typed. */
  untouched: ObservedScreen;
  /** Right before Enter. */
  before: ObservedScreen;
  now: ObservedScreen;
}

/**
 * The composer showed the text and is empty now. Or it is gone, and either a slash command opened another screen, or the
 * text appears where it was not before.
 */
export function screenConfirms(body: string, { untouched, before, now }: ConfirmScreens): boolean {
  const { reading, screen } = now;
  if (!before.reading.draft) {
    // The composer was unreadable: the text above it, or the start of work, must do.
    if (reading.focus === "dialog") return false;
    if (reading.draft === "" && shows(screen, body) && !shows(untouched.screen, body)) return true;
    const stateBefore = before.reading.state;
    return stateBefore !== undefined && stateBefore !== "working" && reading.state === "working";
  }
  if (reading.draft !== undefined) return reading.draft === "";
  if (slashCommand(body) !== undefined) return true;
  return shows(screen, body) && !shows(untouched.screen, body);
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

function shows(screen: Screen, body: string): boolean {
  const line = body.trimStart().split("\n", 1)[0]?.slice(0, SHOWN_CHARS).trim() ?? "";
  return line !== "" && screen.lines.some((shown) => shown.includes(line));
}

/** Watches the screens after Enter until the agent has read it: a dialog that opens before would take it for its answer. */
export class EnterWatch {
  readonly #before: string | undefined;
  #goneSince: number | undefined;

  constructor({ reading }: ObservedScreen) {
    this.#before = reading.draft;
  }

  /**
   * True once the composer no longer shows what it showed before, and where nobody can tell. A screen without a composer
   * may be half drawn: it counts only after DRAW_LIMIT_MS. `at`: milliseconds.
   */
  isRead({ reading }: ObservedScreen, at: number): boolean {
    if (!this.#before) return true;
    if (reading.draft !== undefined) {
      this.#goneSince = undefined;
      return reading.draft !== this.#before;
    }
    this.#goneSince ??= at;
    return at - this.#goneSince >= DRAW_LIMIT_MS;
  }
}

/** The same text is still in the composer after this many screen changes since Enter. */
export function enterWasLost(before: ObservedScreen, { reading }: ObservedScreen, changes: number): boolean {
  const isThere = (reading.focus === "composer" || reading.cut === true) && Boolean(before.reading.draft) &&
    reading.draft === before.reading.draft;
  return isThere && (reading.state !== "working" || changes >= CHANGES_AT_WORK);
}

/** Counts the screens that differ from the one before. */
export class ScreenChanges {
  count = 0;
  #last: string;

  constructor(first: Screen) {
    this.#last = first.lines.join("\n");
  }

  add({ lines }: Screen): void {
    const text = lines.join("\n");
    if (text !== this.#last) this.count++;
    this.#last = text;
  }
}
