/** Pairing inside the app by camera and by link, and the settings, in a real browser with a real host. */
import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { until } from "../helpers/until.ts";
import { sendMessage, withDemo, withScene } from "./scene.ts";

Deno.test("the app pairs by its camera, names the host, forgets it, and exports what was sent [ux-scan, ux-settings]", () =>
  withDemo(async ({ phone, page, link, origin }) => {
    await phone.showToCamera(link);
    await page.goto(origin);
    await page.getByRole("button", { name: "Scan the QR code" }).tap();
    await page.getByRole("heading", { name: /^Compare with / }).waitFor();
    await page.getByRole("button", { name: "They match" }).tap();
    await page.locator(".card", { hasText: "demo · Echo" }).first().tap();
    await page.getByText("End-to-end encrypted").first().waitFor();
    await page.goto(`${origin}/#/s/x/y`);
    await page.goto(`${origin}/#/`);

    await page.getByRole("link", { name: "Settings" }).tap();
    await page.getByRole("heading", { name: "Paired hosts" }).waitFor();
    const hosts = page.getByRole("region", { name: "Paired hosts" });
    await hosts.getByRole("button", { name: "Rename" }).tap();
    await hosts.getByLabel("Name on this phone").fill("Attic");
    await hosts.getByRole("button", { name: "Save" }).tap();
    await hosts.getByText("Attic").waitFor();
    await page.getByText("This phone", { exact: true }).waitFor();
    await phone.shoot("settings");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);

    await page.goto(`${origin}/#/`);
    await page.locator(".card", { hasText: "Attic" }).first().waitFor();
    await page.reload();
    await page.locator(".card", { hasText: "Attic" }).first().waitFor();

    await page.goto(`${origin}/#/settings`);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export as a file" }).tap();
    const file = await (await saved).path();
    const lines = (await Deno.readTextFile(file)).trim().split("\n").filter((line) => line !== "");
    assert.ok(lines.every((line) => typeof JSON.parse(line).push.id === "string"));

    page.once("dialog", (dialog) => void dialog.accept());
    await hosts.getByRole("button", { name: "Forget" }).tap();
    await hosts.getByText("No host is paired").waitFor();
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("a link that is not this relay's pairing link is explained and not followed [ux-scan]", () =>
  withScene(async ({ phone, wire }) => {
    const { page } = phone;
    await page.goto(wire.url);
    const field = page.getByLabel("Pairing link");
    const refusals: [string, RegExp][] = [
      ["https://other.example/#pair=abc&s=def", /another relay, https:\/\/other\.example\//],
      [`${wire.url}/#key=svc_abc`, /not a pairing link/],
      ["hello", /not a pairing link/],
      [`${wire.url}/#pair=gone`, /has been used or has expired/],
    ];
    for (const [text, answer] of refusals) {
      await field.fill(text);
      await page.getByRole("button", { name: "Pair", exact: true }).tap();
      await page.getByRole("alert").getByText(answer).waitFor();
    }
    await phone.shoot("link-refused");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("the camera ignores other codes, and if it is refused the page names alternatives [ux-scan]", () =>
  withScene(async ({ phone, wire }) => {
    const { page } = phone;
    await phone.showToCamera("https://example.com/menu");
    await page.goto(wire.url);
    await page.getByRole("button", { name: "Scan the QR code" }).tap();
    await page.getByRole("alert").getByText("not a pairing link").waitFor();
    await phone.shoot("scanning");
    await page.getByRole("button", { name: "Stop the camera" }).tap();
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"));
    });
    await page.getByRole("button", { name: "Scan the QR code" }).tap();
    await page.getByRole("alert").getByText("Allow it in the browser's settings").waitFor();
  }));

Deno.test("the theme and the text size apply at once and after a reload; a key without admin revokes nobody [ux-settings]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    // Enough for the list's search field.
    await listener.report(...Array.from({ length: 8 }, (_, index) => ({ name: `svc-p${index}` })));
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("link", { name: "Settings" }).tap();
    const ground = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.getByLabel("Theme").selectOption("Dark");
    const dark = await ground();
    assert.notEqual(dark, light);
    await page.getByLabel("Text size").selectOption("200 %");
    await phone.shoot("settings-large");
    assert.deepEqual(await phone.misfits(), []);
    await page.reload();
    await page.getByLabel("Theme").waitFor();
    assert.equal(await ground(), dark);
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize), "32px");
    await page.getByLabel("Theme").selectOption("Automatic");
    assert.equal(await ground(), light);
    await page.getByLabel("Text size").selectOption("85 %");
    for (const view of ["settings", ""]) {
      await page.goto(`${wire.url}/#/${view}`);
      await (view === "" ? page.getByRole("searchbox") : page.getByLabel("Theme")).waitFor();
      const small = await page.locator("input, select, textarea").evaluateAll((fields) =>
        fields.filter((field) => parseFloat(getComputedStyle(field).fontSize) < 16).length
      );
      assert.equal(small, 0, "iOS zooms in on fields of less than 16 px");
    }

    await page.goto(`${wire.url}/#/settings`);
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("region", { name: "Devices" }).getByRole("button", { name: /^Revoke/ }).first()
      .tap();
    await page.getByText(/^svc devices revoke dev_/).waitFor();
  }));

Deno.test("settings that could not be read without a connection appear when it is back [ux-settings]", () =>
  withScene(async ({ phone, wire, relay, listener, makeKey }) => {
    const { page } = phone;
    await listener.report();
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    // Loads the view's code.
    await page.getByRole("link", { name: "Settings" }).tap();
    const devices = page.getByRole("region", { name: "Devices" });
    await devices.getByText("workstation").waitFor();
    await page.getByRole("link", { name: "All agents" }).tap();
    wire.pointTo(1);
    await page.locator('.link-sign[data-link="down"]').waitFor();
    await page.getByRole("link", { name: "Settings" }).tap();
    await devices.getByText("The relay did not answer.").waitFor();
    wire.pointTo(relay.port);
    await devices.getByText("workstation").waitFor();
    await page.getByRole("region", { name: "Hooks" }).getByText("No agent has reported anything yet.")
      .waitFor();
    assert.equal(await page.getByText("The relay did not answer.").count(), 0);
    const host = devices.getByRole("listitem").filter({ hasText: "workstation" });
    await host.getByText("Online").waitFor();
    wire.pointTo(1);
    await host.getByText("Not known without a connection").waitFor();
  }));

Deno.test("the host's audit log shows what was sent, by whom and with what outcome, never the text, and can be saved [ls-audit-phone]", () =>
  withDemo(async ({ phone, page, link }) => {
    await page.goto(link);
    await page.getByRole("button", { name: "They match" }).tap();
    const card = page.locator(".card", { hasText: "demo · Echo" }).first();
    await card.getByText("End-to-end encrypted").waitFor({ state: "attached" });
    await card.tap();
    await page.getByText("End-to-end encrypted").first().waitFor();
    await sendMessage(page, "a text for nobody else");
    await page.getByRole("link", { name: "Messages" }).tap();
    await page.getByText("Submitted").first().waitFor();
    await page.goto(`${new URL(page.url()).origin}/#/settings`);
    await page.getByRole("link", { name: "Audit log" }).tap();
    await page.getByRole("heading", { name: "Audit log" }).waitFor();
    const entry = page.locator(".audit .card", { hasText: "svc-demo" }).first();
    await entry.getByText("22 characters").waitFor();
    await entry.getByText("Submitted").waitFor();
    await phone.shoot("audit");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    assert.equal(await page.getByText("a text for nobody else").count(), 0);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: /^Save \d+ entr/ }).tap();
    const lines = (await Deno.readTextFile(await (await saved).path())).trim().split("\n");
    assert.ok(
      lines.some((line) => JSON.parse(line).outcome === "submitted" && JSON.parse(line).length === 22),
    );
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("the settings of notifications open even if their script failed to load at first [ux-any-order]", () =>
  withScene(async ({ phone: { page, faults }, wire, makeKey }) => {
    const script = /later-\w+\.js$/;
    await page.route(script, (route) => route.abort());
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await until("the failure", () => faults.some((fault) => /later-\w+\.js/.test(fault)));
    await page.unroute(script);
    await page.goto(`${wire.url}/#/notifications`);
    await page.getByRole("heading", { name: "Notifications", exact: true }).waitFor();
  }));

/** Runs in the page: covers this much of it, as iOS does with its keyboard, which leaves the page's own height. */
function coverBy(pixels: number): void {
  const viewport = visualViewport as VisualViewport;
  Object.defineProperty(viewport, "height", { value: innerHeight - pixels, configurable: true });
  viewport.dispatchEvent(new Event("resize"));
}

Deno.test("zooming in, or a keyboard that opens, leaves a view where it was scrolled to, and shows a session's field [ux-small]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    await listener.report({ name: "svc-demo" });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("link", { name: /demo · Claude/ }).waitFor();
    await page.setViewportSize({ width: 390, height: 500 });
    await page.goto(`${wire.url}/#/settings`);
    await page.getByRole("heading", { name: "Paired hosts" }).waitFor();
    await page.evaluate(() => scrollTo(0, 200));
    const devTools = await page.context().newCDPSession(page);
    for (const pageScaleFactor of [1.5, 1]) {
      const zoomed = page.evaluate(() =>
        new Promise((done) => visualViewport?.addEventListener("resize", done, { once: true }))
      );
      await devTools.send("Emulation.setPageScaleFactor", { pageScaleFactor });
      await zoomed;
      assert.equal(await page.evaluate(() => scrollY), 200, `at ${pageScaleFactor}`);
    }
    await page.evaluate(coverBy, 200);
    assert.equal(await page.evaluate(() => scrollY), 200, "with the keyboard open");

    await page.goto(`${wire.url}/#/s/dev_listener_00000001/svc-demo/messages`);
    const field = page.getByRole("textbox", { name: /Message to/ });
    await field.waitFor();
    await page.evaluate(coverBy, 200);
    const end = async (one: Locator): Promise<number> => {
      const { y = 0, height = 999 } = await one.boundingBox() ?? {};
      return y + height;
    };
    assert.ok(await end(field) <= 300, `the field ends at ${await end(field)} px`);
    await page.getByRole("button", { name: "Add to the message" }).tap();
    const sheet = page.getByRole("dialog");
    await sheet.waitFor();
    assert.ok(await end(sheet) <= 300, `the sheet ends at ${await end(sheet)} px`);
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });

    await page.setViewportSize({ width: 844, height: 390 });
    await page.evaluate(coverBy, 220);
    await field.fill("/");
    const { y = -1 } = await page.getByRole("listbox").boundingBox() ?? {};
    assert.ok(y >= 0, `the suggestions begin at ${y} px`);
  }));
