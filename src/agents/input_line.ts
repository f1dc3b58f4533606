/** The text in an input line that has no frame: it stands after the last prompt. */

interface InputLine {
  /**
   * What stands before the text. Where it captures a `!`, the line is a shell's: whatever is submitted runs as a command,
   * so it never counts as empty.
   */
  prompt: RegExp;
  /** What the agent shows while the line is empty. */
  placeholder?: RegExp;
}

/** The text of the lines that hold it, `""` when it is empty; undefined when the first one has no prompt. */
function draftIn(lines: readonly string[], input: InputLine): string | undefined {
  const [first = "", ...rest] = lines;
  const prompt = input.prompt.exec(first);
  if (prompt === null) return undefined;
  const text = [first.slice(prompt[0].length), ...rest].map((line) => line.trim()).join("\n").trim();
  const shell = prompt[1] === "!" ? "!" : "";
  return input.placeholder?.test(text) ? shell : shell + text;
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
