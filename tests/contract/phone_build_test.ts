/** The build of the phone's page: whole, small, strict about its own policy, and made again only when needed. */

import assert from "node:assert/strict";
import {
  buildPhone,
  PAGE_MAX_GZIP_BYTES,
  weightsOf,
  WHOLE_MAX_GZIP_BYTES,
} from "../../scripts/build_phone.ts";
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
    assert.ok(first < PAGE_MAX_GZIP_BYTES && whole < WHOLE_MAX_GZIP_BYTES, `${first} and ${whole} bytes`);
    assert.ok(whole > first, "the terminal is loaded when it is shown");
    assert.deepEqual(files.map(({ path }) => path.replace(/-[A-Z0-9]{8}\./, ".")), [
      "app.js",
      "chunk.js",
      "decode.js",
      "icon.svg",
      "index.html",
      "manifest.webmanifest",
      "service_worker.js",
      "style.css",
      "terminal_screen.js",
    ]);
    assert.deepEqual(await buildPhone({ outDir }), { built: false, files });
  }));

Deno.test("of two builds at once only the first replaces the folder", () =>
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

Deno.test("every text of the page is in the one catalogue [ux-strings]", async () => {
  const views = await readSources("src/phone/views", (path) => path.endsWith(".tsx"));
  const literal = />\s*[A-Za-z][^<>{}=;()]*</;
  const attribute = /(?:aria-label|placeholder|title|alt)="/;
  const offenders = views.filter(({ text }) => literal.test(text.replace(/=>/g, "")) || attribute.test(text));
  assert.deepEqual(offenders.map(({ path }) => path), []);
  assert.ok(literal.test("<p>Words</p>") && attribute.test('<p title="Words">'));
});
