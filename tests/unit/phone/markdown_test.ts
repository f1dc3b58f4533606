/** The subset of Markdown: what becomes an element, and that everything else stays text. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type Block, type Inline, parseMarkdown } from "../../../src/phone/views/markdown.tsx";

const text = (value: string): Inline => ({ kind: "text", text: value });

Deno.test("headings, paragraphs, lists, quotes, code, rules and emphasis are read [ux-markdown]", () => {
  const source = [
    ...["# Done", "", "I **fixed** the `VAT` *rounding*:", "", "1. first", "2. second", "   - inner", ""],
    ...[
      "> careful",
      "",
      "```ts",
      "const a = 1 < 2;",
      "```",
      "---",
      "See [the log](https://example.org/log).",
    ],
  ].join("\n");
  const blocks = parseMarkdown(source);
  assert.deepEqual(blocks.map(({ kind }) => kind), [
    ...["heading", "paragraph", "list", "quote", "code", "rule", "paragraph"],
  ]);
  assert.deepEqual(blocks[1], {
    kind: "paragraph",
    children: [
      text("I "),
      { kind: "strong", children: [text("fixed")] },
      text(" the "),
      { kind: "code", text: "VAT" },
      text(" "),
      { kind: "emphasis", children: [text("rounding")] },
      text(":"),
    ],
  });
  const list = blocks[2];
  assert.ok(list?.kind === "list" && list.isOrdered && list.items.length === 2);
  assert.deepEqual(list.items[1]?.map(({ kind }) => kind), ["paragraph", "list"]);
  assert.deepEqual(blocks[4], { kind: "code", text: "const a = 1 < 2;" });
});

Deno.test("a heading ends without its closing marks, and keeps a # of its text [ux-markdown]", () => {
  const headings = ["# Plan", "## Plan ##", "### Plan  #  ", "# Learn C#", "#\tC #5", "# #"];
  const shown = headings.map((source) => {
    const [block] = parseMarkdown(source);
    return block?.kind === "heading" && block.children.map((one) => "text" in one && one.text).join("");
  });
  assert.deepEqual(shown, ["Plan", "Plan", "Plan", "Learn C#", "C #5", ""]);
});

Deno.test("HTML and other schemes stay text; only http and https become links [ux-markdown]", () => {
  const source =
    '<img src=x onerror="alert(1)"> [a](javascript:alert(1)) [b](data:text/html,x) <https://example.org> snake_case_name 2 * 3 * 4';
  const hrefs: string[] = [];
  const walk = (inlines: readonly Inline[]): string =>
    inlines.map((one) => {
      if (one.kind === "link") hrefs.push(one.href);
      return "children" in one ? walk(one.children) : one.text;
    }).join("");
  const [block] = parseMarkdown(source);
  assert.ok(block?.kind === "paragraph");
  assert.equal(walk(block.children), source);
  assert.deepEqual(hrefs, ["https://example.org"]);
});

Deno.test("any text is parsed without loss of words, and in time [ux-markdown]", () => {
  const words = (blocks: readonly Block[]): string =>
    blocks.map((block) => {
      switch (block.kind) {
        case "code":
          return block.text;
        case "rule":
          return "";
        case "quote":
          return words(block.blocks);
        case "list":
          return block.items.map(words).join(" ");
        default:
          return block.children.map(function show(one): string {
            return "children" in one ? one.children.map(show).join("") : one.text;
          }).join("");
      }
    }).join(" ");
  const letters = (value: string): string => value.replace(/[^a-z]/g, "");
  const line = fc.string({ unit: fc.constantFrom(..."ab *_`#>-1.[]()\n<~ ".split("")), maxLength: 200 });
  fc.assert(fc.property(line, (source) => {
    const isFenced = /^ {0,3}(?:`{3,}|~{3,})/m.test(source);
    const shown = letters(words(parseMarkdown(source)));
    assert.ok(isFenced || shown === letters(source), JSON.stringify(source));
  }));
  for (
    const hard of [
      "*a ".repeat(5_000),
      "`".repeat(16_000),
      "[".repeat(16_000),
      "> ".repeat(8_000),
      "**a".repeat(5_000),
      `# a${" ".repeat(16_000)}b`,
    ]
  ) {
    assert.ok(parseMarkdown(hard).length > 0);
  }
});
