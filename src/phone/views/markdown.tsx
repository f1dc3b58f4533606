/**
 * An agent's Markdown as elements, of a strict subset: headings, paragraphs, lists, quotes, code, rules, emphasis, links to
 * http and https. Everything else stays text: nothing is ever parsed as HTML.
 */
import { Fragment, type JSX } from "preact";
import { useMemo } from "preact/hooks";

export function Markdown({ text }: { text: string }): JSX.Element {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  return <div class="markdown">{blocks.map(showBlock)}</div>;
}

function showBlock(block: Block, key: number): JSX.Element {
  switch (block.kind) {
    case "heading":
      // Not a heading element, which would change the page's outline.
      return <p key={key} class="md-heading" data-level={block.level}>{block.children.map(showInline)}</p>;
    case "paragraph":
      return <p key={key}>{block.children.map(showInline)}</p>;
    case "code":
      return <pre key={key} tabIndex={0}><code>{block.text}</code></pre>;
    case "quote":
      return <blockquote key={key}>{block.blocks.map(showBlock)}</blockquote>;
    case "rule":
      return <hr key={key} />;
    case "list": {
      const items = block.items.map((item, index) => <li key={index}>{item.map(showBlock)}</li>);
      return block.isOrdered ? <ol key={key} start={block.start}>{items}</ol> : <ul key={key}>{items}</ul>;
    }
  }
}

function showInline(inline: Inline, key: number): JSX.Element {
  switch (inline.kind) {
    case "text":
      return <Fragment key={key}>{inline.text}</Fragment>;
    case "code":
      return <code key={key}>{inline.text}</code>;
    case "strong":
      return <strong key={key}>{inline.children.map(showInline)}</strong>;
    case "emphasis":
      return <em key={key}>{inline.children.map(showInline)}</em>;
    case "link":
      return (
        <a key={key} href={inline.href} target="_blank" rel="noopener noreferrer">
          {inline.children.map(showInline)}
        </a>
      );
  }
}

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "emphasis"; children: Inline[] }
  | { kind: "link"; href: string; children: Inline[] };

export type Block =
  | { kind: "heading"; level: number; children: Inline[] }
  | { kind: "paragraph"; children: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; isOrdered: boolean; start: number; items: Block[][] }
  | { kind: "rule" };

/** Deeper nesting stays text. */
const DEPTH_MAX = 6;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*)$/;
const RULE = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4})(?=\S)/;

/** Parses a strict subset: everything else, HTML included, stays text. */
export function parseMarkdown(text: string): Block[] {
  return blocksOf(text.split("\n"), 0);
}

function blocksOf(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length;) {
    const { block, next } = blockAt(lines, { at, depth });
    if (block !== undefined) blocks.push(block);
    at = next;
  }
  return blocks;
}

interface Place {
  at: number;
  depth: number;
}

interface Found {
  block?: Block;
  next: number;
}

function blockAt(lines: readonly string[], { at, depth }: Place): Found {
  const line = lines[at] ?? "";
  if (line.trim() === "") return { next: at + 1 };
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) return codeBlock(lines, { at, fence });
  const heading = HEADING.exec(line);
  if (heading !== null) {
    const [, marks = "", text = ""] = heading;
    const children = inlinesOf(withoutClosingMarks(text), 0);
    return { block: { kind: "heading", level: marks.length, children }, next: at + 1 };
  }
  if (RULE.test(line)) return { block: { kind: "rule" }, next: at + 1 };
  if (depth < DEPTH_MAX && QUOTE.test(line)) return quote(lines, { at, depth });
  if (depth < DEPTH_MAX && ITEM.test(line)) return list(lines, { at, depth });
  return paragraph(lines, at);
}

/** Not a single regular expression, which would try every way to divide a long run of blanks. */
function withoutClosingMarks(heading: string): string {
  const text = heading.trim();
  let end = text.length;
  while (text[end - 1] === "#") end--;
  return end === 0 || /\s/.test(text[end - 1] ?? "") ? text.slice(0, end).trimEnd() : text;
}

/** An unclosed block reaches the end. */
function codeBlock(lines: readonly string[], { at, fence }: { at: number; fence: string }): Found {
  const isEnd = (line: string): boolean =>
    line.trim().startsWith(fence) && line.trim().replaceAll(fence[0] ?? "", "") === "";
  const length = lines.slice(at + 1).findIndex(isEnd);
  const end = length < 0 ? lines.length : at + 1 + length;
  return { block: { kind: "code", text: lines.slice(at + 1, end).join("\n") }, next: end + 1 };
}

function quote(lines: readonly string[], { at, depth }: Place): Found {
  let next = at;
  while (QUOTE.test(lines[next] ?? "")) next++;
  const inner = lines.slice(at, next).map((line) => line.replace(QUOTE, ""));
  return { block: { kind: "quote", blocks: blocksOf(inner, depth + 1) }, next };
}

function list(lines: readonly string[], { at, depth }: Place): Found {
  const first = ITEM.exec(lines[at] ?? "")?.[2] ?? "-";
  const isOrdered = /\d/.test(first);
  const items: Block[][] = [];
  let next = at;
  for (;;) {
    const found = ITEM.exec(lines[next] ?? "");
    if (found === null || /\d/.test(found[2] ?? "") !== isOrdered || RULE.test(lines[next] ?? "")) break;
    const indent = found[0].length;
    const end = itemEnd(lines, { from: next + 1, indent });
    const inner = lines.slice(next, end).map((line) => line.slice(Math.min(indent, leading(line, indent))));
    items.push(blocksOf([(lines[next] ?? "").slice(indent), ...inner.slice(1)], depth + 1));
    next = end;
  }
  return { block: { kind: "list", isOrdered, start: isOrdered ? parseInt(first) : 1, items }, next };
}

/** Returns the index of the line after an item, to which indented lines and blank lines before them belong. */
function itemEnd(lines: readonly string[], { from, indent }: { from: number; indent: number }): number {
  let end = from;
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.trim() === "") continue;
    const isInner = leading(line, indent) >= Math.min(indent, 2);
    if (!isInner && (at > end || ITEM.test(line) || FENCE.test(line) || HEADING.test(line))) break;
    end = at + 1;
  }
  return end;
}

function leading(line: string, most: number): number {
  let count = 0;
  while (count < most && line[count] === " ") count++;
  return count;
}

function paragraph(lines: readonly string[], at: number): Found {
  let next = at + 1;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? "";
    const begins = [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(line));
    if (line.trim() === "" || begins) break;
  }
  return { block: { kind: "paragraph", children: inlinesOf(lines.slice(at, next).join("\n"), 0) }, next };
}

/** Code, links and emphasis; the first that matches at a place wins. */
const INLINE =
  /(`+)([^`]|[^`][^]{0,2000}?[^`])\1(?!`)|\[([^\]\n]{1,500})\]\((https?:\/\/[^\s()<>]{1,2000})\)|\*\*(?=\S)([^\n]{0,2000}?\S)\*\*|(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])|(?<!\w)_(?=[^\s_])([^_\n]*[^\s_])_(?!\w)|(https?:\/\/[^\s<>()"'`]{1,2000}[^\s<>()"'`.,:;!?])/gu;

function inlinesOf(text: string, depth: number): Inline[] {
  if (depth > DEPTH_MAX) return [{ kind: "text", text }];
  const found: Inline[] = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const inline = inlineOf(match, depth);
    if (match.index > at) found.push({ kind: "text", text: text.slice(at, match.index) });
    found.push(inline);
    at = match.index + match[0].length;
  }
  if (at < text.length) found.push({ kind: "text", text: text.slice(at) });
  return found;
}

function inlineOf(match: RegExpExecArray, depth: number): Inline {
  const [whole, , code, label, href, strong, star, underscore, url] = match;
  if (code !== undefined) return { kind: "code", text: code.trim() === "" ? code : code.trim() };
  if (label !== undefined && href !== undefined) {
    return { kind: "link", href, children: [{ kind: "text", text: label }] };
  }
  if (strong !== undefined) return { kind: "strong", children: inlinesOf(strong, depth + 1) };
  const emphasis = star ?? underscore;
  if (emphasis !== undefined) return { kind: "emphasis", children: inlinesOf(emphasis, depth + 1) };
  return url === undefined
    ? { kind: "text", text: whole }
    : { kind: "link", href: url, children: [{ kind: "text", text: url }] };
}
