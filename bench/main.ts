/** `deno task bench [filter]`: measures every row against its alternative; writes `bench/results/`. */
import { fileURLToPath } from "node:url";
import { say } from "../scripts/say.ts";
import { RUNTIME } from "./bare.ts";
import { measure, type Result, type Row } from "./measure.ts";
import { resultsJson, resultText } from "./report.ts";
import { connectionsRow } from "./rows/connections.ts";
import { deliveryRows } from "./rows/delivery.ts";
import { hookRows } from "./rows/hook.ts";
import { injectRow } from "./rows/inject.ts";
import { idleRows } from "./rows/idle.ts";
import { messageRows } from "./rows/message.ts";
import { mirrorRows } from "./rows/mirror.ts";
import { partRows } from "./rows/parts.ts";
import { relayRows, sweepRow } from "./rows/relay.ts";
import { startRows } from "./rows/start.ts";
import { watcherRows } from "./rows/watchers.ts";

const ROWS: Row[] = [
  ...messageRows,
  injectRow,
  ...partRows,
  ...deliveryRows,
  ...relayRows,
  connectionsRow,
  ...mirrorRows,
  ...watcherRows,
  ...startRows,
  ...hookRows,
  ...idleRows,
];
/** These rows run the sources in this process, not the launched svc. */
const ON_DENO: readonly Row[] = [injectRow, ...partRows, sweepRow];
const RESULTS = fileURLToPath(new URL("./results/", import.meta.url));

async function main(): Promise<void> {
  const [filter = ""] = Deno.args;
  const results: Result[] = [];
  const rows = RUNTIME === "deno" ? ROWS : ROWS.filter((row) => !ON_DENO.includes(row));
  if (RUNTIME === "node") {
    for (const { name } of ON_DENO) say(`left out on Node, measured in Deno's process: ${name}\n`);
  }
  for (const row of rows.filter(({ name }) => name.includes(filter))) {
    const result = await measure(row);
    say(resultText(result));
    results.push(result);
  }
  await Deno.mkdir(RESULTS, { recursive: true });
  const file = `${RESULTS}${filter || "all"}${RUNTIME === "deno" ? "" : "-node"}.json`;
  await Deno.writeTextFile(file, resultsJson(results));
  say(`written: ${file}`);
}

await main();
