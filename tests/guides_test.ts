/** Checks that the guides are complete: every reason, finding, setting, command and route has a line; every link has its anchor. */
import assert from "node:assert/strict";
import { allCommands } from "../scripts/man_page.ts";
import { Config } from "../src/home/config.ts";
import { REASONS } from "../src/protocol/reasons.ts";
import { ROUTES } from "../src/relay/routes.ts";
import { CHECKOUT, readPages, readSources } from "./helpers/sources.ts";

const read = (page: string): Promise<string> => Deno.readTextFile(CHECKOUT + page);
const [troubleshooting, configuration, api] = await Promise.all(
  ["docs/troubleshooting.md", "docs/configuration.md", "docs/api.md"].map(read),
) as [string, string, string];

/** Returns the cells of one column of a page's tables. */
function cells(page: string, column: number): string[] {
  return page.split("\n").filter((line) => line.startsWith("| ")).map((line) =>
    (line.split(/(?<!\\)\|/)[column + 1] ?? "").trim()
  );
}

Deno.test("docs/troubleshooting.md explains what to do about every reason, and lists no other [doc-reasons]", () => {
  const listed = cells(troubleshooting, 0).filter((cell) => /^`\w+`$/.test(cell)).map((cell) =>
    cell.slice(1, -1)
  );
  assert.deepEqual(listed.sort(), Object.keys(REASONS).sort());
});

/** Returns each finding's literal text, with "…" for inserted values. */
async function findings(): Promise<string[]> {
  const sources = await readSources("src/cli/checks");
  const texts = sources.flatMap(({ path, text }) => {
    const calls = text.matchAll(/\b(?:fault|warning)\(\s*(`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*")/g);
    const whys = path.endsWith("probe.ts")
      ? text.matchAll(/[:?] ?(`its (?:[^`\\]|\\.)*`|"its [^"]*")|return (`its [^`]*`|"its [^"]*")/g)
      : [];
    return [...calls, ...whys].map(([, literal, returned]) => (literal ?? returned ?? "").slice(1, -1));
  });
  return texts.map((text) => text.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "…"));
}

Deno.test("docs/troubleshooting.md has every finding of svc verify [doc-findings]", async () => {
  const listed = cells(troubleshooting, 1).map((cell) => cell.replaceAll("`", ""));
  const all = await findings();
  assert.ok(all.length > 30, `${all.length} findings`);
  // The number of inserted values may differ, so text around them is compared loosely.
  const plain = (text: string): string => text.replace(/(?:…[ ,]*)+/g, "…").replace(/…$/, "");
  const known = listed.map(plain);
  assert.deepEqual(all.filter((text) => !known.includes(plain(text))), []);
});

Deno.test("docs/configuration.md has every key of config.json, and no other [doc-settings]", () => {
  const [, section = ""] = configuration.split(/^## /m);
  const keys = cells(section, 0).filter((cell) => /^`\w+`$/.test(cell)).map((cell) => cell.slice(1, -1));
  assert.deepEqual(keys.sort(), Object.keys(Config.shape).sort());
});

Deno.test("docs/configuration.md has every command [doc-commands]", () => {
  const listed = cells(configuration, 0);
  for (const words of allCommands()) {
    assert.ok(listed.includes(`\`svc ${words.join(" ")}\``), words.join(" "));
  }
});

Deno.test("docs/api.md calls every route of the relay with curl [doc-api]", () => {
  const calls = Array.from(api.matchAll(/^curl (?:\\\n|[^\n])*/gm), ([call]) => call);
  const isCalled = (method: string, path: string): boolean => {
    const pattern = path.replace(/\{\w+\}/g, "\\$\\w+");
    const url = new RegExp(`"\\$SVC_BASE_URL${pattern}(?:\\?[^"]*)?"`);
    return calls.some((call) => {
      const [, named] = /-X (\w+)/.exec(call) ?? [];
      return url.test(call) && (named ?? (call.includes(" -d ") ? "POST" : "GET")) === method;
    });
  };
  const missing = ROUTES.filter(({ method, path }) => !isCalled(method, path));
  assert.deepEqual(missing.map(({ method, path }) => `${method} ${path}`), []);
});

/** Makes an anchor as common renderers do: lower case, no punctuation, hyphens for spaces. */
function anchorOf(heading: string): string {
  return heading.replace(/`/g, "").toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

Deno.test("every link between the documents names a heading that exists [doc-links]", async () => {
  const pages = await readPages();
  const anchors = new Map(pages.map(({ path, text }) => [
    path,
    Array.from(text.matchAll(/^#+ +(.+)$/gm), ([, heading = ""]) => anchorOf(heading)),
  ]));
  for (const { path, text } of pages) {
    for (const [, target = "", anchor = ""] of text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)) {
      const page = target === "" ? path : new URL(target, `file:///${path}`).pathname.slice(1);
      assert.ok(anchors.get(page)?.includes(anchor), `${path} links to ${target}#${anchor}`);
    }
  }
});

Deno.test("the container uses the versions of Deno and Node that svc is tested with, and does not run as root [con-file]", async () => {
  const [container, readme, node] = await Promise.all(
    ["Containerfile", "README.md", "scripts/node22.ts"].map(read),
  );
  const versions = (text = "", name: string): string[] => [
    ...new Set(
      Array.from(
        text.matchAll(new RegExp(`\\b${name}@(\\d+\\.\\d+\\.\\d+)`, "g")),
        ([, version = ""]) => version,
      ),
    ),
  ];
  assert.deepEqual(versions(container, "deno"), versions(readme, "deno"));
  assert.deepEqual(versions(container, "node"), versions(node, "node").slice(0, 1));
  assert.match(container ?? "", /^USER svc$/m);
  assert.match(
    container ?? "",
    /^CMD \["server", "--listen", "0\.0\.0\.0:7420", "--data", "\/data\/server"\]$/m,
  );
});
