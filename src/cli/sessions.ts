/** `svc sessions`: what the phone's picker shows. */
import { defineCommand, parseWords } from "./command.ts";
import { accountPaths } from "./context.ts";
import { print, printJson } from "./output.ts";
import { listEntries, sessionTable } from "./session_table.ts";
import { addressInputs, relayApi } from "./settings.ts";

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "sessions",
    summary: "List every session of the account, on every host.",
    examples: ["svc sessions", "svc sessions --json"],
  })
    .option("--json", "print the inventory entries as a JSON array")
    .option("--names", "print the names alone, one a line");
  const words = parseWords(command, args).opts();
  const paths = await accountPaths();
  const { devices } = await relayApi(paths, await addressInputs(paths)).sessions();
  const entries = listEntries(devices);
  if (words.json) printJson(entries);
  else if (words.names) { for (const { name } of entries) print(name); }
  else for (const line of sessionTable(entries, Date.now())) print(line);
  return 0;
}
