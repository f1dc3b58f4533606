/** The service worker's copy of the page: which requests it answers, and which versions it keeps. */
import assert from "node:assert/strict";
import type { FetchEvent, WorkerEvents, WorkerScope } from "../../../../src/phone/worker/scope.ts";
import { keepShell, type Shell } from "../../../../src/phone/worker/shell.ts";

const SCOPE = "https://relay.example/phone/";
const OLD: Shell = { version: "1", files: ["./", "app-AAAAAAAA.js", "icon.svg"] };
const NEW: Shell = { version: "2", files: ["./", "app-BBBBBBBB.js", "icon.svg"] };
const NEWEST: Shell = { version: "3", files: ["./", "app-CCCCCCCC.js", "icon.svg"] };

/** A browser whose server has each path's text in the deployed version. */
class FakeBrowser {
  readonly stored = new Map<string, Map<string, string>>();
  deployed = "";
  #listeners: Partial<Record<string, (event: never) => void>> = {};

  async run(shell: Shell): Promise<void> {
    this.deployed = shell.version;
    this.#listeners = {};
    keepShell(this.#scope(), shell);
    await this.#fire("install");
    await this.#fire("activate");
  }

  /** Resolves with the worker's answer; undefined if it leaves the request to the network. */
  async answer(path: string, options: { method?: string; mode?: string } = {}): Promise<string | undefined> {
    let answer: Promise<Response> | undefined;
    const request = { url: new URL(path, SCOPE).href, method: "GET", mode: "no-cors", ...options };
    const event = { request, respondWith: (one: Promise<Response>) => answer = one };
    this.#listeners.fetch?.(event as unknown as FetchEvent as never);
    return await (await answer)?.text();
  }

  async #fire(name: keyof WorkerEvents): Promise<void> {
    let done: Promise<unknown> = Promise.resolve();
    this.#listeners[name]?.({ waitUntil: (one: Promise<unknown>) => done = one } as never);
    await done;
  }

  #scope(): WorkerScope {
    const { stored } = this;
    const response = (text: string | undefined): Response | undefined =>
      text === undefined ? undefined : new Response(text);
    const open = (name: string) => {
      const kept = stored.get(name) ?? new Map<string, string>();
      stored.set(name, kept);
      return Promise.resolve({
        addAll: (requests: Request[]) => {
          for (const { url } of requests) kept.set(url, `${url} of ${this.deployed}`);
          return Promise.resolve();
        },
        match: (url: string) => Promise.resolve(response(kept.get(url))),
      });
    };
    const match = (url: string) =>
      Promise.resolve(response([...stored.values()].find((kept) => kept.has(url))?.get(url)));
    const scope = {
      registration: { scope: SCOPE },
      caches: {
        open,
        match,
        keys: () => Promise.resolve([...stored.keys()]),
        delete: (name: string) => Promise.resolve(stored.delete(name)),
      },
      clients: { claim: () => Promise.resolve() },
      skipWaiting: () => Promise.resolve(),
      fetch: () => Promise.resolve(new Response("from the network")),
      addEventListener: (name: string, listener: (event: never) => void) => this.#listeners[name] = listener,
    };
    return scope as unknown as WorkerScope;
  }
}

Deno.test("the worker answers for the page and its files, and leaves everything else to the relay [ph-offline-shell]", async () => {
  const browser = new FakeBrowser();
  await browser.run(OLD);
  const page = { mode: "navigate" };
  assert.equal(await browser.answer("./", page), `${SCOPE} of 1`);
  assert.equal(await browser.answer("./?source=home#/s/x", page), `${SCOPE} of 1`);
  assert.equal(await browser.answer("app-AAAAAAAA.js"), `${SCOPE}app-AAAAAAAA.js of 1`);
  assert.equal(await browser.answer("icon.svg"), `${SCOPE}icon.svg of 1`);
  for (const path of ["v1/sessions", "service_worker.js", "../", "other.svg", "metrics"]) {
    assert.equal(await browser.answer(path), undefined, path);
  }
  assert.equal(await browser.answer("./", { method: "POST" }), undefined);
});

Deno.test("a newer page replaces the copy, and the previous one stays for open pages [ph-offline-shell]", async () => {
  const browser = new FakeBrowser();
  await browser.run(OLD);
  await browser.run(NEW);
  assert.equal(await browser.answer("./", { mode: "navigate" }), `${SCOPE} of 2`);
  assert.equal(await browser.answer("app-AAAAAAAA.js"), `${SCOPE}app-AAAAAAAA.js of 1`);
  await browser.run(NEWEST);
  assert.deepEqual([...browser.stored.keys()], ["svc-shell-2", "svc-shell-3"]);
  assert.equal(await browser.answer("app-BBBBBBBB.js"), `${SCOPE}app-BBBBBBBB.js of 2`);
  assert.equal(await browser.answer("app-AAAAAAAA.js"), "from the network");
});
