/** An agent's Markdown as elements. Text stays text: nothing is ever parsed as HTML. */
import { Fragment, type JSX } from "preact";
import { useMemo } from "preact/hooks";
import { type Block, type Inline, parseMarkdown } from "../markdown.ts";

export function Markdown({ text }: { text: string }): JSX.Element {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  return <div class="markdown">{blocks.map(showBlock)}</div>;
}

function showBlock(block: Block, key: number): JSX.Element {
  switch (block.kind) {
    case "heading":
      // Below the headings of the page, so that its outline stays whole.
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
