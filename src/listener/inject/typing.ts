/** Builds the guarded tmux commands that type a text. */
import type { TypingProfile } from "../../agents/profile.ts";
import { type TmuxCommand, verbs } from "../../tmux/argv.ts";
import { utf8Length } from "../../async/utf8.ts";

/** Text per tmux command; with every byte escaped it stays below tmux's 16,384-byte message. */
export const PIECE_MAX_BYTES = 2_000;

/** tmux prints this if the guard was false. */
export const GUARD_REFUSED = "svc-guard-refused";

const SLASH_COMMAND = /^\/[A-Za-z][\w:-]*(\s|$)/;

function isSlashCommand(body: string): boolean {
  return !body.includes("\n") && SLASH_COMMAND.test(body);
}

/**
 * `paste`: with bracketed-paste marks if the program requested them; `marked`: always with marks; `plain`: as
 * keys.
 */
export type TypingMethod = TypingProfile["method"];

/**
 * A slash command is typed as keys, because agents treat a pasted one as text. Several lines over a shell always get
 * marks: if the agent dies meanwhile, its shell gets them and must not run them.
 */
export function typingMethod(
  body: string,
  { typing, shellBelow }: { typing: TypingProfile; shellBelow: boolean },
): TypingMethod {
  if (body.includes("\n")) return shellBelow ? "marked" : typing.method;
  return isSlashCommand(body) ? "plain" : typing.method;
}

/** The text as it is typed. */
export function typedText(body: string, typing: TypingProfile): string {
  return needsSpace(body, typing) ? `${body} ` : body;
}

function needsSpace(body: string, { spaceAfter }: TypingProfile): boolean {
  switch (spaceAfter) {
    case "text":
      return !isSlashCommand(body) && !/\s$/.test(body);
    case "tail":
      return /(\\|@\S*)$/.test(body);
    case "none":
      return false;
  }
}

/** In three agents a message whose first non-blank character is `!` runs a shell command. */
export function isShellEscape(body: string): boolean {
  return body.trimStart().startsWith("!");
}

/** Splits text into pieces of at most PIECE_MAX_BYTES, never inside a character. */
export function pieces(text: string): string[] {
  const list: string[] = [];
  let piece = "";
  let bytes = 0;
  for (const character of text) {
    const more = utf8Length(character);
    if (bytes + more > PIECE_MAX_BYTES) {
      list.push(piece);
      [piece, bytes] = ["", 0];
    }
    piece += character;
    bytes += more;
  }
  return piece === "" ? list : [...list, piece];
}

/** Runs `commands` only if the guard is true, else prints GUARD_REFUSED. */
export function guarded(pane: string, guard: string, commands: TmuxCommand[]): TmuxCommand {
  return verbs.ifFormat(pane, guard, { then: commands, otherwise: [verbs.printPlain(GUARD_REFUSED)] });
}

/**
 * The requests that type a text. `fill` loads a paste buffer; `type` types all of it in one tmux queue with the
 * guard, and prints GUARD_REFUSED if nothing was typed.
 */
export function typingRequests(
  pane: string,
  { text, method, guard }: { text: string; method: TypingMethod; guard: string },
): { fill: TmuxCommand[][]; type: TmuxCommand[] } {
  const leave = verbs.leaveModes(pane);
  const parts = pieces(method === "marked" ? `\u001b[200~${text}\u001b[201~` : text);
  if (method === "plain" && parts.length === 1) {
    return { fill: [], type: [guarded(pane, guard, [leave, verbs.sendLiteral(pane, text)])] };
  }
  const buffer = `svc-${crypto.randomUUID()}`;
  const paste = verbs.pasteBuffer(buffer, pane, { marks: method === "paste" });
  const refuse = [verbs.deleteBuffer(buffer), verbs.printPlain(GUARD_REFUSED)];
  return {
    fill: parts.map((part) => [verbs.appendBuffer(buffer, part)]),
    type: [verbs.ifFormat(pane, guard, { then: [leave, paste], otherwise: refuse })],
  };
}
