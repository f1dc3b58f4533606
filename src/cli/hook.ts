/** `svc remote-hook <agent>` and `svc hook <event> <agent>`: what the agents' hooks run. An agent waits for them, so no option parser is loaded. */
import { runtime } from "#runtime-lean";
import { GATES_ARGUMENT } from "../agents/hooks.ts";
import { homePaths } from "../home/paths.ts";
import { type Hook, type HookHost, runHook } from "../hooks/run_hook.ts";
import { UsageError } from "./exit.ts";

/** The hook of a submitted prompt. */
export async function runPromptHook(args: readonly string[]): Promise<number> {
  const [kind, mark] = args;
  if (kind === "--help" || kind === "-h") return await promptHookHelp();
  if (kind === undefined) {
    throw new UsageError("Name the agent whose hook this is. See: svc remote-hook --help");
  }
  return await callHook({
    load: async () => (await import("../hooks/remote_hook.ts")).remoteHook,
    kind,
    mark,
  });
}

/** The hooks of all other events. */
export async function runEventHook(args: readonly string[]): Promise<number> {
  const [event, kind, mark] = args;
  if (event === "--help" || event === "-h") return await eventHookHelp();
  if (event === undefined || kind === undefined) {
    throw new UsageError("Name the event and the agent whose hook this is. See: svc hook --help");
  }
  const load = async (): Promise<Hook> => (await import("../hooks/event_hook.ts")).eventHook;
  return await callHook({ load, kind, event, mark });
}

interface HookCall {
  load(): Promise<Hook>;
  kind: string;
  event?: string;
  /** The argument after the agent's kind. */
  mark: string | undefined;
}

/** Always 0: exit code 2 would block the prompt in some agents. */
async function callHook({ load, mark, ...call }: HookCall): Promise<number> {
  const input = runtime.terminal.readAll().catch(() => "");
  try {
    const [hook, host] = await Promise.all([load(), hookHost(mark === GATES_ARGUMENT)]);
    await runHook(host, { ...call, hook, input });
  } catch {
    // Without a home directory there is nothing to report to: the agent goes on.
  }
  return 0;
}

async function hookHost(gates: boolean): Promise<HookHost> {
  const { files, sockets, env, terminal } = runtime;
  const paths = await homePaths({
    svcHome: env.get("SVC_HOME"),
    homeDirectory: runtime.homeDirectory(),
    cwd: "/",
    temporaryDirectory: runtime.temporaryDirectory(),
    uid: runtime.uid,
  });
  const print = (text: string): void => terminal.write(`${text}\n`);
  const [session, pane] = [env.get("SVC_SESSION"), paneId(env.get("TMUX_PANE"))];
  return { files, sockets, paths, now: () => Date.now(), session, pane, gates, print };
}

function paneId(text: string | undefined): string | undefined {
  return text !== undefined && /^%\d{1,9}$/.test(text) ? text : undefined;
}

async function promptHookHelp(): Promise<number> {
  const { defineCommand, parseOptions } = await import("./command.ts");
  const command = defineCommand({
    name: "remote-hook",
    summary: "What an agent's prompt hook runs: reads its JSON on stdin and tells the model who is driving.",
    examples: [
      `echo '{"session_id":"1","cwd":"/work/app","prompt":"go on"}' | svc remote-hook codex`,
    ],
  })
    .argument("<agent>", "the kind of agent, as in svc --help")
    .argument("[gates]", "the agent is set up to ask before each tool call");
  parseOptions(command, ["--help"]);
  return 0;
}

async function eventHookHelp(): Promise<number> {
  const { defineCommand, parseOptions } = await import("./command.ts");
  const command = defineCommand({
    name: "hook",
    summary:
      "What an agent's other hooks run: reads their JSON on stdin and reports states, tool calls and final messages to the listener.",
    examples: [
      `echo '{"session_id":"1","cwd":"/work/app","last_assistant_message":"Done."}' | svc hook Stop codex`,
    ],
  })
    .argument("<event>", "the agent's own name for the event")
    .argument("<agent>", "the kind of agent, as in svc --help")
    .argument("[gates]", "the agent is set up to ask before each tool call");
  parseOptions(command, ["--help"]);
  return 0;
}
