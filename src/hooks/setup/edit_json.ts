/** Puts svc's entries into a JSON file with comments, or takes them out; every other byte stays. */
import {
  applyEdits,
  type FormattingOptions,
  modify,
  parse,
  type ParseError,
  printParseErrorCode,
} from "jsonc-parser";
import { runsSvcHook } from "../../agents/setup/registered.ts";
import type { JsonEdit } from "../../agents/setup/types.ts";
import { isEqual } from "./is_equal.ts";

/** Throws Error when the text is not JSON, or has something else where a list or an object must stand. */
export function putJson(text: string, { set = [], append = [] }: JsonEdit): string {
  checkJson(text);
  const withValues = set.reduce((result, { at, value }) => {
    return isEqual(valueAt(result, at), value) ? result : change(result, { at, value });
  }, text);
  return append.reduce((result, { at, values }) => putEntries(result, at, values), withValues);
}

/** Throws Error when the text is not JSON. */
export function takeJson(text: string, { set = [], append = [] }: JsonEdit): string {
  checkJson(text);
  const withoutEntries = append.reduce((result, { at, values }) => {
    const isOurs = (entry: unknown): boolean => isSvcs(entry) || values.some((one) => isEqual(one, entry));
    return pruned(withoutEntriesOf(result, at, isOurs), at);
  }, text);
  return set.reduce((result, { at }) => {
    if (valueAt(result, at) === undefined) return result;
    return pruned(change(result, { at, value: undefined }), at.slice(0, -1));
  }, withoutEntries);
}

/** Older entries of svc go, so that a hook runs once however often svc moved. */
function putEntries(text: string, at: readonly string[], values: readonly unknown[]): string {
  const isStale = (entry: unknown): boolean => isSvcs(entry) && !values.some((one) => isEqual(one, entry));
  const clean = withoutEntriesOf(text, at, isStale);
  return values.reduce<string>((result, value) => {
    const list = listAt(result, at);
    if (list.some((entry) => isEqual(entry, value))) return result;
    if (valueAt(result, at) === undefined) return change(result, { at, value: [value] });
    return change(result, { at: [...at, list.length], value, isArrayInsertion: true });
  }, clean);
}

function withoutEntriesOf(text: string, at: readonly string[], isOurs: (entry: unknown) => boolean): string {
  const places = listAt(text, at).flatMap((entry, place) => isOurs(entry) ? [place] : []);
  return places.reverse().reduce(
    (result, place) => change(result, { at: [...at, place], value: undefined }),
    text,
  );
}

/** A group of hooks is svc's when all in it is: a person may have added one of theirs. */
function isSvcs(entry: unknown): boolean {
  const hooks = typeof entry === "object" && entry !== null && "hooks" in entry ? entry.hooks : [entry];
  return Array.isArray(hooks) && hooks.length > 0 && hooks.every(runsSvcHook);
}

/** Takes away what became empty on the way to `at`. */
function pruned(text: string, at: readonly string[]): string {
  const value = valueAt(text, at);
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return at.length > 0 && isEmpty ? pruned(change(text, { at, value: undefined }), at.slice(0, -1)) : text;
}

function change(
  text: string,
  { at, value, isArrayInsertion = false }: {
    at: readonly (string | number)[];
    value: unknown;
    isArrayInsertion?: boolean;
  },
): string {
  return applyEdits(
    text,
    modify(text, [...at], value, { isArrayInsertion, formattingOptions: layoutOf(text) }),
  );
}

/** The file's own indentation and line ends. */
function layoutOf(text: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

function listAt(text: string, at: readonly string[]): unknown[] {
  const value = valueAt(text, at);
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new Error(`"${at.join(".")}" is no list`);
}

function valueAt(text: string, at: readonly string[]): unknown {
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
