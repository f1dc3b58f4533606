/** Every step with Tab, Enter, Space and the arrow keys only, with a visible focus at each, in a real browser. */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { createRelayApi } from "../../src/client/api.ts";
import { until } from "../helpers/until.ts";
import { withScene } from "./scene.ts";

/** More tab stops than any view has. */
const STOPS_MAX = 80;

/** Runs in the page: returns what has the focus, or undefined if the focus is not visible. */
function focusShown(): string | undefined {
  const element = document.activeElement;
  if (!(element instanceof HTMLElement) || element === document.body) return "body";
  // A new view's heading, from which Tab continues.
  if (element.tabIndex < 0) return "heading";
  const chain = [element, element.parentElement, element.parentElement?.parentElement];
  const look = (): string => {
    for (const animation of document.getAnimations()) {
      if (animation instanceof CSSTransition) animation.finish();
    }
    return chain.flatMap((one) => one ?? []).map((one) => {
      const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor } = getComputedStyle(one);
      return [outlineStyle === "none" ? "" : outlineWidth + outlineColor, boxShadow, borderColor].join(" ");
    }).join();
  };
  const focused = look();
  element.blur();
  const blurred = look();
  element.focus();
  const { top, bottom } = element.getBoundingClientRect();
  const isInView = bottom > 0 && top < innerHeight;
  const name = element.getAttribute("aria-label") ?? element.textContent ?? "";
  return focused !== blurred && isInView ? `${element.tagName} ${name.trim()}` : undefined;
}

/** Presses Tab until the element has the focus. The focus must be visible at each stop on the way. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  const isThere = (): Promise<boolean> => target.evaluate((element) => element === document.activeElement);
  for (let stop = 0; stop < STOPS_MAX; stop++) {
    const shown = await page.evaluate(focusShown);
    assert.ok(shown !== undefined, `the focus does not show on ${await page.evaluate(nameOfFocus)}`);
    if (await isThere()) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab does not reach ${target}`);
}

function nameOfFocus(): string {
  return document.activeElement?.outerHTML.slice(0, 200) ?? "";
}

async function open(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press("Enter");
}

Deno.test("the keyboard alone signs in, opens a session, sends, answers, mutes and changes settings, and the focus is always visible [ux-keyboard]", () =>
  withScene(async ({ phone, wire, relay, listener, makeKey }) => {
    const { page } = phone;
    const { keyboard } = page;
    const button = (name: string): Locator => page.getByRole("button", { name, exact: true });
    const link = (name: string | RegExp): Locator => page.getByRole("link", { name });
    const apiKey = await makeKey("push:read", "push:send");
    const session = { name: "svc-demo", createdAt: 1_790_000_000_000, widened: ["allowAgentEnd"] };
    listener.details = { muted: [] };
    await listener.report(session, { name: "svc-shop" });
    await page.goto(wire.url);
    await tabTo(page, page.getByLabel("API key", { exact: true }));
    await keyboard.insertText(apiKey);
    await keyboard.press("Enter");

    await open(page, link(/demo · Claude/));
    await open(page, link("Messages"));
    await tabTo(page, page.getByRole("textbox", { name: /Message to/ }));
    await keyboard.insertText("by keyboard");
    await open(page, button("Send"));
    listener.acknowledge(await listener.received("by keyboard"), { outcome: "submitted" });
    await tabTo(page, page.getByRole("textbox", { name: /Message to/ }));
    await keyboard.insertText("for later");
    await open(page, button("Add to the message"));
    await open(page, button("Send later"));
    await page.getByRole("heading", { name: "Send later" }).waitFor();
    await keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    // A closed dialog has no role, and is removed after that.
    const isBack = async (): Promise<boolean> => /Add to the message/.test(await page.evaluate(nameOfFocus));
    await until("the focus to be back", isBack);
    await page.getByText("Submitted", { exact: true }).waitFor();

    const api = createRelayApi({ baseUrl: relay.url, apiKey });
    const question = { type: "ask", agentSessionName: "svc-demo" };
    const one = { kind: "ask", timeoutSeconds: 300, options: ["Keep it", "Drop it"] };
    const several = { ...one, multiple: true, options: ["Tests", "Docs", "Types"] };
    const first = await api.sendPush({ ...question, body: "Drop the column?", data: one });
    await open(page, button("Drop it"));
    const state = async (id: string) => (await api.getPush(id)).receipt.state;
    await until("the first answer", async () => await state(first.id) === "answered");
    const second = await api.sendPush({ ...question, body: "What next?", data: several });
    await tabTo(page, page.getByRole("checkbox", { name: "Docs" }));
    await keyboard.press("Space");
    await open(page, page.getByRole("listitem").filter({ hasText: "What next?" }).getByRole("button").last());
    await until("the second answer", async () => await state(second.id) === "answered");

    await open(page, button("About this session"));
    const sheet = page.getByRole("dialog", { name: "demo · Claude" });
    await open(page, sheet.getByRole("button", { name: "Mute project" }));
    await listener.receivedType("project.mute");
    await open(page, sheet.getByRole("button", { name: "End agent" }));
    await open(page, sheet.getByRole("button", { name: "Keep it" }));
    await keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    assert.match(await page.evaluate(nameOfFocus), /About this session/, "the focus is back");

    await open(page, link("All agents"));
    await open(page, link(/Inbox/));
    await page.getByText("Drop the column?").waitFor();
    await open(page, link("All agents"));
    await open(page, link("Settings"));
    const ground = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await ground();
    await tabTo(page, page.getByLabel("Theme"));
    await keyboard.press("ArrowDown");
    await keyboard.press("ArrowDown");
    await until("the dark theme", async () => await ground() !== before);
    page.once("dialog", (dialog) => void dialog.accept());
    await open(page, button("Sign out"));
    await page.getByLabel("API key", { exact: true }).waitFor();
    assert.deepEqual(phone.faults, []);
  }));

Deno.test("the focus stays on a session that moves to another group, and on a question that is answered meanwhile [ux-keyboard]", () =>
  withScene(async ({ phone: { page }, wire, listener, makeKey }) => {
    const apiKey = await makeKey("push:read", "push:send");
    const api = createRelayApi({ baseUrl: wire.url, apiKey });
    const hasFocus = (one: Locator) => one.evaluate((element) => element === document.activeElement);
    await listener.report({ name: "svc-demo" }, { name: "svc-shop" });
    await page.goto(`${wire.url}/#key=${apiKey}`);
    const card = page.getByRole("link", { name: /shop · Claude/ });
    await card.waitFor();
    await page.evaluate(async () => void await navigator.serviceWorker.ready);
    await card.focus();
    await listener.report({ name: "svc-demo" }, { name: "svc-shop", state: "working" });
    await page.getByRole("link", { name: /shop · Claude.*Working/ }).waitFor();
    assert.ok(await hasFocus(card), "the session's card");

    const data = { kind: "ask", timeoutSeconds: 300, options: ["Keep it", "Drop it"] };
    const { id } = await api.sendPush({ type: "ask", agentSessionName: "svc-demo", body: "Drop it?", data });
    await page.goto(`${wire.url}/#/inbox`);
    const question = page.locator(`.question[data-id="${id}"]`);
    await question.getByRole("button", { name: "Keep it" }).focus();
    await api.sendPush({ type: "ask.answer", inReplyTo: id, body: "Drop it" });
    await question.getByRole("button", { name: "Keep it" }).waitFor({ state: "detached" });
    assert.ok(await hasFocus(question), "the question");
  }));
