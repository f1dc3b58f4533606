/** `deno task prove:phone-bytes`: traffic of an open page in an hour, idle and with a busy session, measured for minutes and scaled. */
import { fileURLToPath } from "node:url";
import { type CDPSession, chromium, devices } from "playwright-core";
import { makeMirrorStage } from "../../tests/helpers/mirror_stage.ts";
import { buildPhone } from "../build_phone.ts";
import { say } from "../say.ts";

const HOUR_MS = 3_600_000;
const IDLE_MS = 180_000;
const BUSY_MS = 60_000;
/** 40 lines a second, as a build prints them. */
const LINES = [
  "sh",
  "-c",
  'i=0; while :; do i=$((i+1)); echo "[$i] compiled src/module_$i.ts in 12 ms, 0 warnings"; sleep 0.025; done',
];
/** The size of a WebSocket frame's header, without and with the mask that a browser adds. */
const [HEADER_BYTES, MASKED_HEADER_BYTES] = [4, 8];

/** Counts bytes of requests and WebSocket frames from the browser's network log. */
class Traffic {
  received = 0;
  sent = 0;
  frames = 0;

  constructor(cdp: CDPSession) {
    cdp.on("Network.loadingFinished", ({ encodedDataLength }) => void (this.received += encodedDataLength));
    cdp.on("Network.webSocketFrameReceived", ({ response }) => {
      this.frames++;
      this.received += HEADER_BYTES + lengthOf(response);
    });
    cdp.on("Network.webSocketFrameSent", ({ response }) => {
      this.frames++;
      this.sent += MASKED_HEADER_BYTES + lengthOf(response);
    });
  }
}

/** Returns a frame's length in bytes; binary frames are logged in base64. */
function lengthOf({ opcode, payloadData }: { opcode: number; payloadData: string }): number {
  if (opcode === 1) return new TextEncoder().encode(payloadData).length;
  return Math.floor(payloadData.replace(/=+$/, "").length * 3 / 4);
}

async function report(what: string, { traffic, ms }: { traffic: Traffic; ms: number }): Promise<void> {
  const before = { ...traffic };
  await new Promise((resolve) => setTimeout(resolve, ms));
  const hourly = (bytes: number): string => (bytes * HOUR_MS / ms / 1_000).toFixed(0);
  const [received, sent] = [traffic.received - before.received, traffic.sent - before.sent];
  say(
    `${what}: ${hourly(received)} kB received and ${hourly(sent)} kB sent in an hour, ` +
      `scaled from ${ms / 1_000} s with ${traffic.frames - before.frames} frames`,
  );
}

async function main(): Promise<void> {
  await buildPhone({ outDir: fileURLToPath(new URL("../../dist/phone", import.meta.url)) });
  await using stage = await makeMirrorStage();
  const { url, apiKey } = stage.stack;
  await stage.stack.echo();
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const { defaultBrowserType: _webkit, ...iPhone } = devices["iPhone 15"] ?? {};
    const page = await (await browser.newContext(iPhone)).newPage();
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Network.enable");
    const traffic = new Traffic(cdp);
    await page.goto(`${url}/#key=${apiKey}`);
    await page.locator("a.card[data-state]").waitFor();
    await page.evaluate(async () => void await navigator.serviceWorker.ready);
    await report("the open list, idle", { traffic, ms: IDLE_MS });
    const name = await stage.start(LINES);
    await page.getByRole("link", { name: new RegExp(name) }).tap();
    await page.locator(".terminal[data-stream=live] .terminal-line").first().waitFor();
    await report("a session at 40 lines a second", { traffic, ms: BUSY_MS });
  } finally {
    await browser.close();
  }
}

if (import.meta.main) await main();
