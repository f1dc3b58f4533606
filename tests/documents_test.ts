/** Compares the documents with the tree: what they list exists, and what exists is listed. */
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import * as library from "../mod.ts";
import { PAGE, renderPage } from "../scripts/protocol_tables.ts";
import { CHECKOUT, readPages, readSources } from "./helpers/sources.ts";

interface Configuration {
  imports: Record<string, string>;
  tasks?: Record<string, unknown>;
  test: Record<string, unknown>;
}

const read = (path: string): Promise<string> => Deno.readTextFile(CHECKOUT + path);
const configuration = JSON.parse(await read("deno.json")) as Configuration;
const pages = await readPages();

/** Returns a page without the formatter's changes: aligned columns and wrapped lines. */
function unaligned(page: string): string {
  return page.replace(/\s+/g, " ").replace(/-{3,}/g, "---");
}

/** Returns the first cells of a page's tables, without code marks. */
function firstCells(page: string): string[] {
  return Array.from(page.matchAll(/^\| (\S+) +\|/gm), ([, cell = ""]) => cell.replaceAll("`", ""));
}

Deno.test("the tables of docs/protocol.md are those of src/protocol [proto-page]", async () => {
  const page = await Deno.readTextFile(PAGE);
  const hint = "run: deno run -A scripts/protocol_tables.ts && deno fmt docs/protocol.md";
  assert.equal(unaligned(page), unaligned(await renderPage(page)), hint);
});

Deno.test("a page with an old table gets a new one, and the text around it stays", async () => {
  const page = await renderPage("before\n<!-- states -->\nold\n<!-- /states -->\nafter <!-- other -->\n");
  assert.match(
    page,
    /^before\n<!-- states -->\n\n`queued`, .*\n\n<!-- \/states -->\nafter <!-- other -->\n$/,
  );
});

Deno.test("packages come from npm, each with an exact version [dep-npm-only]", () => {
  const packages = Object.entries(configuration.imports).filter(([name]) => !name.startsWith("#"));
  for (const [name, target] of packages) {
    assert.match(target, /^npm:(@[\w-]+\/)?[\w.-]+@\d+\.\d+\.\d+\/?$/, name);
  }
});

Deno.test("each package has a line in docs/dependencies.md, and each line a package [dep-reasons]", async () => {
  const names = Object.keys(configuration.imports).filter((name) => !name.startsWith("#"));
  const listed = firstCells(await read("docs/dependencies.md")).filter((cell) => !/^(name|-+)$/.test(cell));
  assert.deepEqual(listed.sort(), names.sort());
});

Deno.test("leaks of operations and resources fail a test [run-sanitizers]", () => {
  assert.deepEqual(configuration.test, { sanitizeOps: true, sanitizeResources: true });
});

Deno.test("ARCHITECTURE.md has a diagram, the flows and every folder of src [arch-page]", async () => {
  const page = await read("ARCHITECTURE.md");
  assert.match(page, /┌─+┐/);
  for (const flow of ["1.", "2.", "3.", "4."]) assert.ok(page.includes(`| ${flow} `), `flow ${flow}`);
  for await (const entry of Deno.readDir(`${CHECKOUT}src`)) {
    const isEmpty = (await Array.fromAsync(Deno.readDir(`${CHECKOUT}src/${entry.name}`))).length === 0;
    if (entry.isDirectory && !isEmpty) {
      assert.match(page, new RegExp(`^ *${entry.name}/`, "m"), `src/${entry.name}`);
    }
  }
});

Deno.test("the gaps of an unsealed and an unpaired channel are documented [enc-gap-rest, enc-gap-active]", async () => {
  for (const path of ["SECURITY.md", "docs/security.md"]) {
    const page = unaligned(await read(path));
    assert.match(page, /message sent[^.]* over HTTP[^.]* readable by the relay/, path);
    assert.match(
      page,
      /[Ww]ithout pairing[^.]*( secret from a passive relay only|, a relay that makes keys of its own can)/,
      path,
    );
  }
});

Deno.test("the documents call only tasks that exist", () => {
  const tasks = Object.keys(configuration.tasks ?? {});
  for (const { path, text } of pages) {
    for (const [, task = ""] of text.matchAll(/(?:deno|deno@[\d.]+) task ([\w:]+)/g)) {
      assert.ok(tasks.includes(task), `${path} names the task "${task}": deno.json has ${tasks.join(", ")}`);
    }
  }
});

Deno.test("links between the documents lead somewhere", async () => {
  for (const { path, text } of pages) {
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
      const file = new URL(target, pathToFileURL(CHECKOUT + path));
      assert.ok((await Deno.stat(file)).isFile, `${path} links to "${target}"`);
    }
  }
});

Deno.test("files that the documents name exist", async () => {
  for (const { path, text } of pages) {
    for (const [, named = ""] of text.matchAll(/`((?:src|tests|scripts|docs|bench|examples)\/[\w./]+)`/g)) {
      await assert.doesNotReject(Deno.stat(CHECKOUT + named), `${path} names "${named}"`);
    }
  }
});

Deno.test("headings that comments cite exist", async () => {
  const folders = await Promise.all(
    ["src", "tests", "scripts", "bench"].map((folder) => readSources(folder)),
  );
  const headings = pages.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/^#+ +(.+)$/gm), ([, heading]) => `${path}, ${heading}`)
  );
  for (const { path, text } of folders.flat()) {
    for (const [, page, heading] of text.matchAll(/\((docs\/\w+\.md), "?([^)"\n]+)"?\)/g)) {
      assert.ok(headings.includes(`${page}, ${heading}`), `${path} cites "${heading}" of ${page}`);
    }
    assert.doesNotMatch(text, /\bspec, section/, `${path}: cite a heading instead`);
  }
});

Deno.test("svc prints no path of a document in the checkout: an installed package has none", async () => {
  const parts = await readSources("plugin", () => true);
  for (const { path, text } of [...await readSources("src"), ...parts]) {
    const printed = text.replace(/\/\*[^]*?\*\//g, "").replace(/^ *\/\/.*$/gm, "");
    assert.doesNotMatch(printed, /\bdocs\/|\b(?:ARCHITECTURE|CONTRIBUTING)\.md/, path);
  }
});

Deno.test("docs/agents.md names each agent's program and how to install it", async () => {
  const page = await read("docs/agents.md");
  for (const { text } of await readSources("src/agents")) {
    const [, binary] = /binary: "([^"]+)"/.exec(text) ?? [];
    const [, install] = /install: "([^"]+)"/.exec(text) ?? [];
    if (binary) assert.ok(page.includes(`\`${binary}\``), `docs/agents.md has no program "${binary}"`);
    if (binary && install) assert.ok(page.includes(install), `docs/agents.md does not say "${install}"`);
  }
});

Deno.test("every function and class of mod.ts is in an example, beside it or in examples/ [style-mod-examples]", async () => {
  const documented = (await readSources("src")).concat(await readSources("examples"), {
    path: "mod.ts",
    text: await read("mod.ts"),
  });
  const examples = documented.map(({ path, text }) =>
    path.startsWith("examples/")
      ? text
      : Array.from(text.matchAll(/^ \* ```ts\n([\s\S]*?)^ \* ```$/gm), ([, code = ""]) => code).join("\n")
  ).join("\n");
  const names = Object.entries(library).flatMap(([name, value]) => typeof value === "function" ? [name] : []);
  assert.ok(names.length > 20, "the exports were read");
  assert.deepEqual(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(examples)), []);
});
