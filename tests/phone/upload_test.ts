/** Files from the phone in a real browser: sealed to the host's folder, their path in the draft, or the reason for a refusal. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { UPLOAD_DEFAULT_MAX_BYTES } from "../../src/protocol/limits.ts";
import { until } from "../helpers/until.ts";
import { messageField, withDemo } from "./scene.ts";
import { open, withTerminals } from "./terminal_scene.ts";
import { Wire } from "./wire.ts";

/** More than is sent before reading is held. */
const LARGE_BYTES = 4_000_000;
/** In chunks: enough that the host has part of the file. */
const READ_FIRST = 30;

async function choose(page: Page, file: { name: string; buffer: Uint8Array }): Promise<void> {
  await page.getByRole("button", { name: "Add to the message" }).tap();
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Image or file" }).tap();
  const { name, buffer } = file;
  await (await chooser).setFiles({ name, mimeType: "image/png", buffer: Buffer.from(buffer) });
}

/** Makes the page read only some chunks of its next file until released, so that no upload ends before a slow test. */
async function holdFile(page: Page): Promise<{ release(): Promise<void> }> {
  const held = await page.evaluateHandle((first) => {
    const { arrayBuffer } = Blob.prototype;
    const { promise, resolve } = Promise.withResolvers<void>();
    let read = 0;
    Blob.prototype.arrayBuffer = async function () {
      if (++read > first) await promise;
      return await arrayBuffer.call(this);
    };
    const release = (): void => {
      Blob.prototype.arrayBuffer = arrayBuffer;
      resolve();
    };
    return { release };
  }, READ_FIRST);
  return { release: () => held.evaluate(({ release }) => release()) };
}

Deno.test("a paired phone's file is stored only on its host, and its path is in the draft; a file that is too large is refused with the limit [up-stored, up-sealed, up-path]", () =>
  withDemo(async ({ phone, page, link }) => {
    const frames: string[] = [];
    page.on("websocket", (socket) =>
      socket.on("framesent", ({ payload }) => {
        frames.push(typeof payload === "string" ? payload : new TextDecoder("latin1").decode(payload));
      }));
    await page.goto(link);
    await page.getByRole("button", { name: "They match" }).tap();
    await page.getByRole("link", { name: /Echo/ }).tap();
    await messageField(page).fill("Look at");
    const marker = "a picture that only the host may see ";
    const buffer = new TextEncoder().encode(marker.repeat(28_000));
    await choose(page, { name: "my secret photo.PNG", buffer });
    const draft = await until("the path in the draft", async () => {
      const text = await messageField(page).inputValue();
      return text === "Look at" ? undefined : text;
    });
    const [, path = ""] = /^Look at (\/\S+\/uploads\/[\w-]+\.png)$/.exec(draft) ?? [];
    assert.deepEqual(await Deno.readFile(path), buffer);
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    await page.locator(".upload-bar").waitFor({ state: "detached" });
    const seen = frames.filter((frame) => frame.includes("secret photo") || frame.includes("only the host"));
    assert.deepEqual(seen, [], "the relay gets neither name nor content");
    await page.getByRole("link", { name: "Messages" }).tap();
    await page.getByText("No messages yet").waitFor();
    assert.equal(await messageField(page).inputValue(), draft, "nothing was sent");

    await choose(page, { name: "film.mov", buffer: new Uint8Array(UPLOAD_DEFAULT_MAX_BYTES + 1) });
    await page.getByText("It is too large: this host takes up to 10 MB.").waitFor();
    await phone.shoot("upload-refused");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.locator(".upload-bar").getByRole("button", { name: "Close" }).tap();

    const held = await holdFile(page);
    await choose(page, { name: "long.bin", buffer: new Uint8Array(3_000_000) });
    await page.getByRole("progressbar").waitFor();
    await phone.shoot("upload-sending");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.locator(".upload-bar").getByRole("button", { name: "Cancel" }).tap();
    await page.locator(".upload-bar").waitFor({ state: "detached" });
    await held.release();
    const folder = path.slice(0, path.lastIndexOf("/"));
    await until("one file", () => [...Deno.readDirSync(folder)].length === 1);
    assert.equal(await messageField(page).inputValue(), draft);
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("an upload continues when its session is left and after the link is lost, and is stored byte for byte, once [up-resumed, up-path]", () =>
  withDemo(async ({ phone, page, link, origin }) => {
    const wire = new Wire(Number(new URL(origin).port));
    try {
      const near = wire.url.replace("127.0.0.1", "localhost");
      await page.goto(link.replace(origin, near));
      await page.getByRole("button", { name: "They match" }).tap();
      await page.getByRole("link", { name: /Echo/ }).tap();
      await messageField(page).fill("Look at");
      const buffer = new Uint8Array(LARGE_BYTES);
      for (let at = 0; at < LARGE_BYTES; at += 65_536) {
        crypto.getRandomValues(buffer.subarray(at, Math.min(at + 65_536, LARGE_BYTES)));
      }
      const held = await holdFile(page);
      await choose(page, { name: "film.mov", buffer });
      const progress = page.getByRole("progressbar");
      await progress.waitFor();
      const share = (): Promise<number> => progress.evaluate((bar: HTMLProgressElement) => bar.value);
      await until("a part of it", async () => await share() > 0.1);
      await page.getByRole("link", { name: "All agents" }).tap();
      await page.getByRole("heading", { name: "Agents", exact: true }).waitFor();
      wire.pointTo(1);
      await page.getByText("Reconnecting…").first().waitFor();
      await held.release();
      await page.getByRole("link", { name: /Echo/ }).tap();
      await page.getByText("Paused until the connection is back: film.mov").waitFor();
      await phone.shoot("upload-waiting");
      // With doubled text size on the narrowest screen the notice covers keys that send nothing now.
      const misfits = (await phone.misfits()).filter((one) => !one.startsWith("narrow, 200 %: covered"));
      assert.deepEqual([await phone.violations(), misfits], [[], []]);
      const before = await share();
      wire.pointTo(Number(new URL(origin).port));
      await page.getByText("Sending film.mov").waitFor();
      assert.ok(await share() >= before, "it does not begin again");
      await page.getByRole("link", { name: "All agents" }).tap();
      await page.locator(".card").filter({ hasText: "Echo" }).tap();
      const draft = await until("the path in the draft", async () => {
        const text = await messageField(page).inputValue();
        return text === "Look at" ? undefined : text;
      });
      const [, path = ""] = /^Look at (\/\S+\/uploads\/[\w-]+\.mov)$/.exec(draft) ?? [];
      assert.equal(await sha256Of(await Deno.readFile(path)), await sha256Of(buffer));
      assert.equal([...Deno.readDirSync(path.slice(0, path.lastIndexOf("/")))].length, 1);
    } finally {
      await wire.close();
    }
  }));

Deno.test("the browser asks before it leaves a page that sends a file, but not once the file has arrived or another page has signed out [up-phone]", () =>
  withDemo(async ({ page, link }) => {
    await page.goto(link);
    await page.getByRole("button", { name: "They match" }).tap();
    await page.getByRole("link", { name: /Echo/ }).tap();
    const held = await holdFile(page);
    await choose(page, { name: "film.mov", buffer: new Uint8Array(1_000_000) });
    await page.getByRole("progressbar").waitFor();
    const asked = page.waitForEvent("dialog");
    const reload = page.evaluate(() => location.reload());
    const dialog = await asked;
    assert.equal(dialog.type(), "beforeunload");
    await dialog.dismiss();
    await reload;
    await held.release();
    await until(
      "the path in the draft",
      async () => (await messageField(page).inputValue()).endsWith(".mov"),
    );
    await page.locator(".upload-bar").waitFor({ state: "detached" });
    const unwanted: string[] = [];
    page.on("dialog", (one) => {
      unwanted.push(one.type());
      void one.accept();
    });
    await page.reload();
    await messageField(page).waitFor();
    await holdFile(page);
    await choose(page, { name: "film.mov", buffer: new Uint8Array(1_000_000) });
    await page.getByRole("progressbar").waitFor();
    const reloaded = page.waitForEvent("domcontentloaded");
    await page.evaluate(() => new BroadcastChannel("svc-account").postMessage("changed"));
    await reloaded;
    await messageField(page).waitFor();
    assert.deepEqual(unwanted, []);
  }));

async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

Deno.test("a phone that is not paired sends no file, and says what to do [up-sealed]", () =>
  withTerminals(async (scene) => {
    const { page, stack } = scene;
    await open(scene);
    await choose(page, { name: "photo.png", buffer: new Uint8Array(5) });
    await page.getByText("Pair this phone with the host: svc pair.").waitFor();
    const folder = await Deno.stat(`${stack.sandbox.svcHome}/uploads`).catch(() => undefined);
    assert.equal(folder, undefined);
  }));
