/** Writes what is inside a single program, the phone's page and the plugin, into `~/.svc/package`, where agents find it. */
import { encodeHex } from "../async/encodings.ts";
import { sha256 } from "../runtime/digest.ts";
import type { EmbeddedFiles, Files } from "../runtime/types.ts";

const DIGEST = "digest";
const FOLDER_MODE = 0o700;

/**
 * Resolves with the folder, whose path stays the same when svc is upgraded. It is written beside and renamed: a
 * reader finds all of one version.
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
  if (await files.readText(`${folder}/${DIGEST}`) === digest) return folder;
  const fresh = `${folder}.${crypto.randomUUID()}`;
  await files.makeDirectory(root, { mode: FOLDER_MODE });
  for (const { name, bytes } of parts) await writePart(files, `${fresh}/${name}`, bytes);
  await files.writeText(`${fresh}/${DIGEST}`, digest);
  const old = `${fresh}.old`;
  // Another process may be first: the outcome is looked at below.
  await files.rename(folder, old).catch(() => {});
  await files.rename(fresh, folder).catch(() => {});
  for (const left of [old, fresh]) await files.remove(left, { recursive: true });
  if (await files.readText(`${folder}/${DIGEST}`) === digest) return folder;
  throw new Error(`Cannot write svc's own files into "${folder}": remove that folder and try again.`);
}

async function writePart(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  await files.makeDirectory(path.slice(0, path.lastIndexOf("/")), { mode: FOLDER_MODE });
  const file = await files.openAppend(path, { mode: path.endsWith(".sh") ? 0o700 : 0o600 });
  await file.append(bytes);
  file.close();
}
