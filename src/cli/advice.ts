/** Advice for errors: what to do about a failure to write, and which word a misspelled one was probably meant to be. */
import { runtime } from "#runtime";
import { errorText } from "../async/error_text.ts";
import { codeOf } from "../runtime/system.ts";
import { accountPaths } from "./context.ts";

const FULL: readonly string[] = ["ENOSPC", "EDQUOT"];
const DENIED: readonly string[] = ["EACCES", "EPERM"];
const READ_ONLY: readonly string[] = ["EROFS"];

export const OWN_HOME = "give it to your account, or set SVC_HOME";
export const MAKE_ROOM = "make room on that disk, or raise your quota there";

/** True if a write failed because the disk or the account's quota is full. */
export function isFull(error: unknown): boolean {
  return hasCode(error, FULL);
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  const found = error instanceof Error ? [codeOf(error), codeOf(error.cause)] : [];
  return found.some((code) => code !== undefined && codes.includes(code));
}

/**
 * What to print for a failure to write, such as a full disk or a `~/.svc` that this account cannot use: the system's error
 * gives no advice. Undefined for any other error.
 */
export async function homeFault(error: unknown): Promise<string | undefined> {
  const text = errorText(error);
  try {
    if (isFull(error)) return withAdvice(text, MAKE_ROOM);
    const { root } = await accountPaths();
    if (!concerns(text, root)) return undefined;
    const info = await runtime.files.info(root).catch(() => undefined);
    if (info?.isDirectory === false) {
      return `Cannot use "${root}": it is not a directory. Move it away, or set SVC_HOME to a directory of your own.`;
    }
    if (hasCode(error, READ_ONLY)) {
      return `Cannot use "${root}": ${
        withAdvice(text, "its disk is mounted read-only: mount it writable, or set SVC_HOME")
      }`;
    }
    return hasCode(error, DENIED)
      ? `Cannot use "${root}": ${withAdvice(text, `${OWN_HOME} to a directory that it can write to`)}`
      : undefined;
  } catch {
    return undefined;
  }
}

/** True if the text names svc's folder, or a folder above it that could not be made. */
function concerns(text: string, root: string): boolean {
  const [, made] = /\bmkdir '(\/[^']*)'/.exec(text) ?? [];
  if (made !== undefined && root.startsWith(`${made}/`)) return true;
  // Another folder's name may begin with it.
  return !text.split(root).slice(1).every((rest) => /^[\w.-]/.test(rest));
}

/** The text and the advice as two sentences. */
function withAdvice(text: string, advice: string): string {
  return `${text.replace(/\.$/, "")}. ${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`;
}

/** With this many edits or more, it is a different word. */
const FAR = 3;

/** The candidate with the fewest edits to `word`; undefined when all are too different. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word, candidate) }))
    .sort((one, other) => one.edits - other.edits);
  const best = ranked[0];
  return best !== undefined && best.edits < Math.min(FAR, best.candidate.length) ? best.candidate : undefined;
}

/** Levenshtein's distance. */
export function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...right].entries()) {
      const replaced = (row[column] ?? 0) + Number(letter !== other);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
