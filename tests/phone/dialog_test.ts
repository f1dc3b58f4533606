/** An open dialog is no dead end: a card with its text in the session and the inbox, and what the host allows. */
import assert from "node:assert/strict";
import { until } from "../helpers/until.ts";
import { sendMessage } from "./scene.ts";
import { open, type TerminalScene, withTerminals } from "./terminal_scene.ts";

async function allow({ stack }: TerminalScene, allowRemoteApproval: string): Promise<void> {
  const path = `${stack.sandbox.svcHome}/config.json`;
  const config = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify({ ...config, allowRemoteApproval }));
  await stack.restartListener();
}

Deno.test("an open dialog is one card in the session and the inbox, with its text and the setting; it disappears with the dialog [dlg-card, dlg-text]", () =>
  withTerminals(async (scene) => {
    const { page, stack, phone } = scene;
    const session = await open(scene);
    const card = page.locator(".dialog-card");
    await stack.send(session.name, "/permit");
    await card.getByText(/^Waiting, /).waitFor();
    await phone.shoot("dialog-terminal");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    assert.equal(await card.getByRole("button").count(), 0);
    await page.getByRole("link", { name: "Messages" }).tap();
    await card.getByText('Allow the command "rm -rf build"?').waitFor();
    assert.match(await card.innerText(), /1\. Yes[^]*2\. No[^]*set allowRemoteApproval/);
    await sendMessage(page, "after it");
    await page.locator(".receipt-detail", { hasText: "once the dialog is closed" }).waitFor();
    assert.equal(await page.getByText("allowRemoteApproval").count(), 1, "one notice");
    await phone.shoot("dialog-messages");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.getByRole("link", { name: "All agents" }).tap();
    const inbox = page.getByRole("link", { name: /1 question for you/ });
    assert.equal(
      await inbox.locator(".inbox-first").textContent(),
      "proj · Echo",
      "no text in another language",
    );
    await inbox.tap();
    await card.getByText('Allow the command "rm -rf build"?').waitFor();
    await phone.shoot("dialog-inbox");
    assert.equal(await page.getByRole("listitem").count(), 1, "and nothing else about it");
    await stack.sandbox.tmux("send-keys", "-t", `=${session.name}:`, "Escape");
    await card.waitFor({ state: "detached" });
    await page.getByText("Dialog, closed").waitFor();
    assert.deepEqual(await session.prompts(1), ["after it"]);
    assert.deepEqual([phone.faults, phone.strangers], [[], []]);
  }));

Deno.test("on a host that allows it, the card rejects its dialog, and only the dialog that was seen [dlg-reject]", () =>
  withTerminals(async (scene) => {
    const { page, stack, phone } = scene;
    await allow(scene, "reject");
    const session = await open(scene);
    await stack.send(session.name, "/permit");
    const card = page.locator(".dialog-card");
    await card.getByRole("button", { name: "Reject" }).waitFor();
    await phone.shoot("dialog-reject");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    const { devices } = await stack.api.sessions();
    const id = devices[0]?.sessions[0]?.dialog?.id ?? "";
    const target = { type: "dialog.answer", targetDeviceId: stack.deviceId, agentSessionName: session.name };
    const other = await stack.api.sendPush({ ...target, body: `reject ${crypto.randomUUID()}` });
    const refused = await until("the refusal", async () => {
      const { receipt } = await stack.api.getPush(other.id);
      return receipt.final && receipt;
    });
    assert.equal(refused.reason, "dialog_gone");
    assert.notEqual(id, "");
    await card.getByRole("button", { name: "Reject" }).tap();
    await card.waitFor({ state: "detached" });
    // The agent draws before it writes its transcript.
    const answered = await until("the answer in the transcript", async () => {
      const found = (await session.entries()).filter((entry) => "approved" in entry);
      return found.length > 0 && found;
    });
    assert.deepEqual(answered.map(({ approved, by }) => [approved, by]), [[false, "escape"]]);
  }));

Deno.test("a host that does not allow it refuses any answer from a phone [dlg-reject]", () =>
  withTerminals(async (scene) => {
    const { stack } = scene;
    const session = await open(scene);
    await stack.send(session.name, "/permit");
    const id = await until(
      "the dialog",
      async () => (await stack.api.sessions()).devices[0]?.sessions[0]?.dialog?.id,
    );
    for (const body of [`reject ${id}`, `interrupt ${id}`, `approve ${id}`]) {
      const target = {
        type: "dialog.answer",
        targetDeviceId: stack.deviceId,
        agentSessionName: session.name,
      };
      const sent = await stack.api.sendPush({ ...target, body });
      const { reason } = await until("the refusal", async () => {
        const { receipt } = await stack.api.getPush(sent.id);
        return receipt.final && receipt;
      });
      assert.equal(reason, body.startsWith("approve") ? "invalid_body" : "dialog_not_allowed");
    }
    assert.match(await session.screen(), /Allow the command/);
  }));

Deno.test("next to an open dialog the terminal keeps some lines, with large text and with an open keyboard too [dlg-card]", () =>
  withTerminals(async (scene) => {
    const { page, stack } = scene;
    await allow(scene, "once");
    const session = await open(scene);
    await stack.send(session.name, "/permit");
    await page.locator(".dialog-card").getByText(/^Waiting, /).waitFor();
    const sizes = [[390, 844], [320, 640], [390, 500], [320, 340], [844, 390]] as const;
    const small: string[] = [];
    for (const text of [100, 150, 200]) {
      await page.evaluate((percent) => document.documentElement.style.fontSize = `${percent}%`, text);
      for (const [width, height] of sizes) {
        await page.setViewportSize({ width, height });
        const place = await page.locator(".terminal-place").boundingBox();
        const field = await page.getByRole("textbox", { name: /Message to/ }).boundingBox();
        const isSmall = (place?.height ?? 0) < 30;
        const isOut = (field?.y ?? 0) + (field?.height ?? 0) > height;
        if (isSmall || isOut) {
          small.push(`${text} % ${width} × ${height}: ${place?.height}, field ${field?.y}`);
        }
      }
    }
    assert.deepEqual(small, []);
  }));
