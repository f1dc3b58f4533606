/** The harmless screens of an agent: how one is recognized, and what may be typed into it. */
import type { MenuKeys, Screen } from "./profile.ts";

export interface MenuScreen extends MenuKeys {
  name: string;
  /** It only shows something: the agent may be at work behind it. */
  isView?: true;
  /** Matches only while the agent itself draws it: text that the agent prints elsewhere must not pass for it. */
  isShown(screen: Screen): boolean;
}

/** What a search field takes. */
export const SEARCH_TEXT = /^[\p{L}\p{N} ._-]+$/u;
/** The number of a row. */
export const ROW_NUMBER = /^[1-9]$/;

/** As the profile lists them. */
export function menuKeys(menus: readonly MenuScreen[]): Readonly<Record<string, MenuKeys>> {
  const entries = menus.map(({ name, keys, text }) =>
    [name, text === undefined ? { keys } : { keys, text }] as const
  );
  return Object.fromEntries(entries);
}
