/** What helps with writing a message, in a real browser: suggested commands. */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { type Scene, withScene } from "./scene.ts";

/** Signs in and opens the one session. */
async function open({ phone, wire, listener, makeKey }: Scene): Promise<Page> {
  const { page } = phone;
  await listener.report({ name: "svc-demo" });
  await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
  await page.getByRole("link", { name: /demo · Claude/ }).tap();
  await page.getByRole("link", { name: "Messages" }).tap();
  await page.getByText("No messages yet").waitFor();
  return page;
}

const fieldOf = (page: Page) => page.getByRole("textbox", { name: /Message to/ });

Deno.test("the agent's slash commands are suggested; a tap or the arrow keys and Enter put one into the draft and send nothing [ux-commands]", () =>
  withScene(async (scene) => {
    const { phone, listener } = scene;
    const page = await open(scene);
    const field = fieldOf(page);
    const list = page.getByRole("listbox", { name: "Commands of this agent" });
    await field.fill("/");
    await list.getByRole("option", { name: "/compact" }).waitFor();
    assert.equal(await list.getByRole("option", { name: "/permissions" }).count(), 0);
    await page.getByRole("status").getByText("19 suggestions").waitFor();
    await phone.shoot("composer-commands");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    for (const option of await list.getByRole("option").all()) {
      assert.ok(((await option.boundingBox())?.height ?? 0) >= 44);
    }

    await field.fill("/co");
    await list.getByRole("option", { name: "/context" }).tap();
    assert.equal(await field.inputValue(), "/context");
    await list.waitFor({ state: "detached" });

    await field.fill("/co");
    await field.press("ArrowDown");
    await field.press("ArrowDown");
    const chosen = list.getByRole("option", { selected: true });
    assert.equal(await chosen.innerText(), "/context");
    assert.equal(await field.getAttribute("aria-activedescendant"), await chosen.getAttribute("id"));
    await field.press("ArrowUp");
    await field.press("Enter");
    assert.equal(await field.inputValue(), "/compact");
    await list.waitFor({ state: "detached" });

    await field.fill("/c");
    await list.waitFor();
    await field.press("Escape");
    await list.waitFor({ state: "detached" });
    await field.press("Enter");
    assert.equal(await field.inputValue(), "/c\n", "without a choice, Enter is a new line");
    await field.fill("/home/user");
    assert.equal(await list.count(), 0);
    assert.deepEqual([listener.pushes, phone.faults], [[], []]);
  }));
