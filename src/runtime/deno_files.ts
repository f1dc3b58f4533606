/** Files on Deno. */

import { MISSING, unless } from "./failure.ts";
import { writeFully } from "./write_fully.ts";
import type { AppendFile, FileInfo, Files } from "./types.ts";

const utf8 = new TextEncoder();

function toInfo(stat: Deno.FileInfo): FileInfo {
  return {
    isFile: stat.isFile,
    isDirectory: stat.isDirectory,
    isSymlink: stat.isSymlink,
    isSocket: stat.isSocket ?? false,
    size: stat.size,
    mode: (stat.mode ?? 0) & 0o7777,
    uid: stat.uid ?? -1,
    mtimeMs: stat.mtime?.getTime() ?? 0,
  };
}

/** Sets the mode before the first byte: what was readable by others must not show the new text. */
async function writeTo(
  file: Deno.FsFile,
  text: string,
  options: { path: string; mode?: number },
): Promise<void> {
  if (options.mode !== undefined) await Deno.chmod(options.path, options.mode);
  writeFully((bytes) => file.writeSync(bytes), utf8.encode(text));
}

async function writeText(path: string, text: string, options: { mode?: number } = {}): Promise<void> {
  const file = await Deno.open(path, { write: true, create: true, truncate: true, ...options });
  try {
    await writeTo(file, text, { path, ...options });
  } finally {
    file.close();
  }
}

async function createText(path: string, text: string, options: { mode?: number } = {}): Promise<boolean> {
  const opened = Deno.open(path, { write: true, createNew: true, ...options });
  const file = await unless(["EEXIST"], opened, undefined);
  if (file === undefined) return false;
  try {
    await writeTo(file, text, { path, ...options });
    return true;
  } finally {
    file.close();
  }
}

/** Follows a link to the file behind it, and keeps the mode of a file that exists unless told another. */
async function replaceText(path: string, text: string, options: { mode?: number } = {}): Promise<void> {
  const target = await files.realPath(path) ?? path;
  const mode = options.mode ?? (await files.info(target))?.mode;
  const beside = `${target}.${Deno.pid}.${crypto.randomUUID()}.tmp`;
  const file = await Deno.open(beside, { write: true, createNew: true, mode });
  try {
    await writeTo(file, text, { path: beside, mode });
    await file.syncData();
    await Deno.rename(beside, target);
  } catch (error) {
    await files.remove(beside);
    throw error;
  } finally {
    file.close();
  }
}

async function openAppend(path: string, options: { mode?: number } = {}): Promise<AppendFile> {
  const file = await Deno.open(path, { append: true, create: true, ...options });
  return {
    append(text) {
      writeFully((bytes) => file.writeSync(bytes), utf8.encode(text));
      return Promise.resolve();
    },
    sync: () => file.syncData(),
    close: () => file.close(),
  };
}

async function names(path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(path)) found.push(entry.name);
  return found.sort();
}

/** Judges by the permission bits: Deno cannot ask access(2), so a group's right counts for every other user. */
async function isExecutable(path: string): Promise<boolean> {
  const info = await files.info(path);
  if (info === undefined || !info.isFile) return false;
  const uid = Deno.uid();
  if (uid === 0) return (info.mode & 0o111) !== 0;
  return (info.mode & (uid === info.uid ? 0o100 : 0o011)) !== 0;
}

export const files: Files = {
  readText: (path) => unless(MISSING, Deno.readTextFile(path), undefined),
  readBytes: (path) => unless(MISSING, Deno.readFile(path), undefined),
  writeText,
  replaceText,
  createText,
  openAppend,
  remove: (path, options) => unless(MISSING, Deno.remove(path, options).then(() => true), false),
  rename: (from, to) => Deno.rename(from, to),
  makeDirectory: (path, options) => Deno.mkdir(path, { recursive: true, ...options }),
  makeTempDirectory: (prefix) => Deno.makeTempDir({ prefix }),
  list: (path) => unless(MISSING, names(path), []),
  info: (path) => unless(MISSING, Deno.stat(path).then(toInfo), undefined),
  chmod: (path, mode) => Deno.chmod(path, mode),
  readLink: (path) => unless([...MISSING, "EINVAL"], Deno.readLink(path), undefined),
  realPath: (path) => unless(MISSING, Deno.realPath(path), undefined),
  isExecutable,
};
