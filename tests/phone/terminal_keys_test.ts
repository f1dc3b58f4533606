/** Typing on the phone, in a real browser: the key row, live typing, and keys that are held. */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { until } from "../helpers/until.ts";
import { messageField, sendMessage } from "./scene.ts";
import { open, openSession, shown, status, untilShown, withTerminals } from "./terminal_scene.ts";

/** The keys of the row by name, with what the terminal receives, as `cat -vT` prints it. */
const KEY_ROW = [
  ["Esc", "^["],
  ["Tab", "^I"],
  ["Shift Tab", "^[[Z"],
  ["Up", "^[[A"],
  ["Down", "^[[B"],
  ["Left", "^[[D"],
  ["Right", "^[[C"],
  ["Enter", "^M"],
  ["Control C", "^C"],
] as const;

const key = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

Deno.test("terminal: each key of the row arrives once and is visible on the narrowest phone [spec-key-row]", () =>
  withTerminals(async ({ page, stack }) => {
    await stack.sandbox.tmux("new-session", "-d", "-s", "svc-keys", "stty raw -echo; exec cat -vT");
    await openSession(page, /svc-keys/);
    let typed = "";
    for (const [name, bytes] of KEY_ROW) {
      await key(page, name).tap();
      typed += bytes;
      await until(`"${typed}"`, async () => (await shown(page)).split("\n")[0] === typed);
    }
    await page.setViewportSize({ width: 320, height: 568 });
    for (const [name] of KEY_ROW) {
      const { x = -1, width = 0 } = await key(page, name).boundingBox() ?? {};
      assert.ok(x >= 0 && x + width <= 320, name);
    }
  }));

Deno.test("terminal: live typing, an input method, a paste and a message all arrive [spec-live-typing, ux-two-ways, ux-textarea]", () =>
  withTerminals(async (scene) => {
    const { page } = scene;
    const session = await open(scene);
    await page.getByRole("button", { name: "Live keys" }).tap();
    const field = page.getByRole("textbox", { name: /Type into the terminal/ });
    assert.equal(await field.evaluate((element) => element.tagName), "TEXTAREA");
    await field.pressSequentially("helloo");
    await field.press("Backspace");
    await untilShown(page, "❯ hello");
    const client = await page.context().newCDPSession(page);
    await client.send("Input.imeSetComposition", { selectionStart: 2, selectionEnd: 2, text: "かん" });
    await client.send("Input.insertText", { text: "漢字" });
    await untilShown(page, "❯ hello漢字");
    assert.doesNotMatch(await shown(page), /かん/, "what is still composed is not typed");
    await page.getByRole("button", { name: "Enter", exact: true }).tap();
    await until("the prompt", async () => (await session.prompts()).includes("hello漢字"));
    await field.evaluate((element: HTMLTextAreaElement) => {
      element.value = " two\nlines";
      element.dispatchEvent(new InputEvent("input", { bubbles: true }));
    });
    await untilShown(page, "lines");
    await field.press("Enter");
    await until("the paste as one prompt", async () => (await session.prompts()).includes("two\nlines"));
    await status(page).getByText(/^\d+ ms$/).waitFor();

    const usual = page.viewportSize();
    await page.setViewportSize({ width: 375, height: 800 });
    assert.equal(await page.locator(".latency").evaluate((one) => one.scrollWidth > one.clientWidth), false);
    if (usual !== null) await page.setViewportSize(usual);
    await scene.phone.shoot("terminal-live");
    assert.deepEqual([await scene.phone.violations(), await scene.phone.misfits()], [[], []]);
    await page.getByRole("button", { name: "Live keys" }).tap();
    await sendMessage(page, "as a message");
    await until("the message", async () => (await session.prompts()).includes("as a message"));
    await page.locator(".newest-receipt", { hasText: "Submitted" }).waitFor();
    await page.getByRole("link", { name: "Messages" }).tap();
    await page.locator(".receipt-state", { hasText: "Submitted" }).waitFor();
  }));

Deno.test("terminal: a phone's keyboard, which composes every word, types letter by letter with corrections [spec-live-typing]", () =>
  withTerminals(async (scene) => {
    const { page } = scene;
    await open(scene);
    await page.getByRole("button", { name: "Live keys" }).tap();
    await page.locator("textarea:focus:not([readonly])").waitFor();
    const client = await page.context().newCDPSession(page);
    const compose = async (text: string): Promise<void> => {
      // Phone keyboards do not report which key was pressed.
      await client.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key: "Unidentified" });
      const [selectionStart, selectionEnd] = [text.length, text.length];
      await client.send("Input.imeSetComposition", { selectionStart, selectionEnd, text });
    };
    await compose("t");
    await untilShown(page, "❯ t");
    await compose("teh");
    await untilShown(page, "❯ teh");
    await client.send("Input.insertText", { text: "the" });
    await untilShown(page, "❯ the");
    await client.send("Input.insertText", { text: " end" });
    await untilShown(page, "❯ the end");
  }));

Deno.test("terminal: the cursor's position in the live field does not affect a text, and a backspace deletes [spec-live-typing]", () =>
  withTerminals(async (scene) => {
    const { page } = scene;
    await open(scene);
    await page.getByRole("button", { name: "Live keys" }).tap();
    const field = page.locator("textarea:focus:not([readonly])");
    await field.waitFor();
    const client = await page.context().newCDPSession(page);
    // Inserts text as dictation or a paste does.
    const insert = (text: string) => client.send("Input.insertText", { text });
    await field.evaluate((element: HTMLTextAreaElement) => element.setSelectionRange(0, 0));
    await insert("git commit");
    await untilShown(page, "❯ git commit");
    await field.evaluate((element: HTMLTextAreaElement) => element.select());
    await insert("&& git push");
    await untilShown(page, "❯ git commit&& git push");
    const { x = 0, y = 0, height = 0 } = await field.boundingBox() ?? {};
    await page.touchscreen.tap(x + 4, y + height / 2);
    // A phone's keyboard reports no key.
    await field.evaluate(() => document.execCommand("delete"));
    await until("the deletion", async () => !(await shown(page)).includes("push"));
    await untilShown(page, "❯ git commit&& git pus");
  }));

Deno.test("terminal: at a permission dialog keys are held, no more are accepted, and the dialog stays open for the local user [inj-dialog-keys]", () =>
  withTerminals(async (scene) => {
    const { page, phone, stack } = scene;
    const session = await open(scene);
    await page.getByRole("button", { name: "Live keys" }).tap();
    const field = page.getByRole("textbox", { name: /Type into the terminal/ });
    await field.pressSequentially("/permit");
    await field.press("Enter");
    await untilShown(page, "Enter to confirm");
    const latency = page.locator(".latency");
    await latency.waitFor();
    await key(page, "Enter").tap();
    await status(page).getByText("A dialog is open, so keys are held").waitFor();
    const before = await latency.textContent();
    assert.equal(await key(page, "Esc").isDisabled(), true);
    assert.equal(await field.evaluate((element: HTMLTextAreaElement) => element.readOnly), true);
    await phone.shoot("terminal-held");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    assert.match(await session.screen(), /Enter to confirm/, "the dialog is still open");
    await stack.sandbox.tmux("send-keys", "-t", `=${session.name}:`, "Escape");
    await until("keys again", async () => !await key(page, "Esc").isDisabled());
    assert.equal(await latency.textContent(), before, "waiting for the dialog is no delay of the link");
    await field.pressSequentially("on it goes");
    await untilShown(page, "❯ on it goes");
  }));

Deno.test("terminal: with the phone's keyboard open the cursor, the keys and the field are visible [spec-live-typing, ux-small]", () =>
  withTerminals(async (scene) => {
    const { page, phone } = scene;
    await open(scene);
    await page.getByRole("button", { name: "Live keys" }).tap();
    const field = page.getByRole("textbox", { name: /Type into the terminal/ });
    for (
      const size of [{ width: 393, height: 330 }, { width: 320, height: 260 }, { width: 740, height: 200 }]
    ) {
      await page.setViewportSize(size);
      await field.pressSequentially("k");
      await until(`the cursor at ${size.width} × ${size.height}`, () => isInSight(page));
      // The page adapts to the visible height in the next frame.
      for (const control of [field, key(page, "Esc")]) {
        await until(`${control} at ${size.width} × ${size.height}`, async () => {
          const { y = -1, height = 0 } = await control.boundingBox() ?? {};
          return y >= 0 && y + height <= size.height && height >= 44;
        });
      }
    }
    await page.setViewportSize({ width: 393, height: 330 });
    await phone.shoot("terminal-keyboard");
  }));

Deno.test("terminal: on a small screen all keys, a receipt and the notice of a broken link leave the field in sight, and no key is covered [ux-small, ux-reconnecting]", () =>
  withTerminals(async (scene) => {
    const { page, phone, wire } = scene;
    await open(scene);
    await page.setViewportSize({ width: 320, height: 640 });
    await key(page, "More keys").tap();
    wire.freeze();
    await sendMessage(page, "while the link is dead");
    await page.locator(".newest-receipt").waitFor();
    const notice = page.locator(".notice");
    await notice.waitFor();
    const boxOf = async (locator: Locator) => await locator.boundingBox() ?? assert.fail("not shown");
    const [field, keys, over] = [
      await boxOf(messageField(page)),
      await boxOf(page.locator(".key-row")),
      await boxOf(notice),
    ];
    await phone.shoot("terminal-small");
    // The longest state of a receipt in German.
    await page.locator(".newest-receipt").evaluate((receipt) => {
      const [state] = receipt.getElementsByClassName("receipt-state");
      if (state) state.textContent = "Zurückgehalten";
    });
    const [state, actions] = [
      await boxOf(page.locator(".receipt-state")),
      await boxOf(page.locator(".newest-receipt .bubble-actions")),
    ];
    const isBeside = state.x + state.width <= actions.x;
    assert.ok(isBeside || state.y + state.height <= actions.y, "the buttons cover the state");
    assert.ok(state.height < 30, `the state is broken into lines: ${state.height}`);
    assert.ok(field.y + field.height <= 640, `the field ends at ${field.y + field.height}`);
    assert.ok(
      over.y + over.height <= keys.y,
      `the notice ends at ${over.y + over.height}, keys at ${keys.y}`,
    );
  }));

/** True if the cursor is entirely within the visible part of the terminal. */
async function isInSight(page: Page): Promise<boolean> {
  const place = await page.locator(".terminal-place").boundingBox();
  const cursor = await page.locator(".terminal-canvas .cursor").boundingBox();
  if (place === null || cursor === null) return false;
  return cursor.y >= place.y && cursor.y + cursor.height <= place.y + place.height &&
    cursor.x >= place.x && cursor.x + cursor.width <= place.x + place.width;
}

Deno.test("terminal: a key of the row does not overtake the word that the keyboard composes, and a text that is too long is refused whole [spec-live-typing]", () =>
  withTerminals(async ({ page, stack }) => {
    await stack.sandbox.tmux("new-session", "-d", "-s", "svc-keys", "stty raw -echo; exec cat -vT");
    await openSession(page, /svc-keys/);
    const untilTyped = (typed: string): Promise<unknown> =>
      until(`"${typed}"`, async () => (await shown(page)).split("\n")[0] === typed);
    await page.getByRole("button", { name: "Live keys" }).tap();
    const field = page.locator("textarea:focus:not([readonly])");
    await field.waitFor();
    const client = await page.context().newCDPSession(page);
    const compose = async (...texts: string[]): Promise<void> => {
      for (const text of texts) {
        await client.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key: "Unidentified" });
        const [selectionStart, selectionEnd] = [text.length, text.length];
        await client.send("Input.imeSetComposition", { selectionStart, selectionEnd, text });
      }
    };
    await compose("p", "pr", "prü", "prüf");
    await key(page, "Enter").tap();
    await untilTyped("prM-CM-<f^M");
    assert.equal(await field.inputValue(), " ", "the keyboard begins a new word, in the same field");
    await compose("n", "nö");
    await page.getByRole("button", { name: "Ctrl", exact: true }).tap();
    await field.pressSequentially("a");
    await untilTyped("prM-CM-<f^MnM-CM-6^A");

    await field.fill("x".repeat(17_000));
    await status(page).getByText("too long").waitFor();
    await field.pressSequentially("z");
    await untilTyped("prM-CM-<f^MnM-CM-6^Az");
  }));
