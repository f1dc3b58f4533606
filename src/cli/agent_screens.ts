/** Leads an installed agent through the screens that need no model, and reports which of them its profile recognizes. */
import { runtime } from "#runtime";
import type { AgentProfile, Screen, ScreenReading } from "../agents/profile.ts";
import { agentProfile } from "../agents/profiles.ts";
import { delay, systemClock } from "../async/clock.ts";
import type { AgentKind } from "../protocol/names.ts";
import { exactPane, type TmuxCommand, verbs } from "../tmux/argv.ts";
import { runTmux, TmuxError } from "../tmux/server.ts";
import { endLeftovers, processIdentity } from "../tmux/leftovers.ts";
import { prepareLastWords, saveLastWords, takeLastWords } from "../wrapper/tmux_server.ts";

export interface ScreenResult {
  name: string;
  recognized: boolean;
  /** What the profile read, or why nothing could be read, as text. */
  found: string;
  /** The output of an agent that ended. */
  printed?: string;
}

interface CheckOptions {
  /** An agent that shows neither composer nor dialog by then is not recognized. */
  startLimitMs: number;
  /** Ends the check, and what it started. */
  signal: AbortSignal;
}

const SIZE = { columns: 80, rows: 24 };
const POLL_MS = 200;
/** How often keys are pressed to get back to the empty composer. */
const CLEAR_ATTEMPTS = 6;
const DRAFT = "svc agents check";
/** Every agent that folds long pastes folds this one: many lines, and many characters. */
const LONG = Array.from({ length: 60 }, (_, line) => `${DRAFT}, line ${line + 1} of a long text`).join("\n");

/** A screen, how to get there, and whether a reading of it is right. */
interface Station {
  name: string;
  go(pane: PrivatePane): Promise<void>;
  isRight(reading: ScreenReading): boolean;
}

/**
 * Yields one result for each screen; only one when the agent starts with a dialog, because no dialog is answered. An agent
 * that ends meanwhile is not recognized. Throws the signal's reason when it fires.
 */
export async function* checkAgent(
  kind: AgentKind,
  { startLimitMs, signal }: CheckOptions,
): AsyncGenerator<ScreenResult> {
  const profile = agentProfile(kind);
  const program = kind === "echo" ? runtime.selfCommand() : [profile.binary];
  const argv = [...program, ...profile.args];
  await using pane = await openPrivatePane(argv, { env: profile.env, size: SIZE, signal });
  let at = START;
  try {
    for await (
      const result of readScreens(pane, {
        profile,
        startLimitMs,
        reach: (name) => void (at = name),
      })
    ) {
      yield result;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof TmuxError) || !await pane.hasEnded()) throw error;
    const printed = await pane.lastWords();
    yield { name: at, recognized: false, found: "the agent ended", ...(printed === "" ? {} : { printed }) };
  }
}

const START = "start";

interface ReadOptions {
  profile: AgentProfile;
  startLimitMs: number;
  /** Called before the agent is led to a screen. */
  reach(name: string): void;
}

async function* readScreens(
  pane: PrivatePane,
  { profile, startLimitMs, reach }: ReadOptions,
): AsyncGenerator<ScreenResult> {
  const start = await startReading(pane, { profile, limitMs: startLimitMs });
  yield {
    name: START,
    recognized: start.focus === "composer" || start.focus === "dialog",
    found: describe(start),
  };
  if (start.focus !== "composer") return;
  for (const station of stations(profile)) {
    reach(station.name);
    if (!await clearComposer(pane, profile)) {
      yield {
        name: station.name,
        recognized: false,
        found: "not reached: the composer could not be cleared",
      };
      return;
    }
    await station.go(pane);
    const reading = await rightReading(pane, { profile, station });
    yield { name: station.name, recognized: station.isRight(reading), found: describe(reading) };
  }
}

function stations({ foldedPaste, modelCommand: model, hasShellMode }: AgentProfile): Station[] {
  const all: (Station | undefined)[] = [
    { name: "draft", go: (pane) => pane.type(DRAFT), isRight: hasDraft(DRAFT) },
    model === undefined ? undefined : slashStation(model),
    model === undefined ? undefined : modelStation(model),
    hasShellMode ? shellStation : undefined,
    // The last one, because no key clears a long text at once in every agent.
    foldedPaste === undefined ? undefined : {
      name: "long paste",
      go: (pane) => pane.paste(LONG),
      isRight: ({ focus, draft = "", cut }) =>
        cut === true || (focus === "composer" && foldedPaste.test(draft)),
    },
  ];
  return all.filter((one) => one !== undefined);
}

const shellStation: Station = { name: "shell mode", go: (pane) => pane.type("!"), isRight: hasDraft("!") };

function slashStation(command: string): Station {
  return { name: "slash command", go: (pane) => pane.type(command), isRight: hasDraft(command) };
}

function modelStation(command: string): Station {
  return {
    name: "model menu",
    async go(pane) {
      await pane.type(command);
      await pane.drawn();
      await pane.press("Enter");
    },
    isRight: ({ focus, menu }) => focus === "menu" && menu === "model",
  };
}

function hasDraft(text: string): (reading: ScreenReading) => boolean {
  return ({ focus, draft }) => focus === "composer" && draft === text;
}

/** Agents draw their composer before they ask something, so the screen must have settled. */
async function startReading(
  pane: PrivatePane,
  { profile, limitMs }: { profile: AgentProfile; limitMs: number },
): Promise<ScreenReading> {
  const end = systemClock.elapsed() + limitMs;
  for (;;) {
    const reading = profile.readScreen(await pane.drawn());
    const isThere = reading.focus === "dialog" || (reading.focus === "composer" && reading.draft === "");
    if (isThere || systemClock.elapsed() > end) return reading;
    await delay(POLL_MS, { clock: systemClock });
  }
}

/** How long to wait for a right reading, in milliseconds: an agent on a busy machine draws slowly. */
const STATION_LIMIT_MS = 10_000;

/** The first right reading, or else the last one. */
async function rightReading(
  pane: PrivatePane,
  { profile, station }: { profile: AgentProfile; station: Station },
): Promise<ScreenReading> {
  const end = systemClock.elapsed() + STATION_LIMIT_MS;
  for (;;) {
    const reading = profile.readScreen(await pane.drawn());
    if (station.isRight(reading) || systemClock.elapsed() > end) return reading;
  }
}

/** Esc leaves a menu and some shell modes; Ctrl-U and Backspace clear a draft and leave the other shell modes. */
async function clearComposer(pane: PrivatePane, profile: AgentProfile): Promise<boolean> {
  for (let tried = 0; tried < CLEAR_ATTEMPTS; tried++) {
    const { focus, draft } = profile.readScreen(await pane.drawn());
    if (focus === "composer" && draft === "") return true;
    const keys = draft === "!" && tried > 0 ? ["Escape"] : ["C-e", "C-u", "BSpace"];
    for (const key of focus === "composer" ? keys : ["Escape"]) await pane.press(key);
  }
  return false;
}

function describe({ focus, draft, menu, state, cut }: ScreenReading): string {
  const parts = [
    menu === undefined ? focus : `${focus} "${menu}"`,
    draft === undefined ? undefined : draft === "" ? "empty" : `draft ${JSON.stringify(draft.slice(0, 40))}`,
    cut ? "cut" : undefined,
    state,
  ];
  return parts.filter((part) => part !== undefined).join(", ");
}

const HOST = { commands: runtime.commands, clock: systemClock };
const SESSION = "svc-agents-check";
const CAPTURE_MS = 100;
/** A screen counts as drawn when it has not changed for this long, in milliseconds. */
const QUIET_MS = 800;
/** Some agents never stop drawing: then this long is enough, in milliseconds. */
const RESTLESS_MS = 4_000;
/** Variables that would assign the agent to another session. */
const FOREIGN_VARIABLES = ["TMUX", "TMUX_PANE", "SVC_SESSION"];

interface PaneOptions {
  env: Readonly<Record<string, string>>;
  size: { columns: number; rows: number };
  signal: AbortSignal;
}

interface PrivatePane extends AsyncDisposable {
  screen(): Promise<Screen>;
  /** The screen once it is drawn. */
  drawn(): Promise<Screen>;
  type(text: string): Promise<void>;
  press(key: string): Promise<void>;
  paste(text: string): Promise<void>;
  hasEnded(): Promise<boolean>;
  /** The output of a program that has ended; empty if it had drawn a screen. */
  lastWords(): Promise<string>;
}

/** Starts the program in the current folder. Disposing ends the server and every process that the program left. */
async function openPrivatePane(
  argv: readonly string[],
  { env, size, signal }: PaneOptions,
): Promise<PrivatePane> {
  const folder = await runtime.files.makeTempDirectory("svc-agents-");
  const run = tmuxRunner(`${folder}/tmux.sock`);
  const target = exactPane(SESSION);
  const words = `${folder}/last-words`;
  const takeWords = async (areShown: boolean): Promise<string> =>
    await takeLastWords({ files: runtime.files, clock: systemClock }, words, { areShown }) ?? "";
  const close = async (): Promise<void> => {
    await run(verbs.killServer()).catch(ignoreTmux);
    if (pane !== undefined) await endLeftovers(HOST, pane);
    // The output is moved within the folder once it is saved.
    await takeWords(false);
    await runtime.files.remove(folder, { recursive: true });
  };
  let pane: StartedPane | undefined;
  try {
    await prepareLastWords(runtime.files, words, { now: systemClock.now() });
    const start = verbs.newSession({ name: SESSION, directory: runtime.cwd(), size, env, argv });
    pane = await startedPane(run, [start, saveLastWords(target, words)]);
  } catch (error) {
    await close();
    throw error;
  }
  const screen = async (): Promise<Screen> =>
    parseScreen(await run(verbs.print(target, SCREEN_FORMAT), verbs.captureScreen(target)));
  return {
    screen,
    drawn: () => drawn(screen, signal),
    type: async (text) => void await run(verbs.sendLiteral(target, text)),
    press: async (key) => void await run(verbs.sendKey(target, key)),
    async paste(text) {
      await run(verbs.appendBuffer(SESSION, text), verbs.pasteBuffer(SESSION, target, { marks: true }));
    },
    hasEnded: () => hasEnded(run),
    lastWords: () => takeWords(true),
    [Symbol.asyncDispose]: close,
  };
}

type Run = (...commands: TmuxCommand[]) => Promise<string>;

function tmuxRunner(socket: string): Run {
  const env = Object.fromEntries(
    Object.entries(runtime.env.all()).filter(([name]) => !FOREIGN_VARIABLES.includes(name)),
  );
  return (...commands) => runTmux(runtime.commands, commands, { socket, config: "/dev/null", env });
}

interface StartedPane {
  pid: number;
  identity: string;
}

/** `start` is one request, so that no output comes before it is saved. */
async function startedPane(run: Run, start: TmuxCommand[]): Promise<StartedPane> {
  const pid = Number(await run(...start, verbs.print(exactPane(SESSION), "#{pane_pid}")));
  return { pid, identity: await processIdentity(HOST, pid) };
}

/** True once tmux has no such session any longer: the process itself may take longer to end. */
async function hasEnded(run: Run): Promise<boolean> {
  try {
    await run(verbs.hasSession(SESSION));
    return false;
  } catch (error) {
    ignoreTmux(error);
    return !(error instanceof TmuxError && error.late);
  }
}

/** The server is gone when its program has ended by itself. */
function ignoreTmux(error: unknown): void {
  if (!(error instanceof TmuxError)) throw error;
}

async function drawn(screen: () => Promise<Screen>, signal: AbortSignal): Promise<Screen> {
  const start = systemClock.elapsed();
  let last = { text: "", since: start };
  for (;;) {
    const shown = await screen();
    const [text, now] = [JSON.stringify(shown), systemClock.elapsed()];
    if (text !== last.text) last = { text, since: now };
    if (now - last.since >= QUIET_MS || now - start >= RESTLESS_MS) return shown;
    await delay(CAPTURE_MS, { clock: systemClock, signal });
  }
}

/** The title comes last because it may contain spaces. */
export const SCREEN_FORMAT =
  "#{cursor_x} #{cursor_y} #{cursor_flag} #{keypad_flag}#{keypad_cursor_flag} #{pane_title}";

export function parseScreen(output: string): Screen {
  const [facts = "", ...rows] = output.split("\n");
  const [x, y, visible, keypad, ...title] = facts.split(" ");
  return {
    lines: rows.map((row) => row.trimEnd()),
    title: title.join(" "),
    cursor: { x: Number(x), y: Number(y), visible: visible === "1" },
    ...(keypad === "00" ? {} : { applicationKeys: true }),
  };
}
