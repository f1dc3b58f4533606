/** `svc mute` and `svc unmute`: a muted project's sessions take no messages, and its agents are not informed of the phone. */
import { runtime } from "#runtime";
import { checkMuted, setMuted } from "../home/muted.ts";
import { secureHome } from "../home/permissions.ts";
import { resolveProject } from "../wrapper/preflight.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths } from "./context.ts";
import { EXIT_FAILED, print, printError, printJson } from "./output.ts";

export async function runMute(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "mute",
    summary: "Silence a project and everything below it: nothing from the phone reaches its sessions.",
    examples: ["svc mute", "svc mute ~/work/app", "svc mute --list"],
  })
    .argument("[directory]", "the project's directory (default: the current project)")
    .option("--list", "print the muted directories")
    .option("--json", "print the list as JSON");
  const parsed = parseOptions(command, args);
  const options = parsed.opts();
  if (!options.list) return await setMute(parsed.processedArgs[0], { muted: true });
  const { directories: muted } = await checkMuted(runtime.files, await accountPaths());
  if (options.json) printJson(muted);
  else for (const directory of muted) print(directory);
  return 0;
}

export async function runUnmute(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "unmute",
    summary: "Let a project's sessions take messages again.",
    examples: ["svc unmute", "svc unmute ~/work/app"],
  }).argument("[directory]", "the directory that was muted (default: the current project)");
  return await setMute(parseOptions(command, args).processedArgs[0], { muted: false });
}

async function setMute(directory: string | undefined, options: { muted: boolean }): Promise<number> {
  const { files, uid } = runtime;
  const path = directory === undefined ? await currentProject() : await files.realPath(directory);
  if (path === undefined) {
    printError(`Cannot find the directory "${directory}": name one that exists, or none for this project.`);
    return EXIT_FAILED;
  }
  const paths = await accountPaths();
  await secureHome(files, { paths, uid });
  const hasChanged = await setMuted(files, paths, { directory: path, muted: options.muted });
  print(stateLine(path, { ...options, hasChanged }));
  return 0;
}

function stateLine(path: string, { muted, hasChanged }: { muted: boolean; hasChanged: boolean }): string {
  if (muted) return `${path} is ${hasChanged ? "now" : "already"} muted. To undo it: svc unmute`;
  return hasChanged ? `${path} is no longer muted.` : `${path} is not muted.`;
}

async function currentProject(): Promise<string> {
  const { files } = runtime;
  return (await resolveProject({ env: runtime.env.all(), cwd: runtime.cwd(), files })).root;
}
