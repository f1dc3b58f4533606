/** The proof that a phone has all of a request that it fetched. */
import { sha256Hex } from "../async/encodings.ts";

/** Returns the hex SHA-256 of the question's id and the text, which only a phone with the whole text can compute. */
export function shownDigest(question: string, text: string): Promise<string> {
  return sha256Hex(`${question}\n${text}`);
}
