/** The counter of sealed messages in a real browser: two pages at once, a reload, a page that dies midway. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { runEsbuild } from "../../scripts/run_esbuild.ts";
import { say } from "../../scripts/say.ts";
import { withScene } from "./scene.ts";

const EACH = 200;

/** Bundles the page's storage module as a script. */
async function storageScript(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "svc-counter-" });
  try {
    const outfile = `${folder}/storage.js`;
    const entryPoints = ["src/phone/pairing_storage.ts"];
    await runEsbuild({ entryPoints, outfile, format: "iife", globalName: "storageModule" });
    return await Deno.readTextFile(outfile);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Takes numbers one after the other. */
function numbers(page: Page, { script, count }: { script: string; count: number }): Promise<number[]> {
  return page.evaluate(`(async () => {
    ${script}
    const storage = await storageModule.openPairingStorage(() => Promise.reject(new Error("no keys")));
    const given = [];
    for (let n = 0; n < ${count}; n++) given.push(await storage.nextCounter());
    return given;
  })()`);
}

Deno.test("no number is returned twice: by two pages at once, after a reload, or after a page died [replay-window]", () =>
  withScene(async ({ phone, wire }) => {
    const { page } = phone;
    const script = await storageScript();
    await page.goto(wire.url);
    const other = await page.context().newPage();
    await other.goto(wire.url);
    const given = (await Promise.all([page, other].map((one) => numbers(one, { script, count: EACH }))))
      .flat();
    const dying = numbers(other, { script, count: 100_000 }).catch(() => []);
    await numbers(page, { script, count: 5 }).then((more) => given.push(...more));
    await other.close();
    await dying;
    await page.reload();
    given.push(...await numbers(page, { script, count: EACH }));
    assert.equal(new Set(given).size, given.length);
    assert.ok(given.every((number) => Number.isSafeInteger(number) && number >= 1));
    assert.equal(given.at(-1), Math.max(...given), "it keeps counting up");
    say(`${given.length} numbers from two pages, a reload and a page that died: each once`);
  }));
