/** The picker in a real browser: what it shows, in which order, and that it updates live. */

import assert from "node:assert/strict";
import { until } from "../helpers/until.ts";
import { withScene } from "./scene.ts";

const MINUTE_MS = 60_000;
const since = (minutes: number): number => Date.now() - minutes * MINUTE_MS;
/** Times in the first minutes of an hour, because the page then shows the same for most of an hour. */
const sinceHours = (hours: number): number => since(60 * hours + 5);

Deno.test("the picker shows every session and follows the inventory live [spec-pick, inv-picker, ux-live, ux-cards, ux-offline]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    const cards = page.getByRole("main").getByRole("link");
    const shop = {
      name: "svc-shop",
      state: "idle",
      title: "Allow npm publish?",
      stateSince: sinceHours(4),
      attached: true,
    } as const;
    const gateway = {
      name: "svc-api-gateway",
      agentLabel: "Codex",
      state: "working",
      title: "Refactor the retry logic of the upstream client, then run the whole test suite twice",
      stateSince: sinceHours(12),
    } as const;
    const second = {
      name: "svc-shop-2",
      project: "shop",
      label: "shop · Claude #2",
      stateSince: since(130),
      muted: true,
    };
    const docs = { name: "svc-docs", agentLabel: "Gemini", state: "starting" } as const;
    const old = { name: "svc-old", agentLabel: "OpenCode", state: "exited", addressable: false } as const;
    await listener.report(shop, gateway, second);
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await cards.nth(2).waitFor();
    assert.match(await cards.first().innerText(), /api-gateway · Codex\s+Working\s+12 h/);

    await listener.report({ ...shop, state: "waiting" }, gateway, second, docs, old);
    await page.getByRole("heading", { name: "Waiting for you" }).waitFor();
    const texts = await until("all cards", async () => {
      const all = await cards.allInnerTexts();
      return all.length === 5 && all;
    });
    assert.deepEqual(texts.map((text) => text.split("\n")[0]), [
      "shop · Claude",
      "docs · Gemini",
      "api-gateway · Codex",
      "shop · Claude #2",
      "old · OpenCode",
    ]);
    assert.match(texts[0] ?? "", /Waiting\s+4 h[^]*workstation[^]*Attached[^]*Allow npm publish\?/);
    const usual = page.viewportSize();
    for (const width of [320, 390, 820]) {
      await page.setViewportSize({ width, height: 844 });
      assert.deepEqual(await page.evaluate(findRagged), [], `${width} px`);
    }
    if (usual !== null) await page.setViewportSize(usual);
    await phone.shoot("picker");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);

    listener.stop();
    await page.getByRole("heading", { name: "Offline" }).waitFor();
    assert.match(await cards.first().innerText(), /Offline[^]*Last seen (just now|\d min ago)/);
    await phone.shoot("picker-offline");
    assert.deepEqual(await phone.violations(), []);
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

/**
 * Runs in the page: finds cards whose state is not at the left, or whose facts are neither all beside the state nor all
 * below it.
 */
function findRagged(): string[] {
  return [...document.querySelectorAll(".picker .card")].flatMap((card) => {
    const boxOf = (part: string) => card.querySelector(part)?.getBoundingClientRect() ?? new DOMRect();
    const [label, chip, facts] = [boxOf(".label"), boxOf(".chip"), boxOf(".facts")];
    const isBeside = facts.height < chip.height && facts.top < chip.bottom && facts.bottom > chip.top;
    const isAligned = Math.abs(chip.left - label.left) < 1 && (isBeside || facts.top >= chip.bottom);
    return isAligned ? [] : [card.textContent];
  });
}
