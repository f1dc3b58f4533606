/** Before the listener uses `~/.svc`: moves what it cannot use out of the way, and reports every damaged file. */
import { errorText } from "../async/error_text.ts";
import { moveAside, readStateText } from "../home/damage.ts";
import { loadKept } from "../home/kept.ts";
import { checkMuted } from "../home/muted.ts";
import { loadIdentity, loadPaired } from "../home/paired.ts";
import type { HomePaths } from "../home/paths.ts";
import { isServiceText } from "../home/service.ts";
import { parseJson } from "../protocol/json.ts";
import type { Files } from "../runtime/types.ts";
import { isProjectsText } from "./agent_life.ts";
import { isStatesText } from "./inventory/session_entry.ts";

/** Written again by the listener, so that a folder in their place only has to go. */
const FILES = ["pid", "version", "log", "journal", "audit", "states", "projects"] as const;
const FOLDERS = ["markers", "remote", "answers", "uploads", "lastWords", "setup"] as const;

/** One line for each damaged file, with what to do. The caller holds the listener's lock. */
export async function mendHome(files: Files, paths: HomePaths): Promise<string[]> {
  return [...await clearPlaces(files, paths), ...await damagedFiles(files, paths)];
}

async function clearPlaces(files: Files, paths: HomePaths): Promise<string[]> {
  const lines: string[] = [];
  const wanted = [
    ...FILES.map((name) => ({ path: paths[name], isFolder: false })),
    ...FOLDERS.map((name) => ({ path: paths[name], isFolder: true })),
  ];
  for (const { path, isFolder } of wanted) {
    const info = await files.info(path);
    if (info === undefined || info.isDirectory === isFolder) continue;
    const found = isFolder ? "a file, not a folder" : "a folder, not a file";
    lines.push(`"${path}" was ${found}: moved to "${await moveAside(files, path)}". Remove that.`);
  }
  return lines;
}

async function damagedFiles(files: Files, paths: HomePaths): Promise<string[]> {
  const lines: string[] = [];
  for (const load of [loadIdentity, loadPaired, loadKept, checkMuted]) {
    await load(files, paths).catch((error) => lines.push(errorText(error)));
  }
  const isDamaged = async (path: string, isIntact: (text: string) => boolean): Promise<boolean> => {
    const text = await readStateText(files, path);
    return text !== undefined && !isIntact(text);
  };
  for (const [path, isIntact] of [[paths.states, isStatesText], [paths.projects, isProjectsText]] as const) {
    if (!await isDamaged(path, isIntact)) continue;
    lines.push(`"${path}" is damaged: moved to "${await moveAside(files, path)}". It is made anew.`);
  }
  const manifest = `${paths.setup}/manifest.json`;
  if (await isDamaged(paths.service, isServiceText)) {
    lines.push(`"${paths.service}" is damaged. Run: svc service install listener`);
  }
  if (await isDamaged(manifest, isObjectText)) lines.push(`"${manifest}" is damaged. Run: svc setup`);
  return lines;
}

/** The schema is the installer's. */
function isObjectText(text: string): boolean {
  const value = parseJson(text)?.value;
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
