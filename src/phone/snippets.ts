/** The user's own texts for messages: what one is, and how they are changed, found and put into a draft. */
import { messagesOf, type PhoneState } from "./state.ts";
import type { SessionName } from "./sessions.ts";
import type { Snippet } from "./storage.ts";

/** More would not be found again, and all of them are read and written together. */
export const SNIPPETS_MAX = 100;
export const SNIPPET_NAME_MAX_CHARS = 60;

/** The newest first; one with the same id is replaced where it is. */
export function withSnippet(snippets: readonly Snippet[], snippet: Snippet): Snippet[] {
  const isKnown = snippets.some(({ id }) => id === snippet.id);
  if (!isKnown) return [snippet, ...snippets].slice(0, SNIPPETS_MAX);
  return snippets.map((one) => one.id === snippet.id ? snippet : one);
}

/** The first line with text, for a snippet without a name. */
export function snippetName(name: string, text: string): string {
  const line = name.trim() || text.split("\n").find((one) => one.trim() !== "")?.trim() || "";
  return Array.from(line).slice(0, SNIPPET_NAME_MAX_CHARS).join("");
}

/** True if every word of `wanted` is in one of the texts. */
export function isFound(wanted: string, texts: readonly string[]): boolean {
  const all = texts.join("\n").toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

/** The draft with `text` in place of its selection, and where the cursor stands then. */
export function withInserted(
  draft: string,
  { text, start, end }: { text: string; start: number; end: number },
): { draft: string; cursor: number } {
  if (draft.trim() === "") return { draft: text, cursor: text.length };
  const [before, after] = [draft.slice(0, start), draft.slice(end)];
  const lead = /\S$/.test(before) ? " " : "";
  const trail = /^\S/.test(after) ? " " : "";
  return { draft: `${before}${lead}${text}${trail}${after}`, cursor: start + lead.length + text.length };
}

/** The texts that were sent to the session before, the newest first, each once. */
export function sentTexts(state: PhoneState, name: SessionName): string[] {
  const own = messagesOf(state, name).filter(({ sealed, inReplyTo, body }) =>
    sealed !== "elsewhere" && inReplyTo === undefined && body.trim() !== ""
  );
  return [...new Set(own.map(({ body }) => body).reverse())];
}
