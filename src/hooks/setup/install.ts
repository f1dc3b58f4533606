/**
 * Registers svc in one agent, and removes it again. Registering plans every file, writes them, then lets the agent do
 * what only it can. Removing restores the earlier file if it has not changed since; otherwise it removes svc's entries.
 */
import { structuredPatch } from "diff";
import { folderOf } from "../../runtime/system.ts";
import { agentProfile } from "../../agents/profiles.ts";
import { loadSetup } from "../../agents/registry.ts";
import type { AgentSetup, FileEdit } from "../../agents/setup.ts";
import { decodeUtf8, withoutMark } from "../../async/encodings.ts";
import { errorText } from "../../async/error_text.ts";
import type { HomePaths } from "../../home/paths.ts";
import type { AgentKind } from "../../protocol/names.ts";
import type { Commands, Files } from "../../runtime/types.ts";
import { hasOwnJson, hasSvcsJson, putJson, takeJson } from "./edit_json.ts";
import { hasOwnTable, hasSvcsTable, putTable, restoreTable, takeTables } from "./edit_toml.ts";
import type { Manifest } from "./home_files.ts";

export interface SetupHost {
  files: Files;
  commands: Pick<Commands, "run" | "pipe" | "which">;
  paths: HomePaths;
  env: Readonly<Record<string, string>>;
  /** The user's home directory. */
  home: string;
  /** Absolute path of `plugin/`. */
  plugin: string;
}

export interface InstallOptions {
  manifest: Manifest;
  /** Plans without writing. */
  dryRun: boolean;
}

export interface AgentReport {
  kind: AgentKind;
  label: string;
  isOk: boolean;
  files: FileReport[];
  /** What was trusted, or would be in a dry run; without what could not be. */
  trusts: readonly string[];
  notes: readonly string[];
}

export interface FileReport {
  path: string;
  action: FileAction;
  /** Lines with their sign; none if the file stays as it is. */
  diff: string[];
}

export type FileAction = "create" | "change" | "keep" | "restore" | "delete";

export async function setupOf(
  { paths, home, env, plugin }: SetupHost,
  kind: AgentKind,
): Promise<AgentSetup> {
  const setup = await loadSetup(kind, { home, env, launcher: paths.launcher, plugin });
  if (setup === undefined) throw new Error(`Cannot set up "${kind}": this agent needs no setup.`);
  return setup;
}

/** The program is on PATH, or the agent's editor has created its directory. */
export async function isInstalled(host: SetupHost, kind: AgentKind): Promise<boolean> {
  if (await host.commands.which(agentProfile(kind).binary) !== undefined) return true;
  const { trace } = await setupOf(host, kind);
  return trace !== undefined && await host.files.info(trace) !== undefined;
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
  const files = plans.map(installReport);
  const trusts = [...setup.finishTrusts ?? [], ...setup.trusts];
  const report = { kind, label: agentProfile(kind).label, files, trusts };
  const replaced = plans.filter(({ isOverOwn }) => isOverOwn).map(({ path }) =>
    `"${path}" has a server of yours named svc, which svc's own replaces. svc setup --remove puts it back.`
  );
  const known = [...setup.notes, ...replaced];
  if (options.dryRun) return { ...report, isOk: true, notes: known };
  for (const plan of plans) await writePlan(host, plan, options.manifest);
  const { isOk, notes } = await finish(host, kind, { setup, manifest: options.manifest });
  return { ...report, isOk, trusts: isOk ? trusts : setup.trusts, notes: [...known, ...notes] };
}

interface FilePlan {
  path: string;
  before: string | undefined;
  after: string | undefined;
  /** The file is as setup left it, so the kept text is still what the file would be without svc. */
  restorable: boolean;
  /** The user has another MCP server named `svc`, which svc's replaces. */
  isOverOwn: boolean;
}

/** Plans the edit of one file. Throws an Error that names the file. */
export async function planFile(host: SetupHost, edit: FileEdit, manifest: Manifest): Promise<FilePlan> {
  const path = await pathInUse(host.files, edit.paths);
  try {
    await refuseBrokenLink(host.files, path);
    const before = await readExactly(host.files, path);
    const inputs = await editInputs(host, edit, manifest.get(path)?.tables ?? []);
    const after = withSvc(edit, before, inputs);
    const entry = manifest.get(path);
    const restorable = entry === undefined || await manifest.isUntouched(path, before);
    const kept = await manifest.before(path);
    // If its copy is missing, the user's original file is unknown.
    const isKnown = entry !== undefined && (entry.backup === null || kept !== undefined);
    // Planned again from the kept text, so that nothing that an older svc wrote is left behind.
    const isFresh = isKnown && restorable && after !== before;
    const isOverOwn = before !== undefined && hasOwn(edit, before);
    return { path, before, after: isFresh ? withSvc(edit, kept, inputs) : after, restorable, isOverOwn };
  } catch (error) {
    throw new Error(
      `Cannot edit "${path}": ${errorText(error)}. Fix the file, or leave this agent out with --agent.`,
    );
  }
}

function installReport({ path, before, after }: FilePlan): FileReport {
  if (before === after) return { path, action: "keep", diff: [] };
  const action = before === undefined ? "create" : "change";
  return { path, action, diff: lineDiff(before ?? "", after ?? "") };
}

async function writePlan({ files }: SetupHost, plan: FilePlan, manifest: Manifest): Promise<void> {
  const { path, before, after, restorable } = plan;
  if (after === undefined || after === before) return;
  const made = await missingDirectory(files, path);
  await manifest.keep(path, { text: before, made, after: restorable ? after : undefined });
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
  const before = await Promise.all(paths.map(async (path) => {
    const text = await readExactly(host.files, path);
    return await manifest.isUntouched(path, text) ? text : undefined;
  }));
  const { isOk, notes, tables } = await setup.finish({ commands, program, cwd: home, env });
  if (tables !== undefined) await manifest.addTables(tables.path, tables.keys);
  for (const [at, path] of paths.entries()) {
    const after = await readExactly(host.files, path);
    const added = tables?.path === path ? tables.keys : [];
    if (after === undefined || !isSame({ before: before[at], after }, added)) continue;
    await manifest.left(path, after, { restorable: true });
  }
  return { isOk, notes };
}

/** Whether only these tables changed: other changes may be the user's, made while the agent worked. */
function isSame(
  { before, after }: { before: string | undefined; after: string },
  tables: readonly (readonly string[])[],
): boolean {
  if (before === undefined || before === after || tables.length === 0) return before === after;
  const lines = (text: string): string =>
    takeTables(withoutMark(text).rest, tables).replace(/^\s*\n/gm, "").trimEnd();
  try {
    return lines(before) === lines(after);
  } catch {
    return false;
  }
}

/** Throws Error when a file cannot be edited. */
export async function removeAgent(
  host: SetupHost,
  kind: AgentKind,
  { manifest, dryRun }: InstallOptions,
): Promise<AgentReport> {
  const { files: edits } = await setupOf(host, kind);
  const plans: RemovalPlan[] = [];
  for (const edit of edits) plans.push(...await planRemovals(host, edit, manifest));
  if (!dryRun) {
    for (const plan of plans) await writeRemoval(host, plan);
    await forget(host, edits, manifest);
  }
  const files = plans.filter(({ action }) => action !== "keep").map(removalReport);
  return { kind, label: agentProfile(kind).label, isOk: true, files, trusts: [], notes: [] };
}

interface RemovalPlan {
  path: string;
  before: string;
  after: string | undefined;
  action: FileAction;
}

/** One plan for every path of the edit: the user may have switched to another one since. */
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
    if (before === undefined || (entry === undefined && !before.includes("svc"))) return undefined;
    const kept = await manifest.before(path);
    const isOriginal = kept !== undefined && !hasSvc(edit, kept);
    if (entry !== undefined && await manifest.isUntouched(path, before)) {
      if (entry.backup === null) return { path, before, after: undefined, action: "delete" };
      if (isOriginal) return { path, before, after: kept, action: kept === before ? "keep" : "restore" };
    }
    const inputs = await editInputs(host, edit, entry?.tables ?? []);
    const after = withoutSvc(edit, before, { ...inputs, original: isOriginal ? kept : undefined });
    const action = after === undefined ? "delete" : after === before ? "keep" : "change";
    return { path, before, after, action };
  } catch (error) {
    throw new Error(`Cannot edit "${path}": ${errorText(error)}. Remove svc's entries by hand.`);
  }
}

function removalReport({ path, before, after, action }: RemovalPlan): FileReport {
  return { path, action, diff: lineDiff(before, after ?? "") };
}

async function writeRemoval({ files }: SetupHost, { path, before, after }: RemovalPlan): Promise<void> {
  if (after === undefined) await files.remove(path);
  else if (after !== before) await writeWhole(files, path, after);
}

/** Removes the directories that setup made and the manifest's entries, even if someone else removed the files. */
async function forget(host: SetupHost, edits: readonly FileEdit[], manifest: Manifest): Promise<void> {
  const paths = edits.flatMap((edit) => edit.paths);
  const made = paths.map((path) => manifest.get(path)?.made).filter((top) => typeof top === "string");
  for (const path of paths) {
    for (const top of made) await removeMade(host.files, path, top);
    await manifest.forget(path);
  }
}

/** What an edit needs in addition to the file's text. */
interface EditInputs {
  /** The source text of a file that belongs to svc alone. */
  source: string | undefined;
  launcher: string;
  /** Tables that the agent itself added. */
  tables: readonly (readonly string[])[];
}

async function editInputs(
  { files, paths }: SetupHost,
  edit: FileEdit,
  tables: EditInputs["tables"],
): Promise<EditInputs> {
  const source = edit.form === "own" ? await files.readText(edit.source) : undefined;
  if (edit.form === "own" && source === undefined) throw new Error(`its source "${edit.source}" is missing`);
  return { source, launcher: paths.launcher, tables };
}

/** Marks every file that belongs to svc alone. */
const OWN_MARK = "Written by svc setup";

/** The file's text with svc's entries; undefined if no file should be created. Throws Error naming the obstacle. */
function withSvc(edit: FileEdit, before: string | undefined, inputs: EditInputs): string | undefined {
  const { mark, rest } = withoutMark(before ?? "");
  const text = before === undefined ? undefined : rest;
  const after = edited(edit, text, inputs);
  return after === undefined ? undefined : mark + after;
}

function edited(edit: FileEdit, text: string | undefined, inputs: EditInputs): string | undefined {
  switch (edit.form) {
    case "json":
      if (isBlank(text) && edit.initial === null) return text;
      return putJson(isBlank(text) ? `${JSON.stringify(edit.initial ?? {}, null, 2)}\n` : text, edit);
    case "toml":
      return putTable(text ?? "", edit.table, edit.entries);
    case "own":
      if (text !== undefined && !text.includes(OWN_MARK)) throw new Error("it exists and is not svc's");
      return (inputs.source ?? "").replaceAll('"{{launcher}}"', JSON.stringify(inputs.launcher));
  }
}

/** The file's text without svc's entries; undefined if it should be deleted. Throws Error naming the obstacle. */
function withoutSvc(
  edit: FileEdit,
  before: string,
  { tables, original = "" }: EditInputs & { original: string | undefined },
): string | undefined {
  const { mark, rest } = withoutMark(before);
  switch (edit.form) {
    case "json":
      return isBlank(rest) ? before : mark + takeJson(rest, edit, withoutMark(original).rest);
    case "toml":
      if (!hasSvcsTable(rest, edit.table)) return mark + takeTables(rest, tables);
      return mark +
        restoreTable(takeTables(rest, [edit.table, ...tables]), edit.table, withoutMark(original).rest);
    case "own":
      return before.includes(OWN_MARK) ? undefined : before;
  }
}

/** True if the kept text has svc's entries, as after a manifest was lost: restoring it would bring svc back. */
function hasSvc(edit: FileEdit, kept: string): boolean {
  const { rest } = withoutMark(kept);
  switch (edit.form) {
    case "json":
      return !isBlank(rest) && hasSvcsJson(rest, edit);
    case "toml":
      return hasSvcsTable(rest, edit.table);
    case "own":
      return kept.includes(OWN_MARK);
  }
}

/** True if the user's own MCP server has svc's name. */
function hasOwn(edit: FileEdit, before: string): boolean {
  const { rest } = withoutMark(before);
  if (edit.form === "json") return !isBlank(rest) && hasOwnJson(rest, edit);
  return edit.form === "toml" && hasOwnTable(rest, edit.table);
}

function isBlank(text: string | undefined): text is undefined | "" {
  return text === undefined || text.trim() === "";
}

/** A longer change is shown as one block. */
const DIFF_MAX_LINES = 1_000;
const DIFF_CONTEXT = 2;

/** The lines that differ, with `-` or `+` in front, and those around them. A missing newline at the end is ignored. */
export function lineDiff(before: string, after: string): string[] {
  const [old, changed] = [withNewline(before), withNewline(after)];
  const options = { context: DIFF_CONTEXT, maxEditLength: DIFF_MAX_LINES };
  const patch = structuredPatch("", "", old, changed, undefined, undefined, options);
  return patch === undefined
    ? [...linesOf(old).map((line) => `- ${line}`), ...linesOf(changed).map((line) => `+ ${line}`)]
    : patch.hunks.flatMap(({ lines }) => lines.map((line) => `${line.charAt(0)} ${line.slice(1)}`));
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function linesOf(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

/** The text, byte for byte; undefined if there is no file. Throws if it is not UTF-8: it could not be written back. */
export async function readExactly(files: Files, path: string): Promise<string | undefined> {
  const bytes = await files.readBytes(path);
  if (bytes === undefined) return undefined;
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new Error("it is not UTF-8");
  return text;
}

/** The first path that exists; the first of all if none does. */
export async function pathInUse(files: Files, paths: readonly string[]): Promise<string> {
  for (const path of paths) if (await files.info(path)) return path;
  return paths[0] ?? "";
}

/** Throws Error for a link to a missing file, such as one on an unmounted disk: it would be replaced by a file. */
async function refuseBrokenLink(files: Files, path: string): Promise<void> {
  const target = await files.readLink(path);
  if (target === undefined || await files.info(path) !== undefined) return;
  throw new Error(`it is a link to "${target}", which does not exist; create that file or remove the link`);
}

/** The topmost directory that is missing above the path; null if none is. */
export async function missingDirectory(files: Files, path: string): Promise<string | null> {
  const parent = folderOf(path);
  if (parent === "" || await files.info(parent)) return null;
  return await missingDirectory(files, parent) ?? parent;
}

export async function writeWhole(files: Files, path: string, text: string): Promise<void> {
  await files.makeDirectory(folderOf(path));
  const exists = await files.info(path) !== undefined;
  await files.replaceText(path, text, exists ? {} : { mode: 0o600 });
}

/** Removes the empty directories from the file's own up to `top`. */
export async function removeMade(files: Files, path: string, top: string): Promise<void> {
  const parent = folderOf(path);
  const isWithin = parent === top || parent.startsWith(`${top}/`);
  if (!isWithin || (await files.list(parent)).length > 0) return;
  await files.remove(parent, { recursive: true });
  await removeMade(files, parent, top);
}
