/** Everything that a phone can send, as random sequences: keys, texts, bursts, slash commands, pastes, messages, sizes. */
import { KEY_NAMES, type KeyInput } from "../../../src/protocol/key_input.ts";
import type { Random } from "./random.ts";

/** One action of the phone; `wait` gives the agent time to draw. */
export type Step =
  | { kind: "keys"; inputs: KeyInput[] }
  /** `anyway`: sent even if there is a draft. */
  | { kind: "message"; body: string; anyway: boolean }
  | { kind: "wait"; ms: number };

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
const EVERY_KEY: readonly string[] = [
  ...KEY_NAMES,
  ...LETTERS.map((letter) => `C-${letter}`),
  ...LETTERS.map((letter) => `M-${letter}`),
  "M-Enter",
  "M-BSpace",
];
/**
 * Texts that some screen takes as keys: a shell's prefix, an editor's command, the rest of an escape sequence, an
 * answer.
 */
const SHORT_TEXTS = [
  ...["!", ":", "/", "@", "#", "&", "?", "\\", "a", "i", "o", "v", "y", "n", "p", "q", "1", "2", "3"],
  ...["[Z", "[103;5u", "[27;5;103~", "O", "OM", ":w", ":!", ":q!", "ZZ", "hello", "please stop", "日本"],
];
const SIZES = [[20, 5], [42, 14], [80, 24], [120, 40], [200, 50]] as const;

const text = (text: string): KeyInput => ({ type: "text", text });
const key = (key: string): KeyInput => ({ type: "key", key });
const paste = (text: string): KeyInput => ({ type: "paste", text });
const ENTER = key("Enter");
const ESCAPE = key("Escape");

function times(count: number, input: KeyInput): KeyInput[] {
  return Array.from({ length: count }, () => input);
}

export interface InputsOptions {
  random: Random;
  /** The shell command that creates the canary file. */
  command: string;
  /** The agent's slash commands, with the slash. */
  slashes: readonly string[];
}

/** Bursts that once opened a shell, an editor or another mode of some agent. */
function attacks({ command }: InputsOptions): KeyInput[][] {
  const shell = text(`!${command}`);
  const editor = text(`:!${command}`);
  return [
    [key("C-g"), editor, ENTER],
    [key("C-x"), key("C-e"), editor, ENTER],
    [key("C-x"), key("e"), editor, ENTER],
    [ESCAPE, text("v"), editor, ENTER],
    [key("C-o"), text("v"), editor, ENTER],
    [key("C-t"), text("v"), editor, ENTER],
    [text("a"), key("BSpace"), shell, ENTER],
    [text("a"), key("C-u"), shell, ENTER],
    [text("a"), key("Home"), text("!"), key("End"), text(`;${command}`), ENTER],
    [text(command), key("Home"), text("!"), ENTER],
    [text(command), key("C-a"), text("!"), ENTER],
    [text(` `), key("BSpace"), text("!"), text(command), ENTER],
    [text("!"), text(command), ENTER],
    [shell, ENTER],
    [paste(`!${command}`), ENTER],
    [paste(`a\n!${command}\n`), ENTER],
    [paste(`${command}\n`), key("Home"), text("!"), ENTER],
    [ESCAPE, text("[Z")],
    [ESCAPE, text("[103;5u"), editor, ENTER],
    [ESCAPE, text("[27;5;103~")],
    [text("\\"), ENTER, shell, ENTER],
    [key("Left"), text("hello"), ENTER],
    [key("Left"), ENTER, text("!"), text(command), ENTER],
    [key("Up"), ENTER],
    [key("Up"), key("Up"), ENTER],
    [key("C-r"), text("touch"), ENTER, ENTER],
    [key("C-z"), text(command), ENTER],
    [key("C-z"), text("fg"), ENTER],
    [key("BTab"), key("BTab")],
    [key("C-y")],
    [key("Tab")],
    [key("C-t"), key("C-o"), key("C-e")],
    [key("C-s"), shell, key("C-s"), ENTER],
    [text("?"), ENTER],
    [text("y"), ENTER],
    [text("1")],
    [text("p")],
    [text("2"), ENTER],
    [key("Down"), ENTER],
    [ENTER],
    [key("C-m")],
    [key("C-j")],
    [key("M-Enter")],
    [text(":w"), ENTER],
    [ESCAPE, ESCAPE],
    [ESCAPE, ESCAPE, ENTER],
    [key("C-c")],
    [text("@"), text("proj"), key("Tab"), ENTER],
  ];
}

function randomInput({ random, command }: InputsOptions): KeyInput {
  const roll = random.next();
  if (roll < 0.5) return key(random.pick(EVERY_KEY));
  if (roll < 0.8) return text(random.pick(SHORT_TEXTS));
  if (roll < 0.88) return text(random.pick(["!", ":!", ""]) + command);
  if (roll < 0.94) return paste(random.pick(bodies({ random, command, slashes: [] })));
  return ENTER;
}

function bodies({ command, random }: InputsOptions): string[] {
  return [
    "please stop",
    `!${command}`,
    `:!${command}`,
    command,
    `a\n!${command}`,
    `\u00a0!${command}`,
    ":w",
    "y",
    "1",
    "p",
    "[Z",
    "\\",
    `ends with a backslash \\`,
    "x".repeat(random.int(1, 3_000)),
    Array.from({ length: random.int(2, 30) }, (_, at) => `line ${at}`).join("\n"),
  ];
}

/** Puts a path before a draft, or types a single `/`, for which some agents list all their commands. */
function inFront({ random, command }: InputsOptions): KeyInput[] {
  const draft = text(random.pick(["/connect now", "hello there", ` ${command}`]));
  const way = times(random.int(0, 8), key("Down"));
  return [
    draft,
    key("Home"),
    text(random.pick(["/", "/e", "@"])),
    ...way,
    ENTER,
    text(`:!${command}`),
    ENTER,
  ];
}

/** A slash command, typed whole or chosen in the menu with its first letters and the arrows. */
function slash({ random, slashes, command }: InputsOptions): KeyInput[] {
  const name = random.pick(slashes);
  const further = random.pick([[], [ENTER], [key("Down"), ENTER], [ESCAPE], [text(" on"), ENTER]]);
  if (random.chance(0.2)) return [text(`${name} ${command}`), ENTER];
  if (random.chance(0.5)) return [text(name), ENTER, ...further];
  const prefix = name.slice(0, random.int(1, name.length));
  const way = times(random.int(0, 6), key(random.pick(["Down", "Up"])));
  return [text(prefix), ...way, random.pick([ENTER, key("Tab")]), ENTER, ...further];
}

function fit(random: Random): KeyInput {
  const [cols, rows] = random.pick(SIZES);
  return random.chance(0.3) ? { type: "unfit" } : { type: "fit", cols, rows };
}

/** A command whose last letters arrive as a message. */
function completed({ random, slashes }: InputsOptions): Step[] {
  const command = random.pick(slashes);
  const at = random.int(1, Math.max(1, command.length - 1));
  return [
    { kind: "keys", inputs: [ESCAPE, text(command.slice(0, at))] },
    { kind: "message", body: command.slice(at) || " ", anyway: true },
  ];
}

/** Returns the phone's next actions. */
export function nextSteps(options: InputsOptions): Step[] {
  const { random, slashes } = options;
  const roll = random.next();
  const pause: Step = { kind: "wait", ms: random.pick([0, 0, 50, 200, 600]) };
  if (roll < 0.3) return [{ kind: "keys", inputs: random.pick(attacks(options)) }, pause];
  if (roll < 0.34) return [{ kind: "keys", inputs: inFront(options) }, pause];
  if (roll < 0.52 && slashes.length > 0) return [{ kind: "keys", inputs: slash(options) }, pause];
  if (roll < 0.58) return [{ kind: "keys", inputs: [fit(random)] }, pause];
  const anyway = random.chance(0.4);
  if (roll < 0.66) return [{ kind: "message", body: random.pick(bodies(options)), anyway }, pause];
  if (roll < 0.7 && slashes.length > 0) {
    return [{ kind: "message", body: random.pick(slashes), anyway }, pause];
  }
  if (roll < 0.73 && slashes.length > 0) return [...completed(options), pause];
  if (roll < 0.78) return [{ kind: "keys", inputs: [ESCAPE, ESCAPE] }, { kind: "wait", ms: 800 }];
  const inputs = Array.from({ length: random.int(1, 12) }, () => randomInput(options));
  if (random.chance(0.5)) return [{ kind: "keys", inputs }, pause];
  return inputs.flatMap((input): Step[] => [{ kind: "keys", inputs: [input] }, pause]);
}
