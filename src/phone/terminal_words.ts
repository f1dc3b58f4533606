/** What a terminal's status line says. */
import { REASONS } from "../protocol/receipt.ts";
import { STRINGS } from "./strings.ts";
import type { KeyState } from "../protocol/mirror.ts";
import type { TerminalState } from "./terminal_stream.ts";

const { terminal: WORDS, advice: ADVICE } = STRINGS;

/** What the page says of a terminal. */
export interface TerminalTold {
  stream: TerminalState;
  keys?: KeyState | undefined;
  /** Milliseconds from the last input to the word that it was typed. */
  latencyMs?: number | undefined;
  fit: "on" | "off" | "refused";
}

export interface TerminalWords {
  status: string;
  /** About the newest keys, about fitting, or about what came; empty when all went well. */
  keys: string;
  tone: "good" | "pending" | "bad";
}

export function terminalWords({ stream, keys, fit }: TerminalTold): TerminalWords {
  const trouble = stream.kind === "live" && stream.trouble ? WORDS.troubles[stream.trouble] : "";
  const told = fit === "refused" ? WORDS.fitRefused : keysWords(keys);
  const said = [told, trouble].filter(Boolean).join(" ");
  switch (stream.kind) {
    case "opening":
      return { status: WORDS.opening, keys: "", tone: "pending" };
    case "live":
      return {
        status: WORDS.size(stream.size.cols, stream.size.rows),
        keys: said,
        tone: said === "" ? "good" : "bad",
      };
    case "ended":
      return { status: endWords(stream.reason), keys: "", tone: "bad" };
  }
}

function keysWords(keys: TerminalTold["keys"]): string {
  if (keys === undefined || keys.state === "typed") return "";
  const reason = keys.reason ?? "";
  if (keys.state === "held") return WORDS.held;
  if (reason === "repeated") return WORDS.keysRepeated;
  if (!(reason in REASONS)) return WORDS.notTyped(reason);
  return WORDS.notTyped(
    reason === "shell_escape" ? WORDS.shellEscape : ADVICE[reason as keyof typeof ADVICE],
  );
}

function endWords(reason: string): string {
  return (WORDS.ends as Partial<Record<string, string>>)[reason] ?? WORDS.endedOther(reason);
}
