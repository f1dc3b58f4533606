/** The page's first script: chooses the language, then starts the page, whose modules read their texts when they are loaded. */
import { loadLanguage } from "./language.ts";

await loadLanguage();
// A notification leads to a session: what that shows is loaded beside the page itself.
if (/^#\/./.test(location.hash)) {
  void Promise.allSettled([import("./views/session.tsx"), import("./terminal_screen.ts")]);
}
const { start } = await import("./main.tsx");
await start();
