/** The canonical form of a message's text: both sides of a marker hash this form. */
import { sha256Hex } from "../async/encodings.ts";

/** Every line ending that some agent converts to LF: CRLF, CR, NEL, and Unicode's line and paragraph separators. */
const LINE_ENDS = /\r\n?|[\u0085\u2028\u2029]/g;
const CONTROLS_BUT_LF = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;

/** Line endings become LF, TAB becomes four spaces, other control and invisible characters are removed; NFC; trimmed. */
export function canonicalText(text: string): string {
  const plain = text
    .replace(LINE_ENDS, "\n")
    .replace(/\t/g, "    ")
    .replace(CONTROLS_BUT_LF, "");
  return withoutInvisible(plain.normalize("NFC")).normalize("NFC").trim();
}

const MAYBE_INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;

/**
 * Removes invisible characters, because some agents do. Keeps those that change the rendering and that no agent removes:
 * inside an emoji, and joiners between letters that they join or separate.
 */
function withoutInvisible(text: string): string {
  if (!MAYBE_INVISIBLE.test(text)) return text;
  return text.replace(
    invisible(),
    (found: string, gone: string | undefined) => gone === undefined ? found : "",
  );
}

let pattern: RegExp | undefined;

/** Built on first use: not every browser that loads the page supports the flag `v`. */
function invisible(): RegExp {
  pattern ??= new RegExp(
    ["\\p{RGI_Emoji}", ARABIC_JOINER, ...INDIC_BLOCKS.map(indicJoiner), `(${MAYBE_INVISIBLE.source})`].join(
      "|",
    ),
    "gv",
  );
  return pattern;
}

/** Letters that join to the next letter; `JOINS_LAST` has those that join to the previous one. */
const JOINS_NEXT =
  "\\u0626\\u0628\\u062a-\\u062e\\u0633-\\u063a\\u0641-\\u0647\\u0649\\u064a\\u067e\\u0686\\u06a9\\u06af\\u06cc";
const JOINS_LAST = `${JOINS_NEXT}\\u0622-\\u0625\\u0627\\u0629\\u062f-\\u0632\\u0648\\u0698`;
const ARABIC_JOINER = `(?<=[${JOINS_NEXT}])\\u200c(?=[${JOINS_LAST}])`;

/** First characters of the Unicode blocks from Devanagari to Malayalam, which share one layout. */
const INDIC_BLOCKS = [0x0900, 0x0980, 0x0a00, 0x0a80, 0x0b00, 0x0b80, 0x0c00, 0x0c80, 0x0d00];

/** Matches a joiner between a consonant with a virama and another consonant. */
function indicJoiner(block: number): string {
  const at = (offset: number): string => `\\u{${(block + offset).toString(16)}}`;
  const consonant = `[${at(0x15)}-${at(0x39)}]`;
  return `(?<=${consonant}${at(0x4d)})[\\u200c\\u200d](?=${consonant})`;
}

/** Hex SHA-256 of the canonical form. */
export async function canonicalDigest(text: string): Promise<string> {
  return await sha256Hex(canonicalText(text));
}

/** Control characters other than LF and TAB, including C1: a terminal treats them as keys. */
export const FORBIDDEN_CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** The only change made to an incoming body: CRLF becomes LF. */
export function normalizeBody(body: string): string {
  return body.replace(/\r\n/g, "\n");
}
