/** The phone's display name. */

import assert from "node:assert/strict";
import { deviceName, registerWorker } from "../../../src/phone/browser.ts";

const CHROME =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const ANDROID =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36";

Deno.test("a device gets a name that its user recognizes in the list of devices", async () => {
  const named = (userAgent: string) => deviceName({ userAgent });
  assert.equal(await named("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)"), "iPhone");
  assert.equal(
    await named("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.1 Safari/605.1.15"),
    "Safari, Mac",
  );
  assert.equal(await named(CHROME), "Chrome, Linux");
  assert.equal(await named(CHROME.replace("Chrome/", "HeadlessChrome/")), "Chrome, Linux");
  assert.equal(
    await named(`${CHROME.replace("X11; Linux x86_64", "Windows NT 10.0; Win64; x64")} Edg/142.0`),
    "Edge, Windows",
  );
  assert.equal(
    await named("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
    "Firefox, Linux",
  );
  assert.equal(await named("curl"), "Browser");
});

Deno.test("an Android phone is named after its model if the browser reports it", async () => {
  const telling = (found: Promise<{ model?: string }>) =>
    deviceName({ userAgent: ANDROID, userAgentData: { getHighEntropyValues: () => found } });
  assert.equal(await telling(Promise.resolve({ model: "Pixel 9" })), "Pixel 9");
  assert.equal(await telling(Promise.resolve({ model: "" })), "Android phone");
  assert.equal(await telling(Promise.reject(new Error("not allowed"))), "Android phone");
  assert.equal(await deviceName({ userAgent: ANDROID }), "Android phone");
});

Deno.test("the worker can be registered again after it failed to load, although its policy can be created only once [push-why-not]", async () => {
  const registered: string[] = [];
  const policies: string[] = [];
  const register = (url: string) => {
    registered.push(url);
    return registered.length === 1 ? Promise.reject(new TypeError("no network")) : Promise.resolve(url);
  };
  const createPolicy = (name: string, rules: unknown) => {
    if (policies.includes(name)) throw new TypeError("a second policy");
    policies.push(name);
    return rules;
  };
  Object.defineProperty(navigator, "serviceWorker", { value: { register }, configurable: true });
  Object.defineProperty(globalThis, "trustedTypes", { value: { createPolicy }, configurable: true });
  try {
    assert.equal(await registerWorker(), undefined);
    assert.equal(String(await registerWorker()), "service_worker.js");
  } finally {
    Reflect.deleteProperty(navigator, "serviceWorker");
    Reflect.deleteProperty(globalThis, "trustedTypes");
  }
});
