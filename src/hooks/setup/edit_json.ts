/** Puts svc's entries into a JSON file with comments, or takes them out; every other byte stays. */
import {
  findNodeAtLocation,
  type Node,
  parse,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { type JsonEdit, runsSvcHook } from "../../agents/setup.ts";
import { isEqual } from "./is_equal.ts";
import { insertLast, layoutOf, removeItem, render } from "./json_text.ts";

type Path = readonly string[];

/** Throws Error when the text is not JSON, or has something else where a list or an object must stand. */
export function putJson(text: string, { set = [], append = [] }: JsonEdit): string {
  checkJson(text);
  const withValues = set.reduce((result, { at, value }) => putValue(result, at, value), text);
  const all = append.reduce((result, { at, values }) => putEntries(result, at, values), withValues);
  checkJson(all);
  return all;
}

/** Throws Error when the text is not JSON. */
export function takeJson(text: string, { set = [], append = [] }: JsonEdit): string {
  checkJson(text);
  const withoutEntries = append.reduce((result, { at, values }) => {
    const isOurs = (entry: unknown): boolean => isSvcs(entry) || values.some((one) => isEqual(one, entry));
    const rest = takeEntries(result, at, isOurs);
    return rest === result ? result : pruned(rest, at);
  }, text);
  const all = set.reduce((result, { at }) => {
    return valueAt(result, at) === undefined ? result : pruned(takeValue(result, at), at.slice(0, -1));
  }, withoutEntries);
  checkJson(all);
  return all;
}

/** Older entries of svc go, so that a hook runs once however often svc moved. */
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

/** A group of hooks is svc's when all in it is: a person may have added one of theirs. */
function isSvcs(entry: unknown): boolean {
  const hooks = typeof entry === "object" && entry !== null && "hooks" in entry ? entry.hooks : [entry];
  return Array.isArray(hooks) && hooks.length > 0 && hooks.every(runsSvcHook);
}

/** Makes the objects on the way. */
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
  const index = parent.children?.findIndex(({ children }) => children?.[0]?.value === at.at(-1)) ?? -1;
  return removeItem(text, parent, index);
}

/** Takes away what became empty on the way to `at`. */
function pruned(text: string, at: Path): string {
  const value = valueAt(text, at);
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return at.length > 0 && isEmpty ? pruned(takeValue(text, at), at.slice(0, -1)) : text;
}

function nodeAt(text: string, at: Path): Node {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = root && findNodeAtLocation(root, [...at]);
  if (node === undefined) throw new Error(`"${at.join(".")}" is not there`);
  return node;
}

function listAt(text: string, at: Path): unknown[] {
  const value = valueAt(text, at);
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new Error(`"${at.join(".")}" is no list`);
}

function valueAt(text: string, at: Path): unknown {
  let value: unknown = parse(text, [], { allowTrailingComma: true });
  for (const [depth, name] of at.entries()) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new Error(`"${at.slice(0, depth).join(".")}" is no object`);
    }
    if (!Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
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
