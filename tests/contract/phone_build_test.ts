/** The build of the phone's page: complete, small, strict about its own policy, and repeated only when needed. */

import assert from "node:assert/strict";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { buildPhone, FIRST_MAX_BYTES, weightsOf, WHOLE_MAX_BYTES } from "../../scripts/build_phone.ts";
import { STRINGS } from "../../src/phone/strings.ts";
import { readSources } from "../helpers/sources.ts";

async function inTemporaryFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "svc-phone-build-" });
  try {
    await act(`${folder}/page`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the page is built completely, within its size limit, and only when something changed [ph-size]", () =>
  inTemporaryFolder(async (outDir) => {
    const { built, files } = await buildPhone({ outDir });
    assert.equal(built, true);
    const { first, whole } = weightsOf(files);
    assert.ok(first < FIRST_MAX_BYTES && whole < WHOLE_MAX_BYTES, `${first} and ${whole} bytes`);
    const named = (isFirst: boolean): string[] =>
      files.filter((file) => file.isFirst === isFirst).map(({ path }) => path.replace(/-[A-Z0-9]{8}\./, "."));
    assert.deepEqual(
      ["boot.js", "main.js", "style.css", "index.html", "icon.svg", "manifest.webmanifest"]
        .filter((name) => !named(true).includes(name)),
      [],
      "what the list needs is loaded at once",
    );
    assert.deepEqual(
      [
        "session.js",
        "later.js",
        "terminal_screen.js",
        "strings_de.js",
        "service_worker.js",
      ]
        .filter((name) => !named(false).includes(name)),
      [],
      "the rest is loaded when it is needed",
    );
    const loads = files.filter(({ path, isFirst }) => isFirst && /\.(js|css)$/.test(path));
    for (const { path } of loads) {
      const idle = /import"[^"]+"/.exec(await Deno.readTextFile(`${outDir}/${path}`));
      assert.equal(idle, null, `${path} loads a file of which it uses nothing`);
    }
    const page = await Deno.readTextFile(`${outDir}/index.html`);
    const ofSession = /<meta name="session-files" content="([^"]+)">/.exec(page)?.[1]?.split(" ") ?? [];
    const imported: string[] = [];
    for (const path of ofSession) {
      const text = await Deno.readTextFile(`${outDir}/${path}`);
      imported.push(...[...text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map(([, name = ""]) => name));
    }
    const known = [...ofSession, ...loads.map(({ path }) => path)];
    assert.ok(
      ["session-", "terminal_screen-"].every((start) => ofSession.some((name) => name.startsWith(start))),
    );
    assert.deepEqual(imported.filter((name) => !known.includes(name)), [], "what a session loads is named");
    assert.ok(loads.length <= 6, "a browser loads six files of a host at once, and the seventh waits");
    assert.deepEqual(await buildPhone({ outDir }), { built: false, files });
  }));

Deno.test("every file that a compressed form makes smaller has one in Brotli and one in gzip [ph-fast]", () =>
  inTemporaryFolder(async (outDir) => {
    const { files } = await buildPhone({ outDir });
    for (const { path, bytes, wireBytes } of files.filter(({ path }) => /\.(js|css|html)$/.test(path))) {
      const plain = await Deno.readFile(`${outDir}/${path}`);
      if (plain.length < 256) continue;
      assert.deepEqual(
        new Uint8Array(brotliDecompressSync(await Deno.readFile(`${outDir}/${path}.br`))),
        plain,
      );
      assert.deepEqual(new Uint8Array(gunzipSync(await Deno.readFile(`${outDir}/${path}.gz`))), plain);
      assert.ok(wireBytes < bytes, path);
    }
  }));

Deno.test("only the first of two builds at once replaces the folder", () =>
  inTemporaryFolder(async (outDir) => {
    const both = await Promise.all([buildPhone({ outDir }), buildPhone({ outDir })]);
    assert.deepEqual(both.map(({ built }) => built).sort(), [false, true]);
  }));

Deno.test("the page loads its own script and style, and nothing is inline [sec-csp, ph-no-third-party]", () =>
  inTemporaryFolder(async (outDir) => {
    const { files } = await buildPhone({ outDir });
    const html = await Deno.readTextFile(`${outDir}/index.html`);
    assert.match(html, new RegExp(`<title>${STRINGS.app.longTitle}</title>`));
    for (const [, path] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      assert.ok(files.some((file) => file.path === path), `"${path}" is part of the page`);
    }
    assert.doesNotMatch(html, /<style|<script(?! type="module" src=)|\son\w+=|style=|\{\{/);
    const manifest = JSON.parse(await Deno.readTextFile(`${outDir}/manifest.webmanifest`));
    assert.equal(manifest.name, STRINGS.app.longTitle);
  }));

Deno.test("every text of the page is in the one catalog [ux-strings]", async () => {
  const views = await readSources("src/phone/views", (path) => path.endsWith(".tsx"));
  const literal = />\s*[A-Za-z][^<>{}=;()]*</;
  const attribute = /(?:aria-label|placeholder|title|alt)="/;
  const offenders = views.filter(({ text }) => literal.test(text.replace(/=>/g, "")) || attribute.test(text));
  assert.deepEqual(offenders.map(({ path }) => path), []);
  assert.ok(literal.test("<p>Words</p>") && attribute.test('<p title="Words">'));
});
