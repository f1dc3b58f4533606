/** `svc remote-hook <agent>` and `svc hook <event> <agent>`: what the agents' hooks run. An agent waits for them, so no option parser is loaded. */
import { runtime } from "#runtime-lean";
import { CARDS_ARGUMENT, GATES_ARGUMENT } from "../agents/hooks.ts";
import { ownPane, ownServer } from "../home/notify_daemon.ts";
import { homePaths } from "../home/paths.ts";
import { type HookHost, runHook } from "../hooks/run_hook.ts";

/** The hook of a submitted prompt. */
export async function runPromptHook(args: readonly string[]): Promise<number> {
  const [kind, mark] = args;
  if (kind === "--help" || kind === "-h") return await printHelp(PROMPT_HOOK);
  if (kind === undefined) {
    throw await usageError("Name the agent whose hook this is. See: svc remote-hook --help");
  }
  return await callHook({ kind, mark });
}

/** The hooks of all other events. */
export async function runEventHook(args: readonly string[]): Promise<number> {
  const [event, kind, mark] = args;
  if (event === "--help" || event === "-h") return await printHelp(EVENT_HOOK);
  if (event === undefined || kind === undefined) {
    throw await usageError("Name the event and the agent whose hook this is. See: svc hook --help");
  }
  return await callHook({ kind, event, mark });
}

interface HookCall {
  kind: string;
  event?: string;
  /** The argument after the agent's kind. */
  mark: string | undefined;
}

/** Always 0: exit code 2 would block the prompt in some agents. */
async function callHook({ mark, ...call }: HookCall): Promise<number> {
  const input = runtime.terminal.readAll().catch(() => "");
  try {
    await runHook(await hookHost(mark), { ...call, input });
  } catch {
    // Without a home directory there is nothing to report to: the agent continues.
  }
  return 0;
}

async function hookHost(mark: string | undefined): Promise<HookHost> {
  const { files, sockets, env, terminal } = runtime;
  const [paths, { pane, socket: tmuxSocket }] = await Promise.all([
    homePaths({
      svcHome: env.get("SVC_HOME"),
      homeDirectory: runtime.homeDirectory(),
      cwd: "/",
      uid: runtime.uid,
    }),
    ownPane({ env, files }),
  ]);
  const cards = mark === CARDS_ARGUMENT;
  return {
    files,
    sockets,
    paths,
    now: () => Date.now(),
    print: (text) => terminal.write(`${text}\n`),
    session: env.get("SVC_SESSION"),
    pane,
    tmuxSocket,
    tmuxServer: ownServer(env),
    gates: cards || mark === GATES_ARGUMENT,
    cards,
  };
}

async function usageError(message: string): Promise<Error> {
  const { UsageError } = await import("./output.ts");
  return new UsageError(message);
}

interface HookText {
  name: string;
  summary: string;
  example: string;
  /** Its first argument, if that is not the agent. */
  first?: [name: string, meaning: string];
}

const PROMPT_HOOK: HookText = {
  name: "remote-hook",
  summary: "What an agent's prompt hook runs: reads its JSON on stdin and informs the model who is driving.",
  example: `echo '{"session_id":"1","cwd":"/work/app","prompt":"go on"}' | svc remote-hook codex`,
};

const EVENT_HOOK: HookText = {
  name: "hook",
  summary:
    "What an agent's other hooks run: reads their JSON on stdin and reports states, tool calls and final messages to the listener.",
  example:
    `echo '{"session_id":"1","cwd":"/work/app","last_assistant_message":"Done."}' | svc hook Stop codex`,
  first: ["<event>", "the agent's own name for the event"],
};

async function printHelp({ name, summary, example, first }: HookText): Promise<number> {
  const { defineCommand, parseOptions } = await import("./command.ts");
  const command = defineCommand({ name, summary, examples: [example] });
  if (first !== undefined) command.argument(...first);
  command.argument("<agent>", "the kind of agent, as in svc --help");
  command.argument(
    "[gates]",
    "the agent is set up to ask before each tool call; cards: also to wait for a phone",
  );
  parseOptions(command, ["--help"]);
  return 0;
}
