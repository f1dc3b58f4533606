/** The listener's own key pair: made at its first start or pairing, kept in a file of its owner alone. */
import * as z from "zod/mini";
import { exportKeyPair, generateKeyPair, importKeyPair } from "../crypto/keys.ts";
import { parseJson } from "../protocol/json.ts";
import type { Files } from "../runtime/types.ts";
import type { HomePaths } from "./paths.ts";

/** A private key of P-256 as a JSON Web Key (RFC 7518, section 6.2). */
const Identity = z.looseObject({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: z.string(),
  y: z.string(),
  d: z.string(),
});

/** Undefined before it was made. Throws when the file holds no key. */
export async function loadIdentity(
  files: Pick<Files, "readText">,
  { identity }: Pick<HomePaths, "identity">,
): Promise<CryptoKeyPair | undefined> {
  const text = await files.readText(identity);
  if (text === undefined) return undefined;
  const { kty, crv, x, y, d } = Identity.safeParse(parseJson(text)?.value).data ?? {};
  try {
    return await importKeyPair({ kty, crv, x, y, d } as JsonWebKey);
  } catch (error) {
    const mend = "Remove it and pair every phone again.";
    throw new Error(`Cannot use the key in "${identity}": it is none of P-256. ${mend}`, { cause: error });
  }
}

/** The caller holds the lock: two processes would make two keys. */
export async function ensureIdentity(files: Files, paths: HomePaths): Promise<CryptoKeyPair> {
  const known = await loadIdentity(files, paths);
  if (known !== undefined) return known;
  const made = await generateKeyPair({ extractable: true });
  const text = `${JSON.stringify(await exportKeyPair(made))}\n`;
  await files.replaceText(paths.identity, text, { mode: 0o600 });
  return made;
}
