/** The control for the page's language, without its label. */
import type { JSX } from "preact";
import { chooseLanguage, currentLanguage } from "../language.ts";
import { LANGUAGES } from "../languages.ts";

const CODES = ["en", "de"] as const satisfies readonly (keyof typeof LANGUAGES)[];

export function LanguageSelect(): JSX.Element {
  return (
    <select
      value={currentLanguage()}
      onChange={({ currentTarget: { selectedIndex } }) => chooseLanguage(CODES[selectedIndex] ?? "en")}
    >
      {CODES.map((code) => <option key={code} value={code} lang={code}>{LANGUAGES[code]}</option>)}
    </select>
  );
}
