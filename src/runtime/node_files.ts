/** Files on Node. */

import { constants, fdatasync, type Stats, writeSync } from "node:fs";
import {
  access,
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from "node:fs/promises";
import process from "node:process";
import { promisify } from "node:util";
import { MISSING, temporaryFrom, unless, writeToFile } from "./system.ts";
import type { AppendFile, FileInfo, Files } from "./types.ts";
import { encodeUtf8 } from "../async/encodings.ts";

const FORBIDDEN = ["EACCES", "EPERM"];

function toInfo(found: Stats): FileInfo {
  return {
    isFile: found.isFile(),
    isDirectory: found.isDirectory(),
    isSymlink: found.isSymbolicLink(),
    isSocket: found.isSocket(),
    size: found.size,
    mode: found.mode & 0o7777,
    uid: found.uid,
    mtimeMs: Math.trunc(found.mtimeMs),
  };
}

/** Sets the mode before the first byte: others must not read the new text through the old mode. */
async function writeTo(
  file: FileHandle,
  text: string,
  { path, mode }: { path: string; mode?: number },
): Promise<void> {
  if (mode !== undefined) await file.chmod(mode);
  writeToFile(path, { write: (bytes) => writeSync(file.fd, bytes), bytes: encodeUtf8(text) });
}

async function writeText(path: string, text: string, options: { mode?: number } = {}): Promise<void> {
  const file = await open(path, "w", options.mode);
  try {
    await writeTo(file, text, { path, ...options });
  } finally {
    await file.close();
  }
}

async function createText(path: string, text: string, options: { mode?: number } = {}): Promise<boolean> {
  const file = await unless(["EEXIST"], open(path, "wx", options.mode), undefined);
  if (file === undefined) return false;
  try {
    await writeTo(file, text, { path, ...options });
    return true;
  } catch (error) {
    await files.remove(path);
    throw error;
  } finally {
    await file.close();
  }
}

/** Follows a link to the file behind it, and keeps the mode of an existing file unless `mode` is given. */
async function replaceText(path: string, text: string, options: { mode?: number } = {}): Promise<void> {
  const target = await files.realPath(path) ?? path;
  const mode = options.mode ?? (await files.info(target))?.mode;
  const temporary = `${target}.${process.pid}.${crypto.randomUUID()}.tmp`;
  const file = await open(temporary, "wx", mode);
  try {
    await writeTo(file, text, { path: temporary, mode });
    await file.datasync();
    await rename(temporary, target);
  } catch (error) {
    await files.remove(temporary);
    throw error;
  } finally {
    await file.close();
  }
}

async function openAppend(path: string, options: { mode?: number } = {}): Promise<AppendFile> {
  const file = await open(path, "a", options.mode);
  const sync = promisify(fdatasync);
  return {
    append(text) {
      const bytes = typeof text === "string" ? encodeUtf8(text) : text;
      writeToFile(path, { write: (rest) => writeSync(file.fd, rest), bytes });
      return Promise.resolve();
    },
    sync: () => sync(file.fd),
    async sizeInPlace() {
      const [opened, found] = await Promise.all([file.stat(), unless(MISSING, stat(path), undefined)]);
      return opened.ino === found?.ino && opened.dev === found.dev ? found.size : undefined;
    },
    // A file system may report a failed write only on close. It is ignored: what must be stored has been synced.
    close: () => void file.close().catch(() => {}),
  };
}

async function remove(path: string, options: { recursive?: boolean } = {}): Promise<boolean> {
  const found = await unless(MISSING, lstat(path), undefined);
  if (found === undefined) return false;
  // Not `rm`: it also succeeds when another call has just removed the file.
  if (!found.isDirectory()) return await unless(MISSING, unlink(path).then(() => true), false);
  if (options.recursive) await rm(path, options);
  else await rmdir(path);
  return true;
}

async function isExecutable(path: string): Promise<boolean> {
  const info = await files.info(path);
  if (info === undefined || !info.isFile) return false;
  return await unless(FORBIDDEN, access(path, constants.X_OK).then(() => true), false);
}

export const files: Files = {
  readText: (path) => unless(MISSING, readFile(path, "utf8"), undefined),
  readBytes: (path) => unless(MISSING, readFile(path).then((bytes) => new Uint8Array(bytes)), undefined),
  writeText,
  replaceText,
  createText,
  openAppend,
  remove,
  rename,
  async makeDirectory(path, options) {
    await mkdir(path, { recursive: true, ...options });
  },
  makeTempDirectory: (prefix) => mkdtemp(`${temporaryFrom(process.env.TMPDIR)}/${prefix}`),
  list: (path) => unless(MISSING, readdir(path).then((names) => names.sort()), []),
  info: (path) => unless(MISSING, stat(path).then(toInfo), undefined),
  entryInfo: (path) => unless(MISSING, lstat(path).then(toInfo), undefined),
  chmod,
  readLink: (path) => unless([...MISSING, "EINVAL"], readlink(path), undefined),
  realPath: (path) => unless(MISSING, realpath(path), undefined),
  isExecutable,
};
