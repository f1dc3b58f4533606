/** The page's content security policy blocks nothing that the page itself does, in any view. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { until } from "../helpers/until.ts";
import { withScene } from "./scene.ts";

/** The scripted listener's device id. */
const HOST = "dev_listener_00000001";

Deno.test("no view violates the content policy, and a violation is reported [csp-clean, sec-csp]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    const views: string[] = [];
    const seen = async (view: string): Promise<void> => {
      await page.locator("main").first().waitFor();
      views.push(view);
      assert.deepEqual([phone.faults, phone.strangers], [[], []], view);
    };
    await listener.report({ name: "svc-app" });
    await page.goto(wire.url);
    await page.getByLabel("API key").waitFor();
    await seen("sign in");
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByText("Live", { exact: true }).waitFor();
    await seen("picker");
    await page.goto(`${wire.url}/#/inbox`);
    await seen("inbox");
    await page.goto(`${wire.url}/#/s/${HOST}/svc-app`);
    await seen("terminal");
    await page.goto(`${wire.url}/#/s/${HOST}/svc-app/messages`);
    await seen("messages");
    const headings = { settings: "Settings", notifications: "Notifications", "add-host": "Add a host" };
    for (const [view, heading] of Object.entries(headings)) {
      await page.goto(`${wire.url}/#/${view}`);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await seen(view);
    }
    await page.goto(`${wire.url}/#pair=used&s=${"A".repeat(43)}`);
    await page.getByRole("heading", { name: "The link did not work" }).waitFor();
    await seen("pairing");
    await page.goto(`${wire.url}/#key=${await makeKey("push:read")}`);
    await page.getByRole("heading", { name: "Switch accounts?" }).waitFor();
    await seen("account swap");
    say(`${views.length} views, 0 violations: ${views.join(", ")}`);
    const inject = page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'injected'";
      document.body.append(script);
    });
    await assert.rejects(inject, /requires 'TrustedScript' assignment/);
    await page.evaluate(() => {
      const style = document.createElement("style");
      style.textContent = "body { display: none }";
      document.body.append(style);
    });
    await until("the report", () => phone.faults.some((fault) => /style-src/.test(fault)));
    assert.notEqual(await page.title(), "injected");
    assert.ok(await page.locator("main").first().isVisible());
  }));
