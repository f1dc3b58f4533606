/** A pane on a private tmux server, without the user's tmux configuration, for an agent under check, and how its screen is read. */
import { runtime } from "#runtime";
import type { Screen } from "../../agents/profile.ts";
import { delay, systemClock } from "../../async/clock.ts";
import { exactPane, type TmuxCommand, verbs } from "../../tmux/argv.ts";
import { runTmux, TmuxError } from "../../tmux/server.ts";
import { endLeftovers, processIdentity } from "../../tmux/leftovers.ts";

const SESSION = "svc-agents-check";
const POLL_MS = 100;
/** A screen counts as drawn when it has not changed for this long, in milliseconds. */
const QUIET_MS = 800;
/** Some agents never stop drawing: then this long is enough, in milliseconds. */
const RESTLESS_MS = 4_000;
/** Would make the agent believe that it runs in another session. */
const FOREIGN_VARIABLES = ["TMUX", "TMUX_PANE", "SVC_SESSION"];

export interface PrivatePane extends AsyncDisposable {
  screen(): Promise<Screen>;
  /** The screen once it is drawn. */
  drawn(): Promise<Screen>;
  type(text: string): Promise<void>;
  press(key: string): Promise<void>;
  paste(text: string): Promise<void>;
}

/** Starts the program in the current folder. Disposing ends the server and every process that the program left. */
export async function openPrivatePane(
  argv: readonly string[],
  { env, size }: { env: Readonly<Record<string, string>>; size: { columns: number; rows: number } },
): Promise<PrivatePane> {
  const folder = await runtime.files.makeTempDirectory("svc-agents-");
  const run = tmuxRunner(`${folder}/tmux.sock`);
  const target = exactPane(SESSION);
  const pane = await startedPane(
    run,
    verbs.newSession({ name: SESSION, directory: runtime.cwd(), size, env, argv }),
  );
  const screen = async (): Promise<Screen> =>
    parseScreen(await run(verbs.print(target, SCREEN_FORMAT), verbs.captureScreen(target)));
  return {
    screen,
    drawn: () => drawn(screen),
    type: async (text) => void await run(verbs.sendLiteral(target, text)),
    press: async (key) => void await run(verbs.sendKey(target, key)),
    async paste(text) {
      await run(verbs.appendBuffer(SESSION, text), verbs.pasteBuffer(SESSION, target, { marks: true }));
    },
    async [Symbol.asyncDispose]() {
      await run(verbs.killServer()).catch(ignoreTmux);
      await endLeftovers({ commands: runtime.commands, clock: systemClock }, pane);
      await runtime.files.remove(folder, { recursive: true });
    },
  };
}

type Run = (...commands: TmuxCommand[]) => Promise<string>;

function tmuxRunner(socket: string): Run {
  const env = Object.fromEntries(
    Object.entries(runtime.env.all()).filter(([name]) => !FOREIGN_VARIABLES.includes(name)),
  );
  return (...commands) => runTmux(runtime.commands, commands, { socket, config: "/dev/null", env });
}

async function startedPane(run: Run, start: TmuxCommand): Promise<{ pid: number; identity: string }> {
  const pid = Number(await run(start, verbs.print(exactPane(SESSION), "#{pane_pid}")));
  const identity = await processIdentity({ commands: runtime.commands, clock: systemClock }, pid);
  return { pid, identity };
}

/** The server is gone when its program has ended by itself. */
function ignoreTmux(error: unknown): void {
  if (!(error instanceof TmuxError)) throw error;
}

async function drawn(screen: () => Promise<Screen>): Promise<Screen> {
  const start = systemClock.elapsed();
  let last = { text: "", since: start };
  for (;;) {
    const shown = await screen();
    const [text, now] = [JSON.stringify(shown), systemClock.elapsed()];
    if (text !== last.text) last = { text, since: now };
    if (now - last.since >= QUIET_MS || now - start >= RESTLESS_MS) return shown;
    await delay(POLL_MS, { clock: systemClock });
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
