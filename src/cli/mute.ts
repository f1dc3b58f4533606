/** `svc mute` and `svc unmute`: a muted project's sessions take no messages, and its agents are not informed of the phone. */
import { runtime } from "#runtime";
import { absolutePath, type HomePaths } from "../home/paths.ts";
import { checkMuted, covers, setMuted } from "../home/muted.ts";
import { secureHome } from "../home/permissions.ts";
import { resolveProject } from "../wrapper/preflight.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths } from "./context.ts";
import { shellLine } from "../runtime/system.ts";
import { EXIT_FAILED, print, printError, printJson, UsageError } from "./output.ts";

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
  const [directory] = parsed.processedArgs;
  const options = parsed.opts();
  if (!options.list && !options.json) return await setMute(directory, { muted: true });
  if (directory !== undefined) {
    throw new UsageError(
      `Cannot mute "${directory}" and list the muted directories at once: do one of them.`,
    );
  }
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
  const paths = await accountPaths();
  const path = directory === undefined
    ? await currentProject()
    : await files.realPath(directory) ?? (options.muted ? undefined : await deletedProject(paths, directory));
  if (path === undefined) {
    printError(`Cannot find the directory "${directory}": name one that exists, or none for this project.`);
    return EXIT_FAILED;
  }
  await secureHome(files, { paths, uid });
  const hasChanged = await setMuted(files, paths, { directory: path, muted: options.muted });
  const above = options.muted ? undefined : await mutedAbove(paths, path);
  if (above !== undefined) {
    const state = hasChanged ? "is no longer muted itself, but stays silent" : "stays muted";
    const command = shellLine(["svc", "unmute", above]);
    printError(`${path} ${state}: ${above} is muted, and with it everything below it. Run: ${command}`);
    return EXIT_FAILED;
  }
  const undo = shellLine(["svc", "unmute", ...directory === undefined ? [] : [path]]);
  print(stateLine(path, { ...options, hasChanged, undo }));
  return 0;
}

/** The muted directory that mutes this one too. */
async function mutedAbove(paths: HomePaths, path: string): Promise<string | undefined> {
  const { directories } = await checkMuted(runtime.files, paths);
  return directories.find((one) => covers(one, path));
}

/** The path under which a directory that no longer exists is muted; undefined if it is not. */
async function deletedProject(paths: HomePaths, directory: string): Promise<string | undefined> {
  const path = await realPlace(absolutePath(directory, runtime.cwd()).replace(/\/+$/, ""));
  const { directories } = await checkMuted(runtime.files, paths);
  return directories.includes(path) ? path : undefined;
}

/** The path with every link resolved in the part of it that exists. */
async function realPlace(path: string): Promise<string> {
  const slash = path.lastIndexOf("/");
  if (slash < 0) return path;
  return await runtime.files.realPath(path) ??
    `${(await realPlace(path.slice(0, slash))).replace(/\/$/, "")}${path.slice(slash)}`;
}

interface MuteState {
  muted: boolean;
  hasChanged: boolean;
  /** The command that undoes it. */
  undo: string;
}

function stateLine(path: string, { muted, hasChanged, undo }: MuteState): string {
  if (muted) return `${path} is ${hasChanged ? "now" : "already"} muted. To undo it: ${undo}`;
  return hasChanged ? `${path} is no longer muted.` : `${path} is not muted.`;
}

async function currentProject(): Promise<string> {
  const { files } = runtime;
  return (await resolveProject({ env: runtime.env.all(), cwd: runtime.cwd(), files })).root;
}
