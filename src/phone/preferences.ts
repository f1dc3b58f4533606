/** How the page looks on this phone: color theme and text size, kept in localStorage and applied before the first view. */
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Percent of the browser's own text size. */
export const TEXT_SIZES = [85, 100, 115, 130, 150, 200] as const;
export type TextSize = (typeof TEXT_SIZES)[number];

/** How the list is divided: by what the sessions do, or by their hosts. */
export const GROUPINGS = ["state", "host"] as const;
export type Grouping = (typeof GROUPINGS)[number];

const Preferences = z.object({
  theme: z._default(z.enum(THEMES), "system"),
  textSize: z._default(z.literal(TEXT_SIZES), 100),
  grouping: z._default(z.enum(GROUPINGS), "state"),
  /** Hosts that were removed from the list, by device id: when each had last been online. */
  removed: z._default(z.record(z.string(), z.number()), {}),
});
export type Preferences = z.infer<typeof Preferences>;

const KEY = "svc.preferences";
/** The view settings of sessions' terminals. They contain session names, so they belong to the account. */
export const TERMINALS_KEY = "svc.terminals";

export function forgetTerminals(): void {
  try {
    localStorage.removeItem(TERMINALS_KEY);
  } catch {
    // A browser without storage has nothing to forget.
  }
}

const DARK = "(prefers-color-scheme: dark)";
const LIGHT = "(prefers-color-scheme: light)";
/** The media condition that a rule or element had in the page as it was served. */
const original = new WeakMap<object, string>();

/** The defaults if nothing valid is stored, or if the browser has storage switched off. */
export function readPreferences(storage: () => Storage = () => localStorage): Preferences {
  const defaults = Preferences.parse({});
  try {
    const stored = parseJson(storage().getItem(KEY) ?? "{}")?.value;
    return Preferences.safeParse(stored).data ?? defaults;
  } catch {
    return defaults;
  }
}

/** False if the browser has storage switched off: the choice then lasts until the page is reloaded. */
export function writePreferences(
  preferences: Preferences,
  storage: () => Storage = () => localStorage,
): boolean {
  try {
    storage().setItem(KEY, JSON.stringify(preferences));
    return true;
  } catch {
    return false;
  }
}

export function applyPreferences({ theme, textSize }: Preferences, document: Document): void {
  const { style } = document.documentElement;
  style.fontSize = textSize === 100 ? "" : `${textSize}%`;
  style.colorScheme = theme === "system" ? "" : theme;
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (rule instanceof CSSMediaRule) rule.media.mediaText = mediaFor(rule, rule.media.mediaText, theme);
    }
  }
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    meta.media = mediaFor(meta, meta.media, theme);
  }
}

/** The page's dark colors are in a media rule: a chosen theme switches it on or off. */
function mediaFor(owner: object, current: string, theme: Theme): string {
  const served = original.get(owner) ?? current;
  original.set(owner, served);
  if (theme === "system" || (served !== DARK && served !== LIGHT)) return served;
  return (served === DARK) === (theme === "dark") ? "all" : "not all";
}
