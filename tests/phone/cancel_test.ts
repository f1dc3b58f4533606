/** No message is a dead end: cancelled, edited, sent later, in a real browser with real relay, listener and agents. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { until } from "../helpers/until.ts";
import { bubble, kept, messageField, openMessages, sendMessage, showMessages, withScene } from "./scene.ts";
import { open as openTerminal, withTerminals } from "./terminal_scene.ts";

const button = (page: Page, text: string, name: string) =>
  bubble(page, text).getByRole("button", { name, exact: true });

Deno.test("a held message is cancelled at its host and never typed; if edited, its text is in the field again [cancel-atomic, ux-no-dead-end]", () =>
  withTerminals(async (scene) => {
    const { page, stack, phone } = scene;
    const session = await openTerminal(scene);
    await stack.send(session.name, "/permit");
    await showMessages(page);
    await sendMessage(page, "never to be typed");
    await bubble(page, "never to be typed").getByText("On hold").waitFor();
    await sendMessage(page, "first wording");
    await phone.shoot("message-held");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await button(page, "never to be typed", "Cancel").tap();
    await bubble(page, "never to be typed").getByText("Cancelled", { exact: true }).waitFor();
    await button(page, "first wording", "Edit").tap();
    await until(
      "the text in the field",
      async () => await messageField(page).inputValue() === "first wording",
    );
    await sendMessage(page, "second wording");
    await page.getByRole("link", { name: "Terminal" }).tap();
    await page.getByText("On hold", { exact: true }).waitFor();
    await phone.shoot("terminal-held");
    await page.getByRole("button", { name: "Cancel", exact: true }).tap();
    await page.getByText("Cancelled", { exact: true }).waitFor();
    await stack.sandbox.tmux("send-keys", "-t", `=${session.name}:`, "Escape");
    await stack.send(session.name, "typed after the dialog");
    assert.deepEqual(await session.prompts(1), ["typed after the dialog"]);
  }));

Deno.test("a message that waits at the relay for its host is cancelled at once, and does not come back [cancel-queued, ux-no-dead-end]", () =>
  withScene(async (scene) => {
    const page = await openMessages(scene);
    scene.listener.stop();
    await page.getByText("workstation is offline").waitFor();
    await sendMessage(page, "for nobody");
    await bubble(page, "for nobody").getByText("Queued").waitFor();
    await button(page, "for nobody", "Cancel").tap();
    await bubble(page, "for nobody").getByText("Cancelled", { exact: true }).waitFor();
    await page.reload();
    await bubble(page, "for nobody").getByText("Cancelled", { exact: true }).waitFor();
    assert.deepEqual(scene.phone.faults, []);
  }));

Deno.test("a message whose sending is uncertain is cancelled too, whichever arrives first [cancel-queued, ux-no-dead-end]", () =>
  withScene(async (scene) => {
    const { listener } = scene;
    const page = await openMessages(scene);
    await page.route("**/pushes/send", async (route) => {
      if (/lost answer/.test(route.request().postData() ?? "")) await route.fetch();
      await route.abort("connectionreset");
    }, { times: 2 });
    await sendMessage(page, "a lost answer");
    await listener.received("a lost answer");
    await until("the button", () => button(page, "a lost answer", "Cancel").isVisible());
    await button(page, "a lost answer", "Cancel").tap();
    const cancel = await until(
      "the cancellation",
      () => listener.pushes.find(({ type }) => type === "agent.cancel"),
    );
    const push = await listener.received("a lost answer");
    assert.equal(cancel.inReplyTo, push.id);
    listener.acknowledge(push, { outcome: "withdrawn" });
    listener.acknowledge(cancel, { outcome: "submitted" });
    await bubble(page, "a lost answer").getByText("Cancelled", { exact: true }).waitFor();
  }));

Deno.test("what can be done with a message depends on how far it got [ux-no-dead-end]", () =>
  withScene(async (scene) => {
    const { listener } = scene;
    const page = await openMessages(scene);
    const names = async (text: string): Promise<string[]> =>
      await bubble(page, text).locator(".bubble-actions").getByRole("button").allInnerTexts();
    await sendMessage(page, "!ls");
    listener.acknowledge(await listener.received("!ls"), { outcome: "refused", reason: "shell_escape" });
    await bubble(page, "!ls").getByText("Refused").waitFor();
    assert.deepEqual(await names("!ls"), ["Edit"], "sent again it would be refused again");
    await sendMessage(page, "after live keys");
    listener.acknowledge(await listener.received("after live keys"), {
      outcome: "refused",
      reason: "phone_draft",
    });
    await bubble(page, "after live keys").getByText("typed from a phone with Live keys").waitFor();
    assert.deepEqual(await names("after live keys"), ["Edit", "Send anyway"]);
    await sendMessage(page, "who knows");
    listener.acknowledge(await listener.received("who knows"), {
      outcome: "unknown",
      reason: "not_confirmed",
    });
    await bubble(page, "who knows").getByText("Unclear").waitFor();
    assert.deepEqual(await names("who knows"), ["Send again"], "it never becomes a draft");
    assert.equal(await messageField(page).inputValue(), "");
    await messageField(page).fill("a draft\nof two lines");
    await until(
      "the draft on disk",
      async () => [...(await kept(page, "drafts")).values()].includes("a draft\nof two lines"),
    );
    await page.reload();
    await bubble(page, "who knows").getByText("Unclear").waitFor();
    assert.equal(await messageField(page).inputValue(), "a draft\nof two lines");
    assert.deepEqual(await names("who knows"), ["Send again"]);
    await page.getByRole("link", { name: "All agents" }).tap();
    await page.getByRole("link", { name: /demo · Claude/ }).tap();
    assert.equal(await page.getByRole("textbox", { name: /Message/ }).inputValue(), "a draft\nof two lines");
  }));

Deno.test("the focus moves from a message's button to its message, to the list if it is gone, or to the field with its text [ux-keyboard, ux-no-dead-end]", () =>
  withScene(async (scene) => {
    const page = await openMessages(scene);
    const press = (text: string, name: string): Promise<void> => button(page, text, name).press("Enter");
    const focused = (): Promise<string> =>
      page.evaluate(() => {
        const { tagName, textContent } = document.activeElement ?? document.body;
        return `${tagName} ${tagName === "LI" ? textContent : ""}`.trim();
      });
    const untilFocused = (what: RegExp): Promise<unknown> =>
      until(`the focus on ${what}`, async () => what.test(await focused()));
    scene.listener.stop();
    await page.getByText("workstation is offline").waitFor();
    for (const text of ["to cancel", "to edit"]) {
      await sendMessage(page, text);
      await bubble(page, text).getByText("Queued").waitFor();
    }
    await press("to cancel", "Cancel");
    await bubble(page, "to cancel").getByText("Cancelled", { exact: true }).waitFor();
    await untilFocused(/^LI to cancel/);
    await press("to cancel", "Send again");
    await until("the other one", async () => await bubble(page, "to cancel").count() === 2);
    await untilFocused(/^LI to cancel/);
    await press("to edit", "Edit");
    await untilFocused(/^TEXTAREA$/);
    await until("its text", async () => await messageField(page).inputValue() === "to edit");

    await page.route("**/pushes/send", (route) => route.fulfill({ status: 413, body: "too large" }));
    await sendMessage(page, "to discard");
    await press("to discard", "Discard");
    await bubble(page, "to discard").waitFor({ state: "detached" });
    await untilFocused(/^MAIN$/);
    await sendMessage(page, "not sent");
    await button(page, "not sent", "Discard").waitFor();
    await press("not sent", "Edit");
    await untilFocused(/^TEXTAREA$/);
    assert.equal(await messageField(page).inputValue(), "not sent");

    await sendMessage(page, "from the terminal");
    await page.getByRole("link", { name: "Terminal" }).tap();
    await page.locator(".newest-receipt").getByRole("button", { name: "Discard" }).press("Enter");
    await untilFocused(/^SECTION$/);
    const { outlineStyle, outlineOffset } = await page.locator(".session-foot").evaluate((foot) => {
      const { outlineStyle, outlineOffset } = getComputedStyle(foot);
      return { outlineStyle, outlineOffset };
    });
    assert.deepEqual([outlineStyle, outlineOffset], ["solid", "-3px"], "the screen's edge does not hide it");
    assert.deepEqual(scene.phone.faults, []);
  }));

Deno.test("text left by this phone's live keys is called so when a message meets it [inj-phone-draft]", () =>
  withTerminals(async (scene) => {
    const { page } = scene;
    const session = await openTerminal(scene);
    await page.getByRole("button", { name: "Live keys" }).tap();
    await page.getByRole("textbox", { name: /Type into the terminal/ }).pressSequentially("begun");
    await until("the live draft", async () => /❯ begun/.test(await session.screen()));
    await page.getByRole("button", { name: "Live keys" }).tap();
    await sendMessage(page, " and sent");
    await page.getByText("Refused", { exact: true }).waitFor();
    await page.getByText("typed from a phone with Live keys").first().waitFor();
    await page.getByRole("button", { name: "Send anyway" }).tap();
    assert.deepEqual(await session.prompts(1), ["begun and sent"]);
  }));

Deno.test("a message for later is stored, listed, survives the listener's restart and a reload, and is typed once [later-typed, ux-later]", () =>
  withTerminals(async (scene) => {
    const { page, stack, phone } = scene;
    const session = await openTerminal(scene);
    await stack.send(session.name, "/work 3600");
    await later(page, "from the terminal", /^At /);
    const newest = page.locator(".newest-receipt");
    await newest.getByText("Scheduled").waitFor();
    await newest.getByRole("button", { name: "Cancel" }).tap();
    await showMessages(page);
    await later(page, "once you are done", "When the agent is idle");
    await bubble(page, "once you are done").getByText("It is typed when the agent is idle.").waitFor();
    await later(page, "not after all", /^At /);
    await bubble(page, "not after all").getByText("Scheduled").waitFor();
    await phone.shoot("message-scheduled");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await button(page, "not after all", "Cancel").tap();
    await bubble(page, "not after all").getByText("Cancelled", { exact: true }).waitFor();
    await stack.restartListener();
    await page.reload();
    await bubble(page, "once you are done").getByText("Scheduled").waitFor();
    assert.deepEqual(await session.prompts(), []);
    await stack.sandbox.tmux("send-keys", "-t", `=${session.name}:`, "Escape");
    await bubble(page, "once you are done").getByText("Submitted").waitFor();
    assert.deepEqual(await session.prompts(1), ["once you are done"]);
  }));

Deno.test("a message waits until the usage limit that the agent shows has reset [later-limit, ux-later]", () =>
  withTerminals(async (scene) => {
    const { page, stack, phone } = scene;
    const session = await openTerminal(scene);
    await stack.send(session.name, "You've hit your session limit · resets in 3 hours");
    await page.getByText("The agent has reached its usage limit, which resets at").waitFor();
    await page.getByRole("textbox").fill("go on");
    await page.getByRole("button", { name: "Add to the message" }).tap();
    await page.getByRole("button", { name: "Send later" }).tap();
    await page.getByRole("button", { name: /usage limit has reset/ }).waitFor();
    await phone.shoot("send-later");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.getByRole("button", { name: /usage limit has reset/ }).tap();
    await page.getByRole("link", { name: "Messages" }).tap();
    await bubble(page, "go on").getByText("It is typed when the agent's usage limit has reset.").waitFor();
    assert.equal((await session.prompts()).length, 1);
  }));

async function later(page: Page, text: string, choice: string | RegExp): Promise<void> {
  await messageField(page).fill(text);
  await page.getByRole("button", { name: "Add to the message" }).tap();
  await page.getByRole("button", { name: "Send later" }).tap();
  await page.getByRole("button", { name: choice }).first().tap();
}
