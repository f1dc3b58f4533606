/** Reads several tmux format values in one line, and back. */

const SEPARATOR = "\t";

/** The value of a variable in one line: tmux prints a path as it is, and one with a line end could pass for a record. */
export function oneLine(variable: string): string {
  return `#{s/[\u0001-\u001f]/?/:${variable}}`;
}

/** A format that prints `tag` and then the value of each field, in the order of the record's keys. */
export function fieldsFormat(tag: string, fields: Record<string, string>): string {
  return [tag, ...Object.values(fields)].join(SEPARATOR);
}

/**
 * The record printed by fieldsFormat, or undefined when the line has another tag or too few fields. The last field may
 * hold tabs: a path goes there.
 */
export function parseFields<K extends string>(
  line: string,
  options: { tag: string; fields: Record<K, string> },
): Record<K, string> | undefined {
  const [tag, ...values] = line.split(SEPARATOR);
  const names = Object.keys(options.fields) as K[];
  if (tag !== options.tag || values.length < names.length) return undefined;
  const last = names.length - 1;
  const value = (index: number): string =>
    (index === last ? values.slice(last).join(SEPARATOR) : values[index]) ?? "";
  return Object.fromEntries(names.map((name, index) => [name, value(index)])) as Record<K, string>;
}
