/** How long a phone's sealed requests are valid, and what a message says while only the relay reports it as ended. */
import assert from "node:assert/strict";
import { receiptProof } from "../../../src/crypto/paired_secret.ts";
import { openMessage } from "../../../src/crypto/stored_message.ts";
import { cardOutcome } from "../../../src/phone/inbox.ts";
import { type Message, withReceipt } from "../../../src/phone/message.ts";
import { type ReceiptText, receiptText } from "../../../src/phone/receipt_text.ts";
import { dialogRequest, muteRequest, requestProgress, unmuteRequest } from "../../../src/phone/requests.ts";
import { type OutgoingMessage, SEALED_LIFE_MS } from "../../../src/phone/sealed_form.ts";
import { Sealing } from "../../../src/phone/sealing.ts";
import { SKEW_MS } from "../../../src/protocol/limits.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { until } from "../../helpers/until.ts";
import { pairedWith, PHONE_ID } from "./offering_host.ts";
import { live, phoneWith, stateOf, TO } from "./phone_bench.ts";
import { entryOf, idOf, messageOf, NOW, receiptOf, takenWith } from "./samples.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

async function pairedPhone() {
  const { pairing, secret, keyPair } = await pairedWith(TO.deviceId);
  const clock = { now: NOW };
  const sealing = new Sealing({ storage: pairing, now: () => clock.now });
  await sealing.load();
  return { sealing, secret, keyPair, clock };
}

Deno.test("a request to a host is valid as long as it may wait on the phone and at the relay, a message for a day or until its time [sec-active-relay, seal-stored]", async () => {
  const { sealing, secret, keyPair } = await pairedPhone();
  const lifeOf = async (type: OutgoingMessage["type"], ttlSeconds?: number): Promise<number> => {
    const id = crypto.randomUUID();
    const { sealed } = await sealing.outgoingContent({ id, type, ...TO, body: "text", ttlSeconds });
    assert.ok(sealed);
    const place = { targetDeviceId: TO.deviceId, agentSessionName: TO.session, sendAnyway: false };
    const boundTo = { id, type, from: PHONE_ID, ...place };
    const { notAfter } = await openMessage(sealed, { boundTo, keyPair, secret }) ?? assert.fail(type);
    return notAfter - NOW;
  };
  assert.equal(await lifeOf("agent.start", 60), 11 * MINUTE_MS);
  for (const type of ["agent.end", "project.mute", "dialog.answer"] as const) {
    assert.equal(await lifeOf(type, 10), 10 * MINUTE_MS + 10_000, type);
  }
  for (const type of ["agent.command", "agent.cancel", "ask.answer"] as const) {
    assert.equal(await lifeOf(type), DAY_MS, type);
  }
  assert.equal(await lifeOf("agent.command", 3 * DAY_MS / 1_000), 3 * DAY_MS);
});

Deno.test("a request about a dialog or a project is not sent an hour later [ux-outbox, sec-active-relay]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, relay, clock } = bench;
  const session = {
    deviceId: TO.deviceId,
    host: "workstation",
    online: true,
    lastSeen: NOW,
    entry: entryOf({ createdAt: 5 }),
  };
  const dialog = { session, id: idOf(9), since: NOW, can: ["reject"], push: undefined, answer: undefined };
  relay.away = true;
  const asked = [
    controller.ask(muteRequest(session, { muted: true })),
    controller.ask(unmuteRequest(TO.deviceId, "/work/app")),
    controller.ask(dialogRequest(dialog, "reject")),
  ];
  clock.advance(60 * MINUTE_MS);
  relay.away = false;
  clock.advance(MINUTE_MS);
  await until("their end", () => asked.every((id) => stateOf(bench, id) !== "outbox"));
  assert.deepEqual(asked.map((id) => stateOf(bench, id)), ["failed", "failed", "failed"]);
  assert.deepEqual(relay.records, []);
  await controller.stop();
});

const CONTEXT = { live: true, hostOnline: true, sentAgain: false, now: NOW };

Deno.test("a sealed message that only the relay reports as expired or cancelled does not say that nothing was typed while its host would type it [sec-active-relay, hostile-relay, ux-receipt]", async () => {
  const { sealing, secret, clock } = await pairedPhone();
  const textOf = async (message: Message, receipt: Receipt): Promise<ReceiptText> =>
    receiptText(withReceipt(message, await sealing.checkReceipt(message.id, receipt)), CONTEXT);
  const claims = [
    ["Expired", receiptOf("expired")],
    ["Cancelled", receiptOf("withdrawn", { final: true })],
    ["Unclear", receiptOf("unknown", { reason: "not_submitted" })],
  ] as const;
  for (const [place, [label, receipt]] of claims.entries()) {
    const message = messageOf(place + 1, { kind: "outbox" });
    const sealed = { id: message.id, type: "agent.command", ...TO, body: "text" } as const;
    clock.now = NOW;
    const plainly = await textOf(message, receipt);
    await sealing.outgoingContent(sealed);
    const claim =
      `The relay says “${label}”, but the host has not confirmed it. Check the terminal before you send it again.`;
    for (const wait of [0, SEALED_LIFE_MS + SKEW_MS]) {
      clock.now = NOW + wait;
      const { state, tone, detail, resendFrom } = await textOf(message, receipt);
      assert.deepEqual([state, tone, detail, resendFrom], [label, "unsure", claim, 0]);
    }
    clock.now++;
    assert.deepEqual(await textOf(message, receipt), plainly, "its host would not type it any more");
    clock.now = NOW;
    const forged = await sealing.checkReceipt(message.id, { ...receiptOf("submitted"), proof: "" });
    assert.equal(forged.unproven, true);
    const proof = await receiptProof(secret, { id: message.id, ...receipt });
    assert.deepEqual(await textOf(message, { ...receipt, proof }), plainly, "its host says so");
  }
});

Deno.test("a request, or an answer to a card, that only the relay reports as expired is unclear and not failed: if repeated, it would happen twice [hostile-relay, ux-start]", () => {
  const receipt = { ...receiptOf("expired"), deliverable: true as const };
  const claimed = messageOf(1, takenWith(receipt));
  assert.deepEqual(requestProgress(claimed, NOW), { kind: "unclear" });
  assert.equal(cardOutcome(claimed), "unproven");
  const expired = messageOf(1, takenWith(receiptOf("expired")));
  assert.equal(requestProgress(expired, NOW).kind, "failed");
  assert.equal(cardOutcome(expired), "not_taken");
});
