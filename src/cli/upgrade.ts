/** `svc upgrade`: prints, or runs, what installs the newest version the way this one was installed. */
import { runtime } from "#runtime";
import { daemonStatus } from "../home/daemon.ts";
import { parseJson } from "../protocol/json.ts";
import { VERSION } from "../protocol/version.ts";
import { shellLine } from "../runtime/system.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths, daemonHost } from "./context.ts";
import { EXIT_FAILED, print, printError, printJson, UsageError } from "./output.ts";
import {
  describeInstallation,
  type Installation,
  installationOf,
  manualUpgrade,
  stepLine,
  type UpgradeStep,
  upgradeSteps,
} from "./installation.ts";
import { relayRestarts } from "./service/plan.ts";

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "upgrade",
    summary: "Print the commands that install the newest version; --run runs them.",
    examples: ["svc upgrade", "svc upgrade --run"],
  })
    .option(
      "--run",
      "run the commands, then restart the listener and the relay's services on the new version",
    )
    .option("--json", "print them as JSON");
  const { json: asJson, run: isRun } = parseOptions(command, args).opts();
  if (asJson && isRun) {
    throw new UsageError("--run and --json exclude each other: the commands print what they like.");
  }
  const installation = await ownInstallation();
  const steps = upgradeSteps(installation, runtime.selfCommand()[0] ?? "deno");
  const commands = steps.map(stepLine);
  if (asJson) {
    printJson({ version: VERSION, installation, commands });
    return 0;
  }
  print(`svc v${VERSION}, ${describeInstallation(installation)}`);
  if (steps.length === 0) return await showManual(installation, { isRun: isRun === true });
  return isRun ? await runSteps(steps) : await showSteps(installation, commands);
}

async function showSteps({ kind }: Installation, commands: readonly string[]): Promise<number> {
  print("To upgrade it, run:");
  const restarts = kind === "npx" ? [] : await restartLines();
  for (const line of [...commands, ...restarts]) print(`  ${line}`);
  print("Then svc verify says whether the agents' hooks and the services still fit.");
  return 0;
}

async function showManual(installation: Installation, { isRun }: { isRun: boolean }): Promise<number> {
  const { lines, obstacle } = manualUpgrade(installation);
  print(`${lines.join("\n")} Then run:`);
  for (const line of await restartLines()) print(`  ${line}`);
  if (!isRun) return 0;
  printError(`Cannot run that: ${obstacle}. Nothing was run.`);
  return EXIT_FAILED;
}

async function runSteps(steps: readonly UpgradeStep[]): Promise<number> {
  const env = runtime.env.all();
  for (const step of steps) {
    print(`+ ${stepLine(step)}`);
    const { cwd } = step;
    const code = await runtime.commands.runInherited(step.argv, {
      env,
      ...(cwd === undefined ? {} : { cwd }),
    });
    if (code === 0) continue;
    printError(`"${stepLine(step)}" ended with ${code}: nothing after it was run.`);
    return EXIT_FAILED;
  }
  return await restartAll();
}

/** Restarts the listener and the relays, each whether or not another one fails. */
async function restartAll(): Promise<number> {
  const restarts: (readonly string[])[] = [];
  if (await daemonStatus(daemonHost(), await accountPaths()) !== undefined) {
    // A new process, which runs the new version.
    restarts.push([...runtime.selfCommand(), "listener", "--restart"]);
  }
  for (const { argv, needsRoot } of await relayRestarts()) {
    if (needsRoot) print(`To run the relay's new version: sudo ${shellLine(argv)}`);
    else restarts.push(argv);
  }
  let hasFailed = false;
  for (const argv of restarts) {
    const code = await runtime.commands.runInherited([...argv], { env: runtime.env.all() });
    if (code === 0) continue;
    hasFailed = true;
    printError(`"${shellLine(argv)}" ended with ${code}: the old version may still run. Run that again.`);
  }
  return hasFailed ? EXIT_FAILED : 0;
}

/** The commands that run the new version in place of the old one, as lines for a shell. */
async function restartLines(): Promise<string[]> {
  const relays = await relayRestarts();
  return [
    "svc listener --restart",
    ...relays.map(({ argv, needsRoot }) => `${needsRoot ? "sudo " : ""}${shellLine(argv)}`),
  ];
}

/** How the svc that runs this process was installed. */
async function ownInstallation(): Promise<Installation> {
  const command = runtime.selfCommand();
  const program = command.at(-1) ?? "";
  const real = await runtime.files.realPath(program) ?? program;
  const manifest = parseJson(await runtime.files.readText(real.replace(/[^/]*$/, "package.json")) ?? "")
    ?.value;
  const isBuilt = typeof manifest === "object" && manifest !== null && "svcBuild" in manifest;
  return installationOf(command, { program: real, isBuilt });
}
