/** Parts of the settings that other views use too: a section under its heading, and the choice of language. */
import type { ComponentChildren, JSX } from "preact";
import { chooseLanguage, currentLanguage } from "../language.ts";
import { LANGUAGES } from "../languages.ts";

export function Section(
  { name, heading, hint, children }: {
    name: string;
    heading: string;
    hint?: string;
    children: ComponentChildren;
  },
): JSX.Element {
  return (
    <section class="group" aria-labelledby={`settings-${name}`}>
      <h2 id={`settings-${name}`}>{heading}</h2>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {children}
    </section>
  );
}

const CODES = ["en", "de"] as const satisfies readonly (keyof typeof LANGUAGES)[];

/** The control without its label. */
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
