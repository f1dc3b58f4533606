/**
 * Commands that a tool is given as a list of words, in a nested object or in separate fields: JSON's quotes and line
 * ends hide them from patterns for a command in a line.
 */

/** Words in the name of a field that holds a command or a part of one. */
const OF_COMMANDS = new Set(
  ("arg args argument arguments argv bash bin cmd cmds command commands entrypoint exec executable execute input " +
    "invocation parameters program run script shell tokens words").split(" "),
);

function isOfCommand(name: string): boolean {
  const words = name.replace(/[a-z](?=[A-Z])/g, "$&_").toLowerCase().split(/[_-]/);
  return words.some((word) => OF_COMMANDS.has(word));
}

/** An option, a path or what a shell treats specially: labels have none. */
const OF_SHELL = /(?:^|\s)[-./~]|[;&|`$<>{}*\\]/;

/** The name of a field, or of a nested one, right before its value. */
const NAME_BEFORE = /"([^":\n]*)(?:": )?$|(?:^|\n)(\S[^\n]*):\n {2}$/;
const NAME_MAX_CHARS = 100;

/** True for the words at this place if none of them, nor the name of their field, is that of a command. */
function isPlain(words: readonly string[], text: string, at: number): boolean {
  const before = NAME_BEFORE.exec(text.slice(Math.max(0, at - NAME_MAX_CHARS), at));
  const name = before?.[1] ?? before?.[2];
  return name !== undefined && !isOfCommand(name) &&
    words.every((word) => !/\s/.test(word) && !OF_SHELL.test(word));
}

/** A list of short strings without escapes. */
const LIST = /\[\n( {1,80}"[^"\\\n]{0,200}"(?:,\n {1,80}"[^"\\\n]{0,200}"){0,200})\n {0,80}\]/g;

/** Writes each list of plain words into one line, where none of them is in the place of a program. */
export function withPlainLists(request: string): string {
  return fieldsOf(request).map((field) =>
    isCommandObject(field) ? field : field.replace(LIST, (list, strings: string, at: number) => {
      const words = strings.trim().slice(1, -1).split(/",\n {1,80}"/);
      return isPlain(words, field, at) ? `["${words.join(" ")}"]` : list;
    })
  ).join("\n");
}

/** The fields of a request: only the lines of their values are indented. */
export function fieldsOf(request: string): string[] {
  return request.split(/\n(?=\S)/);
}

/** True for a list or an object in which every value belongs to a command. */
function isCommandObject(field: string): boolean {
  const [, name] = /^(\S[^\n]{0,99}):\n {2}[[{]\n/.exec(field) ?? [];
  return name !== undefined && isOfCommand(name) && !/^(?:arg|param|input)/i.test(name);
}

/** A list, a nested object, or arguments in a field of their own. */
const LISTED = /\[\n {1,80}"|": "|^(?:args?|arguments|argv|parameters):$/im;
const PROGRAM_FIELD = /^(?:commands?|cmd|program|executable|bin):\n {2}([^\n[{]{1,400})$/im;
const ARGUMENTS_FIELD = /^(?:args?|arguments|argv|parameters):\n {2}(\[\n[^\]]{1,4000}|[^\n]{1,4000})/im;

/** The words of lists, nested objects and separate fields as commands in lines; undefined if there are none. */
export function asCommands(request: string): string | undefined {
  if (!LISTED.test(request)) return undefined;
  const program = PROGRAM_FIELD.exec(request)?.[1];
  const given = ARGUMENTS_FIELD.exec(request)?.[1]?.replace(/^\[\n {1,80}/, "");
  const all = program === undefined || given === undefined ? request : `${request}\n${program} ${given}`;
  return fieldsOf(withPlainLists(all)).map(inLines).join("\n").replace(/["'\\]/g, "");
}

function inLines(field: string): string {
  const isCommand = isCommandObject(field);
  return field
    // A program, and its arguments in the field after it.
    .replace(/",\n {1,80}"(?:args?|arguments|argv|parameters)": (?:\[\n {1,80})?"/gi, " ")
    // The next value of an object.
    .replace(/",\n {1,80}"(?=[^"\\\n]{0,80}":)/g, '"\n"')
    .replace(/": "/g, (found, at: number, text: string) => {
      const value = /^[^"\\\n]{0,200}(?=")/.exec(text.slice(at + found.length, at + found.length + 201))?.[0];
      return !isCommand && value !== undefined && isPlain([value], text, at) ? found : "\n";
    })
    .replace(/",\n {1,80}"/g, " ")
    .replace(/\[\n {1,80}"|\\[nrt]/g, "\n");
}
