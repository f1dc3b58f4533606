/** Adds svc's entries to a JSON file with comments, or removes them; every other byte stays. */
import { type Node, parse, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type JsonEdit, MCP_SERVER, runsSvc, runsSvcHook } from "../../agents/setup.ts";

type Path = readonly string[];

/** Throws Error if the text is not JSON, or has something else where a list or an object is needed. */
export function putJson(text: string, { set = [], append = [] }: JsonEdit): string {
  checkJson(text);
  const withValues = set.reduce((result, { at, value }) => putValue(result, at, value), text);
  const all = append.reduce((result, { at, values }) => putEntries(result, at, values), withValues);
  checkJson(all);
  return all;
}

/**
 * Removes svc's entries, and whatever becomes empty unless it is in `original`, the text from before the first edit. A
 * value that svc's replaced is put back; one that the user has put in its place since stays. Throws Error if the text is not JSON.
 */
export function takeJson(text: string, { set = [], append = [] }: JsonEdit, original = "{}"): string {
  checkJson(text);
  const pruned = (rest: string, at: Path): string => withoutEmpty(rest, at, original);
  const withoutEntries = append.reduce((result, { at, values }) => {
    const isOurs = (entry: unknown): boolean => isSvcs(entry) || values.some((one) => isEqual(one, entry));
    const rest = takeEntries(result, at, isOurs);
    return rest === result ? result : pruned(rest, at);
  }, text);
  const all = set.reduce((result, { at, value }) => {
    const found = valueAt(result, at);
    if (!isEqual(found, value) && !runsSvc(found)) return result;
    const own = original.trim() === "" ? undefined : valueAt(original, at);
    const isOwn = own !== undefined && !runsSvc(own);
    return isOwn ? putValue(result, at, own) : pruned(takeValue(result, at), at.slice(0, -1));
  }, withoutEntries);
  checkJson(all);
  return all;
}

/** Whether the text has an entry of svc's. A value under svc's name that does not run svc is the user's own. */
export function hasSvcsJson(text: string, { set = [], append = [] }: JsonEdit): boolean {
  const isListed = append.some(({ at, values }) =>
    listAt(text, at).some((entry) => isSvcs(entry) || values.some((one) => isEqual(one, entry)))
  );
  return isListed || set.some(({ at, value }) => {
    const found = valueAt(text, at);
    return found !== undefined && (isEqual(found, value) || runsSvc(found));
  });
}

/** Whether an MCP server under svc's name is the user's own. */
export function hasOwnJson(text: string, { set = [] }: JsonEdit): boolean {
  return set.some(({ at, value }) => {
    const found = valueAt(text, at);
    return at.at(-1) === MCP_SERVER && found !== undefined && !isEqual(found, value) && !runsSvc(found);
  });
}

/** Replaces svc's older entries, so that a hook runs only once no matter how often svc moved. */
function putEntries(text: string, at: Path, values: readonly unknown[]): string {
  const isStale = (entry: unknown): boolean => isSvcs(entry) && !values.some((one) => isEqual(one, entry));
  return values.reduce<string>((result, value) => {
    if (listAt(result, at).some((entry) => isEqual(entry, value))) return result;
    if (valueAt(result, at) === undefined) return putValue(result, at, [value]);
    return insertLast(result, nodeAt(result, at), (indent) => render(value, { ...layoutOf(result), indent }));
  }, takeEntries(text, at, isStale));
}

function takeEntries(text: string, at: Path, isOurs: (entry: unknown) => boolean): string {
  const places = listAt(text, at).flatMap((entry, place) => isOurs(entry) ? [place] : []);
  return places.reverse().reduce((result, place) => removeItem(result, nodeAt(result, at), place), text);
}

/** A group of hooks is svc's if every hook in it is: the user may have added one of their own. */
function isSvcs(entry: unknown): boolean {
  const hooks = typeof entry === "object" && entry !== null && "hooks" in entry ? entry.hooks : [entry];
  return Array.isArray(hooks) && hooks.length > 0 && hooks.every(runsSvcHook);
}

/** Creates missing objects on the path. */
function putValue(text: string, at: Path, value: unknown): string {
  if (isEqual(valueAt(text, at), value)) return text;
  const [parent, name] = [at.slice(0, -1), at.at(-1) ?? ""];
  if (valueAt(text, at) !== undefined) return putValue(takeValue(text, at), at, value);
  if (valueAt(text, parent) === undefined) return putValue(text, parent, { [name]: value });
  return insertLast(
    text,
    nodeAt(text, parent),
    (indent) => `${JSON.stringify(name)}: ${render(value, { ...layoutOf(text), indent })}`,
  );
}

function takeValue(text: string, at: Path): string {
  const parent = nodeAt(text, at.slice(0, -1));
  const property = propertyOf(parent, at.at(-1) ?? "");
  return property === undefined ? text : removeItem(text, parent, parent.children?.indexOf(property) ?? -1);
}

/** Removes the lists and objects on the path to `at` that hold not even a comment, and that `original` does not have. */
function withoutEmpty(text: string, at: Path, original: string): string {
  const [name, parent] = [at.at(-1), at.slice(0, -1)];
  if (name === undefined || hasValueAt(original, at)) return text;
  const node = nodeAt(text, at);
  const isBlank = text.slice(node.offset + 1, endOf(node) - 1).trim() === "";
  return isBlank ? withoutEmpty(takeValue(text, at), parent, original) : text;
}

function nodeAt(text: string, at: Path): Node {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = at.reduce<Node | undefined>((found, name) => propertyOf(found, name)?.children?.[1], root);
  if (node === undefined) throw new Error(`"${at.join(".")}" is not there`);
  return node;
}

/** Throws Error if the name is there twice: the agent reads only one of the two. */
function propertyOf(object: Node | undefined, name: string): Node | undefined {
  const [property, twin] = object?.children?.filter(({ children }) => children?.[0]?.value === name) ?? [];
  if (twin !== undefined) throw new Error(`"${name}" is there twice`);
  return property;
}

function listAt(text: string, at: Path): unknown[] {
  const value = valueAt(text, at);
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new Error(`"${at.join(".")}" is not a list`);
}

function valueAt(text: string, at: Path): unknown {
  let value: unknown = parse(text, [], { allowTrailingComma: true });
  for (const [depth, name] of at.entries()) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new Error(`"${at.slice(0, depth).join(".")}" is not an object`);
    }
    if (!Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

function hasValueAt(text: string, at: Path): boolean {
  return at.reduce<unknown>(
    (value, name) => isPlain(value) && Object.hasOwn(value, name) ? value[name] : undefined,
    parse(text, [], { allowTrailingComma: true }),
  ) !== undefined;
}

function checkJson(text: string): void {
  const errors: ParseError[] = [];
  parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first === undefined) return;
  const before = text.slice(0, first.offset).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  throw new Error(`line ${before.length}, column ${column} is not JSON: ${printParseErrorCode(first.error)}`);
}

/** The indentation and line endings of the text. */
interface Layout {
  unit: string;
  eol: string;
}

function layoutOf(text: string): Layout {
  return { unit: /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ", eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** The value as text, with its lines after the first indented by `indent`. */
function render(value: unknown, { unit, eol, indent }: Layout & { indent: string }): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", `${eol}${indent}`);
}

/** `item` renders the new last item of `container`, given the indentation of its line. */
function insertLast(text: string, container: Node, item: (indent: string) => string): string {
  const outer = indentAt(text, container.offset);
  const inner = outer + layoutOf(text).unit;
  const last = container.children?.at(-1);
  if (last === undefined) return insertOnly(text, container, { outer, line: inner + item(inner) });
  const indent = startsLine(text, last.offset) ? indentAt(text, last.offset) : inner;
  const rendered = item(indent);
  const end = last.offset + last.length;
  const isInline = !text.slice(container.offset, endOf(container)).includes("\n") && !rendered.includes("\n");
  if (isInline) return `${text.slice(0, end)}, ${rendered}${text.slice(end)}`;
  const { hasComma, at, isLineEnd } = restOfLine(text, end);
  const { eol } = layoutOf(text);
  const rest = isLineEnd ? text.slice(at) : `${eol}${outer}${text.slice(at)}`;
  // A trailing comma is kept, here and when the item is removed again.
  const added = `${eol}${indent}${rendered}${hasComma ? "," : ""}`;
  return `${text.slice(0, end)}${hasComma ? "" : ","}${text.slice(end, at)}${added}${rest}`;
}

function insertOnly(text: string, container: Node, { outer, line }: { outer: string; line: string }): string {
  const { eol } = layoutOf(text);
  const close = endOf(container) - 1;
  const head = text.slice(0, close).trimEnd();
  return `${head}${eol}${line}${eol}${outer}${text.slice(close)}`;
}

/** The text without the container's item at `index`; a container that becomes empty is written `{}` or `[]`. */
function removeItem(text: string, container: Node, index: number): string {
  const items = container.children ?? [];
  const [item, before] = [items[index], items[index - 1]];
  if (item === undefined) return text;
  const own = commaAfter(text, endOf(item));
  // Text before a trailing comma is the user's, written after the item that used to be the last.
  const isApart = own !== undefined && text.slice(endOf(item), own).trim() !== "";
  const comma = isApart && before !== undefined && item === items.at(-1) ? undefined : own;
  const isBareLast = comma === undefined && before !== undefined;
  const spare = isBareLast ? commaAfter(text, endOf(before)) : undefined;
  const cut = cutOf(text, item, { comma, isLast: item === items.at(-1) });
  const cuts = [...(spare === undefined ? [] : [[spare, spare + 1] as const]), cut];
  const rest = without(text, cuts);
  const close = endOf(container) - (text.length - rest.length) - 1;
  const isBlank = items.length === 1 && rest.slice(container.offset + 1, close).trim() === "";
  return isBlank ? rest.slice(0, container.offset + 1) + rest.slice(close) : rest;
}

/** The range of an item with its comma: whole lines if it has lines of its own, else with the adjacent blanks. */
function cutOf(
  text: string,
  item: Node,
  { comma, isLast }: { comma: number | undefined; isLast: boolean },
): readonly [from: number, to: number] {
  const to = comma === undefined ? endOf(item) : comma + 1;
  if (startsLine(text, item.offset)) return [lineStart(text, item.offset), pastLineEnd(text, to)];
  const head = text.slice(0, item.offset);
  return isLast ? [head.trimEnd().length, to] : [item.offset, pastBlanks(text, to)];
}

function without(text: string, cuts: readonly (readonly [from: number, to: number])[]): string {
  return [...cuts].reverse().reduce((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), text);
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

function startsLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === "";
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}

/** The offset after the line's end if the rest of the line is blank, else `offset`. */
function pastLineEnd(text: string, offset: number): number {
  const blank = /^[ \t]*(\r?\n|$)/.exec(text.slice(offset));
  return offset + (blank?.[0].length ?? 0);
}

function pastBlanks(text: string, offset: number): number {
  return offset + (/^[ \t]*/.exec(text.slice(offset))?.[0].length ?? 0);
}

/** What may follow an item in its line: blanks, comments and a comma. */
const BEHIND = /(?<blank>[ \t]+)|\/\/[^\r\n]*|\/\*[^]*?\*\/|(?<comma>,)/y;

/** The end of an item's line including its comments, and whether a comma comes before it. */
function restOfLine(text: string, end: number): { hasComma: boolean; at: number; isLineEnd: boolean } {
  let [hasComma, at] = [false, end];
  BEHIND.lastIndex = end;
  for (let found = BEHIND.exec(text); found !== null; found = BEHIND.exec(text)) {
    hasComma ||= found.groups?.comma !== undefined;
    if (found.groups?.blank === undefined) at = BEHIND.lastIndex;
    end = BEHIND.lastIndex;
  }
  return { hasComma, at, isLineEnd: /^\r?\n/.test(text.slice(end)) };
}

/** The comma after an item, anywhere before the next item. */
function commaAfter(text: string, end: number): number | undefined {
  const trivia = /^(?:\s+|\/\/[^\r\n]*|\/\*[^]*?\*\/)*/.exec(text.slice(end))?.[0].length ?? 0;
  return text.charAt(end + trivia) === "," ? end + trivia : undefined;
}

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
