/** `svc verify`: the setup as a list of checks, each with its finding and its fix. */
import { errorText } from "../async/error_text.ts";
import { type AddressInputs, resolveBaseUrl } from "../home/config.ts";
import { agentChecks } from "./checks/agents/agents.ts";
import type { Check, CheckContext, Finding, Mark } from "./checks/check.ts";
import {
  configCheck,
  keyCheck,
  listenerCheck,
  modesCheck,
  relayCheck,
  relaySocketCheck,
  sealingCheck,
  tmuxCheck,
  tmuxSocketsCheck,
  wsUrlVariableCheck,
} from "./checks/host.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths } from "./context.ts";
import { type Color, EXIT_FAILED, inLine, paint, print, printJson } from "./output.ts";
import { addressInputs } from "./settings.ts";
import { isLoopback } from "./reach.ts";

const CHECKS: readonly Check[] = [
  tmuxCheck,
  modesCheck,
  configCheck,
  wsUrlVariableCheck,
  relayCheck,
  keyCheck,
  relaySocketCheck,
  sealingCheck,
  listenerCheck,
  tmuxSocketsCheck,
];

type Result = Finding & { name: string };

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "verify",
    summary: "Check the setup. Exits with 1 when something does not work.",
    examples: ["svc verify", "svc verify --json"],
  }).option("--json", "print the findings as JSON");
  const options = parseOptions(command, args).opts();
  const paths = await accountPaths();
  const context = { paths, inputs: await addressInputs(paths).catch(() => undefined) };
  const checks = [...CHECKS, ...await agentChecks(paths)];
  const results: Result[] = [];
  for (const running of checks.map((check) => runCheck(check, context))) {
    const result = await running;
    results.push(result);
    if (!options.json) { for (const line of resultLines(result)) print(line); }
  }
  if (options.json) printJson(results);
  else print(`\n${summary(results, relayAddress(context.inputs))}`);
  return results.some(({ mark }) => mark === "fault") ? EXIT_FAILED : 0;
}

/** Undefined when it is missing or malformed, which the checks have reported. */
function relayAddress(inputs: AddressInputs | undefined): string | undefined {
  try {
    return inputs && resolveBaseUrl(inputs);
  } catch {
    return undefined;
  }
}

async function runCheck(check: Check, context: CheckContext): Promise<Result> {
  try {
    return { name: check.name, ...await check.run(context) };
  } catch (error) {
    return { name: check.name, mark: "fault", finding: errorText(error), fix: "see: svc logs" };
  }
}

const SIGNS: Record<Mark, [sign: string, color: Color]> = {
  ok: ["✓", "green"],
  warning: ["!", "yellow"],
  fault: ["✗", "red"],
};

/** A finding may hold words of the relay or of another program, which must not add a line. */
function resultLines({ mark, name, finding, fix }: Result): string[] {
  const [sign, color] = SIGNS[mark];
  return [
    `${paint(sign, color)} ${name}: ${inLine(finding)}`,
    ...(fix === undefined ? [] : [`    → ${inLine(fix)}`]),
  ];
}

/** The last line. `baseUrl`: where this machine reaches the relay; a loopback address is of no use to a phone. */
export function summary(results: readonly Finding[], baseUrl?: string): string {
  const faults = results.filter(({ mark }) => mark === "fault").length;
  const warnings = results.filter(({ mark }) => mark === "warning").length;
  if (faults > 0) return `${faults} of ${results.length} checks failed: fix them from the top down.`;
  const isLocal = baseUrl !== undefined && isLoopback(baseUrl);
  const onlyHere =
    `Only this machine can open the relay at ${baseUrl}: a phone needs a tunnel or another address. See: svc up --help`;
  if (warnings > 0) return `It works, with ${warnings} warning(s).${isLocal ? ` ${onlyHere}` : ""}`;
  if (isLocal) return `All is well on this machine. ${onlyHere}`;
  return `All is well: a phone that can open ${baseUrl ?? "the relay"} can reach this machine.`;
}
