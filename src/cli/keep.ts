/** `svc keep`: marks a session that comes back after a reboot, with its agent's last conversation. */
import { runtime } from "#runtime";
import { agentProfile } from "../agents/profiles.ts";
import { bootId, changeKept, type KeptSession, loadKept } from "../listener/kept_sessions.ts";
import type { HomePaths } from "../home/paths.ts";
import { isAgentKind } from "../protocol/names.ts";
import { shellLine } from "../runtime/system.ts";
import { tmuxSessions } from "../tmux/discovery.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths } from "./context.ts";
import { columns, EXIT_FAILED, print, printError, printJson, UsageError } from "./output.ts";

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "keep",
    summary:
      "Mark a session: after a reboot the listener's service starts its agent again, with its last conversation in that folder. Without a session, list the marked ones.",
    examples: ["svc keep svc-app", "svc keep svc-app -- --model opus", "svc keep --off svc-app", "svc keep"],
  })
    .argument("[session]", "its name, as in svc sessions")
    .argument("[arguments...]", "after --: further arguments of the agent for that start")
    .option("--off", "remove the mark")
    .option("--json", "print the list as JSON");
  const parsed = parseOptions(command, args);
  const [session, more] = parsed.processedArgs;
  const options = parsed.opts();
  const paths = await accountPaths();
  if (session === undefined && options.off) {
    throw new UsageError(
      "Cannot take a mark away: --off needs the session's name. svc keep lists the marked ones.",
    );
  }
  if (session !== undefined && options.json) {
    throw new UsageError(`Cannot change "${session}" and list the marked sessions at once: do one of them.`);
  }
  if (session === undefined) return await list(paths, options.json === true);
  return options.off ? await release(paths, session) : await keep(paths, session, more);
}

async function list(paths: HomePaths, asJson: boolean): Promise<number> {
  const kept = await loadKept(runtime.files, paths);
  if (asJson) printJson(kept.map(({ boot: _, ...shown }) => shown));
  else if (kept.length === 0) print("No session is marked. Mark one: svc keep <session>");
  else {for (const line of columns(kept.map((one) => [one.session, commandOf(one), one.directory]))) {
      print(line);
    }}
  return 0;
}

/** The arguments with which its agent continues its last conversation. */
function resumeOf({ agent }: Pick<KeptSession, "agent">): readonly string[] {
  return isAgentKind(agent) ? agentProfile(agent).resume ?? [] : [];
}

/** The command that starts it again, as the user would type it. */
function commandOf({ agent, args }: Pick<KeptSession, "agent" | "args">): string {
  return shellLine(["svc", agent, ...resumeOf({ agent }), ...args]);
}

async function release(paths: HomePaths, session: string): Promise<number> {
  let wasKept = false;
  await changeKept(runtime.files, paths, (all) => {
    wasKept = all.some((one) => one.session === session);
    return all.filter((one) => one.session !== session);
  });
  print(wasKept ? `${session} does not come back after a reboot.` : `${session} was not marked.`);
  return 0;
}

async function keep(paths: HomePaths, session: string, args: readonly string[]): Promise<number> {
  const found = (await tmuxSessions()).find(({ name }) => name === session);
  const agent = found?.recorded.agent ?? "";
  if (found === undefined || !isAgentKind(agent)) {
    const why = found === undefined ? "there is no such session" : "svc did not start its agent";
    printError(`Cannot keep "${session}": ${why}. svc sessions lists them.`);
    return EXIT_FAILED;
  }
  const directory = found.pane?.path || found.recorded.directory;
  const kept: KeptSession = { session, agent, directory, args: [...args], boot: await bootId(runtime) };
  const twin = await add(paths, kept);
  if (twin !== undefined) {
    printError(
      `Cannot keep "${session}": "${twin}" is kept and has the same agent and folder, so both would continue the same conversation. Undo that first: svc keep --off ${twin}`,
    );
    return EXIT_FAILED;
  }
  print(`${session} comes back after a reboot: ${commandOf(kept)}, in ${directory}`);
  if (agentProfile(agent).resume === undefined) {
    print(
      "svc knows no option with which this agent continues: give it after --, or it starts a new conversation.",
    );
  }
  if (await runtime.files.info(paths.service) === undefined) {
    print("It takes the listener's service, which is not installed: svc service install listener");
  }
  return 0;
}

/** The kept session that would continue the same conversation; undefined when it was added or changed. */
async function add(paths: HomePaths, kept: KeptSession): Promise<string | undefined> {
  let twin: string | undefined;
  await changeKept(runtime.files, paths, (all) => {
    const others = all.filter(({ session }) => session !== kept.session);
    const { agent, directory } = kept;
    if (resumeOf(kept).length === 0) return [...others, kept];
    twin = others.find((one) => one.agent === agent && one.directory === directory)?.session;
    return twin === undefined ? [...others, kept] : all;
  });
  return twin;
}
