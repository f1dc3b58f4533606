/** A long list with several hosts: searching it, grouping it by host, and removing an offline host. */
import assert from "node:assert/strict";
import { until } from "../helpers/until.ts";
import { ScriptedListener } from "./scripted_listener.ts";
import { signOut, withScene } from "./scene.ts";

Deno.test("a list of eight sessions or more is searched by name, agent and host, ignoring case and diacritics [ux-search]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    const names = ["shop", "blog", "docs", "site", "mail", "wiki", "api"].map((name) => ({
      name: `svc-${name}`,
    }));
    await listener.report(...names);
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    const cards = page.getByRole("main").getByRole("link");
    await cards.nth(6).waitFor();
    const field = page.getByRole("searchbox", { name: "Search sessions" });
    assert.equal(await field.count(), 0);
    await listener.report(...names, { name: "svc-cafe", title: "Menü für das Café", agentLabel: "Codex" });
    await field.fill("CAFE menu");
    await page.getByText("1 session found").waitFor();
    assert.match((await cards.allInnerTexts()).join("|"), /^cafe · Codex[^|]*$/);
    await phone.shoot("picker-search");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await field.fill("workst");
    await page.getByText("8 sessions found").waitFor();
    await field.fill("nothing like it");
    await page.getByText("No session matches.").waitFor();
    await phone.shoot("picker-search-nothing");
    await page.getByRole("button", { name: "Show all" }).click();
    await cards.nth(7).waitFor();
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("a user who returns to a long list finds the same position and the same search [ux-search]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    await listener.report(...Array.from({ length: 40 }, (_, place) => ({ name: `svc-work${place + 10}` })));
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    const card = (name: string) => page.getByRole("link", { name: new RegExp(`${name} · Claude`) });
    const search = page.getByRole("searchbox");
    const visit = async (name: string): Promise<number> => {
      // Read when the card is tapped, because the browser may scroll to it in steps.
      const left = page.evaluate(() =>
        new Promise<number>((done) =>
          addEventListener("click", () => done(scrollY), { capture: true, once: true })
        )
      );
      await card(name).tap();
      await page.getByRole("link", { name: "Messages" }).waitFor();
      return await left;
    };
    const top = await visit("work44");
    assert.ok(top > 500, `${top}`);
    await page.goBack();
    await card("work44").waitFor();
    assert.equal(await page.evaluate(() => scrollY), top);

    await search.fill("work3");
    await visit("work36");
    await page.getByRole("link", { name: "All agents" }).tap();
    await card("work36").waitFor();
    assert.deepEqual([await search.inputValue(), await card("work44").count()], ["work3", 0]);
    await signOut(page);
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await card("work44").waitFor();
    assert.equal(await search.inputValue(), "", "nothing of the account before");
  }));

Deno.test("with several hosts the list is grouped by host on request, and stays so; an offline host can be removed until it is back [ux-by-host, ux-remove-host]", () =>
  withScene(async ({ relay, phone, wire, listener, makeKey }) => {
    const { page } = phone;
    const laptopKey = await makeKey("push:read");
    const start = (): ScriptedListener =>
      new ScriptedListener({
        wsUrl: relay.wsUrl,
        apiKey: laptopKey,
        deviceId: "dev_listener_00000002",
        host: "laptop",
      });
    const laptop = start();
    await listener.report({ name: "svc-shop", state: "idle" }, { name: "svc-blog", state: "waiting" });
    await laptop.report({ name: "svc-notes", state: "working" });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    const headings = async (): Promise<string[]> =>
      await page.getByRole("heading", { level: 2 }).allInnerTexts();
    await page.getByRole("button", { name: "By host" }).click();
    assert.deepEqual((await headings()).map((text) => text.split("\n")[0]), ["laptop", "workstation"]);
    const cards = page.getByRole("main").getByRole("link");
    const order = async (): Promise<string[]> =>
      (await cards.allInnerTexts()).map((text) => text.split(" ")[0] ?? "");
    assert.deepEqual(await order(), ["notes", "blog", "shop"]);
    await phone.shoot("picker-by-host");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.reload();
    await page.getByRole("button", { name: "By host", pressed: true }).waitFor();

    laptop.stop();
    const remove = page.getByRole("button", { name: "Remove laptop from the list" });
    await remove.waitFor();
    assert.match((await headings()).at(-1) ?? "", /laptop\s+Last seen (just now|\d min ago)/);
    await phone.shoot("picker-by-host-offline");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    page.once("dialog", (dialog) => void dialog.dismiss());
    await remove.click();
    assert.deepEqual(await order(), ["blog", "shop", "notes"]);
    page.once("dialog", (dialog) => void dialog.accept());
    await remove.click();
    await until(
      "laptop to be gone",
      async () => (await order()).join() === "shop,blog" || (await order()).join() === "blog,shop",
    );
    await page.reload();
    // The stored list may still show the laptop as online until the relay has sent its own.
    await until("two cards", async () => await cards.count() === 2);
    await page.getByText("Live", { exact: true }).waitFor();
    assert.equal(await cards.count(), 2);
    const back = start();
    await back.report({ name: "svc-notes" });
    await cards.nth(2).waitFor();
    back.stop();
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("with several hosts a note and a dialog name their host, even if a note concerns no session [ux-item-host]", () =>
  withScene(async ({ relay, phone, wire, listener, makeKey }) => {
    const { page } = phone;
    const laptopKey = await makeKey("push:read", "push:send");
    await listener.report({ name: "svc-shop" });
    const note = async (body: string, more: Record<string, unknown> = {}): Promise<void> => {
      const { host = "dev_listener_00000002", ...fields } = more;
      const sealedFor = { host, nonce: "AAAAAAAAAAAAAAAA", ciphertext: "AA", keys: {} };
      const push = { type: "note", title: body, sealedFor, ...fields };
      const headers = { "X-API-Key": laptopKey, "Content-Type": "application/json" };
      const answer = await fetch(`${relay.url}/pushes/send`, {
        method: "POST",
        headers,
        body: JSON.stringify(push),
      });
      assert.equal(answer.status, 202, await answer.text());
    };
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("link", { name: /Inbox/ }).click();
    await note("first", { agentSessionName: "svc-shop", host: "dev_listener_00000001" });
    const items = page.locator(".notification");
    await items.nth(0).waitFor();
    assert.equal(await items.nth(0).locator(".source-host").count(), 0, "there is only one host");
    const laptop = new ScriptedListener({
      wsUrl: relay.wsUrl,
      apiKey: laptopKey,
      deviceId: "dev_listener_00000002",
      host: "laptop",
    });
    await laptop.report({ name: "svc-shop" });
    await note("second", { agentSessionName: "svc-shop" });
    await note("third");
    await items.nth(2).waitFor();
    const hosts = await items.locator(".source").allInnerTexts();
    assert.deepEqual(hosts.map((text) => text.replace(/\s+/g, " ")), [
      "An agent laptop",
      "shop · Claude laptop",
      "shop · Claude workstation",
    ]);
    const dialog = { id: crypto.randomUUID(), since: Date.now(), can: [] };
    await laptop.report({ name: "svc-shop", state: "waiting", dialog });
    await page.locator(".dialog-card .source-host", { hasText: "laptop" }).waitFor();
    await phone.shoot("inbox-hosts");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    laptop.stop();
  }));

Deno.test("a card shows how messages to its host are encrypted, and follows the last line of its session's screen [ux-cards]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    const long = "Read src/checkout/payment_provider_with_a_long_name.ts, lines 1 to 400, and found the bug";
    listener.details = { lines: { "svc-shop": "All 214 tests pass.", "svc-blog": long } };
    const sessions = [{ name: "svc-shop", title: "Mend the basket" }, { name: "svc-blog" }, {
      name: "svc-docs",
    }];
    await listener.report(...sessions);
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    const card = page.getByRole("main").getByRole("link").filter({ hasText: "shop" });
    await card.getByText("All 214 tests pass.").waitFor();
    assert.equal(await page.locator(".card-line").count(), 2);
    assert.match(await card.locator(".facts").textContent() ?? "", /^Not encrypted workstation/);
    await phone.shoot("picker-lines");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    listener.details = { lines: { "svc-shop": "Committed." } };
    await listener.report(...sessions);
    await card.getByText("Committed.").waitFor();
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("nothing in the list moves when the link is lost and comes back, in any language [ux-steady]", () =>
  withScene(async ({ phone, wire, relay, listener, makeKey }) => {
    const { page } = phone;
    const link = page.locator(".link-sign");
    const place = async (): Promise<unknown[]> => {
      const boxes = [".inbox-place", ".icon-link >> nth=1", "a.card[data-state]"].map((one) =>
        page.locator(one).first().boundingBox()
      );
      return [...await Promise.all(boxes)];
    };
    await listener.report({ name: "svc-shop" });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    // Headless Chromium hides the scroll bar that a computer's browser shows once the notice makes room.
    const gutter = await page.evaluate(() => getComputedStyle(document.documentElement).scrollbarGutter);
    assert.equal(gutter, "stable");
    for (const language of ["en", "de"]) {
      await page.locator('.link-sign[data-link="live"]').waitFor();
      await page.evaluate((language) => localStorage.setItem("svc.language", language), language);
      await page.reload();
      for (const [width, height] of [[320, 568], [390, 844], [820, 1180]] as const) {
        await page.setViewportSize({ width, height });
        await page.locator('.link-sign[data-link="live"]').waitFor();
        const live = await place();
        wire.pointTo(1);
        await page.locator('.link-sign[data-link="down"]').waitFor();
        assert.deepEqual(await place(), live, `${language} ${width}: ${await link.textContent()}`);
        wire.pointTo(relay.port);
      }
    }
  }));

Deno.test("the end of a view scrolls out from under the notice of a lost link [ux-small]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    await page.addInitScript(() => localStorage.setItem("svc.language", "de"));
    await listener.report(...["svc-one", "svc-two", "svc-three"].map((name) => ({ name })));
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.locator('.link-sign[data-link="live"]').waitFor();
    wire.pointTo(1);
    await page.getByText("Unter dieser Adresse antwortet kein Relay").waitFor();
    for (const [width, height] of [[320, 568], [390, 844], [844, 390]] as const) {
      await page.setViewportSize({ width, height });
      for (const view of ["#/", "#/settings"]) {
        await page.goto(`${wire.url}/${view}`);
        const button = page.getByRole("button", { name: "Abmelden" });
        const isCovered = await button.evaluate((element) => {
          scrollTo(0, document.documentElement.scrollHeight);
          const { left, top, width, height } = element.getBoundingClientRect();
          return document.elementFromPoint(left + width / 2, top + height / 2) !== element;
        });
        assert.equal(isCovered, false, `${view} at ${width} x ${height}`);
      }
    }
  }));
