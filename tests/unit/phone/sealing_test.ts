/** What goes out sealed, what plain, and how a phone reads its own sealed messages again. */
import assert from "node:assert/strict";
import { exportPublicKey, generateKeyPair } from "../../../src/crypto/keys.ts";
import { receiptProof } from "../../../src/crypto/receipt_proof.ts";
import { openMessage } from "../../../src/crypto/stored_message.ts";
import { sealPush, type ToldPush } from "../../../src/crypto/told_push.ts";
import { inboxItemOf } from "../../../src/phone/inbox.ts";
import { answerPush } from "../../../src/phone/outgoing_push.ts";
import { claimPairing } from "../../../src/client/claim_pairing.ts";
import { messageOf } from "../../../src/phone/message.ts";
import { type OutgoingMessage, SEALED_LIFE_MS, Sealing } from "../../../src/phone/sealing.ts";
import type { Push } from "../../../src/protocol/push.ts";
import { decodeAnswer } from "../../../src/protocol/sealed_text.ts";
import type { PushState, Receipt } from "../../../src/protocol/receipt.ts";
import { FakePairingStorage } from "./fake_pairing_storage.ts";
import { HOST_ID, offeringHost, PHONE_ID } from "./offering_host.ts";
import { idOf, messageOf as messageSample, NOW, recordOf } from "./samples.ts";

const MESSAGE: OutgoingMessage = {
  id: idOf(1),
  type: "agent.command",
  deviceId: HOST_ID,
  session: "svc-demo",
  body: "hello",
};

async function pairedPhone() {
  const host = await offeringHost();
  const storage = new FakePairingStorage();
  const sealing = new Sealing({ storage, now: () => NOW });
  const options = { code: "c", name: "iPhone", secret: host.word, keyPair: await generateKeyPair() };
  const { paired } = await claimPairing(host.api, options);
  assert.ok(paired);
  return { host, storage, sealing, keep: () => sealing.keep(paired.host) };
}

Deno.test("a message to a paired host is sealed for that host, session and option, for a day [seal-stored]", async () => {
  const { host, sealing, keep } = await pairedPhone();
  await keep();
  const content = await sealing.contentOf({ ...MESSAGE, sendAnyway: true });
  assert.equal(content.body, undefined);
  assert.ok(content.sealed?.mode === "psk");
  const place = {
    id: MESSAGE.id,
    type: "agent.command",
    from: PHONE_ID,
    targetDeviceId: HOST_ID,
    agentSessionName: "svc-demo",
    sendAnyway: true,
  };
  const { keyPair, secret } = host;
  const opened = await openMessage(content.sealed, { place, keyPair, secret });
  assert.deepEqual(opened, { body: "hello", notAfter: NOW + SEALED_LIFE_MS, counter: 1 });
});

Deno.test("sent again a message is the same to the byte, also over a reload, and after pairing meanwhile [ux-outbox]", async () => {
  const { storage, sealing, keep } = await pairedPhone();
  const plain = await sealing.contentOf(MESSAGE);
  assert.deepEqual(plain, { body: "hello" });
  await keep();
  assert.deepEqual(await sealing.contentOf(MESSAGE), { body: "hello" }, "the relay may have it");
  const next = { ...MESSAGE, id: idOf(2) };
  const first = await sealing.contentOf(next);
  const reloaded = new Sealing({ storage, now: () => NOW });
  await reloaded.load();
  assert.ok(first.sealed);
  assert.deepEqual(await reloaded.contentOf(next), first);
});

Deno.test("to a host that is not paired, or without cryptography messages go out plain [seal-off]", async () => {
  const { sealing, keep } = await pairedPhone();
  await keep();
  const next = (number: number) => ({ ...MESSAGE, id: idOf(number) });
  assert.deepEqual(await sealing.contentOf({ ...next(1), deviceId: "dev_listener_b" }), {
    body: "hello",
  });
  assert.deepEqual([...sealing.pairedWith()], [HOST_ID]);
  const bare = new Sealing({ storage: undefined, now: () => NOW });
  await bare.load();
  assert.deepEqual([await bare.contentOf(MESSAGE), bare.isPossible], [{ body: "hello" }, false]);
});

Deno.test("the phone reads its own sealed messages in the history; another device's are shown as such", async () => {
  const { sealing, keep } = await pairedPhone();
  await keep();
  const { sealed } = await sealing.contentOf(MESSAGE);
  assert.ok(sealed);
  const asStored = (number: number) => {
    const { push, receipt } = recordOf(number);
    return { push: { ...push, body: undefined, sealed }, receipt };
  };
  const read = await sealing.readable([asStored(1), asStored(2), recordOf(3), recordOf(1)]);
  const messages = read.map((record) => messageOf(record));
  assert.deepEqual(messages.map((message) => [message?.body, message?.sealed]), [
    ["hello", "here"],
    ["", "elsewhere"],
    ["text 3", undefined],
    ["hello", "here"],
  ], "also where the relay puts another text in its place");
});

Deno.test("of several hosts each gets what is sealed for it alone [seal-stored]", async () => {
  const { storage, sealing, keep, host } = await pairedPhone();
  await keep();
  const second = await offeringHost();
  const own = { deviceId: "dev_listener_b", host: "other desk", phone: PHONE_ID };
  await sealing.keep({ ...own, publicKey: second.offer.publicKey, secret: second.secret });
  assert.equal(storage.hosts.size, 2);
  for (const [deviceId, keys, others] of [[HOST_ID, host, second], [own.deviceId, second, host]] as const) {
    const id = idOf(deviceId === HOST_ID ? 1 : 2);
    const { sealed } = await sealing.contentOf({ ...MESSAGE, id, deviceId });
    assert.ok(sealed);
    const place = {
      id,
      type: "agent.command",
      from: PHONE_ID,
      targetDeviceId: deviceId,
      agentSessionName: "svc-demo",
      sendAnyway: false,
    };
    assert.equal((await openMessage(sealed, { place, ...keys }))?.body, "hello");
    assert.equal(await openMessage(sealed, { place, ...others }), undefined);
  }
});

Deno.test("who signs out leaves no host, no secret and no text behind", async () => {
  const { storage, sealing, keep } = await pairedPhone();
  await keep();
  await sealing.contentOf(MESSAGE);
  await sealing.clear();
  assert.deepEqual([storage.hosts.size, storage.sent.size, sealing.pairedWith().size], [0, 0, 0]);
});

/** What the paired host tells, sealed for this phone. */
async function told({ host, storage }: Awaited<ReturnType<typeof pairedPhone>>, push: Partial<ToldPush>) {
  const { publicKey } = await storage.ownKeys();
  const phones = [{
    deviceId: PHONE_ID,
    publicKey: await exportPublicKey(publicKey),
    secret: host.secret,
  }];
  const { push: stored, receipt } = recordOf(7);
  const { body: _body, ...plain } = stored;
  const sealed = await sealPush({ ...plain, ...push }, {
    host: HOST_ID,
    phones,
    shown: { hookId: "hook_1" },
  });
  return { push: { ...stored, body: undefined, ...sealed } as Push, receipt };
}

Deno.test("what a paired host tells is read, also after a reload; on another phone it stays shut [seal-answers]", async () => {
  const phone = await pairedPhone();
  await phone.keep();
  const words = { title: "app · Claude has finished", body: "Done.", data: { cwd: "/work/app" } };
  const record = await told(phone, { type: "agent.stop", ...words });
  assert.ok(!JSON.stringify(record).includes("Done"));
  const reloaded = new Sealing({ storage: phone.storage, now: () => NOW });
  await reloaded.load();
  const [read] = await reloaded.readable([record]);
  const { title, body, data } = read?.push ?? {};
  assert.deepEqual({ title, body, data }, words);
  const other = await pairedPhone();
  await other.keep();
  const [shut] = await other.sealing.readable([record]);
  const { title: noTitle, body: noBody, data: noData } = shut?.push ?? {};
  assert.deepEqual([noTitle, noBody, noData], [undefined, undefined, undefined]);
});

Deno.test("words that a relay puts beside sealed ones are not taken for the host's [hostile-relay, seal-answers]", async () => {
  const phone = await pairedPhone();
  await phone.keep();
  const ask = { kind: "prompt", timeoutSeconds: 300 };
  const { push, receipt } = await told(phone, { type: "ask", body: "Go?", data: ask });
  const forged = { ...push, title: "Go", body: "Your password?", data: ask };
  for (const host of [HOST_ID, "dev_listener_nobody"]) {
    const sealedFor = { ...forged.sealedFor, host, ciphertext: "AAAA" } as Push["sealedFor"];
    const [shut] = await phone.sealing.readable([{ push: { ...forged, sealedFor }, receipt }]);
    assert.deepEqual([shut?.push.title, shut?.push.body], [undefined, undefined], host);
    assert.equal(shut && inboxItemOf(shut), undefined, host);
  }
});

Deno.test("an answer that was to be sealed never goes out plain [hostile-relay, seal-answers]", async () => {
  const { sealing } = await pairedPhone();
  const sealTo = { deviceId: HOST_ID, session: "svc-demo" };
  const message = { ...messageSample(1), body: "Yes", answers: { question: idOf(7), sealTo } };
  await assert.rejects(answerPush(message, sealing), { name: "RelayError", code: "unsealable" });
});

Deno.test("a sealed question is shown where it can be read, and its answer goes out sealed for it alone [seal-answers]", async () => {
  const phone = await pairedPhone();
  await phone.keep();
  const ask = { kind: "ask", options: ["Yes", "No"], timeoutSeconds: 300 };
  const record = await told(phone, { type: "ask", body: "Go?", agentSessionName: "svc-demo", data: ask });
  assert.equal(inboxItemOf(record), undefined);
  const [read] = await phone.sealing.readable([record]);
  assert.equal(read && inboxItemOf(read)?.kind, "question");

  const sealTo = { deviceId: HOST_ID, session: "svc-demo" };
  const answers = { question: idOf(7), data: { choices: ["Yes"] }, sealTo };
  const message = { ...messageSample(1), body: "Yes", answers };
  const push = await answerPush(message, phone.sealing);
  assert.deepEqual(await answerPush(message, phone.sealing), push, "sent again it is the same");
  const { sealed, ...shown } = push;
  assert.deepEqual(shown, { id: message.id, type: "ask.answer", inReplyTo: idOf(7) });
  assert.ok(sealed);
  const place = {
    id: message.id,
    type: "ask.answer",
    from: PHONE_ID,
    targetDeviceId: HOST_ID,
    agentSessionName: "svc-demo",
    sendAnyway: false,
  };
  const { keyPair, secret } = phone.host;
  const opened = await openMessage(sealed, { place, keyPair, secret });
  const answer = { kind: "choices", choices: ["Yes"] };
  assert.deepEqual(decodeAnswer(opened?.body ?? ""), { question: idOf(7), answer });

  const { push: stored, receipt } = recordOf(1);
  const kept = { push: { ...stored, ...push, body: undefined } as Push, receipt };
  const typed = {
    push: {
      ...stored,
      id: idOf(5),
      body: undefined,
      sealed,
      inReplyTo: idOf(7),
      data: { answer: message.id },
    },
    receipt,
  };
  const [own, late] = (await phone.sealing.readable([kept, typed])).map((one) => messageOf(one));
  assert.deepEqual([own?.body, own?.sealed, late?.body, late?.sealed], ["Yes", "here", "Yes", "here"]);
  const [others] = (await new Sealing({ storage: new FakePairingStorage(), now: () => NOW }).readable([kept]))
    .map((one) => messageOf(one));
  assert.deepEqual([others?.body, others?.sealed], ["", "elsewhere"]);
});

Deno.test("what became of a sealed message counts only when its host has proven it; what was proven once stays [sec-active-relay, hostile-relay]", async () => {
  const { host, sealing, keep } = await pairedPhone();
  await keep();
  await sealing.contentOf(MESSAGE);
  const { id } = MESSAGE;
  const word = (state: PushState, final: boolean): Receipt => ({ state, final, at: { [state]: NOW } });
  const proven = async (receipt: Receipt, secret = host.secret): Promise<Receipt> => ({
    ...receipt,
    proof: await receiptProof(secret, { id, ...receipt }),
  });
  for (const state of ["queued", "expired", "unknown"] as const) {
    assert.equal((await sealing.heard(id, word(state, false))).unproven, undefined, "the relay's own to say");
  }
  const submitted = word("submitted", true);
  assert.equal((await sealing.heard(id, submitted)).unproven, true);
  const other = (await offeringHost()).secret;
  assert.equal((await sealing.heard(id, await proven(submitted, other))).unproven, true);
  const delivered = await proven(word("delivered", false));
  assert.equal((await sealing.heard(id, delivered)).unproven, undefined);
  assert.equal((await sealing.heard(id, { ...delivered, state: "typed" })).unproven, true);
  assert.equal((await sealing.heard(idOf(9), submitted)).unproven, undefined, "not sealed here");
  const end = await proven(submitted);
  assert.deepEqual(await sealing.heard(id, end), end);
  assert.deepEqual(await sealing.heard(id, word("expired", true)), end);
});
