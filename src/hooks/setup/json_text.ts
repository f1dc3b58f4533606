/** Puts one item into an object or list of a JSON text, or takes one out, and touches no other byte. */
import type { Node } from "jsonc-parser";

/** The text's own indentation and line ends. */
export interface Layout {
  unit: string;
  eol: string;
}

export function layoutOf(text: string): Layout {
  return { unit: /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ", eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** The value as it stands in a text, its lines after the first indented by `indent`. */
export function render(value: unknown, { unit, eol, indent }: Layout & { indent: string }): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", `${eol}${indent}`);
}

/** `item` renders the new last item of `container`, given the indentation of its line. */
export function insertLast(text: string, container: Node, item: (indent: string) => string): string {
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
  return `${text.slice(0, end)}${hasComma ? "" : ","}${text.slice(end, at)}${eol}${indent}${rendered}${rest}`;
}

function insertOnly(text: string, container: Node, { outer, line }: { outer: string; line: string }): string {
  const { eol } = layoutOf(text);
  const close = endOf(container) - 1;
  const head = text.slice(0, close).trimEnd();
  return `${head}${eol}${line}${eol}${outer}${text.slice(close)}`;
}

/** The text without the container's item at `index`; a container without any left is written `{}` or `[]`. */
export function removeItem(text: string, container: Node, index: number): string {
  const items = container.children ?? [];
  const [item, before] = [items[index], items[index - 1]];
  if (item === undefined) return text;
  const comma = commaAfter(text, endOf(item));
  const isBareLast = comma === undefined && before !== undefined;
  const spare = isBareLast ? commaAfter(text, endOf(before)) : undefined;
  const cuts = [...(spare === undefined ? [] : [[spare, spare + 1] as const]), cutOf(text, item, comma)];
  const rest = without(text, cuts);
  const close = endOf(container) - (text.length - rest.length) - 1;
  const isBlank = items.length === 1 && rest.slice(container.offset + 1, close).trim() === "";
  return isBlank ? rest.slice(0, container.offset + 1) + rest.slice(close) : rest;
}

/** An item with its comma: whole lines where it has its own, else with the blanks that part it from others. */
function cutOf(text: string, item: Node, comma: number | undefined): readonly [from: number, to: number] {
  const to = comma === undefined ? endOf(item) : comma + 1;
  if (startsLine(text, item.offset)) return [lineStart(text, item.offset), pastLineEnd(text, to)];
  const head = text.slice(0, item.offset);
  return comma === undefined ? [head.trimEnd().length, to] : [item.offset, pastBlanks(text, to)];
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

/** Past the line's end when nothing else stands in it. */
function pastLineEnd(text: string, offset: number): number {
  const blank = /^[ \t]*(\r?\n|$)/.exec(text.slice(offset));
  return offset + (blank?.[0].length ?? 0);
}

function pastBlanks(text: string, offset: number): number {
  return offset + (/^[ \t]*/.exec(text.slice(offset))?.[0].length ?? 0);
}

/** Blanks and comments, and commas among them: what may stand behind an item in its line. */
const BEHIND = /(?<blank>[ \t]+)|\/\/[^\r\n]*|\/\*[^]*?\*\/|(?<comma>,)/y;

/** Where the line of an item ends, its comments included; with a comma on the way or not. */
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

/** The comma behind an item, wherever it stands before the next one. */
function commaAfter(text: string, end: number): number | undefined {
  const trivia = /^(?:\s+|\/\/[^\r\n]*|\/\*[^]*?\*\/)*/.exec(text.slice(end))?.[0].length ?? 0;
  return text.charAt(end + trivia) === "," ? end + trivia : undefined;
}
