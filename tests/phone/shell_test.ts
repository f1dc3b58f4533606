/** The installed page opens without a network from the service worker's copy, and is replaced by a newer version. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { until } from "../helpers/until.ts";
import { sendMessage, withScene } from "./scene.ts";

/** Waits until the page's copy is stored and answers for this page. */
async function untilKept(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    if (navigator.serviceWorker.controller !== null) return;
    await new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done));
  });
}

Deno.test("a page that was open once opens without a network, terminal included, and needs no exception of the policy [ph-offline-shell, sec-csp]", () =>
  withScene(async ({ phone, wire, relay, listener, makeKey }) => {
    const { page } = phone;
    await listener.report({ name: "svc-demo" });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("link", { name: /demo · Claude/ }).waitFor();
    await untilKept(page);

    wire.pointTo(1);
    await page.reload();
    await page.getByText("Reconnecting…").first().waitFor();
    const parts = await page.evaluate(async () => {
      const names = (await caches.keys()).filter((name) => name.startsWith("svc-shell-"));
      const kept = await Promise.all(names.map(async (name) => await (await caches.open(name)).keys()));
      return kept.flat().map(({ url }) => new URL(url).pathname);
    });
    assert.ok(parts.includes("/"), parts.join(" "));
    assert.ok(parts.some((part) => part.startsWith("/terminal_screen-")), parts.join(" "));
    assert.deepEqual(parts.filter((part) => part.startsWith("/v1")), [], "what the relay says is not kept");

    wire.pointTo(relay.port);
    await until("the list", async () => await page.getByRole("link", { name: /demo · Claude/ }).isVisible());
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("an open page lets a newer version upgrade its databases, and still sends messages [ph-offline-shell]", () =>
  withScene(async ({ phone: { page, faults }, wire, listener, makeKey }) => {
    await listener.report({ name: "svc-demo" });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("link", { name: /demo · Claude/ }).waitFor();
    await page.goto(`${wire.url}/#/settings`);
    await until(
      "all databases",
      () => page.evaluate(async () => (await indexedDB.databases()).length === 3),
    );
    const upgraded = await page.evaluate(async () => {
      const databases = (await indexedDB.databases()).map(({ name = "", version = 0 }) => ({
        name,
        version,
      }));
      return await Promise.all(databases.map(({ name, version }) =>
        new Promise<string>((done) => {
          const opening = indexedDB.open(name, version + 1);
          opening.onblocked = () => done(`${name} is blocked`);
          opening.onsuccess = () => {
            opening.result.close();
            done(name);
          };
        })
      ));
    });
    assert.deepEqual(upgraded.sort(), ["svc", "svc-keys", "svc-push"]);
    await page.goto(`${wire.url}/#/s/dev_listener_00000001/svc-demo/messages`);
    await sendMessage(page, "from the older version");
    assert.equal((await listener.receivedType("agent.command")).body, "from the older version");
    assert.deepEqual(faults, []);
  }));
