/** Reading a terminal on the phone: history, the way back to the newest line, finding, selecting, text as an alternative to the exact screen. */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { until } from "../helpers/until.ts";
import {
  openSession,
  shown,
  startProgram,
  status,
  type TerminalScene,
  untilShown,
  withTerminals,
} from "./terminal_scene.ts";

const SESSION = "svc-lines";
const PROGRAM = 'i=1; while [ $i -le 300 ]; do echo "line $i of the log"; i=$((i+1)); done; exec cat';

/** Opens a session with 300 lines, most of them above the screen, that repeats what is typed into it. */
async function openLines({ stack, page }: TerminalScene): Promise<void> {
  await startProgram(stack, { name: SESSION, cols: 60, rows: 20, program: PROGRAM });
  await openSession(page, /lines/);
  await untilShown(page, "line 300 of the log");
}

/** Drags with one finger, from the middle of the terminal, in small steps. */
async function drag(page: Page, pixels: number): Promise<void> {
  const box = await page.locator(".terminal-place").boundingBox();
  const [x, y] = [(box?.x ?? 0) + 100, (box?.y ?? 0) + (box?.height ?? 0) / 2 - pixels / 2];
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] });
  for (let step = 1; step <= 10; step++) {
    const point = { x, y: y + pixels * step / 10 };
    await cdp.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: [point] });
  }
  await cdp.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await cdp.detach();
}

/** Scrolls and waits: the exact screen reports its position when it is drawn, which is a frame later. */
async function scrollScreenBehind(page: Page, toTop: boolean): Promise<void> {
  await page.locator(".terminal-place").evaluate(async (place, isTop) => {
    place.scrollTop = isTop ? 0 : place.scrollHeight;
    const frame = (): Promise<number> => new Promise(requestAnimationFrame);
    await frame();
    await frame();
  }, toTop);
}

/** Finds lines that are above the screen, as soon as they are loaded, in the bar that is open. */
async function findInHistory(page: Page): Promise<Locator> {
  const field = page.getByLabel("Find in the terminal's output");
  await until("the match in what was loaded", async () => {
    await field.fill("");
    await field.fill("LINE 12");
    return await page.getByText("11 of 11").isVisible();
  });
  return field;
}

const pill = (page: Page) => page.getByRole("button", { name: /^Latest/ });

Deno.test("pulling down loads the history; away from the end nothing says Live, and a pill counts new lines and leads back [ux-reading]", () =>
  withTerminals(async (scene) => {
    const { page, phone, stack: { sandbox } } = scene;
    await openLines(scene);
    assert.equal(await pill(page).count(), 0);
    await until("the history", async () => {
      await drag(page, 160);
      return await status(page).getByText("Earlier output").isVisible();
    });
    assert.equal(await status(page).getByText("Live").count(), 0);
    await page.locator(".terminal-place").evaluate((place) => place.scrollTop = 0);
    await untilShown(page, "line 5 of the log");
    await phone.shoot("terminal-earlier");
    await sandbox.tmux("send-keys", "-t", `=${SESSION}:`, "one", "Enter", "two", "Enter");
    await page.getByRole("button", { name: /^Latest, \d+ new$/ }).waitFor();
    await untilShown(page, "line 5 of the log");
    await phone.shoot("terminal-new-lines");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await pill(page).tap();
    await untilShown(page, "two");
    await status(page).getByText("Live").waitFor();
    assert.equal(await pill(page).count(), 0);
    assert.deepEqual(phone.faults, []);
  }));

Deno.test("text is found in the whole output, match by match, and the highlight disappears with the bar [ux-reading]", () =>
  withTerminals(async (scene) => {
    const { page, phone } = scene;
    await openLines(scene);
    await page.getByRole("button", { name: "More keys" }).tap();
    await page.getByRole("button", { name: "Find", exact: true }).tap();
    await findInHistory(page);
    await untilShown(page, "line 129 of the log");
    assert.match(await page.locator(".terminal-line.found").textContent() ?? "", /line 129/);
    await page.getByRole("button", { name: "Earlier match" }).tap();
    await page.getByText("10 of 11").waitFor();
    const [bar, screen] = await Promise.all(
      [".find-bar", ".terminal-place"].map((one) => page.locator(one).boundingBox()),
    );
    assert.ok(bar && screen && bar.y + bar.height <= screen.y + 1, "the bar covers no line");
    await phone.shoot("terminal-find");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.getByRole("button", { name: "Close" }).tap();
    await until("no mark", async () => await page.locator(".found").count() === 0);
  }));

Deno.test("what was printed before the terminal was opened is loaded however much has been printed since [ux-reading]", () =>
  withTerminals(async (scene) => {
    const { page, stack: { sandbox } } = scene;
    await openLines(scene);
    const typed = Array.from({ length: 40 }, (_, at) => [`new ${at}`, "Enter"]).flat();
    await sandbox.tmux("send-keys", "-t", `=${SESSION}:`, ...typed);
    await untilShown(page, "new 39");
    await page.getByRole("button", { name: "More keys" }).tap();
    await page.getByRole("button", { name: "Earlier output" }).tap();
    await status(page).getByText("Earlier output").waitFor();
    await page.getByRole("button", { name: "Find", exact: true }).tap();
    await findInHistory(page);
  }));

Deno.test("if there is no earlier output, lines that are printed later are counted and move nothing out of place [ux-reading]", () =>
  withTerminals(async ({ page, stack: { sandbox } }) => {
    const place = ["-x", "60", "-y", "20", "-c", sandbox.project, "-e", `HOME=${sandbox.home}`];
    const program = ["sh", "-c", "stty -echo; exec cat"];
    await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", SESSION, ...place, ...program);
    await openSession(page, /lines/);
    const print = (lines: readonly string[]): Promise<string> =>
      sandbox.tmux("send-keys", "-t", `=${SESSION}:`, ...lines.flatMap((line) => [line, "Enter"]));
    await print(Array.from({ length: 120 }, (_, at) => `line ${at} of the output`));
    await untilShown(page, "line 119 of the output");
    await page.getByRole("button", { name: "More keys" }).tap();
    // What is printed once the host has sent the whole screen comes after it.
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Network.enable");
    const whole = Promise.withResolvers<void>();
    cdp.on("Network.webSocketFrameReceived", ({ response }) => {
      if (response.payloadData.length > 1_000) whole.resolve();
    });
    await page.getByRole("button", { name: "Earlier output" }).tap();
    await status(page).getByText("Earlier output").waitFor();
    await whole.promise;
    const top = (): Promise<string | undefined> =>
      page.locator(".terminal-place").evaluate((element) => {
        const edge = element.getBoundingClientRect().top;
        const above = (line: Element): number => line.getBoundingClientRect().top - edge;
        const lines = [...element.querySelectorAll(".terminal-line")].filter((line) => above(line) >= 0);
        return lines.sort((one, other) => above(one) - above(other))[0]?.textContent?.trim();
      });
    const before = await top();
    await print(["one", "two", "three"]);
    await page.getByRole("button", { name: "Latest, 3 new" }).waitFor();
    assert.equal(await top(), before);
  }));

Deno.test("Esc leads from the search back to the screen, and an input method's keys search nothing [ux-reading, ux-keyboard]", () =>
  withTerminals(async (scene) => {
    const { page } = scene;
    await openLines(scene);
    await page.keyboard.press("Control+k");
    const field = await findInHistory(page);
    // Keys as browsers report them when they confirm and end a composition.
    await field.evaluate((element) => {
      for (const key of ["Enter", "Escape"]) {
        element.dispatchEvent(new KeyboardEvent("keydown", { key, isComposing: true, bubbles: true }));
      }
    });
    await page.getByText("11 of 11").waitFor();
    await field.press("Enter");
    await page.getByText("10 of 11").waitFor();

    await field.press("Escape");
    await field.waitFor({ state: "detached" });
    const focused = page.locator(".terminal-place:focus");
    assert.equal(await focused.count(), 1, "the screen has the focus, and the session is still open");
  }));

Deno.test("the screen as text wraps at the phone's width; that and the text size are kept for the session [ux-reading]", () =>
  withTerminals(async (scene) => {
    const { page, phone } = scene;
    await openLines(scene);
    const fontSize = (): Promise<string> =>
      page.locator(".terminal-canvas").evaluate((canvas: HTMLElement) => canvas.style.fontSize);
    await page.getByRole("button", { name: "More keys" }).tap();
    const before = await fontSize();
    await page.getByRole("button", { name: "A+, larger text" }).tap();
    await until("larger letters", async () => await fontSize() !== before);
    const larger = await fontSize();
    await page.getByRole("button", { name: "As text" }).tap();
    const text = page.getByRole("region", { name: "Terminal text" });
    await text.getByText("line 300 of the log").waitFor();
    await phone.shoot("terminal-as-text");
    const isWide = await text.evaluate((place) => place.scrollWidth > place.clientWidth);
    assert.equal(isWide, false);
    const isAtEnd = () => text.evaluate((p) => p.scrollHeight - p.clientHeight - p.scrollTop < 1);
    const size = page.viewportSize() ?? assert.fail("no size");
    // As when the phone's keyboard opens and closes.
    for (const height of [size.height - 200, size.height]) {
      await page.setViewportSize({ ...size, height });
      await until(`the end at ${height} pixels`, isAtEnd);
    }
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    // A scroll in the frame in which the page's height changes is undone.
    await until("the text's beginning", async () => {
      await text.evaluate((place) => place.scrollTop = 0);
      return await status(page).getByText("Earlier output").isVisible();
    });
    for (const place of ["top", "end"]) await scrollScreenBehind(page, place === "top");
    // The screen behind has loaded the history. A tap in the frame in which the text grows by it is lost.
    await until(
      "the history in the text",
      () => text.evaluate((p) => p.textContent?.startsWith("line 1 of")),
    );
    await status(page).getByText("Earlier output").waitFor();
    assert.equal(await text.evaluate((place) => place.scrollTop), 0, "the text is where it was left");
    await pill(page).tap();
    await status(page).getByText("Live").waitFor();
    await page.reload();
    await text.getByText("line 300 of the log").waitFor();
    assert.equal(await fontSize(), larger);
  }));

Deno.test("a selection in the screen stays while the program prints, and copies its text [ux-reading]", () =>
  withTerminals(async (scene) => {
    const { page, stack: { sandbox } } = scene;
    await openLines(scene);
    const selected = (): Promise<string> => page.evaluate(() => String(document.getSelection()));
    await page.locator(".terminal-line", { hasText: "line 299" }).evaluate((line) => {
      document.getSelection()?.selectAllChildren(line);
    });
    assert.equal((await selected()).trim(), "line 299 of the log");
    await sandbox.tmux(
      "send-keys",
      "-t",
      `=${SESSION}:`,
      ...Array.from({ length: 30 }, () => ["x", "Enter"]).flat(),
    );
    await until("the lines at the pane", async () => /(x\n){10}/.test(await sandbox.screen(SESSION)));
    assert.equal((await selected()).trim(), "line 299 of the log");
    await page.evaluate(() => document.getSelection()?.removeAllRanges());
    await until(
      "the newest screen",
      async () => await page.locator(".terminal-line", { hasText: "line 299" }).count() === 0,
    );
  }));

Deno.test("a terminal is followed while its program prints, whatever height the page leaves it [ux-reading]", () =>
  withTerminals(async ({ stack, page }) => {
    const program =
      "i=0; while [ ! -e stop ]; do i=$((i+1)); echo row $i; sleep 0.03; done; echo the end; exec cat";
    await startProgram(stack, { name: "svc-rows", cols: 60, rows: 24, program });
    await openSession(page, /svc-rows/);
    const newest = async (): Promise<number> =>
      Math.max(0, ...Array.from((await shown(page)).matchAll(/row (\d+)/g), ([, row]) => Number(row)));
    for (let turn = 0; turn < 12; turn++) {
      const before = await newest();
      await page.setViewportSize({ width: 390, height: turn % 2 === 0 ? 510 : 844 });
      await until("newer rows", async () => await newest() > before + 5);
    }
    await Deno.writeTextFile(`${stack.sandbox.project}/stop`, "");
    await untilShown(page, "the end");
    assert.equal(await status(page).getByText("Earlier output").count(), 0);
  }));

Deno.test("lines that are selected on the screen are copied as they were printed, also after scrolling up [ux-mirror-touch]", () =>
  withTerminals(async (scene) => {
    const { page, stack: { sandbox } } = scene;
    await openLines(scene);
    const wide = "漢字".repeat(20);
    await sandbox.tmux("resize-window", "-t", `=${SESSION}:`, "-x", "61", "-y", "20");
    await sandbox.tmux("send-keys", "-t", `=${SESSION}:`, "-l", wide);
    await untilShown(page, "漢字漢字");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    /** Selects from the first of the rows to the end of the last, and copies. */
    const copied = async (first: string, last: string): Promise<string> => {
      await page.evaluate(([first = "", last = ""]) => {
        const rows = [...document.querySelectorAll(".terminal-line")];
        const row = (text: string): Element | undefined =>
          rows.find(({ textContent }) => textContent?.includes(text));
        const [start, end] = [
          row(first)?.firstElementChild?.firstChild,
          row(last)?.lastElementChild?.firstChild,
        ];
        if (!start || !end) throw new Error("no such rows");
        getSelection()?.setBaseAndExtent(start, 0, end, end.textContent?.length ?? 0);
        document.execCommand("copy");
      }, [first, last]);
      return await page.evaluate(() => navigator.clipboard.readText());
    };
    assert.equal(
      await copied("line 299", "漢字"),
      `line 299 of the log\nline 300 of the log\n${"漢字".repeat(15)}`,
    );
    await page.evaluate(() => getSelection()?.removeAllRanges());
    await sandbox.tmux("send-keys", "-t", `=${SESSION}:`, "Enter");
    await until("the line again", async () => (await shown(page)).match(/漢字/g)?.length === 40);
    await sandbox.tmux("send-keys", "-t", `=${SESSION}:`, "-l", `${"x".repeat(59)} 漢字 end`);
    await untilShown(page, "字 end");
    assert.equal(
      await copied("xxxx", "字 end"),
      `${"x".repeat(59)} 漢字 end`,
      "a blank before the gap stays",
    );
    await page.evaluate(() => getSelection()?.removeAllRanges());
    await until("the history", async () => {
      await drag(page, 160);
      return await status(page).getByText("Earlier output").isVisible();
    });
    for (let step = 0; step < 3; step++) await drag(page, 120);
    const top = /line (\d+) of/.exec((await shown(page)).split("\n").slice(6).join("\n"))?.[1];
    const lines = Array.from({ length: 8 }, (_none, index) => `line ${Number(top) + index} of the log`);
    assert.equal(await copied(lines.at(0) ?? "", lines.at(-1) ?? ""), lines.join("\n"));
  }));

Deno.test("someone who reads the top of a frozen screen still reads it once the link is back, with the history above [ux-reading, ux-resume]", () =>
  withTerminals(async ({ stack, page, wire }) => {
    const program = PROGRAM.replace("300", "700");
    await startProgram(stack, { name: "svc-long", cols: 60, rows: 60, program });
    await page.setViewportSize({ width: 390, height: 620 });
    await openSession(page, /svc-long/);
    await untilShown(page, "line 700 of the log");
    // Nothing listens at this port.
    wire.pointTo(1);
    await status(page).getByText("No connection").waitFor();
    await scrollScreenBehind(page, true);
    const first = (await shown(page)).split("\n")[0] ?? "";
    assert.match(first, /^line 64\d of the log$/);
    const height = await page.locator(".terminal-place").evaluate((place) => place.scrollHeight);
    wire.pointTo(Number(new URL(stack.url).port));
    await until(
      "the history",
      () =>
        page.locator(".terminal-place").evaluate(
          (place, before) => place.scrollHeight > before + 1_000,
          height,
        ),
    );
    await untilShown(page, first);
    assert.doesNotMatch(await shown(page), /^line 1 of the log$/m);
  }));
