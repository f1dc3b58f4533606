/** Finds an agent's input line on its screen, and the text in it. */

export interface InputLine {
  /**
   * What stands before the text. Where it captures a `!`, the line is a shell's: whatever is submitted runs as a command,
   * so it never counts as empty.
   */
  prompt: RegExp;
  /** What the agent shows while the line is empty. */
  placeholder?: RegExp;
}

const RULE = /^\s*[─━▄▀]{3}/u;

/** The text of the lines that hold it, `""` when it is empty; undefined when the first one has no prompt. */
export function draftIn(lines: readonly string[] | undefined, input: InputLine): string | undefined {
  const [first = "", ...rest] = lines ?? [];
  const prompt = input.prompt.exec(first);
  if (prompt === null) return undefined;
  const text = [first.slice(prompt[0].length), ...rest].map((line) => line.trim()).join("\n").trim();
  const shell = prompt[1] === "!" ? "!" : "";
  return input.placeholder?.test(text) ? shell : shell + text;
}

/** The lines between the last two rules. */
export function betweenRules(tail: readonly string[]): readonly string[] | undefined {
  const end = tail.findLastIndex((line) => RULE.test(line));
  const start = tail.slice(0, Math.max(end, 0)).findLastIndex((line) => RULE.test(line));
  return start < 0 ? undefined : tail.slice(start + 1, end);
}

/** The lines from the last prompt on, up to the last blank one: below it stands the status. */
export function aboveStatus(tail: readonly string[], { prompt }: InputLine): readonly string[] | undefined {
  const start = tail.findLastIndex((line) => prompt.test(line));
  if (start < 0) return undefined;
  const lines = tail.slice(start);
  const end = lines.findLastIndex((line) => line.trim() === "");
  return end < 0 ? lines : lines.slice(0, end);
}

/**
 * The text after `prompt` in the last line that has it, with the lines that follow up to `end`. `placeholder` texts
 * count as empty.
 */
export function draftAfter(
  tail: readonly string[],
  { end, ...input }: InputLine & { end: RegExp },
): string | undefined {
  const start = tail.findLastIndex((line) => input.prompt.test(line));
  if (start < 0) return undefined;
  const rest = tail.slice(start + 1);
  const stop = rest.findIndex((line) => end.test(line));
  return draftIn([tail[start] ?? "", ...(stop < 0 ? rest : rest.slice(0, stop))], input);
}
