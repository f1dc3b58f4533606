/** Adds svc's table to a TOML file, or removes tables, line by line; every other byte stays, and the result is verified. */
import { parse } from "smol-toml";
import { isEqual } from "./edit_json.ts";

type Keys = readonly string[];
type Values = Readonly<Record<string, string | number | readonly string[]>>;

/** A table's header and the lines below it; the first part of a file has no header. */
interface Part {
  keys: string[] | undefined;
  lines: string[];
}

/** Throws Error if the text is not TOML, or contains the table in a form that cannot be edited line by line. */
export function putTable(text: string, keys: Keys, values: Values): string {
  const before = parse(text);
  if (isEqual(ownValues(tableAt(before, keys)), values)) return text;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = [
    header(keys),
    ...Object.entries(values).map(([key, value]) => `${word(key)} = ${inToml(value)}`),
  ];
  const parts = partsOf(text);
  const place = parts.findIndex((part) => isEqual(part.keys, keys));
  const after = place >= 0
    ? joined(parts.with(place, replaced(parts[place], lines.map((line) => line + eol))))
    : text + gapAfter(text, eol) + lines.map((line) => line + eol).join("");
  return checked({ before, after, isOurs: (path) => isEqual(path, keys), values });
}

/** Removes each table that is in `tables` or below one of them, and headers that only led to it. Throws as `putTable` does. */
export function takeTables(text: string, tables: readonly Keys[]): string {
  const before = parse(text);
  const isOurs = (keys: Keys | undefined): boolean =>
    keys !== undefined && tables.some((table) => isAtOrBelow(keys, table));
  const parts = partsOf(text);
  if (!parts.some(({ keys }) => isOurs(keys))) return text;
  const others = parts.filter(({ keys }) => !isOurs(keys));
  const isIdle = ({ keys, lines }: Part): boolean =>
    keys !== undefined && tables.some((table) => isAtOrBelow(table, keys)) &&
    lines.slice(1).every(isWithoutValue) &&
    others.filter((other) => other.keys !== undefined && isAtOrBelow(other.keys, keys)).length === 1;
  const kept = parts.map((part) => isOurs(part.keys) || isIdle(part) ? removed(part) : part);
  return checked({ before, after: withoutTrailingGap(joined(kept), text), isOurs });
}

function isAtOrBelow(keys: Keys, table: Keys): boolean {
  return table.every((key, at) => keys[at] === key);
}

function isWithoutValue(line: string): boolean {
  return /^\s*(#.*)?$/.test(line.trimEnd());
}

/** A comment after the last value belongs to the next table. */
function replaced(part: Part | undefined, lines: string[]): Part {
  const all = part?.lines ?? [];
  const last = all.findLastIndex((line) => !isWithoutValue(line));
  return { keys: part?.keys, lines: [...lines, ...all.slice(last + 1)] };
}

/** Keeps the blank line before the table, which separates its neighbours. */
function removed(part: Part): Part {
  const { keys, lines } = replaced(part, []);
  const first = lines.findIndex((line) => line.trim() !== "");
  return { keys, lines: first < 0 ? [] : lines.slice(first) };
}

function joined(parts: readonly Part[]): string {
  return parts.flatMap(({ lines }) => lines).join("");
}

function gapAfter(text: string, eol: string): string {
  if (text === "") return "";
  return text.endsWith("\n") ? eol : eol + eol;
}

/** Removes the blank line that was added before a table at the end of a file. */
function withoutTrailingGap(after: string, before: string): string {
  return before.endsWith("\n") ? after.replace(/(\r?\n)(?:\r?\n)+$/, "$1") : after;
}

function partsOf(text: string): Part[] {
  const parts: Part[] = [{ keys: undefined, lines: [] }];
  let quote: string | undefined;
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const keys = quote === undefined ? headerKeys(line) : undefined;
    if (keys !== undefined) parts.push({ keys, lines: [] });
    parts.at(-1)?.lines.push(line);
    quote = openQuote(line, quote);
  }
  return parts;
}

/** The quotes of a multi-line string that is still open after the line. */
function openQuote(line: string, before: string | undefined): string | undefined {
  let quote = before;
  for (const [found] of line.matchAll(/"""|'''/g)) {
    if (quote === undefined) quote = found;
    else if (quote === found) quote = undefined;
  }
  return quote;
}

const KEY = /\s*(?:([A-Za-z0-9_-]+)|"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(\.|$)/y;

/** The keys of a line like `[a."b c".d] # why`; undefined for every other line. */
function headerKeys(line: string): string[] | undefined {
  const inside = /^\s*\[([^[].*?)\]\s*(?:#.*)?$/.exec(line.trimEnd())?.[1];
  if (inside === undefined) return undefined;
  const keys: string[] = [];
  KEY.lastIndex = 0;
  while (KEY.lastIndex < inside.length) {
    const found = KEY.exec(inside);
    if (found === null) return undefined;
    const [, bare, quoted, literal] = found;
    keys.push(bare ?? literal ?? unquoted(quoted ?? ""));
  }
  return keys;
}

/** Escapes that JSON does not know stay as they are: svc writes none. */
function unquoted(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

function header(keys: Keys): string {
  return `[${keys.map(word).join(".")}]`;
}

function word(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

function inToml(value: string | number | readonly string[]): string {
  return Array.isArray(value)
    ? `[${value.map((one) => JSON.stringify(one)).join(", ")}]`
    : JSON.stringify(value);
}

function tableAt(root: unknown, keys: Keys): unknown {
  return keys.reduce<unknown>(
    (value, key) => typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined,
    root,
  );
}

/** The table's own values: the user may have added tables below it. */
function ownValues(table: unknown): unknown {
  if (!isTable(table)) return table;
  return Object.fromEntries(Object.entries(table).filter(([, value]) => !isTable(value)));
}

interface Edited {
  before: Record<string, unknown>;
  after: string;
  isOurs(path: Keys): boolean;
  /** What svc's table must contain; undefined if the table must be gone. */
  values?: Values;
}

function checked({ before, after, isOurs, values }: Edited): string {
  const parsed = parseEdited(after);
  const others = (root: unknown): unknown => without(root, { isOurs, path: [] });
  const ours = found(parsed, { isOurs, path: [] });
  const isRight = values === undefined ? ours === undefined : isEqual(ownValues(ours), values);
  if (parsed !== undefined && isRight && isEqual(others(before), others(parsed))) return after;
  throw new Error("it writes svc's table, or one above it, in a form that cannot be edited line by line");
}

function parseEdited(text: string): Record<string, unknown> | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

interface Walk {
  isOurs(path: Keys): boolean;
  path: Keys;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The value without svc's tables, and without tables that are empty then. */
function without(value: unknown, { isOurs, path }: Walk): unknown {
  if (!isTable(value)) return value;
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, key];
    const rest = isOurs(at) ? undefined : without(inner, { isOurs, path: at });
    return rest === undefined || (isTable(rest) && Object.keys(rest).length === 0) ? [] : [[key, rest]];
  });
  return Object.fromEntries(entries);
}

/** The first of svc's tables in it. */
function found(value: unknown, { isOurs, path }: Walk): unknown {
  if (!isTable(value)) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const at = [...path, key];
    const ours = isOurs(at) ? inner : found(inner, { isOurs, path: at });
    if (ours !== undefined) return ours;
  }
  return undefined;
}
