/** `deno task test:agents`: installs the real agents, runs their tests, and prints the results as a table; exits with the tests' code. */
import { fileURLToPath } from "node:url";
import { say } from "../../scripts/say.ts";
import { installAgent, REAL_AGENTS, type RealAgent } from "./install.ts";
import { parseCells, renderTable, TABLE_VARIABLE } from "./table.ts";

const KINDS = Object.keys(REAL_AGENTS) as RealAgent[];
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

for (const kind of KINDS) {
  await installAgent(kind);
  say(`${kind}: ${REAL_AGENTS[kind].package} ${REAL_AGENTS[kind].version}`);
}
const file = await Deno.makeTempFile({ prefix: "svc-agents-" });
// The attacks have their own task, `deno task test:closed`.
const all = ["--ignore=tests/agents/closed", "tests/agents"];
const args = ["test", "-A", "--no-check", ...(Deno.args.length > 0 ? Deno.args : all)];
const tests = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, env: { [TABLE_VARIABLE]: file } }).spawn();
const { code } = await tests.status;
say(`\n${renderTable([...KINDS, "cursor"], parseCells(await Deno.readTextFile(file)))}`);
await Deno.remove(file);
Deno.exit(code);
