/** What a script in the page's origin can read of the account: never the plain key, even after an update. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import type { Page } from "playwright-core";
import { createRelayApi } from "../../src/client/api.ts";
import { until } from "../helpers/until.ts";
import { kept, messageField, signOut, withScene } from "./scene.ts";

/** Runs in the page like an injected script: returns everything that the origin stores, as text. */
async function enumerate(): Promise<{ text: string; places: number; exported: number }> {
  const found: string[] = [];
  let exported = 0;
  const add = async (value: unknown): Promise<void> => {
    if (value instanceof CryptoKey) {
      const isOut = await crypto.subtle.exportKey("raw", value).then(
        () => value.type !== "public",
        () => false,
      );
      if (isOut) exported += 1;
    } else if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
      found.push(new TextDecoder("latin1").decode(value));
    } else if (typeof value === "object" && value !== null) {
      for (const [name, part] of Object.entries(value)) {
        found.push(name);
        await add(part);
      }
    } else found.push(String(value));
  };
  const settled = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  await add({ ...localStorage });
  await add({ ...sessionStorage });
  await add([document.cookie, location.href, document.documentElement.outerHTML]);
  for (const { name = "" } of await indexedDB.databases()) {
    const database = await settled(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      await add(await settled(database.transaction(store).objectStore(store).getAll()));
    }
    database.close();
  }
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      found.push(request.url, await (await cache.match(request))?.text() ?? "");
    }
  }
  return { text: found.join("\n"), places: found.length, exported };
}

async function keptBy(page: Page, key: string): Promise<{ hits: number; places: number; exported: number }> {
  const { text, places, exported } = await page.evaluate(enumerate);
  const forms = [key, key.replace(/^svc_/, ""), btoa(key)];
  return { hits: forms.filter((form) => text.includes(form)).length, places, exported };
}

/** Stores the account as the previous version did. */
async function putOldAccount(apiKey: string): Promise<void> {
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open("svc");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const transaction = database.transaction("account", "readwrite");
  transaction.objectStore("account").put({ apiKey }, "current");
  await new Promise((resolve) => transaction.oncomplete = resolve);
  database.close();
}

Deno.test("no script in the origin can read the plain key, and an account from an earlier version is migrated silently [key-at-rest, upgrade-home]", () =>
  withScene(async ({ phone, wire, relay, makeKey }) => {
    const { page } = phone;
    const key = await makeKey("push:read", "push:send", "admin");
    await page.goto(`${wire.url}/#key=${key}`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    const fresh = await keptBy(page, key);
    assert.ok(fresh.places > 3, "it looked nowhere");
    assert.deepEqual([fresh.hits, fresh.exported], [0, 0]);

    // The page adds its device to the account after the first welcome.
    await until(
      "the whole account",
      async () => {
        const account = (await kept<{ ciphertext: Uint8Array }>(page, "account")).get("current");
        return (account?.ciphertext.byteLength ?? 0) > 2 * key.length;
      },
    );
    await page.evaluate(putOldAccount, key);
    assert.ok((await keptBy(page, key)).hits > 0, "the old form is in clear, and is found");
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor();
    const carried = await keptBy(page, key);
    assert.deepEqual([carried.hits, carried.exported], [0, 0]);
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor();

    const api = createRelayApi({ baseUrl: relay.url, apiKey: key });
    await signOut(page);
    await page.goto(`${wire.url}/#pair=${(await api.createPairing()).code}`);
    await page.getByText("Live", { exact: true }).waitFor();
    const { text } = await page.evaluate(enumerate);
    assert.ok(!/svc_[A-Za-z0-9_-]{20,}/.test(text), "a paired phone keeps no key in clear either");
    say(`${fresh.places} stored values looked at: 0 with the key, 0 keys exported`);
  }));

Deno.test("signing out in one page signs out the others, which write nothing back; so does signing in [key-at-rest]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    await listener.report({ name: "svc-demo" });
    const key = await makeKey("push:read", "push:send");
    await page.goto(`${wire.url}/#key=${key}`);
    await page.getByText("Live", { exact: true }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${wire.url}/`);
    await other.getByRole("link", { name: /demo · Claude/ }).tap();
    await other.getByRole("link", { name: "Messages" }).tap();
    await messageField(other).fill("a secret draft");
    const asked = page.waitForEvent("dialog");
    const tapped = page.getByRole("button", { name: "Sign out" }).tap();
    const question = await asked;
    assert.match(question.message(), /^Sign out\? To return, pair/);
    await question.dismiss();
    await tapped;
    assert.equal(await page.getByLabel("API key").count(), 0);
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Sign out" }).tap();
    await other.getByRole("button", { name: "Sign in" }).waitFor();
    const { text } = await other.evaluate(enumerate);
    // Excludes the page's address and its files, which are longer.
    const values = text.split("\n").filter((one) => one.length < 1_000 && !one.startsWith("http"));
    assert.deepEqual(values.filter((value) => /secret draft|svc-demo/.test(value)), []);
    await page.goto(`${wire.url}/#key=${key}`);
    await page.getByText("Live", { exact: true }).waitFor();
    await messageField(other).waitFor();
    assert.deepEqual(phone.faults, []);
  }));

Deno.test("a link with another key asks before it switches accounts, and names both [account-swap]", () =>
  withScene(async ({ phone, wire, makeKey }) => {
    const { page } = phone;
    const [mine, other] = [await makeKey("push:read"), await makeKey("push:read")];
    await page.goto(`${wire.url}/#key=${mine}`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.goto(`${wire.url}/#key=${other}`);
    await page.getByRole("heading", { name: "Switch accounts?" }).waitFor();
    for (const key of [mine, other]) await page.getByText(`key ${key.slice(0, 8)}…`).first().waitFor();
    await phone.shoot("account-swap");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.getByRole("button", { name: "Keep current account" }).tap();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.goto(`${wire.url}/#key=${other}`);
    await page.getByText(`key ${mine.slice(0, 8)}…`).first().waitFor();
    await page.getByRole("button", { name: "Switch account" }).tap();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.goto(`${wire.url}/#key=${mine}`);
    await page.getByRole("heading", { name: "Switch accounts?" }).waitFor();
    assert.deepEqual(phone.faults, []);
  }));
