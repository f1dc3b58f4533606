/** Runs a real agent as a person does: set up by `svc setup`, started by `svc --detach`, in a throw-away home. */
import assert from "node:assert/strict";
import type { ScreenReading } from "../../src/agents/profile.ts";
import { agentProfile } from "../../src/agents/profiles.ts";
import { Pane } from "../helpers/agents_pane.ts";
import { runSvc } from "../helpers/program.ts";
import type { Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { endTree } from "./end_tree.ts";
import { installAgent, type RealAgent } from "./install.ts";
import { SETUPS } from "./setup/registry.ts";
import { type StandIn, startStandIn } from "./stand_in/server.ts";

/** A safety limit for a busy machine. */
const START_LIMIT_MS = 600_000;

export interface SvcAgent extends AsyncDisposable {
  kind: RealAgent;
  /** The tmux session that svc gave it. */
  session: string;
  /** The agent's pane, as the local user sees it and types into it. */
  pane: Pane;
  standIn: StandIn;
  reading(): Promise<ScreenReading>;
  /** Resolves once the screen shows the empty input line and the agent does nothing. */
  untilIdle(): Promise<unknown>;
  /** Types a line and presses Enter, as the local user. */
  typeLocally(text: string): Promise<void>;
}

/** The environment with the real agent first on PATH, as on a person's machine. */
async function variables({ sandbox }: Stack, kind: RealAgent, env: Record<string, string>) {
  const programs = (await installAgent(kind)).replace(/\/[^/]*$/, "");
  return { ...env, TMPDIR: sandbox.root, PATH: `${programs}:${sandbox.env.PATH}` };
}

async function svc(stack: Stack, args: string[], env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runSvc(stack.sandbox, args, { env, launch: stack.launch });
  assert.equal(code, 0, `svc ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

export interface RunOptions {
  /** Runs while the agent starts. */
  meanwhile?: (session: string) => Promise<void>;
  /** Changes the home before `svc setup` runs. */
  prepare?: (home: string) => Promise<void>;
  /** `false`: `svc setup` does not run. */
  setup?: boolean;
}

/** Starts the agent under svc; resolves once it accepts input. */
export async function runAgent(
  kind: RealAgent,
  stack: Stack,
  { meanwhile, prepare, setup = true }: RunOptions = {},
): Promise<SvcAgent> {
  const { sandbox } = stack;
  const standIn = startStandIn();
  const { home, project } = sandbox;
  const launch = await SETUPS[kind]({ home, project, url: standIn.url, asks: undefined });
  await prepare?.(home);
  const env = await variables(stack, kind, launch.env);
  if (setup) await svc(stack, ["setup", "--agent", kind], env);
  const session = (await svc(stack, ["--detach", kind], env)).trim();
  const agent = withDesk({ kind, session, pane: await Pane.of(sandbox, session), standIn });
  await meanwhile?.(session);
  await agent.untilIdle();
  return agent;
}

function withDesk(running: Pick<SvcAgent, "kind" | "session" | "pane" | "standIn">): SvcAgent {
  const { kind, pane, standIn } = running;
  const { readScreen } = agentProfile(kind);
  const reading = async (): Promise<ScreenReading> => readScreen(await pane.screen());
  const isIdle = async (): Promise<boolean> => {
    const { state, draft } = await reading();
    return state === "idle" && draft === "";
  };
  const untilIdle = () =>
    until(`"${kind}" at its input line`, isIdle, START_LIMIT_MS).catch(async ({ message }) => {
      throw new Error(`${message}; the screen:\n${(await pane.screen()).lines.join("\n")}`);
    });
  return {
    ...running,
    reading,
    untilIdle,
    async typeLocally(text) {
      await untilIdle();
      await pane.paste(text);
      await until("the draft", async () => (await reading()).draft === text);
      await until("an empty input line", async () => {
        await pane.quiet();
        if ((await reading()).draft !== text) return true;
        await pane.press("Enter");
        return false;
      });
    },
    async [Symbol.asyncDispose]() {
      await endTree(pane.pid);
      await standIn[Symbol.asyncDispose]();
    },
  };
}
