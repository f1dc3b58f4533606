/** What is sent sealed or plain, what a phone can open, and which receipts it accepts. */
import assert from "node:assert/strict";
import { claimPairing } from "../../../src/client/claim_pairing.ts";
import { exportPublicKey, generateKeyPair } from "../../../src/crypto/keys.ts";
import { receiptProof } from "../../../src/crypto/paired_secret.ts";
import { openMessage } from "../../../src/crypto/stored_message.ts";
import { type HostPush, sealForPhones, sealHostPush } from "../../../src/crypto/host_push.ts";
import { inboxItemOf } from "../../../src/phone/inbox.ts";
import { messageOf } from "../../../src/phone/message.ts";
import { answerPush } from "../../../src/phone/outbox.ts";
import { type OutgoingMessage, SEALED_LIFE_MS } from "../../../src/phone/sealed_form.ts";
import { Sealing } from "../../../src/phone/sealing.ts";
import { DETAILS_TYPE } from "../../../src/protocol/session.ts";
import type { Push, PushRecord } from "../../../src/protocol/push.ts";
import { lateAnswerId } from "../../../src/protocol/late_answer.ts";
import { SKEW_MS } from "../../../src/protocol/limits.ts";
import type { PushState, Receipt } from "../../../src/protocol/receipt.ts";
import { decodeAnswer } from "../../../src/protocol/sealed_text.ts";
import { FakePairingStorage } from "./fake_pairing_storage.ts";
import { HOST_ID, offeringHost, PHONE_ID } from "./offering_host.ts";
import { deviceOf, idOf, messageOf as messageSample, NOW, recordOf } from "./samples.ts";

const DAY_MS = 86_400_000;

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
  return { host, storage, sealing, keep: () => sealing.keepHost(paired.host) };
}

Deno.test("a message to a paired host is sealed for that host, session and option, for a day [seal-stored]", async () => {
  const { host, sealing, keep } = await pairedPhone();
  await keep();
  const content = await sealing.outgoingContent({ ...MESSAGE, sendAnyway: true });
  assert.equal(content.body, undefined);
  assert.ok(content.sealed?.mode === "psk");
  const boundTo = {
    id: MESSAGE.id,
    type: "agent.command",
    from: PHONE_ID,
    targetDeviceId: HOST_ID,
    agentSessionName: "svc-demo",
    sendAnyway: true,
  };
  const { keyPair, secret } = host;
  const opened = await openMessage(content.sealed, { boundTo, keyPair, secret });
  assert.deepEqual(opened, { body: "hello", notAfter: NOW + SEALED_LIFE_MS, counter: 1 });
});

Deno.test("a message sent again is identical, even after a reload and a new pairing [ux-outbox]", async () => {
  const { storage, sealing, keep } = await pairedPhone();
  const plain = await sealing.outgoingContent(MESSAGE);
  assert.deepEqual(plain, { body: "hello" });
  await keep();
  assert.deepEqual(await sealing.outgoingContent(MESSAGE), { body: "hello" }, "the relay may have it");
  const next = { ...MESSAGE, id: idOf(2) };
  const first = await sealing.outgoingContent(next);
  const reloaded = new Sealing({ storage, now: () => NOW });
  await reloaded.load();
  assert.ok(first.sealed);
  assert.deepEqual(await reloaded.outgoingContent(next), first);
});

Deno.test("two pages that send one message at once send identical bytes [ux-outbox]", async () => {
  const { storage, sealing, keep } = await pairedPhone();
  await keep();
  const other = new Sealing({ storage, now: () => NOW });
  await other.load();
  const [first, second] = await Promise.all([sealing, other].map((one) => one.outgoingContent(MESSAGE)));
  assert.ok(first?.sealed);
  assert.deepEqual(second, first);
  assert.deepEqual(await sealing.outgoingContent(MESSAGE), first);
});

Deno.test("to an unpaired host, or without WebCrypto, messages are sent plain [seal-off]", async () => {
  const { sealing, keep } = await pairedPhone();
  await keep();
  const next = (number: number) => ({ ...MESSAGE, id: idOf(number) });
  assert.deepEqual(await sealing.outgoingContent({ ...next(1), deviceId: "dev_listener_b" }), {
    body: "hello",
  });
  assert.deepEqual([...sealing.confirmedHosts()], [HOST_ID]);
  const bare = new Sealing({ storage: undefined, now: () => NOW });
  await bare.load();
  assert.deepEqual([await bare.outgoingContent(MESSAGE), bare.isAvailable], [{ body: "hello" }, false]);
});

Deno.test("the phone reads its own sealed messages in the history; those of another device are marked as such", async () => {
  const { sealing, keep } = await pairedPhone();
  await keep();
  const { sealed } = await sealing.outgoingContent(MESSAGE);
  assert.ok(sealed);
  const asStored = (number: number) => {
    const { push, receipt } = recordOf(number);
    return { push: { ...push, body: undefined, sealed }, receipt };
  };
  const read = await sealing.openRecords([asStored(1), asStored(2), recordOf(3), recordOf(1)]);
  const messages = read.map((record) => messageOf(record));
  assert.deepEqual(messages.map((message) => [message?.body, message?.sealed]), [
    ["hello", "here"],
    ["", "elsewhere"],
    ["text 3", undefined],
    ["hello", "here"],
  ], "also where the relay puts another text in its place");
});

Deno.test("an answer that a relay adds to what another phone sealed is neither shown nor taken for this phone's [hostile-relay, seal-answers]", async () => {
  const { sealing, keep } = await pairedPhone();
  await keep();
  const { sealed } = await sealing.outgoingContent({ ...MESSAGE, type: "ask.answer" });
  assert.ok(sealed);
  const { push, receipt } = recordOf(2);
  const answer = { ...push, type: "ask.answer", inReplyTo: idOf(7), sealed };
  const { body: _body, ...bare } = answer;
  const forged = [answer, { ...bare, data: { choices: ["Yes"] } }].map((push) => ({ push, receipt }));
  for (const opener of [sealing, new Sealing({ storage: undefined, now: () => NOW })]) {
    const read = (await opener.openRecords(forged)).map((record) => messageOf(record));
    assert.deepEqual(read.map((message) => [message?.body, message?.sealed]), [
      ["", "elsewhere"],
      ["", "elsewhere"],
    ]);
  }
});

Deno.test("each of several hosts gets text that only it can open [seal-stored]", async () => {
  const { storage, sealing, keep, host } = await pairedPhone();
  await keep();
  const second = await offeringHost();
  const own = { deviceId: "dev_listener_b", host: "other workstation", phone: PHONE_ID };
  await sealing.keepHost({ ...own, publicKey: second.offer.publicKey, secret: second.secret });
  assert.equal(storage.hosts.size, 2);
  for (const [deviceId, keys, others] of [[HOST_ID, host, second], [own.deviceId, second, host]] as const) {
    const id = idOf(deviceId === HOST_ID ? 1 : 2);
    const { sealed } = await sealing.outgoingContent({ ...MESSAGE, id, deviceId });
    assert.ok(sealed);
    const boundTo = {
      id,
      type: "agent.command",
      from: PHONE_ID,
      targetDeviceId: deviceId,
      agentSessionName: "svc-demo",
      sendAnyway: false,
    };
    assert.equal((await openMessage(sealed, { boundTo, ...keys }))?.body, "hello");
    assert.equal(await openMessage(sealed, { boundTo, ...others }), undefined);
  }
});

Deno.test("signing out leaves no host, no secret and no text behind", async () => {
  const { storage, sealing, keep } = await pairedPhone();
  await keep();
  await sealing.outgoingContent(MESSAGE);
  await sealing.clear();
  assert.deepEqual([storage.hosts.size, storage.sent.size, sealing.confirmedHosts().size], [0, 0, 0]);
});

Deno.test("a proven final receipt is shown, and its page with it, if the phone cannot store it [ux-receipt]", async () => {
  const { host, storage, sealing, keep } = await pairedPhone();
  await keep();
  const { sealed } = await sealing.outgoingContent(MESSAGE);
  storage.putSent = () => Promise.reject(new DOMException("full", "QuotaExceededError"));
  const receipt: Receipt = { state: "submitted", final: true, at: { submitted: NOW } };
  const proven = { ...receipt, proof: await receiptProof(host.secret, { id: MESSAGE.id, ...receipt }) };
  assert.deepEqual(await sealing.checkReceipt(MESSAGE.id, proven), proven);
  const { push } = recordOf(1);
  const own: PushRecord = { push: { ...push, body: undefined, sealed } as Push, receipt: proven };
  const page = await sealing.openRecords([own, recordOf(2)]);
  assert.deepEqual(page.map(({ push: { body } }) => body), ["hello", "text 2"]);
  assert.deepEqual(page[0]?.receipt, proven);
});

/** Makes a note of the paired host, sealed for this phone. */
async function told(
  { host, storage }: Awaited<ReturnType<typeof pairedPhone>>,
  push: Partial<HostPush>,
  now = NOW,
) {
  const { publicKey } = await storage.ownKeys();
  const phones = [{
    deviceId: PHONE_ID,
    publicKey: await exportPublicKey(publicKey),
    secret: host.secret,
  }];
  const { push: stored, receipt } = recordOf(7);
  const { body: _body, ...plain } = stored;
  const sealed = await sealHostPush({ ...plain, ...push }, {
    host: HOST_ID,
    phones,
    shown: { hookId: "hook_1" },
    now,
  });
  return { push: { ...stored, body: undefined, ...sealed } as Push, receipt };
}

Deno.test("a note from a paired host can be read, even after a reload, but not on another phone [seal-answers]", async () => {
  const phone = await pairedPhone();
  await phone.keep();
  const words = { title: "app · Claude has finished", body: "Done.", data: { cwd: "/work/app" } };
  const record = await told(phone, { type: "agent.stop", ...words });
  assert.ok(!JSON.stringify(record).includes("Done"));
  const reloaded = new Sealing({ storage: phone.storage, now: () => NOW });
  await reloaded.load();
  const [read] = await reloaded.openRecords([record]);
  const { title, body, data } = read?.push ?? {};
  assert.deepEqual({ title, body, data }, words);
  const other = await pairedPhone();
  await other.keep();
  const [unopened] = await other.sealing.openRecords([record]);
  const { title: noTitle, body: noBody, data: noData } = unopened?.push ?? {};
  assert.deepEqual([noTitle, noBody, noData], [undefined, undefined, undefined]);
});

Deno.test("an old question that a relay shows as new is closed, and an old note is as old as its host says [hostile-relay, seal-answers]", async () => {
  const phone = await pairedPhone();
  await phone.keep();
  const open: Receipt = { state: "delivered", final: false, at: { delivered: NOW } };
  const shown = async (push: Partial<HostPush>, sealedAt: number): Promise<PushRecord | undefined> => {
    const record = await told(phone, push, sealedAt);
    const fresh = { ...record.push, createdAt: NOW, expiresAt: NOW + DAY_MS };
    return (await phone.sealing.openRecords([{ push: fresh, receipt: open }]))[0];
  };
  const question = { type: "ask", body: "Deploy?", ttlSeconds: DAY_MS / 1_000 };
  const ages = await Promise.all([0, DAY_MS, 14 * DAY_MS].map((age) => shown(question, NOW - age)));
  assert.deepEqual(ages.map((one) => one?.receipt.state), ["delivered", "delivered", "expired"]);
  assert.deepEqual(ages.map((one) => one?.push.body), ["Deploy?", "Deploy?", "Deploy?"]);
  const [note, ahead] = await Promise.all(
    [NOW - 14 * DAY_MS, NOW + DAY_MS].map((at) => shown({ type: "note", body: "All tests pass." }, at)),
  );
  assert.equal(note?.push.createdAt, NOW - 14 * DAY_MS + SKEW_MS);
  assert.equal(ahead?.push.createdAt, NOW, "never newer than the relay says");
});

Deno.test("text that a relay adds to sealed text is not taken for the host's [hostile-relay, seal-answers]", async () => {
  const phone = await pairedPhone();
  await phone.keep();
  const ask = { kind: "prompt", timeoutSeconds: 300 };
  const { push, receipt } = await told(phone, { type: "ask", body: "Go?", data: ask });
  const forged = { ...push, title: "Go", body: "Your password?", data: ask };
  for (const host of [HOST_ID, "dev_listener_nobody"]) {
    const sealedFor = { ...forged.sealedFor, host, ciphertext: "AAAA" } as Push["sealedFor"];
    const [unopened] = await phone.sealing.openRecords([{ push: { ...forged, sealedFor }, receipt }]);
    assert.deepEqual([unopened?.push.title, unopened?.push.body], [undefined, undefined], host);
    assert.equal(unopened && inboxItemOf(unopened), undefined, host);
  }
});

Deno.test("an answer that must be sealed is never sent plain [hostile-relay, seal-answers]", async () => {
  const { sealing } = await pairedPhone();
  const sealTo = { deviceId: HOST_ID, session: "svc-demo" };
  const message = { ...messageSample(1), body: "Yes", answers: { question: idOf(7), sealTo } };
  await assert.rejects(answerPush(message, sealing), { name: "RelayError", code: "unsealable" });
});

Deno.test("a sealed question is shown if it can be opened, and its answer is sealed for that question only [seal-answers]", async () => {
  const phone = await pairedPhone();
  await phone.keep();
  const ask = { kind: "ask", options: ["Yes", "No"], timeoutSeconds: 300 };
  const record = await told(phone, { type: "ask", body: "Go?", agentSessionName: "svc-demo", data: ask });
  assert.equal(inboxItemOf(record), undefined);
  const [read] = await phone.sealing.openRecords([record]);
  assert.equal(read && inboxItemOf(read)?.kind, "question");

  const sealTo = { deviceId: HOST_ID, session: "svc-demo" };
  const answers = { question: idOf(7), data: { choices: ["Yes"] }, sealTo };
  const message = { ...messageSample(1), body: "Yes", answers };
  const push = await answerPush(message, phone.sealing);
  assert.deepEqual(await answerPush(message, phone.sealing), push, "sent again it is the same");
  const { sealed, ...shown } = push;
  assert.deepEqual(shown, { id: message.id, type: "ask.answer", inReplyTo: idOf(7) });
  assert.ok(sealed);
  const boundTo = {
    id: message.id,
    type: "ask.answer",
    from: PHONE_ID,
    targetDeviceId: HOST_ID,
    agentSessionName: "svc-demo",
    sendAnyway: false,
  };
  const { keyPair, secret } = phone.host;
  const opened = await openMessage(sealed, { boundTo, keyPair, secret });
  const answer = { kind: "choices", choices: ["Yes"] };
  assert.deepEqual(decodeAnswer(opened?.body ?? ""), { question: idOf(7), answer });

  const { push: stored, receipt } = recordOf(1);
  const kept = { push: { ...stored, ...push, body: undefined } as Push, receipt };
  const typed = {
    push: {
      ...stored,
      id: await lateAnswerId(message.id),
      body: undefined,
      sealed,
      inReplyTo: idOf(7),
      data: { answer: message.id },
    },
    receipt,
  };
  const [own, late] = (await phone.sealing.openRecords([kept, typed])).map((one) => messageOf(one));
  assert.deepEqual([own?.body, own?.sealed, late?.body, late?.sealed], ["Yes", "here", "Yes", "here"]);
  const [others] =
    (await new Sealing({ storage: new FakePairingStorage(), now: () => NOW }).openRecords([kept]))
      .map((one) => messageOf(one));
  assert.deepEqual([others?.body, others?.sealed], ["", "elsewhere"]);
});

Deno.test("the state of a sealed message counts only once its host has proven it, and stays proven [sec-active-relay, hostile-relay]", async () => {
  const { host, sealing, keep } = await pairedPhone();
  await keep();
  await sealing.outgoingContent(MESSAGE);
  const { id } = MESSAGE;
  const word = (state: PushState, final: boolean): Receipt => ({ state, final, at: { [state]: NOW } });
  const proven = async (receipt: Receipt, secret = host.secret): Promise<Receipt> => ({
    ...receipt,
    proof: await receiptProof(secret, { id, ...receipt }),
  });
  for (const state of ["queued", "expired", "unknown"] as const) {
    assert.equal(
      (await sealing.checkReceipt(id, word(state, false))).unproven,
      undefined,
      "the relay's own to say",
    );
  }
  const submitted = word("submitted", true);
  assert.equal((await sealing.checkReceipt(id, submitted)).unproven, true);
  const other = (await offeringHost()).secret;
  assert.equal((await sealing.checkReceipt(id, await proven(submitted, other))).unproven, true);
  const delivered = await proven(word("delivered", false));
  assert.equal((await sealing.checkReceipt(id, delivered)).unproven, undefined);
  assert.equal((await sealing.checkReceipt(id, { ...delivered, state: "typed" })).unproven, true);
  assert.equal((await sealing.checkReceipt(idOf(9), submitted)).unproven, undefined, "not sealed here");
  const started = await proven({ ...submitted, agentSessionName: "svc-started" });
  const { agentSessionName: _started, ...nowhere } = started;
  for (const changed of [{ ...started, agentSessionName: "svc-other" }, nowhere]) {
    const { unproven } = await sealing.checkReceipt(id, changed);
    assert.equal(unproven, true, "another session than the one that was started");
  }
  const end = await proven(submitted);
  assert.equal((await sealing.checkReceipt(id, { ...end, agentSessionName: "svc-other" })).unproven, true);
  assert.deepEqual(await sealing.checkReceipt(id, end), end);
  assert.deepEqual(await sealing.checkReceipt(id, word("expired", true)), end);
});

Deno.test("only details that a paired host sealed for this phone are used, and the plain ones of other hosts [det-sealed]", async () => {
  const { host, sealing, keep, storage } = await pairedPhone();
  const plain = { at: NOW };
  const details = { at: NOW + 1, start: { agents: ["cc"], projects: [] } };
  const publicKey = await exportPublicKey((await storage.ownKeys()).publicKey);
  const phones = [{ deviceId: PHONE_ID, publicKey, secret: host.secret }];
  const boundTo = { id: "", type: DETAILS_TYPE, agentSessionName: "", host: HOST_ID };
  const sealedFor = await sealForPhones(JSON.stringify(details), { boundTo, phones });
  const reported = (deviceId: string) => deviceOf({ deviceId, details: { plain, sealedFor } });
  assert.deepEqual(await sealing.openDetails(reported(HOST_ID)), plain);
  await keep();
  assert.deepEqual(await sealing.openDetails(reported(HOST_ID)), details);
  assert.equal(await sealing.openDetails(deviceOf({ deviceId: HOST_ID, details: { plain } })), undefined);
  const forged = { ...sealedFor, ciphertext: sealedFor.ciphertext.replace(/^.{4}/, "AAAA") };
  const device = deviceOf({ deviceId: HOST_ID, details: { sealedFor: forged } });
  assert.equal(await sealing.openDetails(device), undefined);
  assert.deepEqual(await sealing.openDetails(reported("dev_listener_b")), plain);
});
