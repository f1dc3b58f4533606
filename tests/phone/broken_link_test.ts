/** The page over a link that breaks in every way: nothing is lost or sent twice, and the break is shown. */

import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { until } from "../helpers/until.ts";
import {
  bubble,
  kept,
  messageField,
  openMessages,
  PAGE_DIRECTORY,
  type Scene,
  sendMessage,
  withScene,
} from "./scene.ts";

/** Returns how many messages the relay has. */
async function pushCount({ relay, makeKey }: Scene): Promise<number> {
  const api = createRelayApi({ baseUrl: relay.url, apiKey: await makeKey("push:read") });
  return (await api.listPushes()).pushes.filter(({ push }) => push.type === "agent.command").length;
}

/** Serves only the page, as a cached copy would: the relay itself is down. */
function servePageOnly(): Deno.HttpServer<Deno.NetAddr> {
  const types: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css" };
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = new URL(request.url).pathname.replace(/^\/$/, "/index.html");
    const type = types[path.split(".").pop() ?? ""];
    if (type === undefined) return new Response("away", { status: 503 });
    return new Response(await Deno.readFile(PAGE_DIRECTORY + path), { headers: { "content-type": type } });
  });
}

Deno.test("messages written without a link survive a reload and are sent once when the link is back [ux-outbox]", () =>
  withScene(async (scene) => {
    const { phone, wire, relay, listener } = scene;
    const page = await openMessages(scene);
    const pageOnly = servePageOnly();
    try {
      wire.pointTo(pageOnly.addr.port);
      await page.getByText("Reconnecting…").first().waitFor();
      await sendMessage(page, "written in a tunnel");
      await sendMessage(page, "never mind");
      await page.getByText("Waiting for the connection", { exact: true }).nth(1).waitFor();
      await phone.shoot("session-reconnecting");
      assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);

      await page.reload();
      await page.getByText("Waiting for the connection", { exact: true }).nth(1).waitFor();
      await page.getByRole("listitem").filter({ hasText: "never mind" })
        .getByRole("button", { name: "Cancel" }).tap();
      assert.equal(await pushCount(scene), 0);
      wire.pointTo(relay.port);
      // The page may have reconnected in the meantime and removed the button.
      await page.locator("button", { hasText: "Try now" }).evaluateAll((all) =>
        all.forEach((one) => (one as HTMLElement).click())
      );
      listener.acknowledge(await listener.received("written in a tunnel"), { outcome: "submitted" });
      await page.getByText("Submitted", { exact: true }).waitFor();
      await page.reload();
      await page.getByText("Submitted", { exact: true }).waitFor();
      const typed = listener.pushes.filter(({ type }) => type === "agent.command");
      assert.deepEqual([await pushCount(scene), typed.length], [1, 1]);
    } finally {
      await pageOnly.shutdown();
    }
  }));

Deno.test("a message that is edited without a link keeps its text over a reload, and is in the field once the link is back [ux-no-dead-end, ux-outbox]", () =>
  withScene(async (scene) => {
    const { wire, relay, listener } = scene;
    const page = await openMessages(scene);
    const pageOnly = servePageOnly();
    try {
      wire.pointTo(pageOnly.addr.port);
      await page.getByText("Reconnecting…").first().waitFor();
      await sendMessage(page, "worth keeping");
      await page.getByText("Waiting for the connection", { exact: true }).waitFor();
      await bubble(page, "worth keeping").getByRole("button", { name: "Edit" }).tap();
      await until("the cancellation to be stored", async () => (await kept(page, "outbox")).size === 2);
      await page.reload();
      await bubble(page, "worth keeping").waitFor();
      wire.pointTo(relay.port);
      await until(
        "the text in the field",
        async () => await messageField(page).inputValue() === "worth keeping",
      );
      await until("the outbox to be empty", async () => (await kept(page, "outbox")).size === 0);
      await page.reload();
      await until("the draft", async () => await messageField(page).inputValue() === "worth keeping");
      assert.deepEqual(listener.pushes.filter(({ type }) => type === "agent.command"), []);
    } finally {
      await pageOnly.shutdown();
    }
  }));

/** Runs in the page: true if something covers the element. */
function isCovered(element: Element): boolean {
  element.scrollIntoView({ block: "nearest" });
  const { left, top, bottom, width } = element.getBoundingClientRect();
  return [top + 2, (top + bottom) / 2].some((y) =>
    document.elementFromPoint(left + width / 2, y) !== element
  );
}

Deno.test("after a reload without a link, messages and inbox say that earlier items are at the relay [ux-earlier]", () =>
  withScene(async (scene) => {
    const { phone, wire, relay, listener } = scene;
    const page = await openMessages(scene);
    await sendMessage(page, "before the tunnel");
    listener.acknowledge(await listener.received("before the tunnel"), { outcome: "submitted" });
    await page.getByText("Submitted", { exact: true }).waitFor();
    const pageOnly = servePageOnly();
    try {
      wire.pointTo(pageOnly.addr.port);
      await page.getByText("Reconnecting…").first().waitFor();
      await until("the outbox to be empty", async () => (await kept(page, "outbox")).size === 0);
      await sendMessage(page, "in the tunnel");
      await until("the message to be stored", async () => (await kept(page, "outbox")).size === 1);
      await page.reload();
      const earlier = page.getByText("Earlier messages appear when the relay is reached.");
      await earlier.waitFor();
      await page.getByText("in the tunnel").waitFor();
      await page.getByText("No relay answers at this address").waitFor();
      for (const width of [320, 390, 412, 844]) {
        await page.setViewportSize({ width, height: 844 });
        assert.equal(await earlier.evaluate(isCovered), false, `at ${width} px`);
      }
      await phone.shoot("session-unread");
      assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
      await page.goto(`${wire.url}/#/inbox`);
      await page.getByText("Questions and notes appear when the relay is reached.").waitFor();
      await page.goBack();
      await earlier.waitFor();
      wire.pointTo(relay.port);
      await page.getByText("before the tunnel").waitFor();
      assert.equal(await earlier.count(), 0);
    } finally {
      await pageOnly.shutdown();
    }
  }));

Deno.test("a message whose answer got lost is sent again under its id and stored once [ux-outbox]", () =>
  withScene(async (scene) => {
    const page = await openMessages(scene);
    let lost = 0;
    await page.route("**/pushes/send", async (route) => {
      await route.fetch();
      lost++;
      await route.abort("connectionreset");
    }, { times: 2 });
    await sendMessage(page, "answered in vain");
    const push = await scene.listener.received("answered in vain");
    await until("two lost answers", () => lost === 2);
    await until("the outbox to be empty", async () => (await kept(page, "outbox")).size === 0);
    scene.listener.acknowledge(push, { outcome: "submitted" });
    await page.getByText("Submitted", { exact: true }).waitFor();
    // The relay delivers a push again until it is acknowledged.
    const ids = new Set(scene.listener.pushes.map(({ id }) => id));
    assert.deepEqual([await pushCount(scene), ids.size], [1, 1]);
  }));

Deno.test("a receipt that arrives instead of the answer clears the outbox too [ux-outbox]", () =>
  withScene(async (scene) => {
    const page = await openMessages(scene);
    await page.route("**/pushes/send", async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await sendMessage(page, "answered in vain");
    const push = await scene.listener.received("answered in vain");
    scene.listener.acknowledge(push, { outcome: "submitted" });
    await page.getByText("Submitted", { exact: true }).waitFor();
    await until("the outbox to be empty", async () => (await kept(page, "outbox")).size === 0);
    await page.unrouteAll({ behavior: "wait" });
  }));

Deno.test("a message refused by something in place of the relay says so and can be cancelled [ux-outbox, ux-no-dead-end]", () =>
  withScene(async (scene) => {
    const { phone } = scene;
    const page = await openMessages(scene);
    const refusal = { status: 403, contentType: "text/html", body: "<h1>Forbidden</h1>" };
    await page.route("**/pushes/send", async (route) => {
      if (route.request().postData()?.includes("DROP TABLE")) await route.fulfill(refusal);
      else await route.continue();
    });
    await sendMessage(page, "what does '; DROP TABLE users do?");
    await sendMessage(page, "and then");
    await page.getByText("Something between this phone and the relay refuses it.").waitFor();
    await phone.shoot("session-refused-by-proxy");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.getByRole("listitem").filter({ hasText: "DROP TABLE" })
      .getByRole("button", { name: "Cancel" }).tap();
    await scene.listener.received("and then");
    await page.unrouteAll({ behavior: "wait" });
    assert.equal(await pushCount(scene), 1);
  }));

Deno.test("a link that dies silently is shown, and sending resumes by itself [ux-reconnecting]", () =>
  withScene(async (scene) => {
    const { wire, listener } = scene;
    const page = await openMessages(scene);
    wire.freeze();
    await page.getByText("Reconnecting…").first().waitFor();
    await sendMessage(page, "into the silence");
    await page.getByText("Waiting for the connection", { exact: true }).waitFor();
    wire.thaw();
    listener.acknowledge(await listener.received("into the silence"), { outcome: "submitted" });
    await page.getByText("Submitted", { exact: true }).waitFor();
    assert.equal(await page.getByText("Reconnecting…").count(), 0);
  }));

Deno.test("the page reconnects to a restarted relay and shows what happened in the meantime [ux-reconnecting, ws-1012]", () =>
  withScene(async (scene) => {
    const page = await openMessages(scene);
    await scene.restartRelay();
    await scene.listener.report({ name: "svc-demo", state: "waiting", stateSince: Date.now() });
    await page.getByText("Waiting").waitFor();
    await sendMessage(page, "after the restart");
    await scene.listener.received("after the restart");
    assert.equal(scene.listener.pushes.length, 1);
  }));
