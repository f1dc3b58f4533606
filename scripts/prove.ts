/** `deno task prove <capability>`: runs the proof of each claim of a capability, and prints a line with a figure for it; exits 1 when one fails. */
import { fileURLToPath } from "node:url";
import { CLAIMS } from "./prove/claims.ts";
import { type FaultRow, faultsTable, rowsIn } from "./prove/faults_table.ts";
import { runClaim } from "./prove/run_claim.ts";
import { say, write } from "./say.ts";
import { failureText } from "./steps.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

async function main(): Promise<number> {
  const [name = "main"] = Deno.args;
  const claims = Object.hasOwn(CLAIMS, name) ? CLAIMS[name] : undefined;
  if (claims === undefined) {
    say(`Unknown capability "${name}": give one of ${Object.keys(CLAIMS).join(", ")}.`);
    return 2;
  }
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
