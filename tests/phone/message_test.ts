/** Messages in a real browser: written, sent, with live receipts, and sent again if refused. */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { createRelayApi } from "../../src/client/api.ts";
import { until } from "../helpers/until.ts";
import { SESSION, withCards } from "./card_scene.ts";
import { bubble, kept, messageField, openMessages, sendMessage, withScene } from "./scene.ts";

const receiptOf = (page: Page, text: string) => bubble(page, text).locator(".receipt-state");

async function untilReceipt(page: Page, text: string, state: string): Promise<void> {
  await bubble(page, text).locator(".receipt-state", { hasText: state }).waitFor();
}

Deno.test("a message is written in a real textarea and sent, and its receipt updates live [spec-phone-posts, ph-first-page, ux-receipt, ux-textarea, rcpt-live, rcpt-path]", () =>
  withScene(async (scene) => {
    const { phone, listener } = scene;
    const page = await openMessages(scene, { state: "working" });
    await phone.shoot("session-empty");
    const field = page.getByRole("textbox", { name: "Message to demo · Claude" });
    assert.equal(await field.evaluate((element) => element.tagName), "TEXTAREA");
    await field.fill("first <b>line</b>");
    await field.press("Enter");
    await field.pressSequentially("second; line 👨‍👩‍👧");
    assert.equal(listener.pushes.length, 0, "Enter is a new line");
    await field.press("Control+Enter");

    const push = await listener.received("first <b>line</b>\nsecond; line 👨‍👩‍👧");
    assert.deepEqual([push.type, push.agentSessionName], ["agent.command", "svc-demo"]);
    assert.equal(await field.inputValue(), "");
    await page.getByText("first <b>line</b>").waitFor();
    for (
      const [outcome, word] of [["delivered", "Delivered"], ["held", "On hold"], ["typed", "Typed"]] as const
    ) {
      const reason = outcome === "held" ? { reason: "dialog_open" as const } : {};
      listener.acknowledge(push, { outcome, final: false, ...reason });
      await untilReceipt(page, "second; line", word);
    }
    listener.acknowledge(push, { outcome: "submitted" });
    await untilReceipt(page, "second; line", "Submitted");
    assert.equal(listener.pushes.length, 1);
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("a refused message says why and what to do, and can be sent again after Retry-After [ux-receipt, rcpt-ends, inj-rate-resend]", () =>
  withScene(async (scene) => {
    const { phone, listener } = scene;
    const page = await openMessages(scene, { state: "working" });
    await sendMessage(page, "Run the tests once more, please.");
    listener.acknowledge(await listener.received("Run the tests once more, please."), {
      outcome: "submitted",
    });
    await sendMessage(page, "!ls");
    listener.acknowledge(await listener.received("!ls"), { outcome: "refused", reason: "shell_escape" });
    await bubble(page, "!ls").getByText("Start the message with another character").waitFor();
    await sendMessage(page, "too fast");
    const limited = await listener.received("too fast");
    listener.acknowledge(limited, { outcome: "refused", reason: "rate_limited", retryAfterSeconds: 5 });
    await sendMessage(page, "much too many");
    listener.acknowledge(await listener.received("much too many"), {
      outcome: "refused",
      reason: "rate_limited",
      retryAfterSeconds: 3_600,
    });
    await bubble(page, "much too many")
      .getByRole("button", { name: /^Send again in (1 h|\d+ min)$/, disabled: true }).waitFor();
    await sendMessage(page, "while the dialog is open");
    const held = await listener.received("while the dialog is open");
    listener.acknowledge(held, { outcome: "held", reason: "dialog_open" });
    await untilReceipt(page, "while the dialog is open", "On hold");
    await page.getByRole("textbox").fill("A draft of two lines\nthat is not sent yet");
    await phone.shoot("session");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);

    await bubble(page, "too fast").getByRole("button", { name: "Send again", exact: true }).tap();
    const second = await until(
      "the message again",
      () => listener.pushes.find(({ body, id }) => body === "too fast" && id !== limited.id),
    );
    listener.acknowledge(second, { outcome: "submitted" });
    await page.locator(`[data-id="${second.id}"]`).getByText("Submitted", { exact: true }).waitFor();
    assert.equal(
      await page.getByRole("button", { name: /Send again/ }).count(),
      1,
      "only for what is missing still",
    );
  }));

Deno.test("a message refused because the local user was typing can be sent anyway [inj-send-anyway]", () =>
  withScene(async (scene) => {
    const { listener } = scene;
    const page = await openMessages(scene, { state: "working" });
    await sendMessage(page, "while someone types");
    const first = await listener.received("while someone types");
    assert.equal(first.data, undefined);
    listener.acknowledge(first, { outcome: "refused", reason: "desk_busy" });
    await bubble(page, "while someone types").getByRole("button", { name: "Send anyway" }).tap();
    const second = await until("the message again", () => listener.pushes.find(({ id }) => id !== first.id));
    assert.deepEqual([second.body, second.data], ["while someone types", { sendAnyway: true }]);
  }));

Deno.test("after a reload the history is there, with messages from scripts and other phones [http-script]", () =>
  withScene(async (scene) => {
    const { relay, listener, makeKey } = scene;
    const page = await openMessages(scene, { state: "working" });
    await sendMessage(page, "from this phone");
    listener.acknowledge(await listener.received("from this phone"), { outcome: "submitted" });
    await untilReceipt(page, "from this phone", "Submitted");
    const api = createRelayApi({ baseUrl: relay.url, apiKey: await makeKey("push:send") });
    await api.sendPush({ type: "agent.command", agentSessionName: "svc-demo", body: "from a script" });
    const push = await listener.received("from a script");
    listener.acknowledge(push, { outcome: "refused", reason: "muted" });
    await untilReceipt(page, "from a script", "Refused");

    await page.reload();
    await untilReceipt(page, "from a script", "Refused");
    assert.deepEqual(await page.locator(".body").allInnerTexts(), ["from this phone", "from a script"]);
    assert.deepEqual(await receiptOf(page, "from this phone").allInnerTexts(), ["Submitted"]);
  }));

Deno.test("text that the relay would refuse is reported before it is sent", () =>
  withScene(async (scene) => {
    const page = await openMessages(scene, { state: "working" });
    const sendButton = page.getByRole("button", { name: "Send", exact: true });
    const field = page.getByRole("textbox");
    for (
      const [text, words] of [["\u001b[A", "control characters"], [
        "é".repeat(8_193),
        "the limit is 16,384",
      ]] as const
    ) {
      await field.fill(text);
      await page.getByRole("status").getByText(words).waitFor();
      assert.equal(await sendButton.isDisabled(), true);
    }
    await field.fill("fine");
    assert.equal(await sendButton.isEnabled(), true);
  }));

Deno.test("a text that was sent or changed in another page of the phone does not stay in this page's field [ux-textarea]", () =>
  withScene(async (scene) => {
    const page = await openMessages(scene);
    const draft = async () => [...(await kept(page, "drafts")).values()];
    await messageField(page).fill("deploy it");
    await until("the draft", async () => (await draft())[0] === "deploy it");
    const other = await page.context().newPage();
    await other.goto(page.url());
    const field = messageField(other);
    await until("the draft in the other page", async () => await field.inputValue() === "deploy it");
    const show = () => other.evaluate(() => void document.dispatchEvent(new Event("visibilitychange")));

    await page.getByRole("button", { name: "Send", exact: true }).tap();
    await until("no draft", async () => (await draft()).length === 0);
    await show();
    await until("nothing in the other page", async () => await field.inputValue() === "");

    await messageField(page).fill("then test");
    await until("the draft", async () => (await draft())[0] === "then test");
    await show();
    await until("the text in the other page", async () => await field.inputValue() === "then test");
    await other.close();
  }));

/** Runs in the page before its scripts: records the channels that it opens to the browser's other pages. */
function noteChannels(): void {
  const opened: string[] = [];
  globalThis.BroadcastChannel = class extends BroadcastChannel {
    constructor(name: string) {
      super(name);
      opened.push(name);
    }
  };
  Object.assign(globalThis, { opened });
}

/** Opens the session in another page; resolves once both pages hear each other. */
async function openBeside(page: Page): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByText("No messages yet").waitFor();
  const hears = (one: Page): Promise<boolean> =>
    one.evaluate(() => (globalThis as unknown as { opened: string[] }).opened.includes("svc-sent"));
  for (const one of [page, other]) await until("the channel", () => hears(one));
  return other;
}

Deno.test("a message shows in the other pages of the phone once it is sent, before its host has it [ux-receipt]", () =>
  withScene(async (scene) => {
    await scene.phone.page.context().addInitScript(noteChannels);
    const page = await openMessages(scene);
    const other = await openBeside(page);
    scene.listener.stop();
    await other.getByText("workstation is offline").waitFor();
    await sendMessage(page, "from the first page");
    await bubble(other, "from the first page").getByText("Queued").waitFor();
    await sendMessage(other, "from the second page");
    await bubble(page, "from the second page").getByText("Queued").waitFor();
    assert.equal(await other.locator(".message").count(), 2);
    await other.close();
    assert.deepEqual(scene.phone.faults, []);
  }));

Deno.test("a message that a page could not send before it was closed is sent by another page [ux-outbox]", () =>
  withScene(async (scene) => {
    await scene.phone.page.context().addInitScript(noteChannels);
    const page = await openMessages(scene);
    const other = await openBeside(page);
    scene.wire.pointTo(1);
    await sendMessage(other, "written in a tunnel");
    await bubble(other, "written in a tunnel").getByText("Waiting for the connection").waitFor();
    await other.close({ runBeforeUnload: true });
    await bubble(page, "written in a tunnel").waitFor();
    scene.wire.pointTo(scene.relay.port);
    assert.equal((await scene.listener.receivedType("agent.command")).body, "written in a tunnel");
  }));

Deno.test("a message of a page that the system has ended without an event is sent by another page that is open [ux-outbox]", () =>
  withScene(async (scene) => {
    await scene.phone.page.context().addInitScript(noteChannels);
    const page = await openMessages(scene);
    const other = await openBeside(page);
    scene.wire.pointTo(1);
    await sendMessage(other, "written in a tunnel");
    await bubble(other, "written in a tunnel").getByText("Waiting for the connection").waitFor();
    const crashed = other.waitForEvent("crash");
    const devTools = await other.context().newCDPSession(other);
    void devTools.send("Page.crash").catch(() => undefined);
    await crashed;
    await bubble(page, "written in a tunnel").waitFor();
    scene.wire.pointTo(scene.relay.port);
    assert.equal((await scene.listener.receivedType("agent.command")).body, "written in a tunnel");
  }));

/**
 * Runs in the page: focuses the field in the same task in which the session's view appears, and returns what has the
 * focus some frames later.
 */
function focusAtOnce(): Promise<string | undefined> {
  const settled = async (): Promise<string | undefined> => {
    for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame);
    return document.activeElement?.tagName;
  };
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      const field = document.querySelector<HTMLElement>(".composer textarea");
      if (field === null) return;
      observer.disconnect();
      field.focus();
      resolve(settled());
    });
    observer.observe(document.body, { childList: true, subtree: true });
    document.querySelector<HTMLElement>('main a[href*="svc-demo"]')?.click();
  });
}

Deno.test("a field that is tapped as soon as its session appears keeps the focus [ux-textarea]", () =>
  withScene(async ({ phone: { page }, wire, listener, makeKey }) => {
    await listener.report({ name: "svc-demo" });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("link", { name: /demo · Claude/ }).waitFor();
    assert.equal(await page.evaluate(focusAtOnce), "TEXTAREA");
  }));

Deno.test("the receipt of a plain message, which the relay could have forged, does not hide that of this phone's own message, and the plain one is marked [hostile-relay, ux-receipt]", () =>
  withCards(async ({ page, api, listener }) => {
    await sendMessage(page, "Stop. Do not deploy.");
    const own = await listener.receivedType("agent.command");
    const plain = { type: "agent.command", targetDeviceId: own.targetDeviceId, agentSessionName: SESSION };
    await api.sendPush({ ...plain, body: "Stop. Do not deploy." });
    const forged = await listener.receivedType("agent.command", own);
    listener.acknowledge(forged, { outcome: "submitted" });
    const others = bubble(page, "Submitted");
    await others.getByText("Not encrypted: the relay could have forged it").waitFor();
    assert.equal(await page.getByText("Not encrypted").count(), 1, "this phone's own is sealed");
    assert.equal(
      await others.getAttribute("data-tone"),
      "unsure",
      "no green check for what nobody has proven",
    );
    await page.getByRole("link", { name: "Terminal" }).tap();
    await page.locator(".newest-receipt .receipt-state", { hasText: "Queued" }).waitFor();
  }));
