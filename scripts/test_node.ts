/** `deno task test:node`: runs the contract, end-to-end, agents and phone tests against the built npm package on Node, and prints which tests ran on which runtime. */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildNpm } from "./build_npm.ts";
import { nodeFromNpm, type NodeMajor } from "./node22.ts";
import { countStarts, PARTLY, reachOf, type SuiteRow, suiteTable } from "./node_suites.ts";
import { prepare } from "./prepare.ts";
import { say, write } from "./say.ts";
import { countText, failureText, runStep } from "./steps.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGE = `${ROOT}.cache/node_package`;

/** The test runner stays Deno; it starts the package on Node. */
const TEST = ["test", "-A", "--no-check", "--parallel"];
const SUITES: Readonly<Record<string, { args: string[]; jobs: string; limitMinutes: number }>> = {
  contract: { args: [...TEST, "tests/contract"], jobs: "2", limitMinutes: 60 },
  e2e: { args: [...TEST, "tests/e2e"], jobs: "2", limitMinutes: 120 },
  phone: { args: [...TEST, "tests/phone"], jobs: "2", limitMinutes: 90 },
  agents: { args: ["run", "-A", "--quiet", "tests/agents/main.ts"], jobs: "1", limitMinutes: 120 },
};

async function testFiles(suite: string): Promise<{ path: string; text: string }[]> {
  const entries = await Array.fromAsync(Deno.readDir(`${ROOT}tests/${suite}`));
  const names = entries.map(({ name }) => name).filter((name) => name.endsWith("_test.ts")).sort();
  return await Promise.all(names.map(async (name) => {
    const path = `tests/${suite}/${name}`;
    return { path, text: await Deno.readTextFile(ROOT + path) };
  }));
}

interface Run {
  env: Record<string, string>;
  startsFile: string;
}

interface SuiteRun extends SuiteRow {
  isOk: boolean;
  /** Files of the suite that started nothing on Node and have no reason listed. */
  unexplained: string[];
}

async function runSuite(
  suite: string,
  { env, startsFile }: Run,
): Promise<SuiteRun> {
  const { args, jobs, limitMinutes } = SUITES[suite] ?? { args: [], jobs: "1", limitMinutes: 1 };
  const step = { name: suite, args, env: { ...env, DENO_JOBS: jobs }, limitMinutes };
  const outcome = await runStep(step, ROOT);
  const { seconds, passed, failed, isOk, isCutOff, output } = outcome;
  say(`${isOk ? "✓" : "✗"} ${suite}: ${countText(outcome)}, ${seconds.toFixed(0)} s`);
  if (!isOk) write(failureText(output));
  const starts = countStarts(await Deno.readTextFile(startsFile).catch(() => ""), ROOT);
  const files = (await testFiles(suite)).map((file) => ({ path: file.path, reach: reachOf(file, starts) }));
  const unexplained = files.flatMap(({ path, reach }) => {
    if (reach.kind !== "deno") return [];
    if (reach.why !== undefined) say(`  ${path}: on Deno only: ${reach.why}`);
    return reach.why === undefined ? [path] : [];
  });
  for (const { path } of files) if (PARTLY[path] !== undefined) say(`  ${path}: ${PARTLY[path]}`);
  return { suite, passed, failed, isOk, isCutOff, reaches: files.map(({ reach }) => reach), unexplained };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: { node: { type: "string", default: "22" }, only: { type: "string" } },
  });
  const major = ([22, 24, 26] as const).find((one) => String(one) === values.node);
  const suites = values.only?.split(",") ?? Object.keys(SUITES);
  if (major === undefined || suites.some((name) => SUITES[name] === undefined)) {
    say(`Cannot run that: --node is 22, 24 or 26, and --only some of ${Object.keys(SUITES).join(",")}.`);
    return 2;
  }
  if (!await prepare("tests")) return 1;
  const node = await nodeFromNpm(major satisfies NodeMajor);
  await buildNpm(PACKAGE);
  const startsFile = await Deno.makeTempFile({ prefix: "svc-starts-" });
  const env = { SVC_TEST_LAUNCH: `${node} ${PACKAGE}/cli.js`, SVC_TEST_STARTS: startsFile };
  const rows: SuiteRun[] = [];
  for (const suite of suites) rows.push(await runSuite(suite, { env, startsFile }));
  await Deno.remove(startsFile);
  for (const line of suiteTable(rows, `Node ${major}`)) say(line);
  const unexplained = rows.flatMap((row) => row.unexplained);
  for (const path of unexplained) {
    say(`${path} started nothing on Node, and scripts/node_suites.ts does not say why`);
  }
  return rows.every(({ isOk }) => isOk) && unexplained.length === 0 ? 0 : 1;
}

Deno.exit(await main());
