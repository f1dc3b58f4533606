/** Registers svc in one agent: plans every file, then writes, then lets the agent do what only it can. */
import { errorText } from "../../async/error_text.ts";
import { agentProfile } from "../../agents/profiles.ts";
import { loadSetup } from "../../agents/registry.ts";
import type { AgentSetup, FileEdit } from "../../agents/setup.ts";
import type { AgentKind } from "../../protocol/names.ts";
import { type EditInputs, withSvc } from "./edit_file.ts";
import { missingDirectory, pathInUse, readExactly, writeWhole } from "./file_texts.ts";
import { lineDiff } from "./line_diff.ts";
import type { Manifest } from "./manifest.ts";
import type { AgentReport, FileReport, SetupHost } from "./types.ts";

interface FilePlan {
  path: string;
  before: string | undefined;
  after: string | undefined;
  /** The file is as setup left it, so what it was before is still what it would be without svc. */
  restorable: boolean;
}

export interface InstallOptions {
  manifest: Manifest;
  /** Plans only. */
  dryRun: boolean;
}

/** Throws Error when a file cannot be edited; nothing of this agent is written then. */
export async function installAgent(
  host: SetupHost,
  kind: AgentKind,
  options: InstallOptions,
): Promise<AgentReport> {
  const setup = await setupOf(host, kind);
  const plans: FilePlan[] = [];
  for (const edit of setup.files) plans.push(await planFile(host, edit, options.manifest));
  const report = { kind, label: agentProfile(kind).label, files: plans.map(toReport), trusts: setup.trusts };
  if (options.dryRun) return { ...report, isOk: true, notes: setup.notes };
  for (const plan of plans) await writePlan(host, plan, options.manifest);
  const finished = await finish(host, kind, { setup, manifest: options.manifest });
  return { ...report, isOk: finished.isOk, notes: [...setup.notes, ...finished.notes] };
}

export async function setupOf(
  { paths, home, env, plugin }: SetupHost,
  kind: AgentKind,
): Promise<AgentSetup> {
  const setup = await loadSetup(kind, { home, env, launcher: paths.launcher, plugin });
  if (setup === undefined) throw new Error(`Cannot set up "${kind}": this agent needs nothing.`);
  return setup;
}

/** Throws Error that names the file. */
export async function planFile(host: SetupHost, edit: FileEdit, manifest: Manifest): Promise<FilePlan> {
  const path = await pathInUse(host.files, edit.paths);
  try {
    const before = await readExactly(host.files, path);
    const inputs = await editInputs(host, edit, manifest.get(path)?.tables ?? []);
    const after = withSvc(edit, before, inputs);
    const known = manifest.get(path) !== undefined;
    const restorable = !known || await manifest.isUntouched(path, before);
    // Planned anew from what was there at first, so that what an older svc wrote leaves nothing behind.
    const isFresh = known && restorable && after !== before;
    return {
      path,
      before,
      after: isFresh ? withSvc(edit, await manifest.before(path), inputs) : after,
      restorable,
    };
  } catch (error) {
    const why = errorText(error);
    throw new Error(`Cannot edit "${path}": ${why}. Mend the file, or leave this agent out with --agent.`);
  }
}

export async function editInputs(
  { files, paths }: SetupHost,
  edit: FileEdit,
  tables: EditInputs["tables"],
): Promise<EditInputs> {
  const source = edit.form === "own" ? await files.readText(edit.source) : undefined;
  if (edit.form === "own" && source === undefined) throw new Error(`its source "${edit.source}" is missing`);
  return { source, launcher: paths.launcher, tables };
}

function toReport({ path, before, after }: FilePlan): FileReport {
  if (before === after) return { path, action: "keep", diff: [] };
  const action = before === undefined ? "create" : "change";
  return { path, action, diff: lineDiff(before ?? "", after ?? "") };
}

async function writePlan({ files }: SetupHost, plan: FilePlan, manifest: Manifest): Promise<void> {
  const { path, before, after, restorable } = plan;
  if (after === undefined || after === before) return;
  await manifest.keep(path, { text: before, made: await missingDirectory(files, path) });
  await writeWhole(files, path, after);
  await manifest.left(path, after, { restorable });
}

async function finish(
  host: SetupHost,
  kind: AgentKind,
  { setup, manifest }: { setup: AgentSetup; manifest: Manifest },
): Promise<{ isOk: boolean; notes: readonly string[] }> {
  if (setup.finish === undefined) return { isOk: true, notes: [] };
  const { commands, env, home } = host;
  const program = await commands.which(agentProfile(kind).binary);
  const paths = await Promise.all(setup.files.map((edit) => pathInUse(host.files, edit.paths)));
  const untouched = await Promise.all(
    paths.map(async (path) => await manifest.isUntouched(path, await readExactly(host.files, path))),
  );
  const { isOk, notes, tables } = await setup.finish({ commands, program, cwd: home, env });
  if (tables !== undefined) await manifest.addTables(tables.path, tables.keys);
  for (const [at, path] of paths.entries()) {
    const text = await readExactly(host.files, path);
    if (text !== undefined && untouched[at]) await manifest.left(path, text, { restorable: true });
  }
  return { isOk, notes };
}
