/** Starts reading the storage, loads the language, then the page, whose modules read their texts when they load. */
import { readFirst } from "./database.ts";
import { loadLanguage } from "./language.ts";
import { openPairingStorage } from "./pairing_storage.ts";
import { formatRoute, parseSignInLink } from "./route.ts";
import { STRINGS } from "./strings.ts";

/** Browsers offer WebCrypto only on https and localhost. */
const cipher = isSecureContext ? crypto.subtle : undefined;
const { hash } = location;
const link = parseSignInLink(hash);
const first = readFirst(cipher, link);
// Both are read while the rest of the page is still loading.
const stored = Promise.all([first, cipher && openPairingStorage(makeKeys)]);
/** Called once per phone. */
async function makeKeys(): Promise<CryptoKeyPair> {
  return await (await import("../crypto/keys.ts")).generateKeyPair();
}

const language = loadLanguage();
stored.catch(async () => {
  await language;
  (await import("./no_storage.ts")).showNoStorage(STRINGS);
});
if (link !== undefined) void first.then(hideLink, () => undefined);
/** Removes the link's secret from the address and the history, once the link is stored. */
function hideLink(): void {
  if (location.hash === hash) history.replaceState(null, "", formatRoute({ view: "picker" }));
}

await language;
const { start } = await import("./main.tsx");
await start({ cipher, stored });
