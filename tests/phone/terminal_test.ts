/** The terminal in a real browser: a real session mirrored, typed into, scrolled, selected, and there again after a break. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { buildPhone } from "../../scripts/build_phone.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { until } from "../helpers/until.ts";
import { Phone } from "./phone.ts";
import { Wire } from "./wire.ts";

interface TerminalScene {
  stack: Stack;
  wire: Wire;
  phone: Phone;
  page: Page;
}

/** A phone that is signed in, over a wire that can break. */
async function withTerminals(act: (scene: TerminalScene) => Promise<void>): Promise<void> {
  await buildPhone({ outDir: `${CHECKOUT}dist/phone` });
  const stack = await makeStack();
  const ends: (() => unknown)[] = [() => stack[Symbol.asyncDispose]()];
  try {
    const wire = new Wire(Number(new URL(stack.url).port));
    ends.push(() => wire.close());
    const phone = await Phone.start(wire.url);
    ends.push(() => phone.close());
    await phone.page.goto(`${wire.url}/#key=${stack.apiKey}`);
    await act({ stack, wire, phone, page: phone.page });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

const canvas = (page: Page) => page.locator(".terminal-canvas");
const status = (page: Page) => page.locator(".terminal-status");

/** What the terminal's elements show, line by line. */
const shown = (page: Page): Promise<string> =>
  canvas(page).evaluate((element) => {
    const lines = [...element.querySelectorAll<HTMLElement>(".terminal-line")];
    const top = (line: HTMLElement): number => parseFloat(line.style.top);
    return lines.sort((one, other) => top(one) - top(other)).map((line) => line.textContent?.trimEnd()).join(
      "\n",
    );
  });

async function untilShown(page: Page, text: string): Promise<void> {
  await until(`"${text}" on the page`, async () => (await shown(page)).includes(text));
}

async function openSession(page: Page, label: RegExp): Promise<void> {
  await page.getByRole("link", { name: label }).tap();
  await status(page).getByText("Live").waitFor();
}

async function open({ stack, page }: TerminalScene): Promise<EchoSession> {
  const session = await stack.echo();
  await openSession(page, /Echo/);
  await untilShown(page, "❯");
  return session;
}

Deno.test("terminal: the session's screen in its colours, its status, and each view on a phone [spec-mirror, spec-key-row, seal-shown]", () =>
  withTerminals(async (scene) => {
    const { phone, page, stack } = scene;
    const session = await open(scene);
    await stack.send(session.name, "a message of the test");
    await untilShown(page, "│ a message of the test");
    const pane = (await session.screen()).trimEnd().split("\n").map((line) => line.trimEnd());
    await until("the same lines", async () => (await shown(page)).trimEnd() === pane.join("\n"));
    await stack.sandbox.tmux("new-session", "-d", "-s", "svc-colours", "-x", "60", "-y", "12", COLOURS);
    await status(page).getByText(/Live, \d+ × \d+/).waitFor();
    await status(page).getByText("Sealed, relay unproven").waitFor();
    await phone.shoot("terminal");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.getByRole("button", { name: "More", exact: true }).tap();
    await page.getByRole("button", { name: "Live keys" }).tap();
    await phone.shoot("terminal-live");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);

    await page.getByRole("link", { name: "All agents" }).tap();
    await openSession(page, /svc-colours/);
    await untilShown(page, "red on blue");
    const style = (text: string): Promise<string[]> =>
      canvas(page).getByText(text, { exact: true }).evaluate((element) => {
        const { color, backgroundColor, fontWeight } = getComputedStyle(element);
        return [color, backgroundColor, fontWeight];
      });
    assert.deepEqual(await style("red on blue"), ["rgb(224, 85, 97)", "rgb(92, 158, 230)", "400"]);
    assert.deepEqual((await style("true")).slice(0, 1), ["rgb(1, 200, 30)"]);
    assert.equal((await style("bold"))[2], "700");
    const widths = await canvas(page).evaluate((element) =>
      [...element.querySelectorAll(".uneven")].map((one) =>
        Math.round(one.getBoundingClientRect().width * 10)
      )
    );
    assert.equal(new Set(widths.slice(0, 2)).size, 1, "wide characters are as wide as each other");
    await phone.shoot("terminal-colours");
    assert.deepEqual([phone.strangers, phone.faults], [[], []], "the policy stopped nothing");
  }));

const COLOURS =
  String.raw`printf '\033[31;44mred on blue\033[0m \033[38;2;1;200;30mtrue\033[0m \033[1mbold\033[0m\r\n'; ` +
  String
    .raw`printf '漢字 wide\r\n'; seq 1 300; printf '\033[31;44mred on blue\033[0m \033[38;2;1;200;30mtrue\033[0m \033[1mbold\033[0m 漢字'; exec cat`;

Deno.test("terminal: live typing, an input method, the key row and a paste go in; a message still does [spec-live-typing, spec-key-row, ux-textarea]", () =>
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
    await page.getByRole("button", { name: "Control U" }).waitFor({ state: "detached" });
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

    await page.getByRole("button", { name: "Message", exact: true }).tap();
    await page.getByRole("textbox", { name: /Message to/ }).fill("as a message");
    await page.getByRole("button", { name: "Send", exact: true }).tap();
    await until("the message", async () => (await session.prompts()).includes("as a message"));
    await page.locator(".newest-receipt", { hasText: "Submitted" }).waitFor();
    await page.getByRole("link", { name: "Messages" }).tap();
    await page.locator(".receipt-state", { hasText: "Submitted" }).waitFor();
  }));

Deno.test("terminal: pinched, panned, scrolled back, its text selected and copied [ux-mirror-touch]", () =>
  withTerminals(async (scene) => {
    const { page, stack } = scene;
    await stack.sandbox.tmux(
      "-f",
      "/dev/null",
      "new-session",
      "-d",
      "-s",
      "svc-long",
      "-x",
      "120",
      "-y",
      "30",
      COLOURS,
    );
    await openSession(page, /svc-long/);
    await untilShown(page, "300");
    const place = page.locator(".terminal-place");
    const fontSize = (): Promise<number> =>
      canvas(page).evaluate((element) => parseFloat(getComputedStyle(element).fontSize));
    const before = await fontSize();
    await pinch(page, 2);
    await until("larger letters", async () => Math.abs(await fontSize() - 2 * before) <= 1);
    assert.ok(
      await place.evaluate((element) => element.scrollWidth > element.clientWidth),
      "it can be panned",
    );
    await pinch(page, 0.5);
    await place.evaluate((element) => element.scrollTo(0, 0));
    await page.getByRole("button", { name: "More", exact: true }).tap();
    await page.getByRole("button", { name: "Earlier output" }).tap();
    await until("the lines above", () => place.evaluate((element) => element.scrollHeight > 2_000));
    await place.evaluate((element) => element.scrollTo(0, 0));
    await untilShown(page, "漢字 wide");
    await page.getByRole("button", { name: "Select text" }).tap();
    const text = await page.locator(".terminal-text pre").innerText();
    assert.match(text, /^red on blue true bold\n漢字 wide\n1\n2\n3\n/);
    assert.match(text, /299\n300\nred on blue true bold 漢字$/);
    await scene.phone.shoot("terminal-text");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy all" }).tap();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
    await page.getByRole("button", { name: "Close" }).tap();
  }));

/** Two fingers, `factor` as far apart at the end as at the start. */
async function pinch(page: Page, factor: number): Promise<void> {
  const client = await page.context().newCDPSession(page);
  const at = (
    half: number,
  ): { x: number; y: number }[] => [{ x: 200 - half, y: 300 }, { x: 200 + half, y: 300 }];
  await client.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(50) });
  await client.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(50 * factor) });
  await client.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await client.detach();
}

Deno.test("terminal: fitted to the phone on request only, and the desk's size again on leaving [ux-no-resize]", () =>
  withTerminals(async (scene) => {
    const { page, stack } = scene;
    const session = await open(scene);
    const size = (): Promise<string> =>
      stack.sandbox.tmux("display-message", "-p", "-t", `=${session.name}:`, "#{window_width}");
    const desk = await size();
    await page.getByRole("button", { name: "More", exact: true }).tap();
    await page.getByRole("button", { name: "Fit to phone" }).tap();
    await until("the phone's size", async () => await size() !== desk);
    const cols = Number(await size());
    assert.ok(cols >= 30 && cols < 80, String(cols));
    await status(page).getByText(`Live, ${cols} ×`).waitFor();
    await scene.phone.shoot("terminal-fitted");
    await page.getByRole("link", { name: "All agents" }).tap();
    await until("the desk's size", async () => await size() === desk);
  }));

Deno.test("terminal: after a cut it is there again, whole; keys that cannot go in say so [ux-resume, inj-dialog-keys]", () =>
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
    await status(page).getByText(/Not typed.*Start the agent again/).waitFor();
    await stack.sandbox.tmux("kill-session", "-t", "=svc-shell");
    await status(page).getByText(/session is (gone|not there)/).waitFor();
    await stack.sandbox.tmux("new-session", "-d", "-s", "svc-shell", "echo back again; exec cat");
    await untilShown(page, "back again");
  }));
