/** A session that has ended, in a real browser: its view says so, and is no dead end. */
import assert from "node:assert/strict";
import { openMessages, withScene } from "./scene.ts";

Deno.test("a session that ends while it is open says when, and keeps its messages and what was being written [ux-ended]", () =>
  withScene(async (scene) => {
    const { phone, wire, listener } = scene;
    const page = await openMessages(scene);
    await page.getByRole("textbox", { name: /Message to/ }).fill("half a thought");
    // A relay that was silent for a moment, on the same connection.
    wire.freeze();
    await page.getByText("Reconnecting", { exact: false }).waitFor();
    wire.thaw();
    await page.locator(".notice").waitFor({ state: "detached" });
    await listener.report();
    await page.getByText(/^This session ended at \d\d:\d\d\.$/).waitFor();
    assert.equal(await page.getByRole("textbox", { name: /Message to/ }).inputValue(), "half a thought");
    await page.getByRole("heading", { name: "demo · Claude" }).waitFor();
    await page.getByRole("link", { name: "Terminal" }).tap();
    await page.getByText("The session has ended.", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "No screen to show" }).waitFor();
    await page.getByText("start the agent again on its computer").waitFor();
    assert.equal(await page.getByText("Opening the terminal").count(), 0);
    assert.equal(await page.getByRole("button", { name: "Enter", exact: true }).count(), 0);
    assert.equal(await page.getByRole("textbox", { name: /Message to/ }).inputValue(), "half a thought");
    await phone.shoot("session-ended");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);

    // The list has arrived, but the data about the session's end has not.
    const released = Promise.withResolvers<void>();
    const history = /\/pushes\?before/;
    await page.route(history, async (route) => {
      await released.promise;
      await route.continue();
    });
    await Promise.all([page.waitForRequest(history), page.reload()]);
    released.resolve();
    await page.getByText("This session has ended.", { exact: false }).first().waitFor();
    await page.locator(".session-end").getByRole("link", { name: "Messages" }).tap();
    await page.getByText("No messages yet").waitFor();
    assert.equal(await page.getByText("What you send").count(), 0);
    await page.locator(".session-end").getByRole("link", { name: "All agents" }).tap();
    await page.getByRole("heading", { name: "No agent is running" }).waitFor();
    assert.equal(page.url(), `${wire.url}/#/`);

    await page.goBack();
    await listener.report({ name: "svc-demo" });
    await page.locator(".session-end").waitFor({ state: "detached" });
    assert.equal(await page.getByRole("textbox", { name: /Message to/ }).inputValue(), "half a thought");
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("a session that ends while someone types beside its terminal keeps the field, its text and its focus [ux-ended]", () =>
  withScene(async ({ phone: { page }, wire, listener, makeKey }) => {
    await listener.report({ name: "svc-demo" });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("link", { name: /demo · Claude/ }).tap();
    const field = page.getByRole("textbox", { name: /Message to/ });
    await field.pressSequentially("half a ");
    await listener.report();
    await page.getByText(/^This session ended at /).waitFor();
    await page.keyboard.type("thought");
    assert.equal(await field.inputValue(), "half a thought");
  }));

Deno.test("a session that was opened before the history came still says when it ended [ux-ended]", () =>
  withScene(async ({ phone: { page }, wire, listener, makeKey }) => {
    const released = Promise.withResolvers<void>();
    const history = /\/pushes\?/;
    await page.route(history, async (route) => {
      await released.promise;
      await route.continue();
    });
    await listener.report({ name: "svc-demo" });
    await Promise.all([
      page.waitForRequest(history),
      page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`),
    ]);
    await page.getByRole("link", { name: /demo · Claude/ }).tap();
    await page.getByRole("link", { name: "Messages" }).tap();
    await page.getByText("Loading messages").waitFor();
    released.resolve();
    await page.getByText("No messages yet").waitFor();
    await listener.report();
    await page.getByText(/^This session ended at \d\d:\d\d\.$/).waitFor();
  }));

Deno.test("an old list does not end a session that is newer than the list [ux-ended]", () =>
  withScene(async (scene) => {
    const { phone: { page }, wire, listener } = scene;
    await openMessages(scene);
    await page.goto(`${wire.url}/#/`);
    await page.getByText("Live", { exact: true }).waitFor();
    await listener.report({ name: "svc-demo" }, { name: "svc-new" });
    await page.getByRole("link", { name: /new · Claude/ }).waitFor();
    const released = Promise.withResolvers<void>();
    await page.route(/\/sessions$/, async (route) => {
      await released.promise;
      await route.continue();
    });
    await page.goto(`${wire.url}/#/s/dev_listener_00000001/svc-other/messages`);
    await page.reload();
    await page.getByText("Loading messages").or(page.getByText("No messages yet")).waitFor();
    assert.equal(await page.getByText("has ended").count(), 0);
    await listener.report({ name: "svc-other" });
    released.resolve();
    await page.getByRole("heading", { name: "other · Claude" }).waitFor();
  }));
