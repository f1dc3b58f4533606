/** The proof that the agent took the message: its hook took the marker, or its screen shows it. */
import type { Screen, ScreenReading } from "../agents/profile.ts";
import type { AgentState } from "../protocol/session.ts";
import { TmuxError } from "../tmux/server.ts";
import { look, type Seen } from "./hold.ts";
import type { Attempt, WrittenMarker } from "./inject_host.ts";
import { type Outcome, Stopping } from "./outcome.ts";
import { pressEnter } from "./press_enter.ts";

/** How long the proof is awaited before the receipt says `typed`. */
export const PROOF_LIMIT_MS = 3_000;
/** The same where the input line cannot be read, so that only a hook could prove it. */
export const HOOK_PROOF_LIMIT_MS = 1_000;
/** Text still in the input line after this time: Enter was lost, and is pressed once more. */
export const ENTER_AGAIN_MS = 800;
const PROOF_STEP_MS = 20;
/** An agent at work draws all the time: this many pictures later it has read what came before the first of them. */
export const PICTURES_AT_WORK = 3;

/** What the screen showed at each moment that matters. */
export interface ProofScreens {
  /** Before anything was typed. */
  untouched: Screen;
  /** The fullest input line that was seen since. */
  draft: string | undefined;
  /** State at the last look before Enter. */
  stateBefore: AgentState | undefined;
  now: { screen: Screen; reading: ScreenReading };
}

/**
 * The input line held text and is empty now; or it is empty and the text stands above it, where it did not before; or
 * work began.
 */
export function screenProves(body: string, { untouched, draft, stateBefore, now }: ProofScreens): boolean {
  const { reading, screen } = now;
  if (reading.focus === "dialog") return false;
  if (reading.draft === "" && (draft || (shows(screen, body) && !shows(untouched, body)))) return true;
  return stateBefore !== undefined && stateBefore !== "working" && reading.state === "working";
}

/** How much of a message's first line is looked for: narrow panes wrap the rest. */
const SHOWN_CHARS = 24;

function shows(screen: Screen, body: string): boolean {
  const line = body.trimStart().split("\n", 1)[0]?.slice(0, SHOWN_CHARS).trim() ?? "";
  return line !== "" && screen.lines.some((shown) => shown.includes(line));
}

/** The text is still in the input line, with no dialog; `pictures` were drawn since Enter. */
export function enterWasLost(draft: string | undefined, now: ScreenReading, pictures: number): boolean {
  const isThere = now.focus !== "dialog" && Boolean(draft) && now.draft === draft;
  return isThere && (now.state !== "working" || pictures >= PICTURES_AT_WORK);
}

/** Counts the screens that differ from the one before. */
class Pictures {
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

export interface Sent {
  marker: WrittenMarker;
  /** The last look before typing, and before Enter. */
  untouched: Seen;
  before: Seen;
}

/** Enter was sent: `submitted` when that can be shown, else `typed`. */
export async function prove(attempt: Attempt, sent: Sent): Promise<Outcome> {
  try {
    if (await watch(attempt, sent)) return { state: "submitted" };
  } catch (error) {
    if (!(error instanceof TmuxError) && !(error instanceof Stopping)) throw error;
  }
  return { state: await sent.marker.taken() ? "submitted" : "typed" };
}

async function watch(attempt: Attempt, { marker, untouched, before }: Sent): Promise<boolean> {
  const { host, command } = attempt;
  const start = host.now();
  const pictures = new Pictures(before.screen);
  let draft = before.reading.draft;
  const limit = before.reading.draft === undefined ? HOOK_PROOF_LIMIT_MS : PROOF_LIMIT_MS;
  host.report(command.id, { state: "typed" });
  for (let again = false; host.now() - start < limit; await host.pause(PROOF_STEP_MS)) {
    if (await marker.taken()) return true;
    const now = await look(attempt);
    if ("outcome" in now) return false;
    const screens = { untouched: untouched.screen, draft, stateBefore: before.reading.state, now: now.seen };
    if (screenProves(command.body, screens)) return true;
    draft = now.seen.reading.draft || draft;
    pictures.add(now.seen.screen);
    const late = host.now() - start >= ENTER_AGAIN_MS;
    if (late && !again && enterWasLost(draft, now.seen.reading, pictures.count)) {
      again = true;
      await pressEnter(attempt, now.seen);
    }
  }
  return false;
}
