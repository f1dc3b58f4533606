/** A tablet: the list stays visible next to the open session, and nothing scrolls sideways. */
import assert from "node:assert/strict";
import { CHECKOUT } from "../helpers/sources.ts";
import { messageField } from "./scene.ts";
import { open, withTerminals } from "./terminal_scene.ts";

const SIZES = { portrait: { width: 820, height: 1180 }, landscape: { width: 1180, height: 820 } };

Deno.test("on a tablet the list and the session stand side by side, in both directions and schemes [ux-tablet]", () =>
  withTerminals(async (scene) => {
    const { page, phone } = scene;
    await open(scene);
    assert.equal(await page.locator(".beside-list").count(), 0, "a phone shows one of them");
    for (const [name, size] of Object.entries(SIZES)) {
      await page.setViewportSize(size);
      const list = page.locator(".beside-list");
      const card = list.getByRole("link", { name: /Echo/ });
      await card.waitFor();
      assert.equal(await card.getAttribute("aria-current"), "page", "the open session is marked");
      const summary = await list.locator(".summary").boundingBox();
      assert.ok((summary?.height ?? 0) < 30, `${name}: how many there are is one line`);
      const [left, right] = [await list.boundingBox(), await page.locator(".terminal-place").boundingBox()];
      assert.ok((left?.x ?? 0) + (left?.width ?? 0) <= (right?.x ?? 0), `${name}: side by side`);
      assert.ok((right?.width ?? 0) >= 400, `${name}: the terminal has room`);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({
          path: `${CHECKOUT}.cache/screenshots/tablet-${name}-${colorScheme}.png`,
          scale: "css",
        });
      }
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
      assert.deepEqual(await phone.violations(), []);
    }
  }));

Deno.test("an open sheet of the session stays open when the phone is unfolded or turned, and back [ux-tablet]", () =>
  withTerminals(async (scene) => {
    const { page } = scene;
    await open(scene);
    await page.getByRole("button", { name: "About this session" }).tap();
    const sheet = page.getByRole("dialog");
    await sheet.waitFor();
    const usual = page.viewportSize();
    for (const size of [SIZES.portrait, usual]) {
      if (size !== null) await page.setViewportSize(size);
      await page.waitForFunction(
        (count) => document.querySelectorAll(".beside-list").length === count,
        size === SIZES.portrait ? 1 : 0,
      );
      assert.equal(await sheet.count(), 1);
    }
  }));

Deno.test("another session opens as it does from the list, without the live keys of the previous one [ux-tablet]", () =>
  withTerminals(async (scene) => {
    const { page, stack } = scene;
    await page.setViewportSize(SIZES.landscape);
    await open(scene);
    await page.getByRole("button", { name: "Live keys" }).tap();
    await page.getByRole("textbox", { name: /Type into the terminal/ }).waitFor();
    await stack.sandbox.tmux("new-session", "-d", "-s", "svc-other", "exec cat");
    await page.locator(".beside-list").getByRole("link", { name: /svc-other/ }).tap();
    await page.getByRole("heading", { name: "svc-other" }).waitFor();
    await messageField(page).waitFor();
    assert.equal(await page.getByRole("textbox", { name: /Type into the terminal/ }).count(), 0);
  }));
