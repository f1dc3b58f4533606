/** Prints several tmux format values as one line, and parses it. */

const SEPARATOR = "\t";

/** A variable's value on one line: tmux prints paths unescaped, and a path with a line feed could pass for a record. */
export function oneLine(variable: string): string {
  return `#{s/[\u0001-\u001f]/?/:${variable}}`;
}

/** A format that prints `tag` and then each field's value, in the order of the record's keys. */
export function fieldsFormat(tag: string, fields: Record<string, string>): string {
  return [tag, ...Object.values(fields)].join(SEPARATOR);
}

/**
 * Parses a record that fieldsFormat printed. Undefined if the line has another tag or too few fields. The last field
 * may contain tabs, so a path goes there.
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
