/** The page in another language: chosen in the settings, kept across reloads, complete on the first view. */
import assert from "node:assert/strict";
import { withScene } from "./scene.ts";

Deno.test("German is chosen in the settings, stays after a reload, and needs no network then [ux-languages]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    const long = { agentVersion: "9.9.9", measuredVersion: "0.5.1", widened: ["allowAgentEnd"] };
    await listener.report({ name: "svc-demo" }, { name: "svc-docs", agentLabel: "Gemini", ...long });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("link", { name: /demo · Claude/ }).waitFor();
    await page.goto(`${wire.url}/#/settings`);
    await page.getByLabel("Language").selectOption("Deutsch");
    await page.getByRole("heading", { name: "Einstellungen", exact: true }).waitFor();
    await phone.shoot("settings-german");
    await page.getByRole("link", { name: "Alle Agenten" }).tap();
    await page.getByRole("heading", { name: "Agenten", exact: true }).waitFor();
    await page.getByText("2 Sitzungen auf 1 Rechner").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
    assert.equal(await page.title(), "svc-Fernsteuerung");
    await phone.shoot("picker-german");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);

    await page.getByRole("link", { name: /demo · Claude/ }).tap();
    await page.getByRole("link", { name: "Nachrichten" }).tap();
    await page.getByText("Noch keine Nachrichten").waitFor();
    await phone.shoot("messages-german");
    const seal = page.locator(".session-seal");
    for (const width of [320, 345, 360, 374, 375, 412]) {
      await page.setViewportSize({ width, height: 740 });
      const { height = 99 } = await seal.boundingBox() ?? {};
      assert.ok(height < 44, `the mode of encryption has ${height} px at ${width}`);
    }
    assert.deepEqual(await phone.misfits(), []);
    await page.getByRole("textbox", { name: /Nachricht an/ }).fill("é".repeat(8_193));
    await page.getByRole("status").getByText("16.384").waitFor();
    await page.goto(`${wire.url}/#/s/dev_listener_00000001/svc-gone`);
    await page.getByText("Diese Sitzung ist zu Ende.").waitFor();
    assert.deepEqual(await phone.misfits(), []);
    await page.goto(`${wire.url}/#/s/dev_listener_00000001/svc-demo/messages`);
    await page.evaluate(async () => void await navigator.serviceWorker.ready);
    wire.pointTo(1);
    await page.reload();
    await page.getByText("Verbindet neu …").first().waitFor();
    await page.getByText("Unter dieser Adresse antwortet kein Relay").waitFor();
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("a page whose German texts cannot be loaded is in English, and is marked as English [ux-languages]", () =>
  withScene(async ({ phone: { page }, wire }) => {
    await page.addInitScript(() => localStorage.setItem("svc.language", "de"));
    await page.route(/strings_de/, (route) => route.abort());
    await page.goto(wire.url);
    await page.getByLabel("API key", { exact: true }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
  }));
