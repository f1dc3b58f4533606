/** Which project a wrapper run belongs to (docs/specification.md, "Wrapper"). */
import { projectName } from "../protocol/names.ts";
import type { Files } from "../runtime/types.ts";

export interface Project {
  name: string;
  /** Absolute path that the name is taken from. */
  root: string;
}

const VARIABLES = ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "WINDSURF_PROJECT_DIR"] as const;

interface ProjectPlace {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  files: Pick<Files, "info" | "realPath">;
}

/** The first of: the variables of the editors, the git repository's root, the working directory. */
export async function resolveProject(place: ProjectPlace): Promise<Project> {
  const named = VARIABLES.map((name) => place.env[name]).find((value) => value);
  const directory = named ?? await gitRoot(place) ?? place.cwd;
  const root = await place.files.realPath(directory) ?? directory;
  return { name: projectName(named?.startsWith("/") ? named : root), root };
}

/** The nearest directory that contains `.git`: a directory, or in a worktree or submodule a file. */
async function gitRoot({ cwd, files }: ProjectPlace): Promise<string | undefined> {
  for (let directory = cwd; directory !== ""; directory = directory.slice(0, directory.lastIndexOf("/"))) {
    if (await files.info(`${directory}/.git`)) return directory;
  }
  return undefined;
}
