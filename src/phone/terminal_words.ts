/** What a terminal's status line says. */
import { REASONS } from "../protocol/receipt.ts";
import { STRINGS } from "./strings.ts";
import type { KeyState } from "../protocol/pane_frame.ts";
import type { TerminalState } from "./terminal_stream.ts";

const { terminal: WORDS, advice: ADVICE } = STRINGS;

/** What the page says of a terminal. */
export interface TerminalTold {
  /** `lost`: there is no link to the relay. */
  stream: TerminalState | { kind: "lost" };
  keys?: KeyState | undefined;
  /** Milliseconds from the last input to the word that it was typed. */
  latencyMs?: number | undefined;
  fit: "on" | "off" | "refused";
  /** The stream broke before it was known what became of the last keys. */
  unsure?: boolean;
}

/**
 * No key can go in: there is no stream, or a dialog holds what was typed, and what is held must not grow. An agent at
 * work takes the keys that interrupt it.
 */
export function isBlocked({ stream, keys }: TerminalTold): boolean {
  return stream.kind !== "live" || (keys?.state === "held" && keys.reason !== "agent_working");
}

export interface TerminalWords {
  status: string;
  /** About the newest keys, about fitting, or about what came; empty when all went well. */
  keys: string;
  tone: "good" | "pending" | "bad";
}

export function terminalWords({ stream, keys, fit, unsure = false }: TerminalTold): TerminalWords {
  const broken = unsure ? WORDS.unsure : "";
  switch (stream.kind) {
    case "opening":
      return { status: WORDS.opening, keys: broken, tone: "pending" };
    case "lost":
      return { status: WORDS.lost, keys: broken, tone: "bad" };
    case "live": {
      const told = fit === "refused" ? WORDS.fitRefused : keysWords(keys) || broken;
      const said = [told, stream.trouble ? WORDS.troubles[stream.trouble] : ""].filter(Boolean).join(" ");
      const size = WORDS.size(stream.size.cols, stream.size.rows);
      return {
        status: fit === "on" ? WORDS.fitted(size) : size,
        keys: said,
        tone: said === "" ? "good" : "bad",
      };
    }
    case "ended":
      return { status: endWords(stream.reason), keys: broken, tone: "bad" };
  }
}

function keysWords(keys: TerminalTold["keys"]): string {
  if (keys === undefined || keys.state === "typed") return "";
  const reason = keys.reason ?? "";
  if (keys.state === "held") {
    if (reason === "dialog_open" || !(reason in REASONS)) return WORDS.held;
    return WORDS.heldFor(REASONS[reason as keyof typeof REASONS]);
  }
  if (reason === "repeated") return WORDS.keysRepeated;
  if (!(reason in REASONS)) return WORDS.notTyped(reason);
  return WORDS.notTyped(
    reason === "shell_escape" ? WORDS.shellEscape : ADVICE[reason as keyof typeof ADVICE],
  );
}

function endWords(reason: string): string {
  return (WORDS.ends as Partial<Record<string, string>>)[reason] ?? WORDS.endedOther(reason);
}
