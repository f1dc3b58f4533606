/** The texts of a session's views in the page's language. The list of sessions does without them. */
import { type SessionStrings, STRINGS } from "./strings.ts";
import { MESSAGE_STRINGS } from "./strings_messages.ts";
import { TERMINAL_STRINGS } from "./strings_terminal.ts";

export const SESSION_TEXT: SessionStrings = STRINGS.ofSession ?? { ...MESSAGE_STRINGS, ...TERMINAL_STRINGS };
