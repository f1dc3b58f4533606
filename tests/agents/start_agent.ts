/** Starts a real agent in a real tmux on the sandbox's private socket, against a stand-in for its model API. */
import { Pane } from "../helpers/agents_pane.ts";
import type { Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";
import { installAgent, REAL_AGENTS, type RealAgent } from "./install.ts";
import { setUpClaude } from "./setup/cc.ts";
import { setUpCodex } from "./setup/codex.ts";
import { setUpCopilot } from "./setup/copilot.ts";
import { setUpGemini } from "./setup/gemini.ts";
import { setUpOpenCode } from "./setup/opencode.ts";
import type { Setup, StartQuestion } from "./setup/setup.ts";
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
  session?: string;
  /** Runs once the agent's own configuration is written, with the environment that the agent gets. */
  prepare?: (env: Record<string, string>) => Promise<void>;
  /** Words after the agent's own. */
  args?: readonly string[];
  env?: Record<string, string>;
}

/** Resolves once the agent shows its input line, or at once when its start dialog is asked for. */
export async function startAgent(
  kind: RealAgent,
  sandbox: Sandbox,
  options: StartOptions = {},
): Promise<RunningAgent> {
  const { asks, session = "svc-proj" } = options;
  const binary = await installAgent(kind);
  const standIn = startStandIn();
  const { home, project } = sandbox;
  const launch = await SETUPS[kind]({ home, project, url: standIn.url, asks });
  const env = { ...launch.env, ...options.env };
  await options.prepare?.(env);
  const argv = [binary, ...launch.args, ...options.args ?? []];
  const pane = await Pane.open(sandbox, { session, argv, env });
  await recordAgent(sandbox, kind, pane);
  if (asks === undefined) await untilReady(kind, pane);
  return {
    kind,
    version: REAL_AGENTS[kind].version,
    pane,
    standIn,
    async [Symbol.asyncDispose]() {
      await killTree(pane.pid);
      await standIn[Symbol.asyncDispose]();
    },
  };
}

/** The options that the wrapper sets, from which the listener knows the agent. */
async function recordAgent(sandbox: Sandbox, kind: RealAgent, pane: Pane): Promise<void> {
  const options = { agent: kind, pane: pane.id, pid: String(pane.pid), dir: sandbox.project };
  for (const [name, value] of Object.entries(options)) {
    await sandbox.tmux("set-option", "-t", pane.id, `@svc_${name}`, value);
  }
}

async function untilReady(kind: RealAgent, pane: Pane): Promise<void> {
  const isReady = async () => (await pane.screen()).lines.some((line) => READY[kind].test(line));
  await until(`the input line of "${kind}"`, isReady, START_LIMIT_MS);
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
