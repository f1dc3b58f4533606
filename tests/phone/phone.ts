/** A phone: the system's Chromium with a phone's screen and touch, showing only the page under test. */
import { readFile } from "node:fs/promises";
import { type BrowserContext, chromium, devices, type Page } from "playwright-core";
import { encode } from "uqr";
import { exists } from "../../scripts/machine.ts";
import { say } from "../../scripts/say.ts";
import { concatBytes } from "../../src/async/encodings.ts";
import { type Family, fontEnvironment } from "../helpers/fonts.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { SAFETY_LIMIT_MS } from "../helpers/until.ts";

/** If this variable is `1`, the browser is visible. */
const HEADED = "SVC_TEST_HEADED";
/** If this variable is `1`, as in `deno task test:phone`, tests leave a screenshot of each view. */
const SHOT = "SVC_TEST_SHOTS";
const CHROMIUM = "/usr/bin/chromium";
/** The same engine without windows and without a browser's notifications; starts in a third of the time. */
const HEADLESS_SHELL = "/usr/lib/chromium/chromium-headless-shell";
const SHOTS = `${CHECKOUT}.cache/screenshots`;
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const CAMERA_FLAGS = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
const CAMERA = { width: 640, height: 480 };
const SCHEMES = ["light", "dark"] as const;
/** The narrowest screen that the page supports, two common ones, and one held sideways. */
const SIZES = {
  narrow: { width: 320, height: 568 },
  usual: { width: 390, height: 844 },
  large: { width: 412, height: 915 },
  landscape: { width: 844, height: 390 },
};
/** Text size in percent of the usual size. */
const LETTERS = [100, 200];

export interface Violation {
  id: string;
  impact: string;
  targets: string;
}

export class Phone {
  readonly page: Page;
  /** Requests to any address but `origin`, and everything that the content policy blocked. */
  readonly strangers: string[] = [];
  /** Errors and warnings on the page's console. */
  readonly faults: string[] = [];
  readonly #context: BrowserContext;
  readonly #profile: string;

  private constructor(context: BrowserContext, profile: string, page: Page) {
    this.#context = context;
    this.#profile = profile;
    this.page = page;
    page.on("pageerror", (error) => this.faults.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy/i.test(message.text())) this.faults.push(message.text());
    });
  }

  /**
   * Starts it with the system's fonts or those of a family, and with the full browser if the page shows notifications.
   */
  static async start(
    origin: string,
    { family, hasNotifications = false }: { family?: Family; hasNotifications?: boolean } = {},
  ): Promise<Phone> {
    const profile = await Deno.makeTempDir({ prefix: "svc-phone-" });
    const fonts = family === undefined ? {} : await fontEnvironment(family, profile);
    const { defaultBrowserType: _webkit, ...iPhone } = devices["iPhone 15"] ?? {};
    const isHeaded = Deno.env.get(HEADED) === "1";
    const isShellEnough = !isHeaded && !hasNotifications;
    const context = await chromium.launchPersistentContext(profile, {
      ...iPhone,
      executablePath: isShellEnough && await exists(HEADLESS_SHELL) ? HEADLESS_SHELL : CHROMIUM,
      args: [...FLAGS, ...CAMERA_FLAGS, `--use-file-for-fake-video-capture=${cameraFile(profile)}`],
      env: { ...Deno.env.toObject(), ...fonts },
      headless: !isHeaded,
      locale: "en-GB",
      timeout: SAFETY_LIMIT_MS,
    });
    context.setDefaultTimeout(SAFETY_LIMIT_MS);
    await context.addInitScript(reportViolations);
    const phone = new Phone(context, profile, context.pages()[0] ?? await context.newPage());
    context.on("request", (request) => {
      if (!request.url().startsWith(`${origin}/`)) phone.strangers.push(request.url());
    });
    return phone;
  }

  /** Shows a QR code with this text to the phone's camera, which the page may use from now on. */
  async showToCamera(text: string): Promise<void> {
    await Deno.writeFile(cameraFile(this.#profile), pictureOf(text));
    await this.#context.grantPermissions(["camera"]);
  }

  /** If screenshots are wanted, saves the view, light and dark, on three screens, in `.cache/screenshots`. */
  async shoot(name: string): Promise<void> {
    if (Deno.env.get(SHOT) !== "1") return;
    await Deno.mkdir(SHOTS, { recursive: true });
    const { large: _similar, ...sizes } = SIZES;
    await this.#onEach(sizes, async (size) => {
      for (const scheme of SCHEMES) {
        await this.page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
        await this.page.screenshot({ path: `${SHOTS}/${name}-${size}-${scheme}.png`, scale: "css" });
      }
    });
    await this.page.emulateMedia({ colorScheme: "light", reducedMotion: null });
    say(`screenshots of ${name}: ${Object.keys(sizes).join(", ")}; ${SCHEMES.join(", ")}`);
  }

  /**
   * Returns accessibility violations of any impact; in dark colors, only those of contrast, since nothing else differs.
   */
  async violations(): Promise<Violation[]> {
    const source = await readFile(`${CHECKOUT}node_modules/axe-core/axe.min.js`, "utf8");
    await this.page.evaluate(source);
    const found: Violation[] = [];
    for (const [scheme, rules] of [["light", undefined], ["dark", ["color-contrast"]]] as const) {
      await this.page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      found.push(...await this.page.evaluate(runAxe, rules));
    }
    await this.page.emulateMedia({ colorScheme: "light", reducedMotion: null });
    return found;
  }

  /**
   * Returns controls that are too small to tap or covered, and pages that scroll sideways, at normal and doubled text
   * size.
   */
  async misfits(): Promise<string[]> {
    const found: string[] = [];
    // Disables animations, during which a control may be small.
    await this.page.emulateMedia({ reducedMotion: "reduce" });
    await this.#onEach(SIZES, async (size) => {
      for (const percent of LETTERS) {
        const faults = await this.page.evaluate(findMisfits, percent);
        found.push(...faults.map((fault) => `${size}, ${percent} %: ${fault}`));
      }
      const cut = await this.page.evaluate(findCutTexts);
      found.push(...cut.map((fault) => `${size}: ${fault}`));
    });
    await this.page.emulateMedia({ reducedMotion: null });
    return found;
  }

  async #onEach(
    sizes: Record<string, { width: number; height: number }>,
    act: (size: string) => Promise<void>,
  ): Promise<void> {
    const before = this.page.viewportSize();
    for (const [name, size] of Object.entries(sizes)) {
      await this.page.setViewportSize(size);
      await act(name);
    }
    if (before !== null) await this.page.setViewportSize(before);
  }

  async close(): Promise<void> {
    await this.#context.close();
    await Deno.remove(this.#profile, { recursive: true });
  }
}

function cameraFile(profile: string): string {
  return `${profile}/camera.y4m`;
}

/** Returns a video of one gray frame in the YUV4MPEG2 format, with the text as a QR code in its middle. */
function pictureOf(text: string): Uint8Array {
  const { width, height } = CAMERA;
  const luma = new Uint8Array(width * height).fill(200);
  const code = encode(text, { border: 4 }).data;
  const scale = Math.floor((height - 40) / code.length);
  const [left, top] = [width, height].map((side) => Math.floor((side - scale * code.length) / 2));
  for (let y = 0; y < scale * code.length; y++) {
    for (let x = 0; x < scale * code.length; x++) {
      const isDark = code[Math.floor(y / scale)]?.[Math.floor(x / scale)];
      luma[((top ?? 0) + y) * width + (left ?? 0) + x] = isDark ? 20 : 235;
    }
  }
  const head = new TextEncoder().encode(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\nFRAME\n`);
  return concatBytes([head, luma, new Uint8Array(width * height / 2).fill(128)]);
}

/** Runs in the page: collects the browser's reports of policy violations, even those that are not logged. */
function reportViolations(): void {
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
    reportError(new Error(`Content Security Policy violation: ${violatedDirective} ${blockedURI}`));
  });
}

interface Axe {
  run(
    options: { runOnly?: readonly string[] },
  ): Promise<{ violations: { id: string; impact: string; nodes: { target: string[] }[] }[] }>;
}

/** Runs in the page: checks these rules, or all. */
async function runAxe(runOnly: readonly string[] | undefined): Promise<Violation[]> {
  const { axe } = globalThis as unknown as { axe: Axe };
  const { violations } = await axe.run(runOnly === undefined ? {} : { runOnly });
  return violations.map(({ id, impact, nodes }) => ({
    id,
    impact,
    targets: nodes.map(({ target }) => target.join(" ")).join(", "),
  }));
}

/**
 * Runs in the page: finds lines of facts whose beginning is clipped, and short words that are broken in headings and
 * buttons.
 */
function findCutTexts(): string[] {
  const found: string[] = [];
  const rectsOf = (node: Text, start: number, length: number): DOMRect[] => {
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, start + length);
    return [...range.getClientRects()].filter(({ width }) => width > 0);
  };
  const textsIn = (element: Element): Text[] => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const texts: Text[] = [];
    while (walker.nextNode()) texts.push(walker.currentNode as Text);
    return texts.filter(({ parentElement }) => parentElement?.closest(".visually-hidden") === null);
  };
  for (const facts of document.querySelectorAll(".facts")) {
    const edge = facts.getBoundingClientRect().left +
      parseFloat(getComputedStyle(facts).getPropertyValue("--dot"));
    for (const text of textsIn(facts)) {
      const isCut = rectsOf(text, 0, text.data.length).some(({ left }) => left < edge - 1);
      if (isCut) found.push(`cut: "${text.data}"`);
    }
  }
  for (const text of [...document.querySelectorAll("h1, h2, button, a.button")].flatMap(textsIn)) {
    for (const { 0: word, index } of text.data.matchAll(/(?<![\p{L}-])\p{L}{2,12}(?![\p{L}-])/gu)) {
      const lines = new Set(rectsOf(text, index, word.length).map(({ top }) => Math.round(top)));
      if (lines.size > 1) found.push(`broken: "${word}"`);
    }
  }
  return found;
}

/** Runs in the page at this text size. */
async function findMisfits(percent: number): Promise<string[]> {
  const root = document.documentElement;
  const { fontSize } = root.style;
  if (percent !== 100) root.style.fontSize = `${percent}%`;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const shown = document.querySelector("dialog:modal") ?? document;
  const controls = [...shown.querySelectorAll("a, button, input, select, summary, textarea")].filter((one) =>
    one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().height > 0
  );
  const nameOf = (one: Element): string =>
    `${one.tagName} "${one.getAttribute("aria-label") ?? one.textContent}"`;
  /** True if the control is too small; a label around a control belongs to it. */
  const isSmall = (one: Element): boolean =>
    [one, one.closest("label") ?? one].every((target) => {
      const { width, height } = target.getBoundingClientRect();
      return width < 43.9 || height < 43.9;
    });
  const scrollerOf = (one: Element | null): Element | null => {
    for (let place = one; place !== null && place !== root; place = place.parentElement) {
      if (getComputedStyle(place).overflowY !== "visible" && place.scrollHeight > place.clientHeight) {
        return place;
      }
    }
    return null;
  };
  /** Returns what covers the control; undefined if its middle is scrolled out of sight or can be scrolled clear. */
  const elementOver = (one: Element): Element | undefined => {
    const { left, top, width, height } = one.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return undefined;
    for (let place = one.parentElement; place !== null; place = place.parentElement) {
      const box = place.getBoundingClientRect();
      const isClipping = getComputedStyle(place).overflow !== "visible";
      if (isClipping && (x < box.left || x > box.right || y < box.top || y > box.bottom)) return undefined;
    }
    const found = document.elementFromPoint(x, y);
    const label = one.closest("label");
    const isOwn = found === null || one.contains(found) || found.contains(one) || label?.contains(found);
    const scroller = scrollerOf(one);
    const isPassing = found?.closest("[role=listbox]") || scroller?.contains(found);
    if (isOwn || isPassing) return undefined;
    // A control that is covered at the beginning of a list is uncovered by scrolling back.
    return found.getBoundingClientRect().bottom - top <= (scroller?.scrollTop ?? 0) ? undefined : found;
  };
  const faults = controls.flatMap((one) => {
    const over = elementOver(one);
    return [
      ...(isSmall(one) ? [`small: ${nameOf(one)}`] : []),
      ...(over === undefined ? [] : [`covered: ${nameOf(one)} by ${over.tagName}.${over.className}`]),
    ];
  });
  if (root.scrollWidth > root.clientWidth) {
    const isClipped = (one: Element): boolean =>
      one.parentElement !== null && one.parentElement !== document.body &&
      (getComputedStyle(one.parentElement).overflowX !== "visible" || isClipped(one.parentElement));
    const wide = [...document.body.querySelectorAll("*")].filter((one) =>
      one.getBoundingClientRect().right > root.clientWidth + 1 && !isClipped(one)
    );
    const names = wide.slice(-3).map((one) => `${one.tagName}.${one.getAttribute("class")}`);
    faults.push(`the page scrolls sideways: ${names.join(", ")}`);
  }
  root.style.fontSize = fontSize;
  return faults;
}
