/** This phone's sealed messages as a hostile relay lists them: each stays in the session it was sealed for, and none is sent again in plaintext. */
import assert from "node:assert/strict";
import { receiptProof } from "../../../src/crypto/paired_secret.ts";
import { type Message, messageOf } from "../../../src/phone/message.ts";
import { answerPush } from "../../../src/phone/outbox.ts";
import { receiptText } from "../../../src/phone/receipt_text.ts";
import type { OutgoingMessage } from "../../../src/phone/sealed_form.ts";
import { Sealing } from "../../../src/phone/sealing.ts";
import type { SessionName } from "../../../src/phone/sessions.ts";
import { messagesOf } from "../../../src/phone/state.ts";
import { lateAnswerData, lateAnswerId } from "../../../src/protocol/late_answer.ts";
import type { Push, PushRecord } from "../../../src/protocol/push.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { until } from "../../helpers/until.ts";
import { FakePairingStorage } from "./fake_pairing_storage.ts";
import { pairedWith } from "./offering_host.ts";
import { type Bench, live, phoneWith, stateOf, TO } from "./phone_bench.ts";
import { idOf, messageOf as sampleMessage, NOW, receiptOf, recordOf } from "./samples.ts";

const TEXT = "the password is swordfish";
const OTHERS: SessionName[] = [
  { deviceId: TO.deviceId, session: "svc-other" },
  { deviceId: "dev_listener_b", session: TO.session },
];

const opened = (pairing: FakePairingStorage): Promise<Bench> =>
  live(phoneWith({ apiKey: "svc_k" }, undefined, { pairing }));

const shownIn = ({ store }: Bench, name: SessionName): Message[] => messagesOf(store.get(), name);

/** Sends a sealed text and reopens the page; the relay then lists the message changed and expired. */
async function listedAs(change: (push: Push) => Push): Promise<Bench> {
  const { pairing } = await pairedWith(TO.deviceId);
  const first = await opened(pairing);
  await first.controller.send(TO, TEXT);
  const [record] = first.relay.records;
  assert.ok(record?.push.sealed && record.push.body === undefined);
  await first.controller.stop();
  const next = phoneWith({ apiKey: "svc_k" }, undefined, { pairing });
  next.relay.records = [{ push: change(record.push), receipt: receiptOf("expired") }];
  return await live(next);
}

async function resendsSealed(bench: Bench, message: Message | undefined): Promise<void> {
  assert.ok(message);
  const before = bench.relay.records.length;
  await bench.controller.resend(message);
  const posted = bench.relay.records.slice(before).map(({ push }) => push);
  assert.deepEqual(
    posted.map((push) => [push.body, push.sealed?.mode, push.targetDeviceId, push.agentSessionName]),
    [[undefined, "psk", TO.deviceId, TO.session]],
  );
}

for (
  const [what, change] of [
    ["without its host", ({ targetDeviceId: _host, ...push }) => push],
    ["under another host", (push) => ({ ...push, targetDeviceId: "dev_listener_b" })],
    ["under another session", (push) => ({ ...push, agentSessionName: "svc-other" })],
    ["with another text, in plaintext", ({ sealed: _sealed, ...push }) => ({ ...push, body: "rm -rf ." })],
  ] satisfies [string, (push: Push) => Push][]
) {
  Deno.test(`a sealed message that a relay lists ${what} stays in its session, and is sent again sealed for it [hostile-relay, seal-stored]`, async () => {
    const bench = await listedAs(change);
    const shown = shownIn(bench, TO);
    assert.deepEqual(shown.map(({ body, sealed }) => [body, sealed]), [[TEXT, "here"]]);
    for (const name of OTHERS) assert.deepEqual(shownIn(bench, name), []);
    await resendsSealed(bench, shown[0]);
    await bench.controller.edit(shown[0] ?? assert.fail());
    assert.deepEqual(Object.entries(bench.store.get().drafts).filter(([, text]) => text !== ""), [
      [`${TO.deviceId}/${TO.session}`, TEXT],
    ]);
    await bench.controller.stop();
  });
}

Deno.test("a message that names no host is sent again to the host whose session shows it, sealed if that one is paired [hostile-relay, seal-stored]", async () => {
  const { pairing } = await pairedWith(TO.deviceId);
  const next = phoneWith({ apiKey: "svc_k" }, undefined, { pairing });
  const { push: { targetDeviceId: _host, ...push } } = recordOf(3);
  next.relay.records = [{ push, receipt: receiptOf("expired") }];
  const bench = await live(next);
  await resendsSealed(bench, shownIn(bench, TO)[0]);
  await bench.controller.stop();
});

Deno.test("a text that was sealed is not sent again in plaintext to a host that is no longer paired [seal-stored]", async () => {
  const { pairing } = await pairedWith(TO.deviceId);
  const bench = await opened(pairing);
  const { controller, relay, store } = bench;
  await controller.send(TO, TEXT);
  const [sent] = shownIn(bench, TO);
  assert.ok(sent);
  await controller.forgetHost(TO.deviceId);
  bench.sockets.last.says("push.updated", { id: sent.id, receipt: receiptOf("expired") });
  await until("the receipt", () => stateOf(bench, sent.id) === "expired");
  await controller.resend(store.get().messages.get(sent.id) ?? sent);
  assert.equal(relay.records.length, 1, "nothing more was sent");
  const { progress } = shownIn(bench, TO).at(-1) ?? {};
  assert.equal(progress?.kind === "failed" && progress.failure.code, "unsealable");
  await controller.send(TO, "a new text, under an open lock");
  assert.equal(relay.records.at(-1)?.push.body, "a new text, under an open lock");
  await controller.stop();
});

const COMMAND: OutgoingMessage = { id: idOf(1), type: "agent.command", ...TO, body: TEXT };

async function sealingPhone() {
  const { pairing, secret } = await pairedWith(TO.deviceId);
  const sealing = new Sealing({ storage: pairing, now: () => NOW });
  await sealing.load();
  const listed = async (push: Partial<Push>, receipt: Receipt = receiptOf("queued")) => {
    const { push: { body: _body, ...sample } } = recordOf(1);
    const record: PushRecord = { push: { ...sample, ...push }, receipt };
    const [read] = await sealing.openRecords([record]);
    return read && messageOf(read);
  };
  return { pairing, secret, sealing, listed };
}

Deno.test("a paired phone sends nothing plain if the relay would choose the host, except an answer to a plain question [seal-stored, seal-answers]", async () => {
  const { sealing } = await sealingPhone();
  await assert.rejects(sealing.outgoingContent({ ...COMMAND, deviceId: "" }), {
    name: "RelayError",
    code: "unsealable",
  });
  const answer = { ...sampleMessage(2), deviceId: "", session: "", answers: { question: idOf(7) } };
  const { body, sealed } = await answerPush({ ...answer, body: "Yes" }, sealing);
  assert.deepEqual([body, sealed], ["Yes", undefined]);
  const unpaired = new Sealing({ storage: new FakePairingStorage(), now: () => NOW });
  assert.deepEqual(await unpaired.outgoingContent({ ...COMMAND, deviceId: "" }), { body: TEXT });
});

Deno.test("a sealed text is shown under its own id and with its sealed type, and its proof counts for no other message [hostile-relay, sec-active-relay]", async () => {
  const { sealing, secret, listed } = await sealingPhone();
  const { sealed } = await sealing.outgoingContent(COMMAND);
  const answer = { ...COMMAND, id: idOf(2), type: "ask.answer", body: "Yes", inReplyTo: idOf(7) } as const;
  const { sealed: sealedAnswer } = await sealing.outgoingContent(answer);
  const cancel = {
    ...COMMAND,
    id: idOf(3),
    type: "agent.cancel",
    body: idOf(1),
    inReplyTo: idOf(1),
  } as const;
  const { sealed: sealedCancel } = await sealing.outgoingContent(cancel);
  const receipt = receiptOf("submitted");
  const proof = await receiptProof(secret, { id: COMMAND.id, ...receipt });
  assert.equal((await sealing.checkReceipt(COMMAND.id, { ...receipt, proof })).unproven, undefined);

  const late = { inReplyTo: idOf(7), data: lateAnswerData(COMMAND.id), sealed };
  const forged: Partial<Push>[] = [
    { ...late, id: idOf(5) },
    { ...late, id: await lateAnswerId(COMMAND.id) },
    { ...late, id: idOf(6), data: lateAnswerData(idOf(2)), sealed: sealedAnswer },
    { id: idOf(3), sealed: sealedCancel },
    { id: COMMAND.id, type: "ask.answer", inReplyTo: idOf(7), sealed },
  ];
  for (const push of forged) {
    const { body, progress, sealed: whose } = await listed(push) ?? assert.fail();
    assert.deepEqual([body, whose], ["", "elsewhere"], JSON.stringify(push));
    const isOwnId = push.id === COMMAND.id;
    assert.equal(progress.kind === "taken" && progress.receipt.state, isOwnId ? "submitted" : "queued");
  }
  const place = { targetDeviceId: "dev_listener_b", agentSessionName: "svc-other" };
  const carried = { ...late, data: lateAnswerData(idOf(2)), sealed: sealedAnswer };
  const typed = await listed({ ...carried, ...place, id: await lateAnswerId(idOf(2)) });
  assert.deepEqual([typed?.deviceId, typed?.session, typed?.body, typed?.inReplyTo, typed?.sealed], [
    ...[TO.deviceId, TO.session, "Yes", idOf(7), "here"],
  ]);
});

Deno.test("a sealed message's reply target and time are those that this phone sealed [hostile-relay]", async () => {
  const { sealing, listed } = await sealingPhone();
  const later = { kind: "at", at: NOW + 60_000 } as const;
  const { sealed } = await sealing.outgoingContent({ ...COMMAND, later });
  assert.deepEqual((await listed({ id: COMMAND.id, sealed }))?.later, later);
  const answer = { ...COMMAND, id: idOf(2), type: "ask.answer", body: "Yes", inReplyTo: idOf(7) } as const;
  const { sealed: sealedAnswer } = await sealing.outgoingContent(answer);
  const moved = { id: idOf(2), type: "ask.answer", inReplyTo: idOf(8), sealed: sealedAnswer };
  assert.equal((await listed(moved))?.answers?.question, idOf(7));
});

Deno.test("a relay cannot pass off a text as sealed here under the id of one that was sent plain [hostile-relay]", async () => {
  const { pairing, sealing, listed } = await sealingPhone();
  await pairing.addSent({ id: idOf(1), sentAt: NOW, form: "plain" });
  const { sealed } = await sealing.outgoingContent({ ...COMMAND, id: idOf(2) });
  const message = await listed({ id: idOf(1), body: "made up", sealed });
  assert.deepEqual([message?.body, message?.sealed], ["", "elsewhere"]);
});

Deno.test("a text of an earlier version, which did not store its session, is shown and can be neither sent again nor edited [hostile-relay, upgrade-home]", async () => {
  const { pairing, sealing, listed } = await sealingPhone();
  const { sealed } = await sealing.outgoingContent(COMMAND);
  const { boundTo: _boundTo, ...earlier } = pairing.sent.get(COMMAND.id) ?? assert.fail();
  await pairing.putSent(earlier);
  const message = await listed({ id: COMMAND.id, sealed }, receiptOf("expired")) ?? assert.fail();
  assert.equal(message.body, TEXT);
  const context = { live: true, hostOnline: true, sentAgain: false, now: NOW };
  const { resendFrom, editable } = receiptText(message, context);
  assert.deepEqual([resendFrom, editable], [undefined, false]);
});
