/** Adds svc's table to a TOML file, or removes tables, line by line; every other byte stays, and the result is verified. */
import { parse } from "smol-toml";
import { runsSvc } from "../../agents/setup.ts";
import { isEqual } from "./edit_json.ts";

type Keys = readonly string[];
type Values = Readonly<Record<string, string | number | readonly string[]>>;

/** A header, and the lines below it. */
interface Part {
  /** Undefined for the lines before the first header. */
  keys: string[] | undefined;
  /** The header is `[[…]]`, of an element of an array. */
  isArray: boolean;
  lines: string[];
}

/** Throws Error if the text is not TOML, or contains the table in a form that cannot be edited line by line. */
export function putTable(text: string, keys: Keys, values: Values): string {
  const before = parse(text);
  if (isEqual(ownValues(tableAt(before, keys)), values)) return text;
  const eol = eolOf(text);
  const lines = [
    header(keys),
    ...Object.entries(values).map(([key, value]) => `${word(key)} = ${inToml(value)}`),
  ];
  const parts = partsOf(text);
  const own = parts.find((part) => !part.isArray && isEqual(part.keys, keys));
  const ended = lines.map((line) => line + eol);
  const after = own === undefined
    ? text + gapAfter(text, eol) + ended.join("")
    : joined(parts.map((part) => part === own ? replaced(own, ended) : part));
  return checked({ before, after, isOurs: (path) => isEqual(path, keys), values });
}

/** Whether the text has svc's table. A table of that name that does not run svc is the user's own. */
export function hasSvcsTable(text: string, keys: Keys): boolean {
  const table = tableAt(parse(text), keys);
  return table !== undefined && runsSvc(table);
}

/** Whether the table of svc's name is the user's own. */
export function hasOwnTable(text: string, keys: Keys): boolean {
  const table = tableAt(parse(text), keys);
  return table !== undefined && !runsSvc(table);
}

/** Removes each table that is in `tables` or below one of them, and headers that only led to it. Throws as `putTable` does. */
export function takeTables(text: string, tables: readonly Keys[]): string {
  const before = parse(text);
  const isOurs = (keys: Keys): boolean => tables.some((table) => isAtOrBelow(keys, table));
  // An array is never svc's table, but it may be below one.
  const isOurPart = ({ keys, isArray }: Part): boolean =>
    keys !== undefined && isOurs(isArray ? keys.slice(0, -1) : keys);
  const parts = partsOf(text);
  if (!parts.some(isOurPart)) return text;
  const others = parts.filter((part) => !isOurPart(part));
  const isIdle = ({ keys, isArray, lines }: Part): boolean =>
    keys !== undefined && !isArray && tables.some((table) => isAtOrBelow(table, keys)) &&
    lines.slice(1).every(isWithoutValue) &&
    others.filter((other) => other.keys !== undefined && isAtOrBelow(other.keys, keys)).length === 1;
  const kept = parts.map((part) => isOurPart(part) || isIdle(part) ? removed(part) : part);
  return checked({ before, after: withoutTrailingGap(joined(kept), text), isOurs });
}

/** Puts back the user's own table of this name, which svc's replaced, with the tables below it. Throws as `putTable` does. */
export function restoreTable(text: string, keys: Keys, original: string): string {
  const own = tableAt(parse(original), keys);
  if (own === undefined || runsSvc(own)) return text;
  const parts = partsOf(original).filter((part) => part.keys !== undefined && isAtOrBelow(part.keys, keys));
  const lines = parts.flatMap((part) => part.lines.slice(0, lastValue(part) + 1));
  const eol = eolOf(text);
  const after = text + gapAfter(text, eol) + lines.join("");
  const isOurs = (path: Keys): boolean => isAtOrBelow(path, keys);
  return checked({ before: parse(text), after, isOurs, values: ownValues(own) });
}

function isAtOrBelow(keys: Keys, table: Keys): boolean {
  return table.every((key, at) => keys[at] === key);
}

function isWithoutValue(line: string): boolean {
  return /^\s*(#.*)?$/.test(line.trimEnd());
}

/** The place of the last line with a value, or of the header. */
function lastValue({ lines }: Part): number {
  return lines.findLastIndex((line) => !isWithoutValue(line));
}

/** A comment after the last value belongs to the next table. */
function replaced(part: Part, lines: string[]): Part {
  return { ...part, lines: [...lines, ...part.lines.slice(lastValue(part) + 1)] };
}

/** Keeps the blank line before the table, which separates its neighbors. */
function removed(part: Part): Part {
  const { lines } = replaced(part, []);
  const first = lines.findIndex((line) => line.trim() !== "");
  return { ...part, lines: first < 0 ? [] : lines.slice(first) };
}

function joined(parts: readonly Part[]): string {
  return parts.flatMap(({ lines }) => lines).join("");
}

function eolOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
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
  const starts = statementStarts(text);
  let part: Part = { keys: undefined, isArray: false, lines: [] };
  const parts = [part];
  for (const { 0: line, index } of text.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const found = starts.has(index) ? readHeader(line) : undefined;
    if (found !== undefined) parts.push(part = { ...found, lines: [] });
    part.lines.push(line);
  }
  return parts;
}

/** Comments, strings, brackets and line ends. A multi-line string may end with up to two more quotes. */
const TOKEN = /#[^\n]*|"""(?:\\[^]|[^\\])*?"{3,5}|'''[^]*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*'|[[\]\n]/g;

/** The offsets of the lines that do not continue a string or a list. */
function statementStarts(text: string): Set<number> {
  const starts = new Set([0]);
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === "[") depth++;
    else if (token === "]") depth--;
    else if (token === "\n" && depth === 0) starts.add(index + 1);
  }
  return starts;
}

const KEY = String.raw`[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'`;
const PATH = String.raw`\s*(?:${KEY})\s*(?:\.\s*(?:${KEY})\s*)*`;
const HEADER = new RegExp(String.raw`^\s*(?:\[(${PATH})\]|\[\[(${PATH})\]\])\s*(?:#.*)?$`);

/** The keys of a line like `[a."b c".d] # why` or `[[a.b]]`; undefined for every other line. */
function readHeader(line: string): Pick<Part, "keys" | "isArray"> | undefined {
  const [, table, array] = HEADER.exec(line.trimEnd()) ?? [];
  const path = table ?? array;
  if (path === undefined) return undefined;
  const keys = Array.from(path.matchAll(new RegExp(KEY, "g")), ([key]) => keyOf(key));
  return { keys, isArray: array !== undefined };
}

function keyOf(key: string): string {
  if (key.startsWith("'")) return key.slice(1, -1);
  return key.startsWith('"') ? unquoted(key.slice(1, -1)) : key;
}

/** Escapes that are not valid in JSON stay as they are: svc writes none. */
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

/** The table's own values: the user may have added tables, or arrays of tables, below it. */
function ownValues(table: unknown): unknown {
  if (!isTable(table)) return table;
  const isBelow = (value: unknown): boolean =>
    Array.isArray(value) ? value.length > 0 && value.every(isTable) : isTable(value);
  return Object.fromEntries(Object.entries(table).filter(([, value]) => !isBelow(value)));
}

interface Edited {
  before: Record<string, unknown>;
  after: string;
  isOurs(path: Keys): boolean;
  /** What svc's table must contain; undefined if the table must be gone. */
  values?: unknown;
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

/** The value without svc's tables, and without tables that become empty. */
function without(value: unknown, { isOurs, path }: Walk): unknown {
  if (!isTable(value)) return value;
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, key];
    const rest = isOurs(at) ? undefined : without(inner, { isOurs, path: at });
    return rest === undefined || (isTable(rest) && Object.keys(rest).length === 0) ? [] : [[key, rest]];
  });
  return Object.fromEntries(entries);
}

/** The first of svc's tables in the value. */
function found(value: unknown, { isOurs, path }: Walk): unknown {
  if (!isTable(value)) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const at = [...path, key];
    const ours = isOurs(at) ? inner : found(inner, { isOurs, path: at });
    if (ours !== undefined) return ours;
  }
  return undefined;
}
