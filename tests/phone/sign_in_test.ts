/** Signing in, in a real browser: with a key, with a link that contains one, with a pairing code. */

import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { until } from "../helpers/until.ts";
import { withScene } from "./scene.ts";

Deno.test("a key signs in, a wrong one is explained, and no third party is contacted [ph-served, ph-first-page, ph-no-third-party, sec-csp]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    await listener.report();
    await page.goto(wire.url);
    const field = page.getByLabel("API key");
    await field.waitFor();
    await phone.shoot("sign-in");
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
    await page.getByRole("button", { name: "Sign out" }).tap();
    await page.getByLabel("API key").waitFor();
    await page.reload();
    await page.getByLabel("API key").waitFor();
  }));

Deno.test("a pairing link registers the phone as a device, once [sec-claim]", () =>
  withScene(async ({ phone, wire, relay, makeKey }) => {
    const { page } = phone;
    const api = createRelayApi({
      baseUrl: relay.url,
      apiKey: await makeKey("push:read", "push:send", "admin"),
    });
    const { code } = await api.createPairing();
    await page.goto(`${wire.url}/#pair=${code}`);
    await page.getByText("Live", { exact: true }).waitFor();
    assert.equal(page.url(), `${wire.url}/#/`);
    const paired = (await api.devices()).devices.find(({ kind }) => kind === "phone");
    assert.equal(paired?.name, "iPhone");

    await page.goto(`${wire.url}/#pair=${code}`);
    await page.getByText("Live", { exact: true }).waitFor();
    assert.equal(page.url(), `${wire.url}/#/`, "a used link changes nothing for a phone that is paired");
    await page.getByRole("button", { name: "Sign out" }).tap();
    await page.goto(`${wire.url}/#pair=${code}`);
    await page.getByRole("alert").getByText("has been used").waitFor();
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
    await page.getByRole("button", { name: "Sign in again" }).tap();
    await page.getByLabel("API key").waitFor();
  }));
