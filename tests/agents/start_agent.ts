/** Starts a real agent in a bare tmux on the sandbox's private socket, to capture its screens. */
import { Pane } from "../helpers/agents_pane.ts";
import type { Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";
import { endTree } from "./end_tree.ts";
import { installAgent, REAL_AGENTS, type RealAgent } from "./install.ts";
import { SETUPS } from "./setup/registry.ts";
import type { StartQuestion } from "./setup/setup.ts";
import { type StandIn, startStandIn } from "./stand_in/server.ts";

/** Text on the screen once the agent accepts input. */
const READY: Record<RealAgent, RegExp> = {
  cc: /^❯/,
  codex: /^› Ask Codex/,
  gemini: /^ > +Type your message/,
  opencode: /┃ +Ask anything/,
  copilot: /^❯/,
};

const COLORS = {
  full: ["env", "-u", "NO_COLOR", "COLORTERM=truecolor"],
  few: ["env", "-u", "NO_COLOR", "-u", "COLORTERM"],
  none: [],
} as const;

const SESSION = "svc-proj";
const START_LIMIT_MS = 60_000;

export interface RunningAgent extends AsyncDisposable {
  kind: RealAgent;
  version: string;
  pane: Pane;
  standIn: StandIn;
}

export interface StartOptions {
  /** Leaves the agent's start dialog with this question on the screen. */
  asks?: StartQuestion;
  columns?: number;
  rows?: number;
  /** The colors that the terminal announces: 24-bit, those that its name implies, or none. */
  color?: keyof typeof COLORS;
  env?: Record<string, string>;
  /** Changes the home before the agent starts. */
  prepare?: (home: string) => Promise<void>;
}

/** Resolves once the agent shows its input line, or at once if a start dialog is to stay open. */
export async function startAgent(
  kind: RealAgent,
  sandbox: Sandbox,
  { asks, columns, rows, color = "none", env: more, prepare }: StartOptions = {},
): Promise<RunningAgent> {
  const binary = await installAgent(kind);
  const standIn = startStandIn();
  const { home, project } = sandbox;
  const launch = await SETUPS[kind]({ home, project, url: standIn.url, asks });
  const env = { ...launch.env, TMPDIR: sandbox.root, ...more };
  await prepare?.(home);
  const argv = [...COLORS[color], binary, ...launch.args];
  const size = columns === undefined || rows === undefined ? {} : { columns, rows };
  const pane = await Pane.open(sandbox, { session: SESSION, argv, env, ...size });
  if (asks === undefined) await untilReady(kind, pane);
  return {
    kind,
    version: REAL_AGENTS[kind].version,
    pane,
    standIn,
    async [Symbol.asyncDispose]() {
      await endTree(pane.pid);
      await standIn[Symbol.asyncDispose]();
    },
  };
}

async function untilReady(kind: RealAgent, pane: Pane): Promise<void> {
  const isReady = async () => (await pane.screen()).lines.some((line) => READY[kind].test(line));
  await until(`the input line of "${kind}"`, isReady, START_LIMIT_MS);
}
