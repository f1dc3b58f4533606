/** Starts a real agent in a real tmux on the sandbox's private socket, against a stand-in for its model API. */
import type { Screen } from "../../src/agents/profile.ts";
import type { Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";
import { installAgent, type RealAgent } from "./install.ts";
import { setUpClaude } from "./setup/cc.ts";
import { setUpCodex } from "./setup/codex.ts";
import { setUpCopilot } from "./setup/copilot.ts";
import { setUpGemini } from "./setup/gemini.ts";
import { setUpOpenCode } from "./setup/opencode.ts";
import type { Setup } from "./setup/setup.ts";
import { type StandIn, startStandIn } from "./stand_in/server.ts";

const SETUPS: Record<RealAgent, Setup> = {
  cc: setUpClaude,
  codex: setUpCodex,
  gemini: setUpGemini,
  opencode: setUpOpenCode,
  copilot: setUpCopilot,
};

/** What the screen shows once the agent takes input at its line. */
const READY: Record<RealAgent, RegExp> = {
  cc: /^❯/,
  codex: /^› Ask Codex/,
  gemini: /^ > +Type your message/,
  opencode: /┃ +Ask anything/,
  copilot: /^❯/,
};

/** The agent's window, wide enough that no dialog of the fixtures wraps. */
const START_LIMIT_MS = 60_000;
const COLUMNS = 100;
const ROWS = 30;

export interface RunningAgent extends AsyncDisposable {
  kind: RealAgent;
  session: string;
  /** Pane id, `%n`. */
  pane: string;
  standIn: StandIn;
  screen(): Promise<Screen>;
  /** Pastes into the agent's input line, bracketed, as the listener's `paste` method does; presses no Enter. */
  paste(text: string): Promise<void>;
  /** Presses a key by tmux's name for it. */
  key(name: string): Promise<void>;
}

export interface StartOptions {
  /** False leaves the agent's folder-trust question on the screen. */
  trusted?: boolean;
  session?: string;
}

export async function startAgent(
  kind: RealAgent,
  sandbox: Sandbox,
  options: StartOptions = {},
): Promise<RunningAgent> {
  const { trusted = true, session = "svc-proj" } = options;
  const binary = await installAgent(kind);
  const standIn = startStandIn();
  const { home, project } = sandbox;
  const launch = await SETUPS[kind]({ home, project, url: standIn.url, trusted });
  const pane = await openPane(sandbox, { session, env: launch.env, argv: [binary, ...launch.args] });
  const pid = Number(await show(sandbox, pane, "#{pane_pid}"));
  const agent: RunningAgent = {
    kind,
    session,
    pane,
    standIn,
    screen: () => readScreen(sandbox, pane),
    paste: (text) => paste(sandbox, pane, text),
    key: async (name) => void await sandbox.tmux("send-keys", "-t", pane, name),
    async [Symbol.asyncDispose]() {
      await killTree(pid);
      await standIn[Symbol.asyncDispose]();
    },
  };
  if (trusted) await untilReady(agent);
  return agent;
}

async function untilReady(agent: RunningAgent): Promise<void> {
  const ready = READY[agent.kind];
  const isReady = async () => (await agent.screen()).lines.some((line) => ready.test(line));
  await until(`the input line of "${agent.kind}"`, isReady, START_LIMIT_MS);
}

async function openPane(
  sandbox: Sandbox,
  options: { session: string; env: Record<string, string>; argv: string[] },
): Promise<string> {
  const variables = Object.entries(options.env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const size = ["-x", String(COLUMNS), "-y", String(ROWS)];
  const where = ["-c", sandbox.project, "-s", options.session];
  const pane = await sandbox.tmux(
    ...[
      "new-session",
      "-d",
      "-P",
      "-F",
      "#{pane_id}",
      ...size,
      ...where,
      ...variables,
      "--",
      ...options.argv,
    ],
  );
  return pane.trim();
}

async function show(sandbox: Sandbox, pane: string, format: string): Promise<string> {
  return (await sandbox.tmux("display-message", "-p", "-t", pane, format)).replace(/\n$/, "");
}

/** What the pane shows now. */
export async function readScreen(sandbox: Sandbox, pane: string): Promise<Screen> {
  const [x, y, flag, ...title] =
    (await show(sandbox, pane, "#{cursor_x} #{cursor_y} #{cursor_flag} #{pane_title}"))
      .split(" ");
  const text = await sandbox.tmux("capture-pane", "-p", "-t", pane);
  const lines = text.replace(/\n$/, "").split("\n").map((line) => line.trimEnd());
  return { lines, title: title.join(" "), cursor: { x: Number(x), y: Number(y), visible: flag === "1" } };
}

async function paste(sandbox: Sandbox, pane: string, text: string): Promise<void> {
  const file = `${sandbox.root}/paste-${crypto.randomUUID()}`;
  await Deno.writeTextFile(file, text);
  await sandbox.tmux("load-buffer", "-b", "bench", file);
  await sandbox.tmux("paste-buffer", "-p", "-r", "-d", "-b", "bench", "-t", pane);
  await Deno.remove(file);
}

/** Ends the agent and every process under it: some of them ignore the hang-up of their terminal. */
async function killTree(root: number): Promise<void> {
  const parents = new Map<number, number>();
  for await (const entry of Deno.readDir("/proc")) {
    const pid = Number(entry.name);
    if (!pid) continue;
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => undefined);
    if (stat !== undefined) parents.set(pid, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const isUnder = (pid: number): boolean => pid === root || (pid > 1 && isUnder(parents.get(pid) ?? 0));
  for (const pid of [...parents.keys()].filter(isUnder)) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}
