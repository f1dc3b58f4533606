/** What `svc setup` prints: per agent the files, what is trusted from now on, what the person should know. */
import type { AgentReport, FileAction, FileReport } from "../hooks/setup/types.ts";
import { AGENT_LABELS } from "../protocol/names.ts";
import { type Colour, paint, print, printError } from "./output.ts";
import type { SetupOutcome } from "./setup.ts";

interface ReportOptions {
  dryRun: boolean;
  remove: boolean;
}

export function printSetup({ agents, absent, failures }: SetupOutcome, options: ReportOptions): void {
  for (const agent of agents) for (const line of agentLines(agent, options)) print(line);
  if (!options.remove && absent.length > 0) {
    print(paint(`Not found: ${absent.map((kind) => AGENT_LABELS[kind]).join(", ")}`, "dim"));
  }
  for (const failure of failures) printError(failure);
  print(conclusion({ agents, absent, failures }, options));
}

function agentLines(agent: AgentReport, { dryRun, remove }: ReportOptions): string[] {
  if (remove && agent.files.length === 0) return [];
  const verb = dryRun ? "Would be trusted on your behalf" : "Trusted on your behalf";
  return [
    paint(agent.label, "bold"),
    ...agent.files.flatMap((file) => fileLines(file, { dryRun })),
    ...agent.trusts.map((trust) => `  ${verb}: ${trust}.`),
    ...agent.notes.map((note) => `  ${paint("→", agent.isOk ? "dim" : "yellow")} ${note}`),
    "",
  ];
}

const DONE: Record<FileAction, string> = {
  create: "made",
  change: "changed",
  keep: "as it should be",
  restore: "restored",
  delete: "removed",
};
const PLANNED: Record<FileAction, string> = {
  create: "would be made",
  change: "would be changed",
  keep: "as it should be",
  restore: "would be restored",
  delete: "would be removed",
};
const COLOURS: Record<string, Colour> = { "+": "green", "-": "red" };

function fileLines({ path, action, diff }: FileReport, { dryRun }: { dryRun: boolean }): string[] {
  const head = `  ${path}: ${(dryRun ? PLANNED : DONE)[action]}`;
  if (!dryRun) return [head];
  return [head, ...diff.map((line) => `    ${paint(line, COLOURS[line.charAt(0)] ?? "dim")}`)];
}

function conclusion({ agents, failures }: SetupOutcome, { dryRun, remove }: ReportOptions): string {
  const changed = agents.flatMap(({ files }) => files).filter(({ action }) => action !== "keep").length;
  if (dryRun) return `Nothing was written: ${changed} file(s) would change.`;
  if (changed === 0 && failures.length === 0) {
    return remove ? "Nothing of svc is left." : "Nothing to change.";
  }
  if (remove) return `Took svc out of ${changed} file(s).`;
  return `Changed ${changed} file(s). Agents that run already take notice when they start again. Undo it with: svc setup --remove`;
}
