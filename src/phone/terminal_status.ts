/** The text of a terminal's status line, and whether keys can be sent. */
import type { KeyState } from "../protocol/pane_frame.ts";
import { SESSION_TEXT } from "./session_text.ts";
import { STRINGS } from "./strings.ts";
import type { TerminalState } from "./terminal_stream.ts";

const { reasons: WHY } = STRINGS;
const { terminal: TEXT } = SESSION_TEXT;

/** What a terminal's status line depends on. */
export interface TerminalInfo {
  /** `lost`: there is no link to the relay. */
  stream: TerminalState | { kind: "lost" };
  keys?: KeyState | undefined;
  /** Milliseconds from the last input to the report that it was typed. */
  latencyMs?: number | undefined;
  fit: "on" | "off" | "refused";
  /** Set while the user has scrolled up, away from the newest lines. */
  away?: { newer: number } | undefined;
  /** Why the last key was not sent. */
  said?: string;
  /** The stream broke before it was known whether the last keys were typed. */
  unsure?: boolean;
  /** Keys were pressed while the stream was broken, and not sent. */
  missed?: boolean;
}

/**
 * True if no key can be sent: the stream is not live, or a dialog holds earlier keys and no more may be added. A working
 * agent still takes the keys that interrupt it.
 */
export function isBlocked({ stream, keys }: TerminalInfo): boolean {
  return stream.kind !== "live" || (keys?.state === "held" && keys.reason !== "agent_working");
}

interface StatusText {
  status: string;
  /** A problem with keys, with fitting or with the stream; empty if there is none. */
  warning: string;
  tone: "good" | "pending" | "bad";
}

export function statusText({ stream, keys, fit, away, said, unsure, missed }: TerminalInfo): StatusText {
  const broken = [unsure ? TEXT.unsure : "", missed ? TEXT.missed : ""].filter(Boolean).join(" ");
  switch (stream.kind) {
    case "opening":
      return { status: TEXT.opening, warning: broken, tone: "pending" };
    case "lost":
      return { status: TEXT.lost, warning: broken, tone: "bad" };
    case "live": {
      const first = said ?? (fit === "refused" ? TEXT.fitRefused : keysText(keys) || broken);
      const warning = [first, stream.trouble ? TEXT.troubles[stream.trouble] : ""].filter(Boolean).join(" ");
      const size = away ? TEXT.away : TEXT.size(stream.size.cols, stream.size.rows);
      return {
        status: fit === "on" ? TEXT.fitted(size) : size,
        warning,
        tone: warning === "" ? "good" : "bad",
      };
    }
    case "ended":
      return { status: endText(stream.reason), warning: broken, tone: "bad" };
  }
}

/** The status of a session that has ended; `screen` is the text that is still drawn. */
export function endedText(screen: string, isRenamed: boolean): StatusText {
  const ended = screen.trim() === "" ? TEXT.ends.session_ended : TEXT.lastScreen;
  const status = isRenamed ? TEXT.ends.session_renamed : ended;
  return { status, warning: "", tone: "pending" };
}

function keysText(keys: TerminalInfo["keys"]): string {
  if (keys === undefined || keys.state === "typed") return "";
  if (keys.state === "unknown") return TEXT.unsure;
  const reason = keys.reason ?? "";
  if (keys.state === "held") {
    if (reason === "dialog_open" || !(reason in WHY)) return TEXT.held;
    return TEXT.heldFor(WHY[reason as keyof typeof WHY]);
  }
  if (reason === "repeated") return TEXT.keysRepeated;
  if (!(reason in WHY)) return TEXT.notTyped(reason);
  return TEXT.notTyped({ ...WHY, ...TEXT.whyKeys }[reason as keyof typeof WHY]);
}

function endText(reason: string): string {
  return (TEXT.ends as Partial<Record<string, string>>)[reason] ?? TEXT.endedOther(reason);
}
