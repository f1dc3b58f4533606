/** Signing in, in a real browser: with a key, with a link that contains one, with a pairing code. */

import assert from "node:assert/strict";
import { createRelayApi, type RelayApi } from "../../src/client/api.ts";
import { until } from "../helpers/until.ts";
import type { Page } from "playwright-core";
import { kept, type Scene, signOut, withScene } from "./scene.ts";

/** Creates a pairing code, with a client and a key that may do anything for its account. */
async function newCode({ relay, makeKey }: Scene): Promise<{ api: RelayApi; apiKey: string; code: string }> {
  const apiKey = await makeKey("push:read", "push:send", "admin");
  const api = createRelayApi({ baseUrl: relay.url, apiKey });
  return { api, apiKey, code: (await api.createPairing()).code };
}

Deno.test("a key signs in, a wrong one is explained, and no third party is contacted [ph-served, ph-first-page, ph-no-third-party, sec-csp]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    await listener.report();
    await page.goto(wire.url);
    const field = page.getByLabel("API key");
    await field.waitFor();
    await phone.shoot("sign-in");
    const before = page.viewportSize();
    await page.setViewportSize({ width: 320, height: 568 });
    const words = page.locator(".help .command span");
    assert.equal(await words.filter({ hasText: "--scope" }).count(), 1);
    const lines = await words.evaluateAll((all) =>
      all.map((word) => {
        const range = document.createRange();
        range.selectNodeContents(word);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size;
      })
    );
    assert.deepEqual(lines.filter((count) => count > 1), [], "no word of a command is cut in two");
    if (before !== null) await page.setViewportSize(before);
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);

    await field.fill("svc_wrong");
    await page.getByRole("button", { name: "Sign in" }).tap();
    await page.getByRole("alert").getByText("does not know this key").waitFor();
    await phone.shoot("sign-in-refused");
    assert.deepEqual(await phone.violations(), []);

    await field.fill(` ${await makeKey("push:read", "push:send")}\n`);
    await page.getByRole("button", { name: "Sign in" }).tap();
    await page.getByRole("heading", { name: "No agent is running" }).waitFor();
    listener.stop();
    await page.getByRole("heading", { name: "No host is connected" }).waitFor();
    await phone.shoot("picker-no-host");
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("a key in the address signs in, is removed at once, and survives reloads until sign-out", () =>
  withScene(async ({ phone, wire, makeKey }) => {
    const { page } = phone;
    await page.goto(`${wire.url}/#key=${await makeKey("push:read")}`);
    await page.getByRole("heading", { name: "Agents", exact: true }).waitFor();
    assert.equal(page.url(), `${wire.url}/#/`);
    assert.equal(await page.evaluate(() => history.length), 2, "no entry of the history holds the key");

    await page.reload();
    await page.getByRole("heading", { name: "Agents", exact: true }).waitFor();
    await signOut(page);
    await page.reload();
    await page.getByLabel("API key").waitFor();
  }));

Deno.test("a pairing link registers the phone as a device, once [sec-claim]", () =>
  withScene(async (scene) => {
    const { phone, wire } = scene;
    const { page } = phone;
    const { api, code } = await newCode(scene);
    await page.goto(`${wire.url}/#pair=${code}`);
    await page.getByText("Live", { exact: true }).waitFor();
    assert.equal(page.url(), `${wire.url}/#/`);
    const paired = (await api.devices()).devices.find(({ kind }) => kind === "phone");
    assert.equal(paired?.name, "iPhone");

    const refused = page.waitForResponse(/\/claim$/);
    await page.goto(`${wire.url}/#pair=${code}`);
    await refused;
    await page.waitForURL(`${wire.url}/#/`);
    await page.getByText("Live", { exact: true }).waitFor();
    assert.equal(page.url(), `${wire.url}/#/`, "a used link changes nothing for a phone that is paired");
    await signOut(page);
    await page.goto(`${wire.url}/#pair=${code}`);
    await page.getByRole("alert").getByText("has been used").waitFor();
  }));

/** Holds requests to this path until the result's `end` is called. `asked` resolves with the next one. */
async function holdBack(
  page: Page,
  path: RegExp,
): Promise<{ asked(): Promise<unknown>; end(): Promise<void> }> {
  await page.route(path, () => {});
  return { asked: () => page.waitForRequest(path), end: () => page.unroute(path) };
}

/** Returns the kinds of value under which the page keeps the link; empty once it is gone. */
async function keptLink(page: Page): Promise<string> {
  return Object.keys((await kept<object>(page, "account")).get("link") ?? {}).join();
}

Deno.test("signing in by a link continues after a reload, and the link's secret is kept encrypted, and only until the sign-in is done [ux-link-kept]", () =>
  withScene(async (scene) => {
    const { phone, wire } = scene;
    const { page } = phone;
    const { apiKey, code } = await newCode(scene);
    for (const [link, path] of [[`key=${apiKey}`, /\/sessions$/], [`pair=${code}`, /\/claim$/]] as const) {
      const held = await holdBack(page, path);
      await Promise.all([held.asked(), page.goto(`${wire.url}/#${link}`)]);
      assert.equal(page.url(), `${wire.url}/#/`);
      assert.equal(await keptLink(page), "iv,ciphertext");
      await Promise.all([held.asked(), page.reload()]);
      await held.end();
      await page.getByText("Live", { exact: true }).waitFor();
      await until("nothing of the link", async () => await keptLink(page) === "");
      await signOut(page);
    }
  }));

Deno.test("a page whose scripts fail to load says what to do, and its link still pairs after a reload [ux-first-load]", () =>
  withScene(async (scene) => {
    const { phone, wire } = scene;
    const { page } = phone;
    const { code } = await newCode(scene);
    const scripts = /\.js$/;
    await page.route(scripts, (route) => route.abort());
    await page.goto(`${wire.url}/#pair=${code}`);
    const advice = page.getByText("check the network and reload the page");
    await advice.waitFor();
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.unroute(scripts);
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor();
    assert.equal(await advice.count(), 0);
  }));

Deno.test("an address opened right after a sign-in link does not replace it [ux-link-kept]", () =>
  withScene(async ({ phone, wire, makeKey }) => {
    const { page } = phone;
    // The page's second script is still loading while the address changes.
    const second = /main-\w+\.js$/;
    const released = Promise.withResolvers<void>();
    await page.route(second, async (route) => {
      await released.promise;
      await route.continue();
    });
    const link = `${wire.url}/#key=${await makeKey("push:read")}`;
    await Promise.all([page.waitForRequest(second), page.goto(link, { waitUntil: "commit" })]);
    await page.waitForFunction(() => location.hash === "#/");
    await page.evaluate(() => void (location.hash = "#/settings"));
    released.resolve();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    await page.getByText("Notifications", { exact: true }).first().waitFor();
  }));

Deno.test("a link whose relay does not answer can be tried again, and one that was used cannot [ux-link-kept]", () =>
  withScene(async (scene) => {
    const { phone, wire } = scene;
    const { page } = phone;
    const { code } = await newCode(scene);
    await page.route(/\/claim$/, (route) => route.abort());
    await page.goto(`${wire.url}/#pair=${code}`);
    await page.getByRole("alert").getByText("is not answering").waitFor();
    await phone.shoot("sign-in-again");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.unroute(/\/claim$/);
    await page.getByRole("button", { name: "Try again" }).tap();
    await page.getByText("Live", { exact: true }).waitFor();
    await signOut(page);
    await page.goto(`${wire.url}/#pair=${code}`);
    await page.getByRole("alert").getByText("has been used").waitFor();
    assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
    await page.reload();
    await page.getByLabel("API key").waitFor();
    assert.equal(await page.getByText("has been used").count(), 0);
  }));

Deno.test("a phone whose key is revoked says so, and can sign in again [sec-leaked-key]", () =>
  withScene(async ({ phone, wire, relay, makeKey }) => {
    const { page } = phone;
    const api = createRelayApi({
      baseUrl: relay.url,
      apiKey: await makeKey("push:read", "push:send", "admin"),
    });
    await page.goto(`${wire.url}/#pair=${(await api.createPairing()).code}`);
    await page.getByText("Live", { exact: true }).waitFor();
    const [device] = (await until("the phone", async () => {
      const { devices } = await api.devices();
      return devices.length > 0 && devices;
    })).filter(({ kind }) => kind === "phone");
    await api.revokeDevice(device?.id ?? "");
    await page.getByText("This key was revoked").waitFor();
    await phone.shoot("revoked");
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 568 });
      const share = await page.locator(".notice p").evaluate((text) =>
        text.clientWidth / (text.parentElement?.clientWidth ?? 1)
      );
      assert.ok(share > 0.75, `at ${width} px the text has ${share} of the notice`);
    }
    await page.getByRole("button", { name: "Sign in again" }).tap();
    await page.getByLabel("API key").waitFor();
  }));
