/** `svc agents`: checks whether svc recognizes the screens of the installed agents, and saves a screen as a fixture for a report. */
import { runtime } from "#runtime";
import { agentProfile } from "../agents/profiles.ts";
import { AGENT_KINDS } from "../agents/registry.ts";
import { AGENT_LABELS, type AgentKind, isAgentKind } from "../protocol/names.ts";
import { checkAgent, type ScreenResult } from "./agents/check.ts";
import { recordScreen } from "./agents/record.ts";
import { installedVersion } from "./checks/agents/presence.ts";
import { defineCommand, parseOptions, runSubcommand } from "./command.ts";
import { EXIT_FAILED, UsageError } from "./exit.ts";
import { paint, print, printJson } from "./output.ts";

const START_LIMIT_SECONDS = 60;

export async function run(args: readonly string[]): Promise<number> {
  return await runSubcommand(args, {
    name: "agents",
    summary:
      "Check that svc recognizes the screens of the installed agents, or save one for a report: svc agents check | record.",
    examples: ["svc agents check", "svc agents check codex --json", "svc agents record svc-app --out report"],
    subcommands: { check, record },
  });
}

/** Types only what starts no turn. The agents run in the current folder and apply the trust that they have in it. */
async function check(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "agents check",
    summary:
      "Run installed agents in a private tmux, in the current folder, and print which of their screens svc recognizes. Exits with 1 when one is not recognized.",
    examples: ["svc agents check", "svc agents check cc codex", "svc agents check --json"],
  })
    .argument("[kind...]", "the agents (default: all that are installed)")
    .option(
      "--wait <seconds>",
      "how long an agent may take to show its first screen",
      String(START_LIMIT_SECONDS),
    )
    .option("--json", "print the results as JSON");
  const parsed = parseOptions(command, args);
  const { json, wait } = parsed.opts();
  const startLimitMs = Number(wait) * 1_000;
  if (!(startLimitMs > 0)) throw new UsageError(`Cannot wait "${wait}" seconds: give a number above 0`);
  const kinds = await chosenKinds(parsed.args);
  const results: (ScreenResult & { kind: AgentKind; version: string | undefined })[] = [];
  for (const kind of kinds) {
    const version = await installedVersion(runtime, kind);
    if (!json) print(heading(kind, version));
    for await (const result of checkAgent(kind, { startLimitMs })) {
      results.push({ kind, version, ...result });
      if (!json) print(resultLine(result));
    }
  }
  if (json) printJson(results);
  return results.every(({ recognized }) => recognized) ? 0 : EXIT_FAILED;
}

async function chosenKinds(names: readonly string[]): Promise<AgentKind[]> {
  const unknown = names.find((name) => !isAgentKind(name));
  if (unknown !== undefined) {
    throw new UsageError(
      `Cannot check "${unknown}": it is not an agent. The agents are ${AGENT_KINDS.join(", ")}`,
    );
  }
  const wanted = names.length > 0 ? names.filter(isAgentKind) : AGENT_KINDS.filter((kind) => kind !== "echo");
  const found = await Promise.all(wanted.map((kind) => isInstalled(kind)));
  const missing = wanted.filter((_, at) => !found[at]);
  if (names.length > 0 && missing.length > 0) {
    throw new UsageError(`Cannot check "${missing[0]}": it is not installed here`);
  }
  return wanted.filter((_, at) => found[at]);
}

async function isInstalled(kind: AgentKind): Promise<boolean> {
  return kind === "echo" || await runtime.commands.which(agentProfile(kind).binary) !== undefined;
}

function heading(kind: AgentKind, version: string | undefined): string {
  const { measuredVersion } = agentProfile(kind);
  const measured = measuredVersion === "" ? "" : `, tested with ${measuredVersion}`;
  return paint(`${AGENT_LABELS[kind]} ${version ?? ""}`.trim() + measured, "bold");
}

function resultLine({ name, recognized, found }: ScreenResult): string {
  return `  ${recognized ? paint("✓", "green") : paint("✗", "red")} ${name}: ${found}`;
}

async function record(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "agents record",
    summary:
      "Save what a session shows as a fixture for a report, with letters replaced by x and digits by 0 outside the agent's own interface.",
    examples: ["svc agents record svc-app", "svc agents record svc-app --out report"],
  })
    .argument("<session>", "the session's name, as in svc sessions")
    .option("--out <folder>", "where to write (default: a new folder here, named after the session)");
  const parsed = parseOptions(command, args);
  const [session] = parsed.processedArgs;
  const { folder, found } = await recordScreen(session, parsed.opts().out);
  print(`Wrote ${folder}/screen.txt and ${folder}/meta.json: ${found}.`);
  print(
    "Read both before you attach them to a report: only you know whether they still contain anything private.",
  );
  return 0;
}
