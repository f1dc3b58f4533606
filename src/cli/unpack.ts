/** Unpacks the phone's page and the plugin from a single-file program into `~/.svc/package`, where agents find them. */
import { folderOf } from "../runtime/system.ts";
import { encodeHex } from "../async/encodings.ts";
import { sha256 } from "../runtime/digest.ts";
import { withLock } from "../home/lock.ts";
import type { EmbeddedFiles, Files } from "../runtime/types.ts";

const DIGEST = "digest";
const FOLDER_MODE = 0o700;

/**
 * Resolves with the folder, whose path stays the same when svc is upgraded. A new version is written to another folder,
 * which is then renamed: a reader finds all of one version.
 */
export async function unpack(
  embedded: EmbeddedFiles,
  { files, root }: { files: Files; root: string },
): Promise<string> {
  const folder = `${root}/package`;
  const parts = await Promise.all(
    (await embedded.names()).map(async (name) => ({ name, bytes: await embedded.read(name) })),
  );
  const digest = encodeHex(
    sha256(parts.map(({ name, bytes }) => name + encodeHex(sha256(bytes))).join("\n")),
  );
  const isWritten = async (): Promise<boolean> => await files.readText(`${folder}/${DIGEST}`) === digest;
  if (await isWritten()) return folder;
  await files.makeDirectory(root, { mode: FOLDER_MODE });
  const lock = `${root}/unpack.lock`;
  await withLock(files, lock, {
    busy: () =>
      new Error(`Cannot write svc's own files into "${folder}": another svc holds "${lock}"; try again.`),
    work: async () => await isWritten() || await replaceFolder(folder, { files, parts, digest }),
  });
  return folder;
}

async function replaceFolder(
  folder: string,
  { files, parts, digest }: {
    files: Files;
    parts: readonly { name: string; bytes: Uint8Array }[];
    digest: string;
  },
): Promise<void> {
  const [fresh, old] = [`${folder}.new`, `${folder}.old`];
  // Left by a process that was killed here.
  for (const left of [fresh, old]) await files.remove(left, { recursive: true });
  for (const { name, bytes } of parts) await writePart(files, `${fresh}/${name}`, bytes);
  await files.writeText(`${fresh}/${DIGEST}`, digest);
  if (await files.info(folder) !== undefined) await files.rename(folder, old);
  await files.rename(fresh, folder);
  await files.remove(old, { recursive: true });
}

async function writePart(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  await files.makeDirectory(folderOf(path), { mode: FOLDER_MODE });
  const file = await files.openAppend(path, { mode: path.endsWith(".sh") ? 0o700 : 0o600 });
  await file.append(bytes);
  file.close();
}
