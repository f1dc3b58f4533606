/** `deno task prove <capability>`: runs the proof of each claim of a capability, and prints a line with a figure for it; exits 1 when one fails. */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { prepare } from "./prepare.ts";
import { CLAIMS, selectClaims } from "./prove/claims.ts";
import { type FaultRow, faultsTable, rowsIn } from "./prove/faults_table.ts";
import { runClaim } from "./prove/run_claim.ts";
import { say, write } from "./say.ts";
import { failureText } from "./steps.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

const USAGE = "Usage: deno task prove [capability] [--only <part of a claim's text>]…";

/**
 * Reads a capability and the `--only` parts of the claims to run (all of them if there are none). Undefined for other
 * options.
 */
function readOptions(): { name: string; only: string[] } | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: Deno.args,
      options: { only: { type: "string", multiple: true, default: [] } },
      allowPositionals: true,
    });
    return { name: positionals[0] ?? "main", only: values.only };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    say(`${error.message}\n\n${USAGE}`);
    return undefined;
  }
}

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  const { name, only } = options;
  const all = Object.hasOwn(CLAIMS, name) ? CLAIMS[name] : undefined;
  if (all === undefined) {
    say(`Unknown capability "${name}": give one of ${Object.keys(CLAIMS).join(", ")}.`);
    return 2;
  }
  const claims = selectClaims(all, only);
  if (claims.length === 0) {
    say(`No claim of "${name}" contains "${only.join('" or "')}". Its claims:`);
    for (const { text } of all) say(`  ${text}`);
    return 2;
  }
  // Tools that only some proofs need may be missing: a claim that skips a part because of that fails.
  if (!await prepare("proofs") && !await prepare("tests")) return 1;
  let shown = 0;
  const rows: FaultRow[] = [];
  for (const claim of claims) {
    const { isShown, line, output } = await runClaim(claim, root);
    say(line);
    rows.push(...rowsIn(output));
    if (isShown) shown++;
    else write(failureText(output));
  }
  for (const line of faultsTable(rows)) say(line);
  say(`${shown} of ${claims.length} claims shown`);
  return shown === claims.length ? 0 : 1;
}

Deno.exit(await main());
