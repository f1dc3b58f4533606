/** A browser that refuses to store anything for the site: the page says so, and works as far as it can. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { type Scene, signOut, withScene } from "./scene.ts";

/** Runs in the page before its scripts, and behaves like a private mode or blocked site data. */
function refuseStorage(parts: readonly ("indexedDB" | "localStorage")[]): void {
  const refuse = (): never => {
    throw new DOMException("The operation is insecure", "SecurityError");
  };
  if (parts.includes("indexedDB")) IDBFactory.prototype.open = refuse;
  if (parts.includes("localStorage")) Object.defineProperty(globalThis, "localStorage", { get: refuse });
}

Deno.test("a page whose browser refuses all storage says what to allow, and can be reloaded from there", () =>
  withScene(async ({ phone, wire }) => {
    const { page } = phone;
    await page.addInitScript(refuseStorage, ["indexedDB", "localStorage"] as const);
    await page.goto(wire.url);
    await page.getByText("Allow site data, or leave private mode").waitFor();
    await phone.shoot("storage-refused");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    const reloaded = page.waitForEvent("domcontentloaded");
    await page.getByRole("button", { name: "Reload" }).tap();
    await reloaded;
    await page.getByText("Allow site data, or leave private mode").waitFor();
  }));

/** Opens a signed-in page with one session in a browser that refuses only local storage. */
function withoutLocalStorage(use: (scene: Scene, page: Page) => Promise<void>): Promise<void> {
  return withScene(async (scene) => {
    const { phone, wire, listener, makeKey } = scene;
    const { page } = phone;
    await page.addInitScript(refuseStorage, ["localStorage"] as const);
    await listener.report({ name: "svc-demo" });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await use(scene, page);
  });
}

Deno.test("a page whose browser refuses only local storage shows the list and a session's terminal", () =>
  withoutLocalStorage(async ({ phone }, page) => {
    await page.getByRole("link", { name: /demo · Claude/ }).tap();
    await page.getByRole("link", { name: "Messages" }).waitFor();
    assert.deepEqual(phone.faults, []);
  }));

Deno.test("signing out without local storage completes, and does not fail at the notifications [push-switch]", () =>
  withoutLocalStorage(async ({ phone }, page) => {
    await page.getByRole("link", { name: /demo · Claude/ }).waitFor();
    await signOut(page);
    assert.deepEqual(phone.faults, []);
  }));

Deno.test("a language chosen without local storage applies to the page, even after a reload [ux-languages]", () =>
  withoutLocalStorage(async ({ phone, wire }, page) => {
    await page.getByRole("link", { name: /demo · Claude/ }).waitFor();
    await page.goto(`${wire.url}/#/settings`);
    await page.getByLabel("Language").selectOption("Deutsch");
    await page.getByRole("heading", { name: "Einstellungen", exact: true }).waitFor();
    await page.getByRole("link", { name: "Alle Agenten" }).tap();
    await page.getByRole("heading", { name: "Agenten", exact: true }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Agenten", exact: true }).waitFor();
    await page.goto(`${wire.url}/#/settings`);
    await page.getByLabel("Sprache").selectOption("English");
    await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
    assert.deepEqual(phone.faults, []);
  }));
