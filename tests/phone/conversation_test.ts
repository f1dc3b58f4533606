/** A session shows everything about it: both sides of the conversation, open questions in place, and what is unread. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { createRelayApi, type RelayApi } from "../../src/client/api.ts";
import { PAGE_LIMIT_MAX } from "../../src/protocol/limits.ts";
import { until } from "../helpers/until.ts";
import {
  bubble,
  kept,
  messageField,
  openMessages,
  type Scene,
  sendMessage,
  sendPatiently,
  withScene,
} from "./scene.ts";

const LISTENER = "dev_listener_00000001";

async function open(
  { phone, wire, relay, listener, makeKey }: Scene,
): Promise<{ page: Page; api: RelayApi }> {
  const { page } = phone;
  await listener.report({ name: "svc-demo", state: "working" }, { name: "svc-shop", agentLabel: "Codex" });
  const apiKey = await makeKey("push:read", "push:send");
  await page.goto(`${wire.url}/#key=${apiKey}`);
  await page.getByRole("link", { name: /shop · Codex/ }).waitFor();
  return { page, api: createRelayApi({ baseUrl: relay.url, apiKey }) };
}

const SUMMARY = [
  "## Fixed the rounding of VAT",
  "",
  "I changed **two** files and ran `deno test`:",
  "",
  "1. `src/vat.ts` rounds half up",
  "2. `tests/vat_test.ts` has the case",
  "",
  "```ts",
  "export const vat = (net: number) => Math.round(net * 19) / 100;",
  "```",
  "",
  '<img src="x.png" onerror="alert(1)"> stays text. See https://example.org/log.',
].join("\n");

Deno.test("a turn's end and a note appear among the messages, with their Markdown shown safely [ux-both-sides, ux-markdown]", () =>
  withScene(async (scene) => {
    const { phone, listener } = scene;
    const { page, api } = await open(scene);
    await api.sendPush({ type: "agent.command", agentSessionName: "svc-demo", body: "fix the rounding" });
    listener.acknowledge(await listener.received("fix the rounding"), { outcome: "submitted" });
    await api.sendPush({
      type: "agent.stop",
      agentSessionName: "svc-demo",
      title: "demo · Claude",
      body: SUMMARY,
    });
    await page.getByRole("link", { name: /demo · Claude/ }).tap();
    await page.getByRole("link", { name: "Messages" }).tap();
    const turn = page.locator(".agent-entry");
    await turn.getByText("Fixed the rounding of VAT").waitFor();
    assert.deepEqual(await turn.locator("li").allInnerTexts(), [
      "src/vat.ts rounds half up",
      "tests/vat_test.ts has the case",
    ]);
    assert.equal(await turn.locator("img, script, iframe").count(), 0);
    assert.equal(await turn.getByRole("link").getAttribute("href"), "https://example.org/log");
    // They are read separately, so the later one may appear first.
    await page.locator(".message").waitFor();
    const order = await page.locator(".bubbles > li").evaluateAll((all) => all.map((one) => one.className));
    assert.deepEqual(order, ["message", "agent-entry"]);
    await phone.shoot("conversation");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("an open question appears in its session, is answered there, and moves the session to the waiting ones [ux-both-sides, ux-waiting]", () =>
  withScene(async (scene) => {
    const { phone, listener } = scene;
    const { page, api } = await open(scene);
    const data = { kind: "ask", options: ["Yes", "No"], timeoutSeconds: 300, listener: LISTENER };
    await api.sendPush({ type: "ask", body: "Deploy to staging?", agentSessionName: "svc-shop", data });
    await page.locator('[data-group="waiting"]').getByRole("link", { name: /shop · Codex/ }).waitFor();
    await phone.shoot("picker-question");
    await page.getByRole("link", { name: /shop · Codex/ }).tap();
    await page.getByRole("link", { name: /1 question for you/ }).waitFor();
    await phone.shoot("terminal-question");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.getByRole("link", { name: /1 question for you/ }).tap();
    await page.getByText("Deploy to staging?").waitFor();
    await phone.shoot("messages-question");
    await page.getByRole("button", { name: "Yes" }).tap();
    listener.acknowledge(await listener.received("Yes"), { outcome: "submitted" });
    await page.getByText("In the session: Submitted").waitFor();
    await page.getByRole("link", { name: "All agents" }).tap();
    await page.locator('[data-group="idle"]').getByRole("link", { name: /shop · Codex/ }).waitFor();
  }));

Deno.test("unread items are counted on the card, the inbox and in the title until they are seen [ux-unread]", () =>
  withScene(async (scene) => {
    const { phone } = scene;
    const { page, api } = await open(scene);
    await page.getByText("Live", { exact: true }).waitFor();
    const note = (session: string, body: string) =>
      api.sendPush({ type: "note", agentSessionName: session, title: "Progress", body });
    await note("svc-demo", "one");
    await note("svc-demo", "two");
    await note("svc-shop", "three");
    const card = page.getByRole("link", { name: /demo · Claude/ });
    await card.getByText("2 unread").waitFor();
    await until("the title", async () => (await page.title()).startsWith("(3) "));
    await phone.shoot("picker-unread");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await card.tap();
    await until("the title", async () => (await page.title()).startsWith("(1) "));
    await page.getByRole("link", { name: "All agents" }).tap();
    await card.waitFor();
    assert.equal(await card.getByText("unread").count(), 0);
    await until(
      "the mark to be kept",
      async () => [...(await kept(page, "seen")).keys()].some((key) => key.includes("svc-demo")),
    );
    await page.reload();
    await page.getByRole("link", { name: /shop · Codex/ }).getByText("1 unread").waitFor();
    assert.equal(await card.getByText("unread").count(), 0);
    await page.getByRole("link", { name: /Inbox/ }).tap();
    await page.getByText("three").waitFor();
    await until("the title", async () => !(await page.title()).startsWith("("));
  }));

Deno.test("the count on the app's icon disappears when its items were settled elsewhere while the app was closed [ux-unread]", () =>
  withScene(async (scene) => {
    const { page } = scene.phone;
    // Stands in for the icon, which only an installed app has.
    await page.addInitScript(() => {
      const setAppBadge = (count: number): Promise<void> => {
        localStorage.setItem("badge", String(count));
        return Promise.resolve();
      };
      Object.defineProperty(navigator, "setAppBadge", { value: setAppBadge, configurable: true });
    });
    const badge = () => page.evaluate(() => localStorage.getItem("badge"));
    const { api } = await open(scene);
    await page.getByText("Live", { exact: true }).waitFor();
    const data = { kind: "ask", timeoutSeconds: 300 };
    const { id } = await api.sendPush({ type: "ask", agentSessionName: "svc-demo", body: "Merge?", data });
    const { createdAt } = (await api.getPush(id)).push;
    await until("the count", async () => await badge() === "1");
    await page.getByRole("link", { name: "1 question for you" }).tap();
    await page.getByText("Merge?").waitFor();
    const seenAt = async (): Promise<number> => (await kept<number>(page, "seen")).get("all") ?? 0;
    await until("the mark to be kept", async () => await seenAt() >= createdAt);
    await page.goto("about:blank");
    await api.sendPush({ type: "ask.answer", inReplyTo: id, body: "Yes" });
    await page.goto(scene.wire.url);
    await page.getByText("Live", { exact: true }).waitFor();
    await until("no count", async () => await badge() === "0");
  }));

Deno.test("an item opened by a tapped notification counts as read, even if the page was closed [ux-unread]", () =>
  withScene(async (scene) => {
    const { phone, wire } = scene;
    const { page, api } = await open(scene);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.goto("about:blank");
    const { id } = await api.sendPush({ type: "note", agentSessionName: "svc-shop", body: "the only one" });
    await page.goto(`${wire.url}/#/s/${LISTENER}/svc-shop/messages/${id}`);
    await page.getByText("the only one").waitFor();
    await page.getByRole("link", { name: "All agents" }).tap();
    await page.getByRole("link", { name: /shop · Codex/ }).waitFor();
    await until("the title", async () => !(await page.title()).startsWith("("));
    assert.deepEqual(phone.faults, []);
  }));

Deno.test("a phone with a wrong clock counts as unread only items that came after it signed in [ux-unread]", async () => {
  for (const [isWrong, hours] of [["ahead", 5], ["behind", -5]] as const) {
    await withScene(async (scene) => {
      const { phone: { page }, relay, makeKey } = scene;
      const api = createRelayApi({ baseUrl: relay.url, apiKey: await makeKey("push:send") });
      await page.addInitScript((ms) => {
        const now = Date.now;
        Date.now = () => now() + ms;
      }, hours * 3_600_000);
      const note = { type: "note", agentSessionName: "svc-demo" };
      await api.sendPush({ ...note, title: "before" });
      await open(scene);
      await page.getByText("Live", { exact: true }).waitFor();
      await api.sendPush({ ...note, title: "after" });
      await page.getByRole("link", { name: /demo · Claude/ }).getByText("1 unread").waitFor();
      await until(
        `the title, with the clock ${isWrong}`,
        async () => (await page.title()).startsWith("(1) "),
      );
    });
  }
});

Deno.test("a reader who scrolls up stays there, even if the page is drawn before it is notified of that", () =>
  withScene(async (scene) => {
    const { page, api } = await open(scene);
    for (let n = 0; n < 8; n++) {
      await api.sendPush({
        type: "agent.command",
        agentSessionName: "svc-demo",
        body: `${"line\n".repeat(10)}of ${n}`,
      });
    }
    await page.reload();
    await page.getByRole("link", { name: /demo · Claude/ }).tap();
    await page.getByRole("link", { name: "Messages" }).tap();
    await page.getByText("of 7").waitFor();
    const at = await page.locator("main.messages").evaluate(async (list) => {
      list.scrollTop = 0;
      const field = document.querySelector("textarea");
      if (field === null) throw new Error("no field is shown");
      field.value = "a draft";
      field.dispatchEvent(new Event("input", { bubbles: true }));
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
      return list.scrollTop;
    });
    assert.equal(at, 0);
  }));

Deno.test("earlier messages appear above the one that is being read, which does not move", () =>
  withScene(async (scene) => {
    const { page, api } = await open(scene);
    const count = PAGE_LIMIT_MAX + 30;
    const send = async (from: RelayApi, first: number): Promise<void> => {
      for (let n = first; n < first + count / 2; n++) {
        await sendPatiently(from, {
          type: "agent.command",
          agentSessionName: "svc-demo",
          body: `message ${n}`,
        });
      }
    };
    const other = createRelayApi({
      baseUrl: scene.relay.url,
      apiKey: await scene.makeKey("push:read", "push:send"),
    });
    await send(api, 0);
    await send(other, count / 2);
    await page.reload();
    await page.getByRole("link", { name: /demo · Claude/ }).tap();
    await page.getByRole("link", { name: "Messages" }).tap();
    await bubble(page, `message ${count - 1}`).waitFor();
    const list = page.locator("main.messages");
    await list.evaluate((element) => element.scrollTop = 0);
    const first = page.locator(".bubbles > li").first();
    const text = await first.innerText();
    const { y: before } = await first.boundingBox() ?? assert.fail("it is not shown");
    await page.getByRole("button", { name: "Show earlier messages" }).tap();
    await bubble(page, "message 0").first().waitFor({ state: "attached" });
    const same = page.locator(".bubbles > li", { hasText: text.split("\n")[0] ?? "" }).first();
    const { y: after } = await same.boundingBox() ?? assert.fail("it is not shown");
    assert.ok(Math.abs(after - before) < 2, `${before} became ${after}`);
  }));

Deno.test("typing into the message field does not redraw the conversation", () =>
  withScene(async (scene) => {
    const page = await openMessages(scene);
    await sendMessage(page, "one message");
    scene.listener.acknowledge(await scene.listener.received("one message"), { outcome: "submitted" });
    await bubble(page, "one message").getByText("Submitted").waitFor();
    // Each bubble formats its time every time it is drawn.
    const drawn = await page.evaluateHandle(() => {
      const { toISOString } = Date.prototype;
      const count = { times: 0 };
      Date.prototype.toISOString = function () {
        count.times++;
        return toISOString.call(this);
      };
      return count;
    });
    const times = () => drawn.evaluate((count) => count.times);
    const text = "the next message, letter by letter";
    await messageField(page).pressSequentially(text);
    assert.ok(await times() < text.length / 2, `the bubble was drawn ${await times()} times`);
  }));

Deno.test("a message that the user sends comes into view, after scrolling up and above a long open question [ux-both-sides, ux-small]", () =>
  withScene(async (scene) => {
    const { phone: { page } } = scene;
    const { api } = await open(scene);
    for (const text of ["first", "second"]) {
      const body = `${text}\n${"line\n".repeat(11)}`;
      await sendPatiently(api, { type: "agent.command", agentSessionName: "svc-demo", body });
    }
    await page.goto(`${scene.wire.url}/#/s/${LISTENER}/svc-demo/messages`);
    await page.reload();
    await bubble(page, "second").waitFor();
    const list = page.locator(".messages");
    await list.evaluate((element) => element.scrollTo(0, 0));
    const untilInView = (text: string): Promise<unknown> =>
      until(`"${text}" in view`, () =>
        bubble(page, text).evaluate((one) => {
          const [{ top, bottom }, frame] = [one, one.closest(".messages") ?? one].map((element) =>
            element.getBoundingClientRect()
          ) as [DOMRect, DOMRect];
          return top > frame.top - 1 && bottom < frame.bottom + 1;
        }));
    await sendMessage(page, "sent while reading");
    await untilInView("sent while reading");

    const data = { kind: "prompt", timeoutSeconds: 300, listener: LISTENER };
    const question = `Which way?\n${"A long line of the question.\n".repeat(40)}`;
    await api.sendPush({ type: "ask", body: question, agentSessionName: "svc-demo", data });
    await page.getByText("Which way?").waitFor();
    await sendMessage(page, "sent beside a question");
    await untilInView("sent beside a question");
  }));
