/** `deno task pictures`: takes the README's screenshots again, from real pages with made-up work. */
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { createRelayApi, type RelayApi } from "../src/client/api.ts";
import { type Scene, withScene } from "../tests/phone/scene.ts";
import { openSession, startProgram, untilShown, withTerminals } from "../tests/phone/terminal_scene.ts";
import { say } from "./say.ts";

const FOLDER = fileURLToPath(new URL("../docs/images/", import.meta.url));
const SCREEN = { width: 390, height: 780 };
/** Picture pixels per CSS pixel. */
const SCALE = 2;
const QUALITY = 72;
const MAX_BYTES = 60_000;
const MINUTE_MS = 60_000;
const HOST = "dev_listener_00000001";

type Scheme = "light" | "dark";

async function take(page: Page, { name, scheme }: { name: string; scheme: Scheme }): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  const cdp = await page.context().newCDPSession(page);
  const { data } = await cdp.send("Page.captureScreenshot", {
    format: "webp",
    quality: QUALITY,
    clip: { x: 0, y: 0, ...SCREEN, scale: SCALE },
  });
  await cdp.detach();
  const bytes = Uint8Array.fromBase64(data);
  if (bytes.length > MAX_BYTES) {
    throw new Error(`cannot keep "${name}": ${bytes.length} bytes, at most ${MAX_BYTES}`);
  }
  await Deno.mkdir(FOLDER, { recursive: true });
  await Deno.writeFile(`${FOLDER}${name}.webp`, bytes);
  say(`docs/images/${name}.webp: ${bytes.length} bytes`);
}

const ago = (minutes: number): number => Date.now() - minutes * MINUTE_MS;

async function fill({ listener }: Scene): Promise<void> {
  await listener.report(
    { name: "svc-shop", state: "waiting", title: "Deploy to staging?", stateSince: ago(2), attached: true },
    {
      name: "svc-api-gateway",
      agentLabel: "Codex",
      state: "working",
      title: "Refactor the retries of the upstream client",
      stateSince: ago(12),
    },
    {
      name: "svc-docs",
      agentLabel: "Gemini",
      state: "working",
      title: "Check every link",
      stateSince: ago(3),
    },
    { name: "svc-billing", agentLabel: "Copilot", state: "idle", stateSince: ago(48), muted: true },
  );
}

const TURN = [
  "## Fixed the rounding of VAT",
  "",
  "`src/vat.ts` rounds half up now, and **all 214 tests pass**:",
  "",
  "1. net prices stay as they were",
  "2. three gross prices changed by one cent",
  "",
  "```ts",
  "export const vat = (net: number) =>",
  "  Math.round(net * 19) / 100;",
  "```",
].join("\n");

async function ask(api: RelayApi): Promise<void> {
  const data = {
    kind: "ask",
    options: ["Deploy", "Wait for the tests", "Stop"],
    timeoutSeconds: 300,
    listener: HOST,
  };
  const body = "The tests of the checkout still run. Deploy to staging now?";
  await api.sendPush({ type: "ask", body, agentSessionName: "svc-shop", data });
}

async function listAndMessages(): Promise<void> {
  await withScene(async (scene) => {
    const { phone: { page }, wire, relay, listener, makeKey } = scene;
    await page.setViewportSize(SCREEN);
    await fill(scene);
    const apiKey = await makeKey("push:read", "push:send");
    const api = createRelayApi({ baseUrl: relay.url, apiKey });
    await page.goto(`${wire.url}/#key=${apiKey}`);
    await page.getByRole("link", { name: /shop · Claude/ }).waitFor();
    const message = "round VAT half up, then run the tests";
    await api.sendPush({ type: "agent.command", agentSessionName: "svc-shop", body: message });
    listener.acknowledge(await listener.received(message), { outcome: "submitted", final: true });
    await api.sendPush({
      type: "agent.stop",
      agentSessionName: "svc-shop",
      title: "shop · Claude",
      body: TURN,
    });
    await page.goto(`${wire.url}/#/s/${HOST}/svc-shop/messages`);
    await page.getByText("Fixed the rounding of VAT").waitFor();
    await take(page, { name: "messages", scheme: "dark" });
    await ask(api);
    await page.goto(`${wire.url}/#/`);
    await page.locator('[data-group="waiting"]').waitFor();
    await page.getByText(/checkout still run/).waitFor();
    await take(page, { name: "list", scheme: "light" });
    await page.goto(`${wire.url}/#/inbox`);
    await page.getByRole("button", { name: "Wait for the tests" }).waitFor();
    await take(page, { name: "question", scheme: "light" });
  });
}

const GREEN = "\\033[32m";
const DIM = "\\033[2m";
const PLAIN = "\\033[0m";
const OUTPUT = [
  `${DIM}$${PLAIN} deno test`,
  "running 4 tests from ./tests/vat_test.ts",
  ...["rounds half up", "keeps net prices", "knows reduced rates", "refuses a negative price"].map((name) =>
    `${name} ... ${GREEN}ok${PLAIN} ${DIM}(2ms)${PLAIN}`
  ),
  "",
  `${GREEN}ok${PLAIN} | 214 passed | 0 failed ${DIM}(3s)${PLAIN}`,
  "",
  `${DIM}$${PLAIN} git diff --stat`,
  ` src/vat.ts        | 4 ${GREEN}+++${PLAIN}\\033[31m-${PLAIN}`,
  ` tests/vat_test.ts | 9 ${GREEN}+++++++++${PLAIN}`,
  " 2 files changed",
  "",
];

async function terminal(): Promise<void> {
  await withTerminals(async ({ stack, page }) => {
    await page.setViewportSize(SCREEN);
    const program = `printf '${OUTPUT.join("\\n")}\\n❯ '; exec cat`;
    await startProgram(stack, { name: "svc-shop", cols: 46, rows: 26, program });
    await openSession(page, /shop/);
    await untilShown(page, "2 files changed");
    await page.locator('.session-head .chip[data-state="idle"]').waitFor();
    await page.getByRole("textbox").fill("looks right: commit it and open a pull request");
    await take(page, { name: "terminal", scheme: "dark" });
  });
}

await listAndMessages();
await terminal();
