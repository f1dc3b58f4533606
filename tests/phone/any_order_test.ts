/** The relay's answers in an unexpected order, and answers that failed once: the page shows the same in the end. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { createRelayApi } from "../../src/client/api.ts";
import { openMessages, type Scene, withScene } from "./scene.ts";
import { ScriptedListener } from "./scripted_listener.ts";

const SESSIONS = /\/sessions$/;
const HISTORY = /\/pushes\?/;
const PUSH = /\/pushes\/[^/?]+$/;

/** Makes answers at once but delivers them only after the release. `times`: how many of them. */
async function hold(
  page: Page,
  url: RegExp,
  { times }: { times?: number } = {},
): Promise<Disposable & { release(): void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    const response = await route.fetch();
    await promise;
    await route.fulfill({ response });
  }, times === undefined ? {} : { times });
  // A browser with an undelivered answer does not close.
  return { release: resolve, [Symbol.dispose]: resolve };
}

async function failOnce(page: Page, url: RegExp, { times }: { times: number }): Promise<void> {
  await page.route(url, (route) => route.fulfill({ status: 503, body: "" }), { times });
}

async function signIn({ phone: { page }, wire, makeKey }: Scene): Promise<void> {
  await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
}

function laptopOf({ relay }: Scene, apiKey: string): ScriptedListener {
  return new ScriptedListener({
    wsUrl: relay.wsUrl,
    apiKey,
    deviceId: "dev_listener_00000002",
    host: "laptop",
  });
}

async function sendNote({ relay, makeKey }: Scene, title: string): Promise<void> {
  const api = createRelayApi({ baseUrl: relay.url, apiKey: await makeKey("push:send") });
  await api.sendPush({ type: "note", title, agentSessionName: "svc-demo" });
}

for (const [which, times] of [["the first answer", 1], ["every answer", 2]] as const) {
  Deno.test(`a host that comes online while ${which} with the list is on its way stays in the list [ux-any-order]`, () =>
    withScene(async (scene) => {
      const { phone: { page }, wire, listener, makeKey } = scene;
      await listener.report({ name: "svc-demo" });
      await signIn(scene);
      await page.getByRole("link", { name: /demo · Claude/ }).waitFor();
      // The page's requests before it is left must not be held instead of those at its start.
      await page.goto("about:blank");
      using held = await hold(page, SESSIONS, { times });
      const asked = page.waitForRequest(SESSIONS);
      const answered = times === 1 ? page.waitForResponse(SESSIONS) : undefined;
      await page.goto(`${wire.url}/#/`);
      const request = await asked;
      await page.getByText("Live", { exact: true }).waitFor();
      await answered;
      const laptop = laptopOf(scene, await makeKey("push:read"));
      await laptop.report({ name: "svc-notes" });
      const notes = page.getByRole("link", { name: /notes · Claude/ });
      await notes.waitFor();
      held.release();
      await request.response();
      await listener.report({ name: "svc-demo" }, { name: "svc-new" });
      await page.getByRole("link", { name: /new · Claude/ }).waitFor();
      assert.equal(await notes.count(), 1);
      laptop.stop();
    }));
}

Deno.test("a session does not say that it is empty, or that its history was read, when a note comes before the history [ux-any-order]", () =>
  withScene(async (scene) => {
    const { phone: { page }, wire, listener } = scene;
    await listener.report({ name: "svc-demo" });
    // On a slow machine the page may repeat the request, because its link did not answer for a while.
    using held = await hold(page, HISTORY);
    await signIn(scene);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.goto(`${wire.url}/#/s/dev_listener_00000001/svc-demo/messages`);
    const loading = page.getByText("Loading messages");
    await loading.waitFor();
    await sendNote(scene, "the build is done");
    await page.getByText("the build is done").first().waitFor();
    assert.deepEqual([await loading.count(), await page.getByText("Show earlier messages").count()], [1, 0]);
    held.release();
    await loading.waitFor({ state: "detached" });
  }));

Deno.test("a list, a history and a note that could not be read are requested again while the link is up [ux-any-order]", () =>
  withScene(async (scene) => {
    const { phone: { page }, wire, listener } = scene;
    await openMessages(scene);
    await page.goto("about:blank");
    await listener.report({ name: "svc-demo" }, { name: "svc-new" });
    // Once during the handshake, and once after it.
    await failOnce(page, SESSIONS, { times: 2 });
    await failOnce(page, HISTORY, { times: 1 });
    await page.goto(`${wire.url}/#/`);
    await page.getByRole("link", { name: /new · Claude/ }).waitFor();
    await page.goto(`${wire.url}/#/s/dev_listener_00000001/svc-demo/messages`);
    await page.getByText("No messages yet").waitFor();
    await failOnce(page, PUSH, { times: 1 });
    await sendNote(scene, "the tests passed");
    await page.getByText("the tests passed").first().waitFor();
  }));
