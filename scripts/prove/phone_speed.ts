/** `deno task prove:phone-speed`: how soon the page shows the list and a terminal on a slow network and a slow phone, and how much it loads. */
import { fileURLToPath } from "node:url";
import { type CDPSession, chromium, devices, type Page } from "playwright-core";
import { makeStack, type Stack } from "../../tests/helpers/stack.ts";
import { until } from "../../tests/helpers/until.ts";
import { Wire } from "../../tests/phone/wire.ts";
import { buildPhone } from "../build_phone.ts";
import { say } from "../say.ts";

/** "Slow 4G": 1.6 Mbit/s, 150 ms; and a processor four times slower than this one. */
const SLOW = { latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750, offline: false };
const FAST = { latency: 0, downloadThroughput: -1, uploadThroughput: -1, offline: false };
const SLOWER_CPU = 4;
const RUNS = 5;
/** Required times, in milliseconds. */
const LIMITS = { list: 1_000, terminal: 1_500, warm: 500 };
const SHIFT_MAX = 0.1;

const CARD = "a.card[data-state]";
const LIVE = ".terminal[data-stream=live] .terminal-line";

/** Times in milliseconds since the navigation began. */
interface Seen {
  list?: number;
  tapped?: number;
  terminal?: number;
  shift: number;
  /** What moved, how far, and when. */
  moved: string[];
}

/** Missing in the DOM's types. */
interface LayoutShift extends PerformanceEntry {
  value: number;
  sources: { node: Element | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
}

declare global {
  var seen: Seen;
}

/** Runs in the page: records the times of the list, the tap and the terminal, after the frame that shows each. */
function watchPage([card, live]: readonly [string, string]): void {
  const seen: Seen = { shift: 0, moved: [] };
  globalThis.seen = seen;
  const shown = (name: "list" | "terminal"): void => {
    seen[name] = Infinity;
    requestAnimationFrame(() => setTimeout(() => seen[name] = performance.now()));
  };
  new MutationObserver(() => {
    if (seen.list === undefined && document.querySelector(card) !== null) shown("list");
    const line = [...document.querySelectorAll(live)].some(({ textContent }) => textContent?.includes("❯"));
    if (seen.terminal === undefined && line) shown("terminal");
  }).observe(document, { childList: true, subtree: true, attributes: true });
  addEventListener("click", ({ timeStamp }) => seen.tapped ??= timeStamp, true);
  new PerformanceObserver((list) => {
    for (const { value, sources, startTime } of list.getEntries() as LayoutShift[]) {
      seen.shift += value;
      for (const { node, previousRect, currentRect } of sources) {
        const name = `${node?.nodeName.toLowerCase()}.${node?.className}`;
        const [from, to] = [previousRect, currentRect].map(({ x, y, width, height }) =>
          [x, y, width, height].map(Math.round).join(" ")
        );
        seen.moved.push(`${value.toFixed(3)} at ${Math.round(startTime)} ms: ${name} from ${from} to ${to}`);
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
}

/** Counts requests and bytes, headers included, from the browser's network log. */
class NetworkLog {
  bytes = 0;
  requests = 0;

  constructor(cdp: CDPSession) {
    cdp.on("Network.requestWillBeSent", () => void this.requests++);
    cdp.on("Network.loadingFinished", ({ encodedDataLength }) => void (this.bytes += encodedDataLength));
  }

  reset(): void {
    this.bytes = 0;
    this.requests = 0;
  }
}

interface Stage {
  page: Page;
  cdp: CDPSession;
  log: NetworkLog;
  wire: Wire;
  stack: Stack;
}

async function slow({ cdp }: Stage, isSlow: boolean): Promise<void> {
  await cdp.send("Network.emulateNetworkConditions", isSlow ? SLOW : FAST);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: isSlow ? SLOWER_CPU : 1 });
}

/** Clears the page's files but keeps the account, as on a new visit. */
async function forgetFiles({ page, cdp, wire }: Stage): Promise<void> {
  await page.goto(`${wire.url}/icon.svg`);
  await cdp.send("Network.clearBrowserCache");
}

async function seenIn(page: Page, name: "list" | "terminal"): Promise<Seen> {
  return await until(`the ${name}`, async () => {
    const seen = await page.evaluate(() => globalThis.seen);
    return Number.isFinite(seen[name]) && seen;
  });
}

/** Returns the milliseconds that the page's thread has run, which other programs on this machine do not affect. */
async function threadMs({ cdp }: Stage): Promise<number> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? NaN) * 1_000;
}

interface Cold {
  list: number;
  terminal: number;
  shift: number;
  moved: string[];
  bytes: number;
  threadMs: number;
}

/** Measures from an empty browser to the list, and from a tap on a session to its terminal. */
async function cold(stage: Stage): Promise<Cold> {
  const { page, wire, log } = stage;
  await forgetFiles(stage);
  await slow(stage, true);
  log.reset();
  const begun = await threadMs(stage);
  await page.goto(`${wire.url}/`, { waitUntil: "commit" });
  const { list = NaN } = await seenIn(page, "list");
  const { bytes } = log;
  const ran = await threadMs(stage) - begun;
  await page.locator(CARD).first().evaluate((card: HTMLElement) => card.click());
  const { tapped = NaN, terminal = NaN, shift, moved } = await seenIn(page, "terminal");
  await slow(stage, false);
  return { list, terminal: terminal - tapped, shift, moved, bytes, threadMs: ran };
}

/** Measures from a tap on a notification in an empty browser to the terminal. */
async function deep(stage: Stage, hash: string): Promise<Pick<Cold, "terminal" | "shift" | "moved">> {
  const { page, wire } = stage;
  await forgetFiles(stage);
  await slow(stage, true);
  await page.goto(`${wire.url}/${hash}`, { waitUntil: "commit" });
  const { terminal = NaN, shift, moved } = await seenIn(page, "terminal");
  await slow(stage, false);
  return { terminal, shift, moved };
}

/** Measures opening the page again without a network. */
async function warm(stage: Stage): Promise<{ list: number; threadMs: number }> {
  const { page, wire, stack } = stage;
  await page.goto(`${wire.url}/#/`);
  await page.reload();
  await seenIn(page, "list");
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  wire.pointTo(1);
  await stage.cdp.send("Emulation.setCPUThrottlingRate", { rate: SLOWER_CPU });
  const begun = await threadMs(stage);
  await page.reload({ waitUntil: "commit" });
  const { list = NaN } = await seenIn(page, "list");
  const ran = await threadMs(stage) - begun;
  await stage.cdp.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  wire.pointTo(Number(new URL(stack.url).port));
  return { list, threadMs: ran };
}

/** Formats as "median (min to max)" with the unit. */
function spread(values: readonly number[], { digits, unit }: { digits: number; unit: string }): string {
  const sorted = [...values].sort((one, other) => one - other);
  const [middle = NaN, least = NaN, most = NaN] = [
    sorted[Math.floor(sorted.length / 2)],
    sorted[0],
    sorted.at(-1),
  ];
  return `${middle.toFixed(digits)}${unit} (${least.toFixed(digits)} to ${most.toFixed(digits)})`;
}

const SECONDS = { digits: 2, unit: " s" };

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}

async function repeat<T>(run: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let round = 0; round < RUNS; round++) results.push(await run());
  return results;
}

function seconds(values: readonly number[]): string {
  return spread(values.map((ms) => ms / 1_000), SECONDS);
}

async function signIn({ page, stack, wire }: Stage): Promise<string> {
  await page.goto(`${wire.url}/#key=${stack.apiKey}`);
  await seenIn(page, "list");
  return await page.locator(CARD).first().getAttribute("href") ?? "";
}

/** Runs without service workers, because the browser does not throttle their requests. */
async function measureCold(stage: Stage): Promise<boolean> {
  const hash = await signIn(stage);
  const colds = await repeat(() => cold(stage));
  const deeps = await repeat(() => deep(stage, hash));
  const lists = colds.map(({ list }) => list);
  const terminals = colds.map(({ terminal }) => terminal);
  const shifts = [...colds, ...deeps].map(({ shift }) => shift);
  say(`list, nothing kept: ${seconds(lists)}`);
  say(`of it the page's own thread: ${seconds(colds.map(({ threadMs }) => threadMs))}`);
  say(`bytes until the list: ${spread(colds.map(({ bytes }) => bytes / 1_000), { digits: 1, unit: " kB" })}`);
  say(`terminal after the tap: ${seconds(terminals)}`);
  say(`terminal by its address, nothing kept: ${seconds(deeps.map(({ terminal }) => terminal))}`);
  say(`layout shift: ${spread(shifts, { digits: 3, unit: "" })}`);
  for (const { moved } of [...colds, ...deeps]) for (const line of moved) say(`  ${line}`);
  return median(lists) < LIMITS.list && median(terminals) < LIMITS.terminal &&
    Math.max(...shifts) < SHIFT_MAX;
}

async function measureWarm(stage: Stage): Promise<boolean> {
  await signIn(stage);
  const warms = await repeat(() => warm(stage));
  const lists = warms.map(({ list }) => list);
  say(`list again without a network: ${seconds(lists)}`);
  say(`of it the page's own thread: ${seconds(warms.map(({ threadMs }) => threadMs))}`);
  return median(lists) < LIMITS.warm;
}

interface PhoneOptions {
  stack: Stack;
  serviceWorkers: "allow" | "block";
}

async function withPhone(
  { stack, serviceWorkers }: PhoneOptions,
  act: (stage: Stage) => Promise<boolean>,
): Promise<boolean> {
  const wire = new Wire(Number(new URL(stack.url).port));
  const profile = await Deno.makeTempDir({ prefix: "svc-speed-" });
  const { defaultBrowserType: _webkit, ...iPhone } = devices["iPhone 15"] ?? {};
  const context = await chromium.launchPersistentContext(profile, {
    ...iPhone,
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    locale: "en-GB",
    serviceWorkers,
  });
  try {
    await context.addInitScript(watchPage, [CARD, LIVE] as const);
    const page = context.pages()[0] ?? await context.newPage();
    const cdp = await context.newCDPSession(page);
    await cdp.send("Network.enable");
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    return await act({ page, cdp, log: new NetworkLog(cdp), wire, stack });
  } finally {
    await context.close();
    await wire.close();
    await Deno.remove(profile, { recursive: true });
  }
}

async function main(): Promise<number> {
  await buildPhone({ outDir: fileURLToPath(new URL("../../dist/phone", import.meta.url)) });
  await using stack = await makeStack();
  await stack.echo();
  const isCold = await withPhone({ stack, serviceWorkers: "block" }, measureCold);
  const isWarm = await withPhone({ stack, serviceWorkers: "allow" }, measureWarm);
  say(`load of this machine: ${Deno.loadavg().map((load) => load.toFixed(1)).join(", ")} on 2 cores`);
  return isCold && isWarm ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
