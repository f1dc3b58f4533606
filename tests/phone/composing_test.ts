/** What helps with writing a message, in a real browser: suggested commands, own snippets, texts sent before. */

import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { messageField, openMessages, sendMessage, showMessages, withScene } from "./scene.ts";
import { openSession, status, untilShown, withTerminals } from "./terminal_scene.ts";

/** Waits for the draft: a tap changes it after the tap was reported, and a stored draft appears after the page. */
async function untilDraft(page: Page, text: string): Promise<void> {
  await until(`the draft "${text}"`, async () => await messageField(page).inputValue() === text);
}

Deno.test("the agent's slash commands are suggested; a tap or the arrow keys and Enter put one into the draft and send nothing [ux-commands]", () =>
  withScene(async (scene) => {
    const { phone, listener } = scene;
    const page = await openMessages(scene);
    const field = messageField(page);
    const list = page.getByRole("listbox", { name: "Commands of this agent" });
    await field.fill("/");
    await list.getByRole("option", { name: "/compact" }).waitFor();
    assert.equal(await list.getByRole("option", { name: "/permissions" }).count(), 0);
    await page.getByRole("status").getByText("19 suggestions").waitFor();
    await phone.shoot("composer-commands");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    for (const option of await list.getByRole("option").all()) {
      assert.ok(((await option.boundingBox())?.height ?? 0) >= 44);
    }

    await field.fill("/co");
    await list.getByRole("option", { name: "/context" }).tap();
    await untilDraft(page, "/context");
    await list.waitFor({ state: "detached" });

    await field.fill("/co");
    await list.waitFor();
    await field.press("ArrowDown");
    await field.press("ArrowDown");
    const chosen = list.getByRole("option", { selected: true, name: "/context" });
    await chosen.waitFor();
    assert.equal(await field.getAttribute("aria-activedescendant"), await chosen.getAttribute("id"));
    await field.press("ArrowUp");
    await list.getByRole("option", { selected: true, name: "/compact" }).waitFor();
    await field.press("Enter");
    assert.equal(await field.inputValue(), "/compact");
    await list.waitFor({ state: "detached" });

    await field.fill("/c");
    await list.waitFor();
    await field.press("Escape");
    await list.waitFor({ state: "detached" });
    await field.press("Enter");
    assert.equal(await field.inputValue(), "/c\n", "without a choice, Enter is a new line");
    await field.fill("/home/user");
    assert.equal(await list.count(), 0);
    assert.deepEqual([listener.pushes, phone.faults], [[], []]);
  }));

const addButton = (page: Page) => page.getByRole("button", { name: "Add to the message" });

Deno.test("own snippets are saved, inserted into the draft at the cursor, renamed and deleted, and survive a reload [ux-snippets]", () =>
  withScene(async (scene) => {
    const { phone, listener } = scene;
    const page = await openMessages(scene);
    const sheet = page.getByRole("dialog");
    const snippet = (text: string) => sheet.getByRole("button", { name: text });
    await messageField(page).fill("Run the tests.\nFix what fails.");
    await addButton(page).tap();
    await sheet.getByRole("button", { name: "Save the draft as a snippet" }).tap();
    assert.equal(await sheet.getByLabel("Text").inputValue(), "Run the tests.\nFix what fails.");
    await phone.shoot("composer-snippet");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await sheet.getByRole("button", { name: "Save" }).tap();
    await snippet("Run the tests. Run the tests.").waitFor();
    await sheet.getByRole("button", { name: "Close" }).tap();
    await sheet.waitFor({ state: "detached" });
    assert.equal(await messageField(page).inputValue(), "Run the tests.\nFix what fails.", "the draft stays");

    await page.reload();
    await untilDraft(page, "Run the tests.\nFix what fails.");
    await messageField(page).fill("First: . Then push.");
    await messageField(page).evaluate((field: HTMLTextAreaElement) => field.setSelectionRange(7, 7));
    await addButton(page).tap();
    await sheet.getByRole("button", { name: "Change Run the tests." }).tap();
    await sheet.getByLabel("Name").fill("Tests");
    await sheet.getByRole("button", { name: "Save" }).tap();
    await snippet("Tests").first().waitFor();
    await phone.shoot("composer-add");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await snippet("Tests").first().tap();
    await sheet.waitFor({ state: "detached" });
    const inserted = "First: Run the tests.\nFix what fails. . Then push.";
    assert.equal(await messageField(page).inputValue(), inserted);
    await page.keyboard.type("!");
    assert.equal(
      await messageField(page).inputValue(),
      inserted.replace("fails.", "fails.!"),
      "the cursor is behind it",
    );

    await addButton(page).tap();
    await sheet.getByRole("button", { name: "Change Tests" }).tap();
    page.once("dialog", (dialog) => void dialog.accept());
    await sheet.getByRole("button", { name: "Delete" }).tap();
    await sheet.getByText("Texts that you send often").waitFor();
    await page.reload();
    await addButton(page).tap();
    await sheet.getByText("Texts that you send often").waitFor();
    assert.deepEqual([listener.pushes, phone.faults], [[], []]);
  }));

Deno.test("an earlier message is found and put into the draft; neither a tap nor Enter in the search sends it [ux-sent-before]", () =>
  withScene(async (scene) => {
    const { phone, listener } = scene;
    const page = await openMessages(scene);
    const texts = [
      "Run the tests.",
      "Commit and push.",
      "What is left?",
      "Run the linter.",
      "Go on.",
      "Stop.",
    ];
    for (const text of texts) {
      await sendMessage(page, text);
      listener.acknowledge(await listener.received(text), { outcome: "submitted" });
    }
    await page.reload();
    await page.getByText("Stop.").waitFor();
    await messageField(page).fill("Please: ");
    await addButton(page).tap();
    const sheet = page.getByRole("dialog");
    await sheet.getByRole("button", { name: "Stop." }).waitFor();
    await phone.shoot("composer-sent");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await sheet.getByRole("searchbox").fill("RUN the");
    await until("two texts", async () => await sheet.locator(".insert-choice").count() === 2);
    await sheet.getByRole("searchbox").press("Enter");
    await sheet.getByRole("button", { name: "Run the linter." }).tap();
    await untilDraft(page, "Please: Run the linter.");
    assert.equal(listener.pushes.length, texts.length, "nothing was sent");
  }));

Deno.test("the times offered for a message for later stay up to date while the sheet is open, and keep the focus [ux-later]", () =>
  withScene(async (scene) => {
    const page = await openMessages(scene);
    await messageField(page).fill("later");
    const afternoon = new Date();
    afternoon.setHours(14, 10, 0, 0);
    await page.clock.setFixedTime(afternoon);
    await addButton(page).tap();
    await page.getByRole("button", { name: "Send later" }).tap();
    const sheet = page.getByRole("dialog");
    await sheet.getByRole("button", { name: "15:10" }).focus();
    await page.clock.setFixedTime(afternoon.getTime() + 3 * 3_600_000);
    const offered = sheet.getByRole("button", { name: "18:10" });
    await offered.waitFor();
    assert.ok(await offered.evaluate((element) => element === document.activeElement));
    assert.match(await sheet.locator("input").getAttribute("min") ?? "", /T17:10$/);
    assert.deepEqual(scene.phone.faults, []);
  }));

/** Opens the exact screen of a session with 300 lines above its input. */
async function openLines(page: Page, { sandbox }: Stack): Promise<void> {
  const command = "seq -f 'line %g' 300; exec cat";
  await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", "svc-lines", command);
  await openSession(page, /svc-lines/);
  await untilShown(page, "line 300");
}

/** Switches to the screen as text; returns its place. */
async function showLinesAsText(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "More keys" }).tap();
  await page.getByRole("button", { name: "As text" }).tap();
  const text = page.getByRole("region", { name: "Terminal text" });
  await text.getByText("line 300").waitFor();
  return text;
}

Deno.test("the screen as text, the exact screen and the messages stay at their end while a message of several lines is written [ux-reading]", () =>
  withTerminals(async ({ page, stack }) => {
    await openLines(page, stack);
    const write = async (): Promise<void> => {
      const field = messageField(page);
      await field.fill("one\ntwo\nthree\nfour\nfive");
      for (const key of "six") {
        await field.press(key);
        // The browser reports a change of the scroll position in the next frame.
        await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
      }
    };
    await write();
    await untilShown(page, "line 300");
    assert.equal(await page.locator(".latest").count(), 0, "the exact screen is at its end");

    await messageField(page).fill("");
    const text = await showLinesAsText(page);
    await write();
    await status(page).getByText("Live").waitFor();
    const isAtEnd = await text.evaluate((p) => p.scrollHeight - p.clientHeight - p.scrollTop < 1);
    assert.deepEqual([isAtEnd, await page.locator(".latest").count()], [true, 0]);

    await messageField(page).fill("word\n".repeat(60));
    await page.getByRole("button", { name: "Send", exact: true }).tap();
    await showMessages(page);
    await page.getByText("word").waitFor();
    await write();
    const isListAtEnd = await page.locator(".messages").evaluate((list) =>
      list.scrollHeight - list.clientHeight - list.scrollTop < 1
    );
    assert.ok(isListAtEnd, "the messages are at their end");
  }));

Deno.test("the screen as text stays at its end when the window gets larger and smaller again between two frames [ux-reading]", () =>
  withTerminals(async ({ page, stack }) => {
    await openLines(page, stack);
    const text = await showLinesAsText(page);
    await until("the end", () => text.evaluate((p) => p.scrollHeight - p.clientHeight - p.scrollTop < 1));
    await text.evaluate(async (place) => {
      const { style } = document.querySelector<HTMLElement>(".session-foot") ?? document.body;
      // What a browser that is too busy for a frame does: two layouts, and then one event.
      for (const margin of ["-120px", ""]) {
        style.marginBottom = margin;
        place.getBoundingClientRect();
      }
      dispatchEvent(new Event("resize"));
      await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    });
    assert.ok(await text.evaluate((p) => p.scrollHeight - p.clientHeight - p.scrollTop < 1), "at the end");
    await status(page).getByText("Live").waitFor();
  }));

Deno.test("the field shows a draft as high when the phone is turned, and a whole line on the lowest screen [ux-small]", () =>
  withScene(async (scene) => {
    const page = await openMessages(scene);
    const field = messageField(page);
    await page.setViewportSize({ width: 844, height: 390 });
    await field.fill("A draft that takes one line in landscape, and several of them in portrait.");
    const hidden = () => field.evaluate((one) => one.scrollHeight - one.clientHeight);
    assert.equal(await hidden(), 0);
    await page.setViewportSize({ width: 390, height: 844 });
    await until("the whole draft in portrait", async () => await hidden() === 0);
    const high = await field.evaluate((one) => one.clientHeight);
    await page.setViewportSize({ width: 844, height: 390 });
    await until("a lower field", async () => await field.evaluate((one) => one.clientHeight) < high);
    assert.equal(await hidden(), 0);
    await page.setViewportSize({ width: 844, height: 200 });
    await page.evaluate(() => void (document.documentElement.style.fontSize = "200%"));
    await field.fill("One line");
    await until("a whole line of doubled size", async () => await hidden() === 0);
  }));
