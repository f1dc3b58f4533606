/** Pairing in a real browser with a real host: the words on both sides, the lock, and what is stored in each place. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { createRelayApi } from "../../src/client/api.ts";
import { newSecret } from "../../src/crypto/paired_secret.ts";
import { storedBy } from "../helpers/tapped_stack.ts";
import { until } from "../helpers/until.ts";
import { sendMessage, showMessages, withDemo, withScene } from "./scene.ts";

const BODY = "a body that only phone and host may read";

/** Returns what the browser stores about pairing: whether keys are extractable, and everything else as text. */
async function keptKeys(page: Page): Promise<{ extractable: boolean[]; text: string }> {
  return await page.evaluate(async () => {
    const open = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await open(indexedDB.open("svc-keys"));
    const read = (store: string) => open(database.transaction(store).objectStore(store).getAll());
    const [keys, hosts] = [await read("keys"), await read("hosts")];
    database.close();
    // The counter of sealed messages is stored next to the key pair.
    const pairs = keys.filter((kept) => typeof kept !== "number");
    const secrets = [...pairs.map((pair) => pair.privateKey), ...hosts.map((host) => host.secret)];
    const text = JSON.stringify([keys, hosts, localStorage, sessionStorage, location.href]);
    return { extractable: secrets.map((key) => key.extractable), text };
  });
}

Deno.test("a link that was cut before its secret pairs nothing, and says so [ux-pair, pair-keys]", () =>
  withDemo(async ({ up, phone, page, link }) => {
    await page.goto(link.replace(/&s=.*/, ""));
    await page.getByText("This link is incomplete.", { exact: false }).waitFor();
    await up.line(/^Joined without sealing: /);
    assert.equal(await page.getByRole("link", { name: /demo · Echo/ }).count(), 0);
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
  }));

Deno.test("a scanned link shows the host's six words, seals messages, and stores only non-extractable keys [ux-pair, pair-words, pair-keys, sec-browser-keys, seal-shown, seal-stored]", () =>
  withDemo(async ({ sandbox, up, phone, page, link }) => {
    await page.goto(link);
    await page.getByRole("heading", { name: /^Compare with / }).waitFor();
    await phone.shoot("pairing-words");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    const words = await page.locator(".phrase li").allInnerTexts();
    assert.equal(words.length, 6);
    const printed = await up.line(/^ {2}(?:[a-z]{3,8} ?){6}$/);
    assert.equal(printed[0].trim(), words.join(" "));
    await page.reload();
    await page.getByRole("heading", { name: /^Compare with / }).waitFor();
    assert.deepEqual(await page.locator(".phrase li").allInnerTexts(), words, "asked again");
    await page.getByRole("button", { name: "They match" }).tap();

    await page.getByRole("link", { name: /demo · Echo/ }).tap();
    await page.locator(".terminal-status").getByText("End-to-end encrypted").waitFor();
    await page.getByPlaceholder("Encrypted").waitFor();
    await phone.shoot("terminal-sealed");
    await showMessages(page);
    await page.getByText("End-to-end encrypted").waitFor();
    await sendMessage(page, BODY);
    await page.locator(".receipt-state", { hasText: "Submitted" }).waitFor();
    await phone.shoot("sealed-session");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    const pane = (): Promise<string> => sandbox.tmux("capture-pane", "-p", "-t", "=svc-demo:");
    await until("the text in the pane", async () => (await pane()).includes(BODY));

    await page.reload();
    await page.getByText(BODY).waitFor();
    const secret = new URLSearchParams(new URL(link).hash.slice(1)).get("s") ?? "";
    const { extractable, text } = await keptKeys(page);
    assert.deepEqual(extractable, [false, false]);
    const stored = await storedBy({ sandbox });
    assert.ok(secret.length === 43 && !text.includes(secret) && !stored.includes(secret));
    assert.ok(!stored.includes(BODY), "the relay keeps no text");
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("a pairing continues by itself if its answer was lost, and admits only one phone [claim-again, ux-pair]", () =>
  withDemo(async ({ phone, page, link, origin }) => {
    let lost = 0;
    await page.route(/\/claim$/, async (route) => {
      await route.fetch();
      lost++;
      await route.abort("connectionreset");
    }, { times: 2 });
    await page.goto(link);
    await page.getByRole("heading", { name: /^Compare with / }).waitFor();
    await page.getByRole("button", { name: "They match" }).tap();
    await page.goto(`${origin}/#/settings`);
    const phones = page.getByRole("region", { name: "Devices" }).getByText("iPhone");
    await phones.first().waitFor();
    assert.deepEqual([lost, await phones.count()], [2, 1]);
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("a pairing that gave up continues once the network is back [claim-again, ux-link-kept]", () =>
  withDemo(async ({ phone, page, link }) => {
    await page.route(/\/claim$/, async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await page.goto(link);
    await page.getByRole("alert").getByText("is not answering").waitFor();
    await phone.shoot("sign-in-again");
    await page.unroute(/\/claim$/);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await page.getByRole("heading", { name: /^Compare with / }).waitFor();
  }));

Deno.test("with a relay that cannot prove the host nothing is paired, and the page says so; an unpaired phone shows an open lock [seal-shown, seal-off, sec-active-relay]", () =>
  withScene(async ({ phone, wire, relay, listener, makeKey }) => {
    const { page } = phone;
    const api = createRelayApi({ baseUrl: relay.url, apiKey: await makeKey("push:read", "push:send") });
    await listener.report({ name: "svc-demo" });
    const { code } = await api.createPairing();
    await page.goto(`${wire.url}/#pair=${code}&s=${newSecret().slice(0, -3)}`);
    await page.getByRole("alert").getByText("This link is incomplete").waitFor();
    // The code is still good.
    const unproven = `${wire.url}/#pair=${code}&s=${newSecret()}`;
    await page.goto(unproven);
    await page.getByRole("alert").getByText("could not prove that this code comes from your host").waitFor();
    await page.goto(`${wire.url}/#pair=${(await api.createPairing()).code}`);
    await page.getByRole("link", { name: /demo/ }).tap();
    await showMessages(page);
    await page.getByText("Not encrypted: the relay can read it").waitFor();

    await page.goto(`${wire.url}/#pair=${(await api.createPairing()).code}&s=${newSecret()}`);
    await page.getByRole("heading", { name: "The link did not work" }).waitFor();
    await phone.shoot("pairing-failed");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.getByRole("button", { name: "Continue" }).tap();
    await page.getByText("Live", { exact: true }).waitFor();
    assert.equal(page.url(), `${wire.url}/#/`);
  }));
