/** Shortcuts of a hardware keyboard, in a real browser. */
import assert from "node:assert/strict";
import { until } from "../helpers/until.ts";
import { openSession, shown, withTerminals } from "./terminal_scene.ts";

Deno.test("shortcuts write, find, switch, go back and list themselves, and none takes a key from the live terminal [ux-shortcuts]", () =>
  withTerminals(async ({ page, phone, stack }) => {
    await stack.sandbox.tmux("new-session", "-d", "-s", "svc-keys", "stty raw -echo; exec cat -vT");
    await openSession(page, /svc-keys/);
    const { keyboard } = page;
    const field = page.getByRole("textbox", { name: /Message to/ });
    const isOn = (place: typeof field) =>
      until("the focus", () => place.evaluate((element) => element === document.activeElement));
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await until("the shortcuts, which are loaded last", async () => {
      await keyboard.press("?");
      return await help.isVisible();
    });
    await phone.shoot("shortcuts");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await keyboard.press("t");
    await keyboard.press("Escape");
    await help.waitFor({ state: "detached" });

    await keyboard.press("i");
    await isOn(field);
    await keyboard.type("/t?i");
    assert.equal(await field.inputValue(), "/t?i", "in a field they are text");
    await keyboard.press("Escape");
    await keyboard.press("/");
    await isOn(page.getByRole("searchbox"));
    await keyboard.press("Escape");
    await keyboard.press("t");
    await page.getByRole("link", { name: "Terminal" }).waitFor();
    await keyboard.press("t");
    await page.getByRole("button", { name: "Live keys" }).tap();
    const live = page.getByRole("textbox", { name: /Type into the terminal/ });
    await isOn(live);
    await live.and(page.locator(":not([readonly])")).waitFor();
    for (const key of ["?", "/", "i", "t", "Control+k", "Escape"]) await keyboard.press(key);
    await until("all of them in the terminal", async () => (await shown(page)).startsWith("?/it^K^["));
    assert.equal(await page.getByRole("dialog").count(), 0);
    await keyboard.press("Shift+Escape");
    await keyboard.press("Escape");
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    assert.deepEqual(phone.faults, []);
  }));
