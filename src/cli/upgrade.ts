/** `svc upgrade`: prints, or runs, what installs the newest version the way this one was installed. */
import { runtime } from "#runtime";
import { daemonStatus } from "../home/daemon.ts";
import { VERSION } from "../protocol/version.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths, daemonHost } from "./context.ts";
import { EXIT_FAILED } from "./exit.ts";
import {
  describeInstallation,
  type Installation,
  installationOf,
  stepLine,
  type UpgradeStep,
  upgradeSteps,
} from "./installation.ts";
import { print, printError, printJson } from "./output.ts";

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "upgrade",
    summary: "Print the commands that install the newest version; --run runs them.",
    examples: ["svc upgrade", "svc upgrade --run"],
  })
    .option("--run", "run the commands, then restart the listener on the new version")
    .option("--json", "print them as JSON");
  const { json: asJson, run: isRun } = parseOptions(command, args).opts();
  const installation = await ownInstallation();
  const steps = upgradeSteps(installation, runtime.selfCommand()[0] ?? "deno");
  const commands = steps.map(stepLine);
  if (asJson) {
    printJson({ version: VERSION, installation, commands });
    return 0;
  }
  print(`svc v${VERSION}, ${describeInstallation(installation)}`);
  if (steps.length === 0) {
    print("To upgrade it, put the new program in its place. Then run: svc listener --restart");
    return isRun ? EXIT_FAILED : 0;
  }
  return isRun ? await runSteps(steps) : showSteps(installation, commands);
}

function showSteps({ kind }: Installation, commands: readonly string[]): number {
  print("To upgrade it, run:");
  for (const line of commands) print(`  ${line}`);
  if (kind !== "npx") print("  svc listener --restart");
  print("Then svc verify says whether the agents' hooks and the services still fit.");
  return 0;
}

async function runSteps(steps: readonly UpgradeStep[]): Promise<number> {
  for (const step of steps) {
    print(`+ ${stepLine(step)}`);
    const { cwd } = step;
    const code = await runtime.commands.runInherited(step.argv, cwd === undefined ? {} : { cwd });
    if (code === 0) continue;
    printError(`"${stepLine(step)}" ended with ${code}: nothing after it was run.`);
    return EXIT_FAILED;
  }
  if (await daemonStatus(daemonHost(), await accountPaths()) === undefined) return 0;
  // The new version, which this process is not.
  return await runtime.commands.runInherited([...runtime.selfCommand(), "listener", "--restart"]);
}

/** How the svc that runs this process was installed. */
async function ownInstallation(): Promise<Installation> {
  const command = runtime.selfCommand();
  const program = command.at(-1) ?? "";
  return installationOf(command, await runtime.files.realPath(program) ?? program);
}
