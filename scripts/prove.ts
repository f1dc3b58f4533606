/** `deno task prove <capability>`: shows again what a capability must show, a line and a figure each; exits by the result. */
import { type Claim, CLAIMS } from "./prove/claims.ts";
import { say, write } from "./say.ts";
import { failureText, type Outcome, runStep } from "./steps.ts";

const root = new URL("..", import.meta.url).pathname;

function argsOf({ tests, task }: Claim): string[] {
  if (task !== undefined) return ["task", "--quiet", task];
  const filter = tests?.filter === undefined ? [] : ["--filter", tests.filter];
  return ["test", "-A", "--no-check", ...filter, ...tests?.files ?? []];
}

/** The figure: what was counted in the output, else the number of tests. */
function figure({ count }: Claim, { passed, output }: Outcome): string {
  if (count === undefined) return `${passed} tests`;
  const counted = Object.entries(count).map(([name, line]) => `${name} ${[...output.matchAll(line)].length}`);
  return counted.join(", ");
}

async function prove(claim: Claim): Promise<boolean> {
  const outcome = await runStep({ name: claim.text, args: argsOf(claim) }, root);
  const ran = claim.task !== undefined || outcome.passed > 0;
  const isShown = outcome.isOk && ran;
  say(`${isShown ? "✓" : "✗"} ${claim.text}: ${figure(claim, outcome)}, ${outcome.seconds.toFixed(1)} s`);
  if (!isShown) write(failureText(outcome.output));
  return isShown;
}

async function main(): Promise<number> {
  const [name = "main"] = Deno.args;
  const claims = Object.hasOwn(CLAIMS, name) ? CLAIMS[name] : undefined;
  if (claims === undefined) {
    say(`Unknown capability "${name}": give one of ${Object.keys(CLAIMS).join(", ")}.`);
    return 2;
  }
  let shown = 0;
  for (const claim of claims) if (await prove(claim)) shown++;
  say(`${shown} of ${claims.length} claims shown`);
  return shown === claims.length ? 0 : 1;
}

Deno.exit(await main());
