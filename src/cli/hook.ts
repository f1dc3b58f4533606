/** `svc hook <event> <agent>`: the agents' hooks of all other events. Loads no option parser: an agent waits for it. */
import { eventHook } from "../hooks/event_hook.ts";
import { UsageError } from "./exit.ts";
import { callHook } from "./hook_call.ts";

export async function run(args: readonly string[]): Promise<number> {
  const [event, kind, mark] = args;
  if (event === "--help" || event === "-h") return await help();
  if (event === undefined || kind === undefined) {
    throw new UsageError("Name the event and the agent whose hook this is. See: svc hook --help");
  }
  return await callHook({ hook: eventHook, kind, event, mark });
}

async function help(): Promise<number> {
  const { defineCommand, parseWords } = await loadCommand();
  const command = defineCommand({
    name: "hook",
    summary:
      "What an agent's hooks run: reads their JSON on stdin, reports states, tool calls and last words to the listener.",
    examples: [
      `echo '{"session_id":"1","cwd":"/work/app","last_assistant_message":"Done."}' | svc hook Stop codex`,
    ],
  })
    .argument("<event>", "the agent's own name of the event")
    .argument("<agent>", "the kind of agent, as in svc --help")
    .argument("[gates]", "the agent was set up to ask before each tool call");
  parseWords(command, ["--help"]);
  return 0;
}

const loadCommand = (): Promise<typeof import("./command.ts")> => import("./command.ts");
