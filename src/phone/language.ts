/** The page's language: chosen by the user, else the first of the browser's that there is. */
import { type Language, languageFor } from "./languages.ts";
import { setStrings, STRINGS, type Strings } from "./strings.ts";

/** English is part of the page; any other language is loaded when it is chosen. */
const LOADERS: Record<Exclude<Language, "en">, () => Promise<Strings>> = {
  de: async () => (await import("./strings_de.ts")).GERMAN,
};

const STORED = "svc.language";

export function currentLanguage(): Language {
  return languageFor(chosenLanguage(), navigator.languages);
}

/** Its name outlives a reload: there a choice is kept that the browser refuses to store. */
const page: Window = self;

function chosenLanguage(): string {
  try {
    return localStorage.getItem(STORED) ?? page.name;
  } catch {
    return page.name;
  }
}

/** Loads the catalog. A view reads it when its module is loaded, so this comes first. */
export async function loadLanguage(): Promise<void> {
  const language = currentLanguage();
  if (language === "en") return;
  // Without a network, and in no copy: English is better than nothing.
  const strings = await LOADERS[language]().catch(() => undefined);
  if (strings !== undefined) setStrings(strings);
}

/** Tells screen readers and the browser which language the page is in, whatever was chosen. */
export function labelDocument(document: Document): void {
  document.documentElement.lang = STRINGS.code;
  document.title = STRINGS.app.longTitle;
}

/** Takes effect with a reload. */
export function chooseLanguage(language: Language): void {
  try {
    localStorage.setItem(STORED, language);
  } catch {
    page.name = language;
  }
  location.reload();
}
