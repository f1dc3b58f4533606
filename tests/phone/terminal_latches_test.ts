/** Ctrl and Alt of the key row, and pasting, in a real browser. */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { until } from "../helpers/until.ts";
import { open, openSession, shown, status, untilShown, withTerminals } from "./terminal_scene.ts";

const control = (page: Page) => page.locator('[data-key="ctrl"]');
const alt = (page: Page) => page.locator('[data-key="alt"]');
const liveField = (page: Page) => page.getByRole("textbox", { name: /Type into the terminal/ });
/** Waits, because a tap takes effect after it has been reported. */
const untilLatch = (key: Locator, latch: string) =>
  key.and(key.page().locator(`[data-latch="${latch}"]`)).waitFor();

Deno.test("terminal: Ctrl and Alt are held for one key, or until they are released, and show it [ux-latches]", () =>
  withTerminals(async ({ page, phone, stack }) => {
    await stack.sandbox.tmux("new-session", "-d", "-s", "svc-keys", "stty raw -echo; exec cat -vT");
    await openSession(page, /svc-keys/);
    const untilTyped = (typed: string): Promise<unknown> =>
      until(`"${typed}"`, async () => (await shown(page)).split("\n")[0] === typed);
    await page.getByRole("button", { name: "Ctrl", exact: true }).tap();
    await liveField(page).waitFor();
    await liveField(page).pressSequentially("ax");
    await untilTyped("^Ax");
    await untilLatch(control(page), "off");

    await control(page).tap();
    await control(page).tap();
    await page.getByRole("button", { name: "Ctrl, held until you tap again", pressed: true }).waitFor();
    await liveField(page).pressSequentially("bb");
    await untilTyped("^Ax^B^B");
    await alt(page).tap();
    await untilLatch(alt(page), "next");
    await phone.shoot("terminal-latches");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await alt(page).tap();
    await alt(page).tap();
    await control(page).tap();
    for (const key of [alt(page), control(page)]) await untilLatch(key, "off");

    await alt(page).tap();
    await untilLatch(alt(page), "next");
    await liveField(page).pressSequentially("f");
    await untilTyped("^Ax^B^B^[f");
    // A phone's keyboard composes a word and does not report the key.
    const client = await page.context().newCDPSession(page);
    await control(page).tap();
    await untilLatch(control(page), "next");
    await client.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key: "Unidentified" });
    await client.send("Input.imeSetComposition", { selectionStart: 1, selectionEnd: 1, text: "e" });
    await untilTyped("^Ax^B^B^[f^E");
    await client.send("Input.imeSetComposition", { selectionStart: 2, selectionEnd: 2, text: "ok" });
    await untilTyped("^Ax^B^B^[f^Eok");

    await control(page).tap();
    await untilLatch(control(page), "next");
    await page.getByRole("button", { name: "Up", exact: true }).tap();
    await status(page).getByText("Ctrl and Alt go with a letter").waitFor();
    await page.getByRole("button", { name: "Up", exact: true }).tap();
    await untilTyped("^Ax^B^B^[f^Eok^[[A");
    assert.equal(await status(page).getByText("Ctrl and Alt go with a letter").count(), 0);

    await control(page).tap();
    await untilLatch(control(page), "next");
    await liveField(page).pressSequentially("7");
    await status(page).getByText("Ctrl and Alt go with a letter").waitFor();
    await liveField(page).pressSequentially("y");
    await untilTyped("^Ax^B^B^[f^Eok^[[Ay");
    await liveField(page).press("Control+ArrowLeft");
    await status(page).getByText("Ctrl and Alt go with a letter").waitFor();
  }));

Deno.test("terminal: a key that the host refuses is explained, with a held Ctrl too [ux-latches]", () =>
  withTerminals(async (scene) => {
    const { page } = scene;
    await open(scene);
    await control(page).tap();
    await liveField(page).pressSequentially("z");
    await status(page).getByText("Use it at the computer.").waitFor();
  }));

Deno.test("terminal: the clipboard is pasted into the terminal, or the page says why it cannot be [ux-paste]", () =>
  withTerminals(async (scene) => {
    const { page } = scene;
    const session = await open(scene);
    const paste = async (): Promise<void> => {
      await page.getByRole("button", { name: "More keys" }).tap();
      await page.getByRole("button", { name: "Paste", exact: true }).tap();
    };
    const context = page.context();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate(() => navigator.clipboard.writeText("from the clipboard"));
    await paste();
    await untilShown(page, "❯ from the clipboard");
    assert.deepEqual(await session.prompts(), [], "it is not submitted");
    await page.evaluate(() => navigator.clipboard.writeText("\n"));
    await paste();
    await status(page).getByText("There is no text on the clipboard").waitFor();
    await page.evaluate(() => {
      Object.defineProperty(navigator, "clipboard", { value: undefined });
    });
    await paste();
    await status(page).getByText("does not let this page read the clipboard").waitFor();
    assert.deepEqual(await session.prompts(), []);
  }));
