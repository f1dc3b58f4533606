/** A phone: the system's Chromium with a phone's screen and touch, showing only the page under test. */
import { readFile } from "node:fs/promises";
import { type BrowserContext, chromium, devices, type Page } from "playwright-core";
import { encode } from "uqr";
import { concatBytes } from "../../src/async/encodings.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { SAFETY_LIMIT_MS } from "../helpers/until.ts";

/** With `1` in this variable the browser is shown. */
const HEADED = "SVC_TEST_HEADED";
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
/** The narrowest screen that the page supports. */
const NARROW = { width: 320, height: 568 };

export interface Violation {
  id: string;
  impact: string;
  targets: string;
}

export class Phone {
  readonly page: Page;
  /** Requests to anywhere but `origin`, and anything that the content policy blocked. */
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

  static async start(origin: string): Promise<Phone> {
    const profile = await Deno.makeTempDir({ prefix: "svc-phone-" });
    const { defaultBrowserType: _webkit, ...iPhone } = devices["iPhone 15"] ?? {};
    const context = await chromium.launchPersistentContext(profile, {
      ...iPhone,
      executablePath: "/usr/bin/chromium",
      args: [...FLAGS, ...CAMERA_FLAGS, `--use-file-for-fake-video-capture=${cameraFile(profile)}`],
      headless: Deno.env.get(HEADED) !== "1",
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

  /** Holds a QR code with this text before the phone's camera, which the page may use from now on. */
  async showToCamera(text: string): Promise<void> {
    await Deno.writeFile(cameraFile(this.#profile), pictureOf(text));
    await this.#context.grantPermissions(["camera"]);
  }

  /** Saves screenshots of the view, light and dark, on a normal and on the narrowest screen, in `.cache/screenshots`. */
  async shoot(name: string): Promise<void> {
    await Deno.mkdir(SHOTS, { recursive: true });
    const usual = this.page.viewportSize();
    for (const scheme of SCHEMES) {
      await this.page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await this.page.screenshot({ path: `${SHOTS}/${name}-${scheme}.png`, scale: "css" });
    }
    await this.page.setViewportSize(NARROW);
    await this.page.screenshot({ path: `${SHOTS}/${name}-narrow.png`, scale: "css" });
    if (usual !== null) await this.page.setViewportSize(usual);
    await this.page.emulateMedia({ colorScheme: "light", reducedMotion: null });
  }

  /** Accessibility violations rated serious or worse, in both colour schemes. */
  async violations(): Promise<Violation[]> {
    const source = await readFile(`${CHECKOUT}node_modules/axe-core/axe.min.js`, "utf8");
    const found: Violation[] = [];
    for (const scheme of SCHEMES) {
      await this.page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await this.page.evaluate(source);
      found.push(...await this.page.evaluate(runAxe));
    }
    await this.page.emulateMedia({ colorScheme: "light", reducedMotion: null });
    return found;
  }

  /** Controls that are too small to tap, and elements that overflow the narrowest screen. */
  async misfits(): Promise<string[]> {
    const usual = this.page.viewportSize();
    await this.page.setViewportSize(NARROW);
    const found = await this.page.evaluate(findMisfits);
    if (usual !== null) await this.page.setViewportSize(usual);
    return found;
  }

  async close(): Promise<void> {
    await this.#context.close();
    await Deno.remove(this.#profile, { recursive: true });
  }
}

function cameraFile(profile: string): string {
  return `${profile}/camera.y4m`;
}

/** A film of one grey frame in the YUV4MPEG2 format, with the text as a QR code in its middle. */
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
  run(): Promise<{ violations: { id: string; impact: string; nodes: { target: string[] }[] }[] }>;
}

/** Runs in the page. */
async function runAxe(): Promise<Violation[]> {
  const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, impact, nodes }) => ({
      id,
      impact,
      targets: nodes.map(({ target }) => target.join(" ")).join(", "),
    }));
}

/** Runs in the page. */
function findMisfits(): string[] {
  const controls = [...document.querySelectorAll("a, button, input, textarea")];
  const small = controls.filter((control) => {
    const { width, height } = control.getBoundingClientRect();
    return height > 0 && (width < 44 || height < 44);
  });
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  const names = small.map((control) => `small: ${control.tagName} ${control.textContent}`);
  return wide ? [...names, "the page scrolls sideways"] : names;
}
