/** What proves that an agent took a message, by the screens before and after Enter. */
import type { Screen } from "../../agents/profile.ts";
import type { Observation } from "./pane_check.ts";
import { slashCommand } from "./policy.ts";

/** An agent at work draws all the time: this many pictures later it has read what came before the first of them. */
export const PICTURES_AT_WORK = 3;
/**
 * Once the composer has been out of sight, a screen must last this long to confirm anything, in milliseconds: an agent
 * that closes a dialog draws its composer empty first and puts the draft back in a later frame.
 */
export const STEADY_MS = 1_500;
/** How much of a message's first line is looked for: narrow panes wrap the rest. */
const SHOWN_CHARS = 24;

type Look = Pick<Observation, "screen" | "reading">;

/** What the screen showed at each moment that matters. */
export interface ProofScreens {
  /** Before anything was typed. */
  untouched: Look;
  /** Right before Enter. */
  before: Look;
  now: Look;
}

/**
 * The composer showed the text and is empty now. Or it is gone, and a slash command has opened another screen, or the
 * text shows where it did not before.
 */
export function screenProves(body: string, { untouched, before, now }: ProofScreens): boolean {
  const { reading, screen } = now;
  if (!before.reading.draft) {
    // Nobody could read the composer: the text above it, or the start of work, has to do.
    if (reading.focus === "dialog") return false;
    if (reading.draft === "" && shows(screen, body) && !shows(untouched.screen, body)) return true;
    const stateBefore = before.reading.state;
    return stateBefore !== undefined && stateBefore !== "working" && reading.state === "working";
  }
  if (reading.draft !== undefined) return reading.draft === "";
  if (slashCommand(body) !== undefined) return true;
  return shows(screen, body) && !shows(untouched.screen, body);
}

/** Watches the screens that follow Enter for the one that confirms the submission. */
export class ScreenConfirmation {
  #body: string;
  #screens: Pick<ProofScreens, "untouched" | "before">;
  /** Since Enter the composer was out of sight at least once. */
  #wasGone = false;
  #since: number | undefined;

  constructor(body: string, screens: Pick<ProofScreens, "untouched" | "before">) {
    this.#body = body;
    this.#screens = screens;
  }

  /** True when `now`, read at `at` (milliseconds), confirms that the agent took the message. */
  add(now: Look, at: number): boolean {
    this.#wasGone ||= Boolean(this.#screens.before.reading.draft) && now.reading.draft === undefined;
    if (!screenProves(this.#body, { ...this.#screens, now })) {
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

/** The same text is still in the composer; `pictures` were drawn since Enter. */
export function enterWasLost(before: Look, { reading }: Look, pictures: number): boolean {
  const isThere = (reading.focus === "composer" || reading.cut === true) && Boolean(before.reading.draft) &&
    reading.draft === before.reading.draft;
  return isThere && (reading.state !== "working" || pictures >= PICTURES_AT_WORK);
}

/** Counts the screens that differ from the one before. */
export class Pictures {
  count = 0;
  #last: string;

  constructor(first: Screen) {
    this.#last = first.lines.join("\n");
  }

  add({ lines }: Screen): void {
    const picture = lines.join("\n");
    if (picture !== this.#last) this.count++;
    this.#last = picture;
  }
}
