/** The page's languages, and which one a user gets. Separate from the texts, of which the service worker needs few. */

/** By code, each with its name in that language. */
export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

/** `stored` is the user's own choice; `preferred` are the browser's languages, such as `de-CH`. */
export function languageFor(stored: string | null, preferred: readonly string[]): Language {
  const codes = [stored ?? "", ...preferred.map((one) => one.toLowerCase().split("-")[0] ?? "")];
  return codes.find(isLanguage) ?? "en";
}

function isLanguage(code: string): code is Language {
  return Object.hasOwn(LANGUAGES, code);
}
