/** Runs a claim's tests and formats its line. */
import { countText, type Outcome, runStep } from "../steps.ts";
import type { Claim } from "./claims.ts";

export interface Shown {
  isShown: boolean;
  /** `✓ <claim>: <figure>, <seconds> s`. */
  line: string;
  output: string;
}

/** The default time limit of a claim: real agents on a busy machine need three times as long as on a quiet one. */
const CLAIM_LIMIT_MINUTES = 90;

function argsOf({ tests, task }: Claim): string[] {
  if (task !== undefined) return ["task", "--quiet", ...task.split(" ")];
  const filter = tests?.filter === undefined ? [] : ["--filter", tests.filter];
  return ["test", "-A", "--no-check", ...filter, ...tests?.files ?? []];
}

/** Returns what was counted and quoted in the output, or else the number of tests. */
function figure({ count, quote }: Claim, { passed, output }: Outcome): string {
  if (count === undefined && quote === undefined) return `${passed} tests`;
  const counted = Object.entries(count ?? {}).map(([name, line]) =>
    `${name} ${[...output.matchAll(line)].length}`
  );
  const quoted = quote === undefined
    ? []
    : output.match(quote.part)?.map((part) =>
      part.replace(new RegExp(quote.part.source, "m"), quote.as).trim()
    );
  return [...counted, ...quoted ?? ["no figure"]].join(", ");
}

/** Returns what tests report as skipped because the machine lacks something. */
function skippedIn(output: string): string[] {
  return [...new Set(output.match(/^skipped: .*$/gm) ?? [])];
}

/** Runs a claim's tests. A claim is not proven if none of its tests ran or a part was skipped. */
export async function runClaim(claim: Claim, root: string): Promise<Shown> {
  const { text: name, env = {}, limitMinutes = CLAIM_LIMIT_MINUTES } = claim;
  const outcome = await runStep({ name, args: argsOf(claim), env, limitMinutes }, root);
  const skipped = skippedIn(outcome.output);
  const isShown = outcome.isOk && skipped.length === 0 && (claim.task !== undefined || outcome.passed > 0);
  const mark = isShown ? "✓" : "✗";
  const found = outcome.isCutOff ? countText(outcome) : figure(claim, outcome);
  const line = [`${mark} ${claim.text}: ${found}, ${outcome.seconds.toFixed(1)} s`, ...skipped].join("; ");
  return { isShown, line, output: outcome.output };
}
