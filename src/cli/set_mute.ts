/** Silences a project, or lets it speak again: what `svc mute` and `svc unmute` share. */
import { runtime } from "#runtime";
import { setMuted } from "../home/muted.ts";
import { secureHome } from "../home/permissions.ts";
import { resolveProject } from "../wrapper/project.ts";
import { accountPaths } from "./context.ts";
import { EXIT_FAILED } from "./exit.ts";
import { print, printError } from "./output.ts";

/** `directory` is the project of the working directory when left out. */
export async function setMute(directory: string | undefined, options: { muted: boolean }): Promise<number> {
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
