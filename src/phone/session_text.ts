/** The texts of a session's views in the page's language. The list of sessions does not load them. */
import { type SessionStrings, STRINGS } from "./strings.ts";
import { SESSION_STRINGS } from "./strings_session.ts";

export const SESSION_TEXT: SessionStrings = STRINGS.ofSession ?? SESSION_STRINGS;
