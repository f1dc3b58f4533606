/** The terminal in a real browser: a real session, mirrored, zoomed, scrolled, selected and fitted. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { until } from "../helpers/until.ts";
import { withScene } from "./scene.ts";
import {
  canvas,
  open,
  openSession,
  shown,
  startProgram,
  status,
  untilShown,
  withTerminals,
} from "./terminal_scene.ts";

Deno.test("terminal: the session's screen in its colors, its status, and each view on a phone [spec-mirror, ux-session, ux-shots, seal-shown]", () =>
  withTerminals(async (scene) => {
    const { phone, page, stack } = scene;
    const session = await open(scene);
    await stack.send(session.name, "a message of the test");
    await untilShown(page, "│ a message of the test");
    await until("the same lines", async () => {
      const pane = (await session.screen()).trimEnd().split("\n").map((line) => line.trimEnd());
      return (await shown(page)).trimEnd() === pane.join("\n");
    });
    await startProgram(stack, { name: "svc-colors", cols: 60, rows: 12, program: COLORS });
    await status(page).getByText(/Live, \d+ × \d+/).waitFor();
    await status(page).getByText("Host not verified, encrypted").waitFor();
    await phone.shoot("terminal");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.getByRole("button", { name: "More keys" }).tap();
    await phone.shoot("terminal-more");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);

    await page.getByRole("link", { name: "All agents" }).tap();
    await openSession(page, /svc-colors/);
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
    await phone.shoot("terminal-colors");
    assert.deepEqual([phone.strangers, phone.faults], [[], []], "the policy stopped nothing");
  }));

const COLORS =
  String.raw`printf '\033[31;44mred on blue\033[0m \033[38;2;1;200;30mtrue\033[0m \033[1mbold\033[0m\r\n'; ` +
  String
    .raw`printf '漢字 wide\r\n'; seq 1 300; printf '\033[31;44mred on blue\033[0m \033[38;2;1;200;30mtrue\033[0m \033[1mbold\033[0m 漢字'; exec cat`;

Deno.test("terminal: it can be pinched, panned and scrolled back, and its text selected and copied [ux-mirror-touch]", () =>
  withTerminals(async (scene) => {
    const { page, stack } = scene;
    await startProgram(stack, { name: "svc-long", cols: 120, rows: 30, program: COLORS });
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
    await until("the letters of before", async () => Math.abs(await fontSize() - before) <= 1);
    await place.evaluate((element) => element.scrollTo(0, 0));
    await page.getByRole("button", { name: "More keys" }).tap();
    const small = await fontSize();
    await page.getByRole("button", { name: /larger text/ }).tap();
    await until("larger letters without two fingers", async () => await fontSize() === small + 2);
    await page.getByRole("button", { name: /smaller text/ }).tap();
    await page.getByRole("button", { name: "Earlier output" }).tap();
    await until("the lines above", () => place.evaluate((element) => element.scrollHeight > 2_000));
    await until("the page before", async () => !/^.*true bold 漢字/m.test(await shown(page)));
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

Deno.test("terminal: the text view says when the browser refuses to copy, and what to do then [ux-mirror-touch]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    await listener.report({ name: "svc-demo" });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("link", { name: /demo · Claude/ }).tap();
    await page.getByRole("button", { name: "More keys" }).tap();
    await page.getByRole("button", { name: "Select text" }).tap();
    await page.evaluate(() => {
      Clipboard.prototype.writeText = () => Promise.reject(new DOMException("Refused", "NotAllowedError"));
    });
    await page.getByRole("button", { name: "Copy all" }).tap();
    await page.getByRole("status").getByText("Select the text above, and copy it there.").waitFor();
    await page.getByRole("button", { name: "Copy all" }).waitFor();
    assert.deepEqual([await phone.violations(), await phone.misfits(), phone.faults], [[], [], []]);
  }));

/** Pinches: two fingers end `factor` times as far apart as they start. */
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

Deno.test("terminal: it is fitted to the phone only on request, and gets its size back on leaving and on a break [ux-no-resize]", () =>
  withTerminals(async (scene) => {
    const { page, stack, wire } = scene;
    const session = await open(scene);
    const size = (): Promise<string> =>
      stack.sandbox.tmux("display-message", "-p", "-t", `=${session.name}:`, "#{window_width}");
    const before = await size();
    const fit = async (): Promise<void> => {
      await page.getByRole("button", { name: "More keys" }).tap();
      await page.getByRole("button", { name: "Fit to phone" }).tap();
      await status(page).getByText("fitted").waitFor();
    };
    await fit();
    const cols = Number(await size());
    assert.ok(cols >= 30 && cols < 80, String(cols));
    await status(page).getByText(`Live, ${cols} ×`).waitFor();
    await scene.phone.shoot("terminal-fitted");
    const upright = page.viewportSize() ?? { width: 0, height: 0 };
    await page.setViewportSize({ width: upright.height, height: upright.width });
    await until("more columns on the turned phone", async () => Number(await size()) > 1.5 * cols);
    await page.setViewportSize(upright);
    await until("the columns of the upright phone", async () => Number(await size()) === cols);
    wire.cut();
    await until("the local terminal's size after the break", async () => await size() === before);
    await status(page).getByText(`Live, ${before} ×`).waitFor();
    assert.equal(await status(page).getByText("fitted").count(), 0, "nobody asked for it again");
    await fit();
    await page.getByRole("link", { name: "All agents" }).tap();
    await until("the local terminal's size", async () => await size() === before);
  }));

Deno.test("terminal: while text is selected the screen freezes and does not claim to be the newest; then it continues [ux-reconnecting]", () =>
  withTerminals(async ({ page, stack }) => {
    await startProgram(stack, { name: "svc-text", cols: 60, rows: 20, program: "echo first; exec cat" });
    await openSession(page, /svc-text/);
    await untilShown(page, "first");
    const select = (selector: string): Promise<void> =>
      page.locator(selector).first().evaluate((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        document.getSelection()?.addRange(range);
      });
    const selected = (): Promise<string> => page.evaluate(() => String(document.getSelection()).trim());
    await select(".terminal-line");
    await stack.sandbox.tmux("send-keys", "-t", "=svc-text:", "second", "Enter");
    await status(page).getByText("Earlier output").waitFor();
    assert.deepEqual([await selected(), (await shown(page)).includes("second")], ["first", false]);
    await page.evaluate(() => document.getSelection()?.removeAllRanges());
    await untilShown(page, "second");
    await status(page).getByText("60 × 20").waitFor();

    await page.getByRole("button", { name: "More keys" }).tap();
    await page.getByRole("button", { name: "As text" }).tap();
    const flowing = page.locator(".flowing-text");
    await flowing.getByText("second").waitFor();
    await select(".flowing-text");
    for (const word of ["third", "fourth", "fifth", "sixth", "seventh", "eighth"]) {
      await stack.sandbox.tmux("send-keys", "-t", "=svc-text:", word, "Enter");
      await page.locator(".terminal-canvas", { hasText: word }).waitFor({ state: "attached" });
    }
    assert.match(await selected(), /second$/);
    await page.evaluate(() => document.getSelection()?.removeAllRanges());
    await flowing.getByText("eighth").waitFor();
  }));

Deno.test("terminal: a reader of earlier lines stays there when the oldest are dropped, and sees how many are newer", () =>
  withTerminals(async ({ page, stack }) => {
    const script = "stty -echo; echo ready; read x; seq 5200; read x; seq 6001 6100; exec cat";
    await stack.sandbox.tmux("new-session", "-d", "-s", "svc-long", "-x", "60", "-y", "20", script);
    await openSession(page, /svc-long/);
    await untilShown(page, "ready");
    await stack.sandbox.tmux("send-keys", "-t", "=svc-long:", "Enter");
    await untilShown(page, "5200");
    const place = page.locator(".terminal-place");
    const topLine = (): Promise<string> =>
      place.evaluate((element) => {
        const { top } = element.getBoundingClientRect();
        const lines = [...element.querySelectorAll(".terminal-line")].map((line) => ({
          at: line.getBoundingClientRect().top - top,
          text: line.textContent ?? "",
        }));
        return lines.filter(({ at }) => at >= 0).sort((one, other) => one.at - other.at)[0]?.text.trim() ??
          "";
      });
    await place.evaluate((element) => element.scrollTop -= 3_000);
    await page.getByRole("button", { name: /Latest/ }).waitFor();
    const before = await topLine();
    await stack.sandbox.tmux("send-keys", "-t", "=svc-long:", "Enter");
    await page.getByRole("button", { name: /100/ }).waitFor();
    assert.match(before, /^\d{4}$/);
    assert.equal(await topLine(), before);
  }));
