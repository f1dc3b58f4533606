/** Notifications in a real browser, with the real relay, listener and MCP server: switched on, tested, shown, tapped and taken away. */
import { httpBaseFromWs } from "../../src/client/addresses.ts";
import assert from "node:assert/strict";
import { buildPhone } from "../../scripts/build_phone.ts";
import { say } from "../../scripts/say.ts";
import { textOf } from "../helpers/mcp_bench.ts";
import { startMcp } from "../helpers/mcp_process.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { Phone } from "./phone.ts";
import { PushBrowser } from "./push_browser.ts";
import { kept, withScene } from "./scene.ts";

interface Scene {
  stack: Stack;
  echo: EchoSession;
  phone: Phone;
  browser: PushBrowser;
  /** Asks an agent's question; resolves with the answer, or how it ended. */
  ask(question: string, signal?: AbortSignal): Promise<string>;
}

/** Runs `act` with a paired phone whose notifications are on. */
async function withNotifications(act: (scene: Scene) => Promise<void>): Promise<void> {
  await buildPhone({ outDir: `${CHECKOUT}dist/phone` });
  await using stack = await makeStack({ server: ["--web-push-loopback"] });
  const echo = await stack.echo();
  const phone = await Phone.start(stack.url, { hasNotifications: true });
  const agent = await startMcp(stack.sandbox, { env: { SVC_SESSION: echo.name } });
  await using browser = new PushBrowser(phone.page, stack.url);
  try {
    await browser.prepare();
    const { page } = phone;
    const link = new URL(await stack.pairLink());
    await page.goto(`${stack.url}/${link.hash}`);
    await page.getByRole("button", { name: "They match" }).tap();
    await page.goto(`${stack.url}/#/settings`);
    await page.getByRole("link", { name: "Notifications" }).tap();
    await page.getByRole("button", { name: "Switch on" }).tap();
    await page.getByText("On", { exact: true }).waitFor();
    const ask: Scene["ask"] = (question, signal) => {
      const call = { name: "svc_ask", arguments: { question, options: ["Yes", "No"] } };
      const answer = agent.client.callTool(call, signal ? { signal } : {}).then(textOf);
      answer.catch(() => {});
      return answer;
    };
    await act({ stack, echo, phone, browser, ask });
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  } finally {
    await agent.client.close();
    await phone.close();
  }
}

Deno.test("the test shows the whole way with times, on a view that fits and is accessible [push-test, ux-notify, push-switch]", () =>
  withNotifications(async ({ phone, browser }) => {
    const { page } = phone;
    await page.getByRole("button", { name: "Send a test" }).tap();
    await page.getByText(/^The browser's push service accepted it in \d+ ms$/).waitFor();
    await browser.deliver();
    await page.getByText(/^The notification was shown after \d+ ms$/).waitFor();
    const steps = await page.locator(".test-steps li").allInnerTexts();
    say(`the test's own times: ${steps.map((step) => step.trim()).join("; ")}`);
    assert.match(steps.join("\n"), /The relay took it in \d+ ms/);
    assert.match(steps.join("\n"), /Its text was encrypted, and opened here/);
    assert.equal((await browser.shown())[0]?.title, "Notifications work");

    await page.getByLabel("Do not ring at night").tap();
    await page.getByText(/^Time zone: /).waitFor();
    await page.locator(".ring-session summary").first().tap();
    await phone.shoot("notifications");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    const isQuietKept = async (): Promise<boolean> =>
      (await kept<{ quiet?: unknown }>(page, "preferences", "svc-push")).get("current")?.quiet !== undefined;
    await until("the quiet hours to be kept", isQuietKept);
    await page.reload();
    await page.getByText("On", { exact: true }).waitFor();
    assert.ok(await page.getByLabel("Do not ring at night").isChecked());
  }));

Deno.test("notifications that are switched off and on again still use the page's language [ux-languages, push-switch]", () =>
  withNotifications(async ({ phone: { page } }) => {
    const read = () => kept<unknown>(page, "preferences", "svc-push");
    assert.equal((await read()).get("language"), "en");
    await page.getByRole("button", { name: "Switch off" }).tap();
    await page.getByRole("button", { name: "Switch on" }).tap();
    await page.getByText("On", { exact: true }).waitFor();
    await until("the preferences", async () => (await read()).has("current"));
    assert.equal((await read()).get("language"), "en");
  }));

Deno.test("a question rings with its text, a tap opens the session at it, and it is answered there [push-opened, push-tap, push-receipt]", () =>
  withNotifications(async ({ stack, echo, phone, browser, ask }) => {
    const { page } = phone;
    const began = Date.now();
    const answer = ask("Deploy to production?");
    await browser.deliver();
    const [shown] = await until("the notification", async () => {
      const all = await browser.shown();
      return all.length > 0 && all;
    });
    assert.deepEqual([shown?.title, shown?.body], [`${echo.name} asks`, "Deploy to production?"]);
    const id = shown?.tag ?? "";
    const notified = await until("the worker's receipt", async () => {
      const { receipt } = await stack.api.getPush(id);
      return Object.values(receipt.shown ?? {}).find((one) => one.notified)?.notified;
    });
    say(`question to notification, with the page connected: ${notified - began} ms`);
    await browser.tap(id);
    const card = page.locator(`[data-id="${id}"]`).first();
    await card.getByText("Deploy to production?").waitFor();
    assert.equal(new URL(page.url()).hash, `#/s/${stack.deviceId}/${echo.name}/messages/${id}`);
    await phone.shoot("notification-tapped");
    await card.getByRole("button", { name: "Yes" }).tap();
    assert.equal(await answer, "Yes");
    await until("no notification", async () => (await browser.shown()).length === 0);
    await until(
      "the tap in the receipt",
      async () => Object.values((await stack.api.getPush(id)).receipt.shown ?? {}).some(({ seen }) => seen),
    );
  }));

Deno.test("a closed app rings at once; the notification of a withdrawn question is taken away; a session in view does not ring [push-withdrawn, push-in-view]", () =>
  withNotifications(async ({ stack, echo, phone, browser, ask }) => {
    const { page } = phone;
    await page.goto("about:blank");
    await until("the phone to be gone", async () => {
      const { devices } = await stack.api.devices();
      return devices.filter(({ kind, online }) => kind === "phone" && online).length === 0;
    });
    const began = Date.now();
    const withdraw = new AbortController();
    void ask("Nobody there?", withdraw.signal).catch(() => {});
    await browser.deliver();
    const [shown] = await until("the notification", async () => {
      const all = await browser.shown();
      return all.length > 0 && all;
    });
    say(`question to notification, with the app closed: ${Date.now() - began} ms`);
    assert.equal(shown?.body, "Nobody there?");
    withdraw.abort();
    await browser.deliver();
    await until("no notification", async () => (await browser.shown()).length === 0);

    await page.goto(`${stack.url}/#/s/${stack.deviceId}/${echo.name}/messages`);
    await page.getByText("Live").or(page.getByRole("textbox")).first().waitFor();
    await until(
      "the phone",
      async () => (await stack.api.devices()).devices.some(({ kind, online }) => kind === "phone" && online),
    );
    /** True once the node that accepted the question has counted its notification as unnecessary. */
    const isUnnecessary = async (): Promise<boolean> => {
      const metrics = await (await fetch(`${httpBaseFromWs(stack.listenerWsUrl)}/metrics`)).text();
      return metrics.includes('svc_web_push_total{outcome="unnecessary"} 1');
    };
    // A page that is too busy to show a question within the relay's limit is notified, so the next question is tried.
    await until("the relay to find one unnecessary", async () => {
      const rung = browser.vendor.messages.length;
      const seen = new AbortController();
      void ask("In view?", seen.signal).catch(() => {});
      await until(
        "the relay to ring or not",
        async () => await isUnnecessary() || browser.vendor.messages.length > rung,
      );
      const { length } = browser.vendor.messages;
      seen.abort();
      if (length === rung) return true;
      await until("its notification to be taken away", () => browser.vendor.messages.length > length);
      return false;
    });
  }));

Deno.test("an iPhone's browser says that the app has to be on the home screen [push-why-not]", () =>
  withScene(async ({ phone, wire, makeKey }) => {
    const { page } = phone;
    await page.addInitScript(() => void Reflect.deleteProperty(globalThis, "PushManager"));
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    await page.goto(`${wire.url}/#/notifications`);
    await page.getByText("Add to Home Screen").waitFor();
    assert.equal(await page.getByRole("button", { name: "Switch on" }).count(), 0);
    await phone.shoot("notifications-why-not");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
  }));
