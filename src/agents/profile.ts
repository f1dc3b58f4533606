/** What svc knows about one kind of agent: how to start it, type into it, and read its screen. */
import type { AgentKind } from "../protocol/names.ts";
import type { AgentState } from "../protocol/session.ts";

/**
 * What a pane shows: all its lines from top to bottom, each without the blanks at its end (an empty `> ` is `>`), its title,
 * its cursor (0-based).
 */
export interface Screen {
  lines: string[];
  title: string;
  cursor: { x: number; y: number; visible: boolean };
  /**
   * The program has the keypad or the cursor keys in application mode (`#{keypad_flag}`, `#{keypad_cursor_flag}`): vi,
   * less and similar programs do, no agent does. Undefined if tmux was not asked.
   */
  applicationKeys?: boolean;
}

/**
 * What receives the keys, as far as the screen positively shows it. `composer`: the agent's own input line. `dialog`: a
 * permission, trust or choice dialog, which Enter would answer. `menu`: a screen that the profile lists as harmless.
 * `unknown`: anything else, such as an editor, a pager, or a turn that hides the composer.
 */
export type Focus = "composer" | "dialog" | "menu" | "unknown";

export interface ScreenReading {
  /** Undefined when the screen does not show it. */
  state: AgentState | undefined;
  focus: Focus;
  /**
   * The text in the composer, `""` if it is empty; undefined if there is no composer. In the agent's shell mode it
   * begins with `!`, even if it is empty.
   */
  draft: string | undefined;
  /**
   * The composer scrolls: `draft` is the visible part of a text that may be longer. If nothing else of the composer is
   * on the screen, the focus is `unknown` and `draft` is the end of the text.
   */
  cut?: true;
  /**
   * The cursor is before the end of the slash command's name with which the draft begins: some agents then look for a
   * command by the part of the name before the cursor, and Enter runs what they find.
   */
  cursorInCommand?: true;
  /** With `menu`: its name in the profile's `menus`. */
  menu?: string;
  /** The user has interrupted the turn, and the agent only waits for a hook of it to end. */
  interrupted?: true;
}

/** What a phone may type into a harmless screen. Esc and the arrows are always allowed. */
export interface MenuKeys {
  /** tmux names of keys. */
  keys: readonly string[];
  /** Plain text must match this as a whole; undefined: no text is allowed. */
  text?: RegExp;
}

/** A harmless screen: how it is recognized, and what may be typed into it. */
export interface MenuScreen extends MenuKeys {
  name: string;
  /** A read-only view: the agent may be working behind it. */
  isView?: true;
  /** Matches only while the agent itself draws it: text that the agent prints elsewhere must not match. */
  isShown(screen: Screen): boolean;
}

/** How the live keys allowed in this agent differ from those allowed in every agent. */
export interface KeyRules {
  /**
   * tmux names of keys allowed in this agent's composer in addition to `PHONE_KEYS` of
   * `src/listener/keystrokes/keystroke_rules.ts`: those that open a harmless menu.
   */
  alsoAllowed: readonly string[];
  /** Keys of `PHONE_KEYS` that do something else in this agent: open an editor, suspend, change approvals. */
  forbidden: readonly string[];
  /** Keys that do so only while the composer is empty. */
  forbiddenWhenEmpty?: readonly string[];
}

/** For an agent whose hook holds back its permission dialog while a message is being typed. */
export interface GateProfile {
  /**
   * A dialog that opens within this many milliseconds after Enter may swallow it. A confirmed submission ends the wait
   * earlier.
   */
  afterEnterMs: number;
}

export interface TypingProfile {
  /** `paste`: a bracketed paste if the agent has enabled it. `marked`: a bracketed paste always. `plain`: as keys. */
  method: "paste" | "marked" | "plain";
  /** Milliseconds between the text and Enter; shorter if the screen settles earlier. */
  settleMs: number;
  /** Minimum time in milliseconds between the screen that shows a paste and Enter: some agents treat an earlier Enter as part of it. */
  settleAtLeastMs?: number;
  /**
   * Which texts get one trailing space, because Enter after `\\` begins a line, and after `@word`, `$word` or `:word`
   * accepts what the agent suggests. `text`: all except slash commands, in an agent that trims them. `tail`: those that
   * end in `\\` or `@word`, and a path alone, in an agent that looks for it among its commands.
   */
  spaceAfter: "text" | "tail" | "none";
}

export interface DialogMarks {
  /**
   * Regular expressions that are valid both as POSIX extended and in JavaScript, matched against single screen lines; any
   * match is a dialog. ASCII only: tmux evaluates them together with Enter, and 3.3a matches no other characters. No
   * backslashes: `[[]` stands for `[`, and a `]` alone for itself. A line must stop matching once the dialog is answered:
   * tmux finds the topmost match, and one that stays hides a new dialog below it.
   */
  lines: readonly string[];
  /** tmux glob patterns (`fnmatch`) of the pane's title while a dialog is open. */
  titles: readonly string[];
}

/**
 * What no phone may let a request use, whatever the host's configuration (`src/listener/cards/never_allowed.ts`):
 * regular expressions.
 */
export interface OffLimits {
  /** Files and folders of its settings, as a request names them. */
  settings: readonly string[];
  /** Options that make it run without a terminal for its questions, or allow everything. */
  options?: readonly string[];
  /** Subcommands that do so: the first word after its program. */
  subcommands?: readonly string[];
}

export interface AgentProfile {
  kind: AgentKind;
  label: string;
  /** The program, as PATH finds it. */
  binary: string;
  offLimits: OffLimits;
  /** The command that installs it. */
  install: string;
  /** Its package on npm. */
  npmPackage?: string;
  /** Arguments put before the user's own. */
  args: readonly string[];
  /** Arguments with which it continues its last conversation in the folder; undefined: none are known. */
  resume: readonly string[] | undefined;
  /** Variables that let the agent wait for the phone. */
  env: Readonly<Record<string, string>>;
  /** Its processes ignore SIGHUP: the wrapper ends those that are left after the session. */
  ignoresHangup: boolean;
  /**
   * It has no prompt hook (docs/specification.md, REMOTE mode): a marker left behind would match what someone types into
   * another agent.
   */
  takesNoMarkers?: true;
  typing: TypingProfile;
  dialog: DialogMarks;
  /** The version on which its screens, keys and commands were measured; `""` if none was. */
  measuredVersion: string;
  /** Harmless screens other than the composer, by the name that a reading reports. */
  menus: Readonly<Record<string, MenuKeys>>;
  keys: KeyRules;
  /** Slash commands, without the slash, that are harmless: its line in `SLASH_COMMANDS`. */
  commands: readonly string[];
  /** Those of them that are harmless without arguments only: its line in `BARE_COMMANDS`. */
  bareCommands?: readonly string[];
  /** The user's own command in a folder has the folder in its name: `/git/commit`. */
  nestsCommands?: true;
  /** The slash command, with the slash, that opens its list of models. */
  modelCommand?: string;
  /** `!` in an empty composer turns it into a shell. */
  hasShellMode?: true;
  /** The first message opens another view. Text that is typed into the one before meanwhile is lost. */
  opensView?: true;
  /** Matches the whole draft when the composer shows a placeholder for a long paste. */
  foldedPaste?: RegExp;
  /** Undefined for an agent that has no hook before its dialogs, or that queues what arrives during a turn. */
  gate?: GateProfile;
  readScreen(screen: Screen): ScreenReading;
}

/** The text that a search field accepts. */
export const SEARCH_TEXT = /^[\p{L}\p{N} ._-]+$/u;
/** The number of a row. */
export const ROW_NUMBER = /^[1-9]$/;

/** The keys of each menu by its name, as a profile has them. */
export function menuKeys(menus: readonly MenuScreen[]): Readonly<Record<string, MenuKeys>> {
  const entries = menus.map(({ name, keys, text }) =>
    [name, text === undefined ? { keys } : { keys, text }] as const
  );
  return Object.fromEntries(entries);
}
