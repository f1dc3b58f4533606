/** The page's languages: which one is chosen, and that each has every text. */
import assert from "node:assert/strict";
import { languageFor } from "../../../src/phone/languages.ts";
import { NO_STORAGE_STRINGS } from "../../../src/phone/no_storage.ts";
import { NOTIFICATION_TEXT } from "../../../src/phone/notification_text.ts";
import { SESSION_TEXT } from "../../../src/phone/session_text.ts";
import { STRINGS } from "../../../src/phone/strings.ts";
import { CARD_STRINGS } from "../../../src/phone/strings_session.ts";
import { accountName } from "../../../src/phone/storage.ts";
import { GERMAN } from "../../../src/phone/strings_de.ts";
import { ADD_HOST_STRINGS, AUDIT_STRINGS, SETTINGS_STRINGS } from "../../../src/phone/strings_settings.ts";

Deno.test("the user's own choice comes first, then the browser's languages in their order, then English [ux-languages]", () => {
  assert.equal(languageFor(null, ["de-CH", "en"]), "de");
  assert.equal(languageFor(null, ["fr-FR", "de", "en-GB"]), "de");
  assert.equal(languageFor(null, ["en-US", "de"]), "en");
  assert.equal(languageFor("en", ["de"]), "en");
  assert.equal(languageFor("de", ["en"]), "de");
  assert.equal(languageFor("xx", ["fr"]), "en");
  assert.equal(languageFor("constructor", []), "en");
});

/** Returns every text, and every function that makes one, by its path. */
function leaves(value: unknown, path = ""): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([name, part]) =>
    leaves(part, path === "" ? name : `${path}.${name}`)
  );
}

Deno.test("German has every text that English has, with the same parameters [ux-languages]", () => {
  const all = {
    ...STRINGS,
    cards: CARD_STRINGS,
    addHost: ADD_HOST_STRINGS,
    settings: SETTINGS_STRINGS,
    audit: AUDIT_STRINGS,
    ofSession: SESSION_TEXT,
    ofNotifications: NOTIFICATION_TEXT,
    noStorage: NO_STORAGE_STRINGS,
  };
  const [english, german] = [new Map(leaves(all)), new Map(leaves(GERMAN))];
  assert.deepEqual([...german.keys()].sort(), [...english.keys()].sort());
  const parameters = (texts: Map<string, unknown>): unknown[] =>
    [...texts].filter(([, text]) => typeof text === "function").map((
      [path, text],
    ) => [path, (text as { length: number }).length]).sort();
  assert.deepEqual(parameters(german), parameters(english));
  const empty = [...german].filter(([, text]) => text === "").map(([path]) => path);
  assert.deepEqual(empty, []);
});

Deno.test("an account is named in the page's language, without its key [ux-languages]", () => {
  const account = { apiKey: "svc_0123456789", deviceId: "dev_phone_1" };
  assert.equal(accountName(account, STRINGS.swap), "dev_phone_1 (key svc_0123…)");
  assert.equal(accountName(account, GERMAN.swap), "dev_phone_1 (Schlüssel svc_0123…)");
});
