/** Takes svc out of one agent: puts back the file from before where nobody changed it since, else takes out svc's part. */
import { errorText } from "../../async/error_text.ts";
import { agentProfile } from "../../agents/profiles.ts";
import type { FileEdit } from "../../agents/setup.ts";
import type { AgentKind } from "../../protocol/names.ts";
import { withoutSvc } from "./edit_file.ts";
import { readExactly, removeMade, writeWhole } from "./file_texts.ts";
import { editInputs, setupOf } from "./install.ts";
import { lineDiff } from "./line_diff.ts";
import type { InstallOptions } from "./install.ts";
import type { Manifest } from "./manifest.ts";
import type { AgentReport, FileAction, FileReport, SetupHost } from "./types.ts";

interface RemovalPlan {
  path: string;
  before: string;
  after: string | undefined;
  action: FileAction;
}

/** Throws Error when a file cannot be edited. */
export async function removeAgent(
  host: SetupHost,
  kind: AgentKind,
  { manifest, dryRun }: InstallOptions,
): Promise<AgentReport> {
  const plans: RemovalPlan[] = [];
  for (const edit of (await setupOf(host, kind)).files) {
    plans.push(...await planRemovals(host, edit, manifest));
  }
  if (!dryRun) {
    for (const plan of plans) await carryOut(host, plan);
    await clear(host, kind, manifest);
  }
  const files = plans.filter(({ action }) => action !== "keep").map(toReport);
  return { kind, label: agentProfile(kind).label, isOk: true, files, trusts: [], notes: [] };
}

/** An edit's every file: the person may have begun to use another one since. */
async function planRemovals(host: SetupHost, edit: FileEdit, manifest: Manifest): Promise<RemovalPlan[]> {
  const plans = await Promise.all(edit.paths.map((path) => planRemoval(host, edit, { path, manifest })));
  return plans.filter((plan) => plan !== undefined);
}

async function planRemoval(
  host: SetupHost,
  edit: FileEdit,
  { path, manifest }: { path: string; manifest: Manifest },
): Promise<RemovalPlan | undefined> {
  try {
    const before = await readExactly(host.files, path);
    const entry = manifest.get(path);
    if (before === undefined) return undefined;
    if (entry !== undefined && await manifest.isUntouched(path, before)) {
      const after = await manifest.before(path);
      if (entry.backup === null) return { path, before, after: undefined, action: "delete" };
      if (after !== undefined) return { path, before, after, action: "restore" };
    }
    const after = withoutSvc(edit, before, await editInputs(host, edit, entry?.tables ?? []));
    const action = after === undefined ? "delete" : after === before ? "keep" : "change";
    return { path, before, after, action };
  } catch (error) {
    const why = errorText(error);
    throw new Error(`Cannot edit "${path}": ${why}. Take svc's part out by hand.`);
  }
}

async function carryOut({ files }: SetupHost, { path, before, after }: RemovalPlan): Promise<void> {
  if (after === undefined) await files.remove(path);
  else if (after !== before) await writeWhole(files, path, after);
}

/** Directories that were made for the files, and the manifest's word of them, also where someone else removed the file. */
async function clear(host: SetupHost, kind: AgentKind, manifest: Manifest): Promise<void> {
  const paths = (await setupOf(host, kind)).files.flatMap((edit) => edit.paths);
  const made = paths.map((path) => manifest.get(path)?.made).filter((top) => typeof top === "string");
  for (const path of paths) {
    for (const top of made) await removeMade(host.files, path, top);
    await manifest.forget(path);
  }
}

function toReport({ path, before, after, action }: RemovalPlan): FileReport {
  return { path, action, diff: lineDiff(before, after ?? "") };
}
