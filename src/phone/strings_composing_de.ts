/** The texts of what helps with writing, in German. */
import type { Strings } from "./strings.ts";

export const COMPOSING_STRINGS_DE: Pick<Strings, "suggestions"> = {
  suggestions: {
    label: "Befehle dieses Agenten",
    count: (commands) => commands === 1 ? "1 Vorschlag" : `${commands} Vorschläge`,
  },
};
