/** What proves that a phone has all of a request that it fetched. */
import { sha256Hex } from "../async/encodings.ts";

/** Bound to this question and to every character shown: nobody can name it who has less. */
export function shownDigest(question: string, text: string): Promise<string> {
  return sha256Hex(`${question}\n${text}`);
}
