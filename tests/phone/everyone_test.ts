/** For everyone: any font, doubled text size, a screen held sideways with its keyboard open, high contrast, no pointer. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { isUnpacked } from "../../scripts/fonts.ts";
import { say } from "../../scripts/say.ts";
import { createRelayApi } from "../../src/client/api.ts";
import { FAMILIES, type Family } from "../helpers/fonts.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { until } from "../helpers/until.ts";
import { Phone } from "./phone.ts";
import { type Scene, withScene } from "./scene.ts";
import { open, untilShown, withTerminals } from "./terminal_scene.ts";

const ASK = {
  kind: "ask",
  options: ["Roll back to the version before", "Wait for ten minutes"],
  timeoutSeconds: 300,
};

/** Adds sessions with long names, one of which asks something; returns a key for a phone. */
async function fill({ listener, relay, makeKey }: Scene): Promise<string> {
  const title = "Refactor the retry logic of the upstream client, then run the whole test suite twice";
  await listener.report(
    { name: "svc-api-gateway", agentLabel: "Codex", state: "working", title },
    { name: "svc-shop", state: "waiting", title: "Allow npm publish?", attached: true, muted: true },
  );
  const apiKey = await makeKey("push:read", "push:send");
  const api = createRelayApi({ baseUrl: relay.url, apiKey });
  const body = "Deploying 7c1f3d2 to production failed twice. What now?";
  await api.sendPush({ type: "ask", body, agentSessionName: "svc-shop", data: ASK });
  await api.sendPush({ type: "agent.command", agentSessionName: "svc-shop", body: "run the tests again" });
  return apiKey;
}

async function signIn(
  { wire: { url } }: Scene,
  { page, apiKey }: { page: Page; apiKey: string },
): Promise<void> {
  await page.goto(`${url}/#key=${apiKey}`);
  await page.getByRole("link", { name: /shop · Claude/ }).waitFor();
}

/** Every view without a terminal, by its address. */
const VIEWS: readonly [string, (page: Page) => Promise<unknown>][] = [
  ["#/", (page) => page.getByRole("link", { name: /shop · Claude/ }).waitFor()],
  ["#/inbox", (page) => page.getByRole("button", { name: /Roll back/ }).waitFor()],
  ["#/settings", (page) => page.getByLabel("Theme").waitFor()],
  ["#/notifications", (page) => page.getByRole("heading", { name: "Notifications", exact: true }).waitFor()],
  ["#/add-host", (page) => page.getByLabel("Pairing link").waitFor()],
  ["#/s/dev_listener_00000001/svc-shop", (page) => page.getByRole("button", { name: "More keys" }).waitFor()],
  ["#/s/dev_listener_00000001/svc-shop/messages", (page) => page.getByText("run the tests again").waitFor()],
];

async function platformFont(page: Page): Promise<string[]> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("DOM.enable");
  await cdp.send("CSS.enable");
  const { root } = await cdp.send("DOM.getDocument");
  const { nodeId } = await cdp.send("DOM.querySelector", { nodeId: root.nodeId, selector: "h1" });
  const { fonts } = await cdp.send("CSS.getPlatformFontsForNode", { nodeId });
  await cdp.detach();
  return fonts.map(({ familyName }) => familyName);
}

for (const family of Object.keys(FAMILIES) as Family[]) {
  Deno.test({
    name: `with ${
      FAMILIES[family].sans
    } nothing scrolls sideways or covers a control, with doubled letters too [ux-fonts]`,
    ignore: family !== "dejavu" && !await isUnpacked(family),
    fn: () =>
      withScene(async (scene) => {
        const { wire } = scene;
        const apiKey = await fill(scene);
        const phone = await Phone.start(wire.url, { family });
        const { page } = phone;
        try {
          await page.goto(wire.url);
          await page.getByRole("button", { name: "Scan the QR code" }).waitFor();
          assert.deepEqual(await platformFont(page), [FAMILIES[family].sans]);
          const found = [["sign-in", await phone.misfits()]];
          await signIn(scene, { page, apiKey });
          for (const [address, ready] of VIEWS) {
            await page.goto(`${wire.url}/${address}`);
            await ready(page);
            found.push([address, await phone.misfits()]);
          }
          assert.deepEqual(found.filter(([, misfits]) => misfits?.length), []);
        } finally {
          await phone.close();
        }
      }),
  });
}

/** Returns controls without a border; a field's border may be around it. */
const withoutEdge = (page: Page): Promise<string[]> =>
  page.locator("button:visible, input:visible, select:visible").evaluateAll((all) => {
    const edges = all.map((one) => one.closest(".field, .tick") ?? one);
    const isBare = (one: Element): boolean => getComputedStyle(one).borderTopStyle === "none";
    return edges.filter(isBare).map((one) => one.outerHTML.slice(0, 80));
  });

Deno.test("no view has an accessibility violation of any impact, in both schemes and in forced colors [ux-a11y]", () =>
  withScene(async (scene) => {
    const { wire, phone } = scene;
    const { page } = phone;
    await signIn(scene, { page, apiKey: await fill(scene) });
    const found: unknown[] = [];
    for (const [address, ready] of VIEWS) {
      await page.goto(`${wire.url}/${address}`);
      await ready(page);
      await page.emulateMedia({ forcedColors: "active" });
      const invisible = await withoutEdge(page);
      await page.emulateMedia({ forcedColors: null });
      const violations = await phone.violations();
      if (invisible.length + violations.length > 0) found.push([address, invisible, violations]);
    }
    say(`axe: ${VIEWS.length} views, light and dark, ${found.length} with violations`);
    assert.deepEqual(found, []);
  }));

Deno.test("held sideways with its keyboard open, the screen keeps eight rows and follows the cursor [ux-landscape]", () =>
  withTerminals(async (scene) => {
    const { page } = scene;
    await open(scene);
    await page.setViewportSize({ width: 844, height: 180 });
    await page.getByRole("button", { name: "Live keys" }).tap();
    const rows = (): Promise<number> =>
      page.locator(".terminal-place").evaluate((place) => {
        const { height = 0 } = place.querySelector(".terminal-line")?.getBoundingClientRect() ?? {};
        const { paddingTop, paddingBottom } = getComputedStyle(place);
        return (place.clientHeight - parseFloat(paddingTop) - parseFloat(paddingBottom)) / height;
      });
    await until("eight rows", async () => await rows() > 7.99);
    const field = page.getByRole("textbox", { name: /Type into the terminal/ });
    await field.pressSequentially("where am I");
    await untilShown(page, "where am I");
    await until("the cursor in view", () =>
      page.locator(".terminal-place").evaluate((place) => {
        const [box, cursor] = [place, place.querySelector(".cursor")].map((one) =>
          one?.getBoundingClientRect()
        );
        return box !== undefined && cursor !== undefined && cursor.top >= box.top &&
          cursor.bottom <= box.bottom;
      }));
    await page.screenshot({ path: `${CHECKOUT}.cache/screenshots/terminal-keyboard.png`, scale: "css" });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
  }));

Deno.test("held sideways, a session shows its agent's state in the line with its name [ux-landscape]", () =>
  withTerminals(async (scene) => {
    const { page, phone } = scene;
    await open(scene);
    await page.setViewportSize({ width: 844, height: 390 });
    await page.locator(".session-head .chip").waitFor();
    const [name, state] = await Promise.all([".session-head h1", ".session-head .chip"].map(async (one) => {
      const { y = 0, height = 0 } = await page.locator(one).boundingBox() ?? {};
      return { top: y, bottom: y + height };
    }));
    assert.ok(name && state && name.top < state.bottom && state.top < name.bottom, "beside the name");
    await phone.shoot("terminal-sideways");
  }));

Deno.test("with reduced motion nothing moves by itself [ux-reduced-motion]", () =>
  withScene(async (scene) => {
    const { wire, phone: { page } } = scene;
    await page.emulateMedia({ reducedMotion: "reduce" });
    await signIn(scene, { page, apiKey: await fill(scene) });
    const moving: string[] = [];
    for (const [address, ready] of VIEWS) {
      await page.goto(`${wire.url}/${address}`);
      await ready(page);
      moving.push(
        ...await page.evaluate(() =>
          document.getAnimations().flatMap(({ effect }) =>
            Number(effect?.getComputedTiming().duration) > 1
              ? [String((effect as KeyframeEffect).target?.className)]
              : []
          )
        ),
      );
    }
    assert.deepEqual(moving, []);
  }));

Deno.test("a long name takes at most two lines of a session's header, and the session's menu shows all of it", () =>
  withScene(async ({ wire, listener, makeKey }) => {
    const name = `svc-${"very-long-project-name-".repeat(4)}end`;
    await listener.report({ name, state: "idle" });
    const apiKey = await makeKey("push:read", "push:send");
    const phone = await Phone.start(wire.url);
    try {
      const { page } = phone;
      await page.setViewportSize({ width: 320, height: 640 });
      await page.goto(`${wire.url}/#key=${apiKey}`);
      await page.getByRole("link", { name: /very-long-project-name/ }).click();
      const heading = page.locator(".session-title h1");
      await heading.waitFor();
      const lines = await heading.evaluate((one) =>
        one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight)
      );
      assert.ok(lines > 1.5 && lines < 2.5, `${lines}`);
      await page.getByRole("button", { name: "About this session" }).click();
      await page.locator("#menu-heading").getByText(name.slice("svc-".length)).waitFor();
    } finally {
      await phone.close();
    }
  }));

/** Returns where each character of the element's first text begins, in pixels from the left. */
const placesOf = (element: Element): number[] => {
  const [text] = element.childNodes;
  if (!(text instanceof Text)) throw new Error("Cannot find the text");
  return [...text.data].map((_character, at) => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect().left;
  });
};

Deno.test("Arabic and Hebrew texts of a person or an agent begin at the right, and others at the left [ux-direction]", () =>
  withScene(async (scene) => {
    const apiKey = await fill(scene);
    const api = createRelayApi({ baseUrl: scene.relay.url, apiKey });
    const place = { agentSessionName: "svc-shop" };
    await api.sendPush({ ...place, type: "agent.command", body: "شغل git!" });
    await api.sendPush({ ...place, type: "note", title: "note", body: "הרץ git!" });
    const { page } = scene.phone;
    await signIn(scene, { page, apiKey });
    await page.goto(`${scene.wire.url}/#/s/dev_listener_00000001/svc-shop/messages`);
    for (
      const [text, isReversed] of [["شغل", true], ["הרץ", true], ["run the tests again", false]] as const
    ) {
      const places = await page.getByText(text).evaluate(placesOf);
      assert.equal((places[0] ?? 0) > (places.at(-1) ?? 0), isReversed, `${text}: ${places}`);
    }
  }));
