/** What svc knows about one kind of agent: how to start it, type into it, and read its screen. */
import type { AgentKind } from "../protocol/names.ts";
import type { AgentState } from "../protocol/session.ts";

/** What a pane shows: its lines from top to bottom without trailing blanks, its title, its cursor (0-based). */
export interface Screen {
  lines: string[];
  title: string;
  cursor: { x: number; y: number; visible: boolean };
}

export interface ScreenReading {
  /** Undefined when the screen does not tell. */
  state: AgentState | undefined;
  /** A permission or start dialog is open: Enter would answer it. */
  dialog: boolean;
  /** The text in the agent's input line, `""` when it is empty; undefined when the screen does not show one. */
  draft: string | undefined;
}

export interface TypingProfile {
  /** `paste`: as one bracketed paste, where the agent asks for it. `plain`: as keys. */
  method: "paste" | "plain";
  /** Milliseconds between the text and Enter, ended early once the screen is quiet. */
  settleMs: number;
  /** Milliseconds that are waited even when the screen is quiet: some agents take an early Enter as part of the paste. */
  settleAtLeastMs?: number;
  /** A text that ends in `\\` or `@word` gets one trailing space, which the agent trims: Enter would not submit it otherwise. */
  spaceAfterTail: boolean;
}

export interface DialogMarks {
  /**
   * POSIX extended regular expressions that are JavaScript ones too, matched against single screen lines; any match
   * is a dialog. ASCII only: tmux evaluates them together with Enter, and 3.3a finds no other characters.
   */
  lines: readonly string[];
  /** tmux glob patterns (`fnmatch`) of the pane's title while a dialog is open. */
  titles: readonly string[];
}

export interface AgentProfile {
  kind: AgentKind;
  label: string;
  /** The program, as PATH finds it. */
  binary: string;
  /** The command that installs it. */
  install: string;
  /** Words put before the user's own. */
  args: readonly string[];
  /** Variables that let the agent wait for the phone. */
  env: Readonly<Record<string, string>>;
  /** Its processes ignore hang-up: the wrapper ends what is left of them after the session. */
  ignoresHangup: boolean;
  /** It has no prompt hook (spec, section 1): a marker left behind would fit what someone types into another agent. */
  takesNoMarkers?: true;
  typing: TypingProfile;
  dialog: DialogMarks;
  readScreen(screen: Screen): ScreenReading;
}
