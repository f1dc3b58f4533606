/** Whether two JSON or TOML values are equal, regardless of the order of fields. */

export function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, at) => isEqual(value, other[at]));
  }
  if (one instanceof Date && other instanceof Date) return one.getTime() === other.getTime();
  return isPlain(one) && isPlain(other) && haveEqualFields(one, other);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function haveEqualFields(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]));
}
