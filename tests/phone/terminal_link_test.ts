/** The terminal over a link that breaks, in a real browser: it is reported, and recovers without gaps or repeats. */
import assert from "node:assert/strict";
import { until } from "../helpers/until.ts";
import { tapWhole } from "./scene.ts";
import { open, openSession, shown, status, untilShown, withTerminals } from "./terminal_scene.ts";

const LAST = 400;
const COUNTING = `i=0; while [ $i -lt ${LAST} ]; do i=$((i+1)); echo "line $i"; sleep 0.01; done; exec cat`;

Deno.test("terminal: after a cut in the middle of output it continues without gaps or repeats [ux-resume]", () =>
  withTerminals(async ({ page, stack, wire }) => {
    await stack.sandbox.tmux("new-session", "-d", "-s", "svc-count", "-x", "60", "-y", "20", COUNTING);
    await openSession(page, /svc-count/);
    for (let cuts = 0; cuts < 3; cuts++) {
      const before = await shown(page);
      await until("more output", async () => await shown(page) !== before || before.includes(`line ${LAST}`));
      wire.cut();
      await status(page).getByText("Live").waitFor();
    }
    await untilShown(page, `line ${LAST}`);
    await page.getByRole("button", { name: "More keys" }).tap();
    await page.getByRole("button", { name: "Select text" }).tap();
    const lines = (await page.locator(".terminal-text pre").innerText()).split("\n");
    const numbers = lines.map((line) => Number(/^line (\d+)$/.exec(line)?.[1]));
    assert.ok(numbers.length >= 19, String(numbers.length));
    assert.deepEqual(numbers, numbers.map((_number, place) => LAST - numbers.length + 1 + place));
  }));

Deno.test("terminal: a dead link is reported, keys are blocked, and afterwards it is live again [ux-reconnecting, ux-resume]", () =>
  withTerminals(async (scene) => {
    const { page, phone, stack, wire } = scene;
    const session = await open(scene);
    wire.freeze();
    await status(page).getByText("No connection").waitFor();
    assert.equal(await page.getByRole("button", { name: "Enter", exact: true }).isDisabled(), true);
    await phone.shoot("terminal-lost");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await stack.sandbox.tmux("send-keys", "-t", `=${session.name}:`, "typed locally meanwhile");
    wire.thaw();
    await untilShown(page, "❯ typed locally meanwhile");
    await status(page).getByText("Live").waitFor();
    assert.equal(await page.getByRole("button", { name: "Enter", exact: true }).isDisabled(), false);
  }));

Deno.test("terminal: a composition that ends while the link is dead stays in the field, and is typed with what follows [ux-textarea, ux-reconnecting]", () =>
  withTerminals(async (scene) => {
    const { page, wire } = scene;
    const session = await open(scene);
    await page.getByRole("button", { name: "Live keys" }).tap();
    const field = page.getByRole("textbox", { name: /Type into the terminal/ });
    await page.locator("textarea:focus:not([readonly])").waitFor();
    const client = await page.context().newCDPSession(page);
    await client.send("Input.imeSetComposition", { selectionStart: 2, selectionEnd: 2, text: "かん" });
    wire.freeze();
    await status(page).getByText("No connection").waitFor();
    await field.blur();
    assert.equal((await field.inputValue()).trim(), "かん");
    wire.thaw();
    await status(page).getByText("Live").waitFor();
    await untilShown(page, "❯");
    assert.doesNotMatch(await shown(page), /かん/, "it was not typed meanwhile");
    await field.focus();
    await field.evaluate((one: HTMLTextAreaElement) => one.setSelectionRange(9, 9));
    await field.pressSequentially("!");
    await untilShown(page, "❯ かん!");
    await page.getByRole("button", { name: "Enter", exact: true }).tap();
    await until("the prompt", async () => (await session.prompts()).includes("かん!"));
  }));

Deno.test("terminal: keys that were unconfirmed when the link broke are reported as uncertain [ux-resume]", () =>
  withTerminals(async (scene) => {
    const { page, stack, wire } = scene;
    await open(scene);
    stack.listener.kill("SIGSTOP");
    await tapWhole(page.getByRole("button", { name: "Left", exact: true }));
    wire.cut();
    await status(page).getByText("check whether they arrived").waitFor();
    stack.listener.kill("SIGCONT");
    await status(page).getByText("Live").waitFor();
    await until("a key after the warning was read", async () => {
      await page.getByRole("button", { name: "Left", exact: true }).tap();
      return await status(page).getByText("check whether they arrived").count() === 0;
    });
  }));

Deno.test("terminal: after a cut the whole screen is back, and keys that cannot be typed say so [ux-resume]", () =>
  withTerminals(async (scene) => {
    const { page, stack, wire } = scene;
    const session = await open(scene);
    wire.cut();
    await stack.send(session.name, "while it was cut");
    await untilShown(page, "│ while it was cut");
    await status(page).getByText("Live").waitFor();

    await stack.sandbox.tmux("new-session", "-d", "-s", "svc-shell", "bash --norc");
    await page.getByRole("link", { name: "All agents" }).tap();
    await openSession(page, /svc-shell/);
    await page.getByRole("button", { name: "Enter", exact: true }).tap();
    await status(page).getByText(/Not typed\. The agent is gone/).waitFor();
    await page.getByRole("button", { name: "Live keys" }).tap();
    await page.getByRole("textbox", { name: /Type into the terminal/ }).focus();
    await stack.sandbox.tmux("kill-session", "-t", "=svc-shell");
    await status(page).getByText("The session has ended. This is its last screen.").waitFor();
    await page.getByText(/^This session ended at /).waitFor();
    const url = page.url();
    await page.keyboard.type("it");
    assert.equal(page.url(), url, "what was meant for the terminal is no shortcut");
    await stack.sandbox.tmux("new-session", "-d", "-s", "svc-shell", "echo back again; exec cat");
    await untilShown(page, "back again");
  }));

Deno.test("terminal: its mirror opens before its code is loaded, and shows the screen once it is [ph-fast]", () =>
  withTerminals(async ({ stack, page }) => {
    const { name } = await stack.echo();
    await page.getByRole("link", { name: /Echo/ }).waitFor();
    // The service worker would answer from its copies.
    await page.evaluate(async () => {
      await (await navigator.serviceWorker.ready).unregister();
    });
    await page.route(/service_worker/, (route) => route.abort());
    const released = Promise.withResolvers<void>();
    await page.route(/terminal_screen-/, async (route) => {
      await released.promise;
      await route.continue();
    });
    const opened = Promise.withResolvers<void>();
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        if (String(payload).includes('"pane.opened"')) opened.resolve();
      }));
    await page.evaluate((hash) => location.hash = hash, `#/s/${stack.deviceId}/${name}`);
    await page.reload();
    await opened.promise;
    await status(page).getByText("Opening the terminal").waitFor();
    released.resolve();
    await untilShown(page, "❯");
    await status(page).getByText("Live").waitFor();
  }));

Deno.test("terminal: keys that were pressed without a connection are reported, also to someone who types on [ux-resume]", () =>
  withTerminals(async (scene) => {
    const { page, wire } = scene;
    await open(scene);
    await page.getByRole("button", { name: "Live keys" }).tap();
    await page.locator("textarea:focus:not([readonly])").waitFor();
    wire.freeze();
    await status(page).getByText("No connection").waitFor();
    await page.keyboard.press("q");
    wire.thaw();
    const warning = status(page).getByText("pressed without a connection were not sent");
    await warning.waitFor();
    await page.locator("textarea:not([readonly])").focus();
    await page.keyboard.press("a");
    await untilShown(page, "❯ a");
    assert.equal(await warning.count(), 1);
    await until("a key after it was read", async () => {
      await page.keyboard.press("b");
      return await warning.count() === 0;
    });
  }));

Deno.test("a session that is renamed while it is open says so, and leads to its new name [ux-ended]", () =>
  withTerminals(async ({ page, phone, stack }) => {
    const { sandbox } = stack;
    await sandbox.tmux("new-session", "-d", "-s", "svc-before", "echo its screen; exec cat");
    await openSession(page, /svc-before/);
    await untilShown(page, "its screen");
    await sandbox.tmux("rename-session", "-t", "=svc-before", "svc-after");
    await page.getByText("This session is called svc-after now.").waitFor();
    await status(page).getByText("The session was renamed.").waitFor();
    await sandbox.tmux("rename-session", "-t", "=svc-after", "svc-last");
    await page.getByText("This session is called svc-last now.").waitFor();
    assert.equal(await page.getByText(/has ended|ended at/).count(), 0);
    await phone.shoot("session-renamed");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.getByRole("link", { name: "Open it" }).tap();
    await status(page).getByText("Live").waitFor();
    await untilShown(page, "its screen");
    assert.match(page.url(), /svc-last/);
  }));
