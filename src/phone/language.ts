/** The page's language: the user's choice, else the browser's first language that the page supports. */
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

/** `window.name` outlives a reload, so it keeps a choice that the browser refuses to store. */
const page: Window = self;

function chosenLanguage(): string {
  try {
    return localStorage.getItem(STORED) ?? page.name;
  } catch {
    return page.name;
  }
}

/** Loads the texts. A view reads them when its module is loaded, so this comes first. */
export async function loadLanguage(): Promise<void> {
  const language = currentLanguage();
  if (language === "en") return;
  // Without a network and without a cached copy, English is better than nothing.
  const strings = await LOADERS[language]().catch(() => undefined);
  if (strings !== undefined) setStrings(strings);
}

/**
 * Sets the document's title and, for screen readers, the language of its texts, which may differ from the chosen one.
 */
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
