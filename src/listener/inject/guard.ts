/**
 * The pane guard (docs/specification.md, Target and guard): which panes take input, as a decision here, as a tmux format,
 * and in the commands that type a text behind it.
 */
import { runtime } from "#runtime";
import type { DialogMarks, Screen, TypingProfile } from "../../agents/profile.ts";
import { MAX_SCREEN_COLUMNS, MAX_SCREEN_ROWS } from "../../agents/read_screen.ts";
import { utf8Length } from "../../async/encodings.ts";
import { canonicalText } from "../../protocol/canonical.ts";
import type { Reason } from "../../protocol/receipt.ts";
import { formatText, type TmuxCommand, verbs } from "../../tmux/argv.ts";
import { TmuxError, type TmuxServer } from "../../tmux/server.ts";
import type { Policy } from "./policy.ts";
import { GUARDED_PATTERN, isCommandProgram, isGuardedProgram } from "./programs.ts";

/** What tmux reports of a pane. */
export interface PaneFacts {
  dead: boolean;
  inputOff: boolean;
  /** tmux also sends its keys to the other panes of its window, which were not checked. */
  synchronized: boolean;
  /** The pane's own process. */
  pid: number;
  /** The foreground program as tmux names it. */
  command: string;
}

export interface ProcessFacts {
  /** The pane's process is stopped (state T) and would read the text when it is continued. */
  stopped: boolean;
  /** The executable of the foreground process group's leader; `""` if it is unknown or about to end. */
  foreground: string;
  /** Its arguments, the program first; empty if unknown. */
  argv: readonly string[];
  /**
   * An agent runs in the foreground process group, perhaps behind a launcher: `npx …`, `caffeinate -i claude`. False if
   * it was not looked for.
   */
  hasAgent: boolean;
  /** The pane's own process is a shell: it gets the terminal back when the agent ends. */
  shellBelow: boolean;
}

interface JudgeContext {
  process: ProcessFacts;
  /** The agent's, or 0 without a wrapper. */
  recordedPid: number;
  /** The screen shows whether the agent's own composer has the focus. */
  isProfiled: boolean;
  policy: Pick<Policy, "allowUnknownScreens">;
}

/**
 * Returns why nothing may be typed, or undefined. The shell below, once it has the terminal back, would run what an
 * unknown program leaves unread, such as a build or an agent that is ending.
 */
export function judgePane(
  pane: PaneFacts,
  { process, recordedPid, isProfiled, policy }: JudgeContext,
): Reason | undefined {
  if (pane.dead || pane.inputOff || process.stopped) return "pane_dead";
  if (pane.synchronized) return "panes_synchronized";
  const { foreground, argv } = process;
  if (isGuardedProgram(pane.command) || isGuardedProgram(foreground, argv)) return "shell_in_pane";
  if (process.shellBelow && foreground === "") return "shell_in_pane";
  if (!isProfiled && process.shellBelow && !policy.allowUnknownScreens) return "shell_in_pane";
  if (!isProfiled && isCommandProgram(foreground || pane.command, argv)) return "shell_in_pane";
  if (recordedPid !== 0 && pane.pid !== recordedPid) return "shell_in_pane";
  return undefined;
}

/** 1 for a pane whose keys other panes also get (the window option `synchronize-panes`). */
export const SYNCHRONIZED_FORMAT = "#{?#{pane_synchronized},#{!=:#{window_panes},1},0}";

/** `,` and `}` end a format's argument. */
function formatArgument(text: string): string {
  return formatText(text).replace(/[,}]/g, "#$&");
}

function all(conditions: readonly string[]): string {
  return conditions.reduceRight(
    (rest, condition) => rest === "" ? condition : `#{&&:${condition},${rest}}`,
    "",
  );
}

/**
 * A tmux format, true for a pane that is too large for any profile. Reading it would delay the server's other sessions.
 */
const TOO_LARGE = `#{||:#{e|>:#{pane_width},${MAX_SCREEN_COLUMNS}},#{e|>:#{pane_height},${MAX_SCREEN_ROWS}}}`;
/** Its negation. */
export const READABLE_FORMAT = `#{?${TOO_LARGE},0,1}`;

/** A tmux format: the first screen line, from 1, that looks like a dialog's; 0 if none does, -1 for a pane that is too large to be read. */
export function dialogRowFormat(dialog: DialogMarks): string {
  const search = `#{C/r:${formatArgument(dialog.lines.join("|"))}}`;
  return `#{?${TOO_LARGE},-1,${search}}`;
}

/** The checked state of a pane, which must still hold at the moment of typing. */
export interface GuardedPane {
  pid: number;
  /** The foreground program, which was not a guarded one. */
  command: string;
  /**
   * Only that program may get the text. Over a shell, tmux names a dead agent that the shell has not reaped yet by the
   * pane's first command.
   */
  isOverShell: boolean;
  /** If undefined, an open dialog does not matter. */
  dialog: DialogMarks | undefined;
  /**
   * What `dialogRowFormat` must still print: the row of plain text that looks like a dialog's, 0 without one. Another
   * value means that a dialog opened since.
   */
  dialogRow: number;
  /**
   * For Enter: tmux finds the topmost row only, so that behind plain text like a dialog's the cursor must be where it
   * was, too. A dialog puts it somewhere else.
   */
  cursor?: Screen["cursor"] | undefined;
}

function cursorCondition({ x, y, visible }: Screen["cursor"]): string {
  return `#{==:#{cursor_x} #{cursor_y} #{cursor_flag},${x} ${y} ${visible ? 1 : 0}}`;
}

/** tmux takes longer to compile the pattern than for all other conditions, so the checked program is compared first. */
function programCondition({ command, isOverShell }: GuardedPane): string {
  if (isGuardedProgram(command)) return "0";
  const isSame = `#{==:#{pane_current_command},${formatArgument(command)}}`;
  if (isOverShell) return isSame;
  return `#{?${isSame},1,#{?#{m/r:${formatArgument(GUARDED_PATTERN)},#{pane_current_command}},0,1}}`;
}

/** The guard as a tmux format, true if the pane may be typed into. tmux evaluates it in the same queue as the typing. */
export function guardFormat(guard: GuardedPane): string {
  const { dialog } = guard;
  const titles = dialog?.titles.map((glob) => `#{?#{m:${formatArgument(glob)},#{pane_title}},0,1}`) ?? [];
  const lines = dialog ? [`#{==:${dialogRowFormat(dialog)},${guard.dialogRow}}`] : [];
  const cursor = dialog && guard.dialogRow > 0 && guard.cursor ? [cursorCondition(guard.cursor)] : [];
  return all([
    "#{==:#{pane_dead},0}",
    "#{==:#{pane_input_off},0}",
    `#{==:${SYNCHRONIZED_FORMAT},0}`,
    `#{==:#{pane_pid},${guard.pid}}`,
    programCondition(guard),
    ...lines,
    ...cursor,
    ...titles,
  ]);
}

/** Maximum text per tmux command; with every byte escaped it stays below tmux's 16,384-byte message. */
export const PIECE_MAX_BYTES = 2_000;

/** tmux prints this if the guard was false. */
export const GUARD_REFUSED = "svc-guard-refused";
/** tmux prints this once text or a key is in the pane. */
const GUARD_PASSED = "svc-guard-passed";

/**
 * Runs commands that type. False if tmux found the guard false: nothing was typed. A user's tmux hook that failed once
 * the text was in the pane changes nothing. Throws TmuxError.
 */
export async function runTyping(
  { server, input }: { server: Pick<TmuxServer, "run">; input: { mustSearch: boolean } },
  commands: TmuxCommand[],
): Promise<boolean> {
  const answer = await server.run(...commands).catch((error) => {
    if (error instanceof TmuxError && error.printed.includes(GUARD_PASSED)) return error.printed;
    throw error;
  });
  const isTyped = !answer.includes(GUARD_REFUSED);
  if (!isTyped) input.mustSearch = true;
  return isTyped;
}

const SLASH_COMMAND = /^\/[A-Za-z][\w:-]*(\s|$)/;

function isSlashCommand(body: string): boolean {
  // As a key, a tab completes the command or leaves the composer.
  return !/[\n\t]/.test(body) && SLASH_COMMAND.test(body);
}

/**
 * `paste`: with bracketed-paste marks if the program requested them; `marked`: always with marks; `plain`: as
 * keys.
 */
type TypingMethod = TypingProfile["method"];

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
      return /(\\|@\S*)$/.test(body) || isLonePath(body);
    case "none":
      return false;
  }
}

/** True for a path and nothing else, which some agents look up among the names and aliases of their commands. */
export function isLonePath(text: string): boolean {
  return /^\/\S*\/\S*$/.test(text);
}

/**
 * True if the first visible character is `!`, which runs a shell command in three agents; some remove invisible ones.
 */
export function isShellEscape(body: string): boolean {
  return canonicalText(body).startsWith("!");
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

/** Runs the typing `commands` only if the guard is true; otherwise prints GUARD_REFUSED. */
export function guarded(pane: string, guard: string, commands: TmuxCommand[]): TmuxCommand {
  const then = [...commands, verbs.printPlain(GUARD_PASSED)];
  return verbs.ifFormat(pane, guard, { then, otherwise: [verbs.printPlain(GUARD_REFUSED)] });
}

/**
 * `fill` loads a paste buffer, which `discard` removes again; `type` types all of it in one tmux queue with the guard, and
 * prints GUARD_REFUSED if nothing was typed.
 */
export interface TypingRequests {
  fill: TmuxCommand[][];
  type: TmuxCommand[];
  discard: TmuxCommand[];
}

/** The id of the process that has filled a paste buffer of this name; undefined if it is not svc's. */
export function ownerOfBuffer(name: string): number | undefined {
  const [, owner] = /^svc-(\d+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.exec(name) ?? [];
  return owner === undefined ? undefined : Number(owner);
}

/** The requests that type a text. */
export function typingRequests(
  pane: string,
  { text, method, guard }: { text: string; method: TypingMethod; guard: string },
): TypingRequests {
  const leave = verbs.leaveModes(pane);
  const parts = pieces(method === "marked" ? `\u001b[200~${text}\u001b[201~` : text);
  if (method === "plain" && parts.length === 1) {
    return { fill: [], type: [guarded(pane, guard, [leave, verbs.sendLiteral(pane, text)])], discard: [] };
  }
  const buffer = `svc-${runtime.pid}-${crypto.randomUUID()}`;
  const next = [verbs.printPlain(GUARD_PASSED)];
  const paste = verbs.pasteBuffer(buffer, pane, { marks: method === "paste", next });
  const refuse = [verbs.deleteBuffer(buffer), verbs.printPlain(GUARD_REFUSED)];
  return {
    fill: parts.map((part) => [verbs.appendBuffer(buffer, part)]),
    type: [verbs.ifFormat(pane, guard, { then: [leave, paste], otherwise: refuse })],
    discard: [verbs.deleteBuffer(buffer)],
  };
}
