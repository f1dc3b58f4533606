/** Which sealed messages a host accepts: its own, from a paired phone, for the place that the relay names, in time. */
import assert from "node:assert/strict";
import { exportPublicKey, generateKeyPair } from "../../../src/crypto/keys.ts";
import { importSecret, newSecret, pairingId } from "../../../src/crypto/paired_secret.ts";
import { type SealedContent, sealMessage } from "../../../src/crypto/stored_message.ts";
import { PairingsBusy } from "../../../src/home/pairing.ts";
import type { JournalEntry } from "../../../src/home/journal.ts";
import { PushOpener, unseal, type UnsealHost } from "../../../src/listener/sealing.ts";
import type { Answer } from "../../../src/protocol/ask.ts";
import { lateAnswerId } from "../../../src/protocol/late_answer.ts";
import type { Push } from "../../../src/protocol/push.ts";
import { encodeAnswer } from "../../../src/protocol/sealed_text.ts";

const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const LISTENER = "dev_listener_01234567";
const PHONE = "dev_phone_a";
const keyPair = await generateKeyPair();
const secret = await importSecret(newSecret());

const PLAIN: Push = {
  id: "00000000-0000-4000-8000-000000000001",
  type: "agent.command",
  targetDeviceId: LISTENER,
  agentSessionName: "svc-a",
  from: PHONE,
  createdAt: NOW,
  expiresAt: NOW + 3_600_000,
};

function makeHost(change: Partial<UnsealHost> = {}): UnsealHost & { logged: string[] } {
  const logged: string[] = [];
  return {
    deviceId: LISTENER,
    identity: () => Promise.resolve(keyPair),
    secretOf: (phone) => Promise.resolve(phone === PHONE ? secret : undefined),
    ownSecret: () => Promise.resolve(undefined),
    claimQuestion: () => Promise.resolve(true),
    now: () => NOW,
    log: (line) => void logged.push(line),
    logged,
    ...change,
  };
}

async function sealedPush(
  content: Partial<SealedContent> = {},
  { isPaired = true, type = PLAIN.type }: { isPaired?: boolean; type?: string } = {},
): Promise<Push> {
  const boundTo = { ...PLAIN, type, targetDeviceId: LISTENER, agentSessionName: "svc-a", sendAnyway: false };
  const sealed = await sealMessage(
    { body: "hello", notAfter: NOW + DAY_MS, ...content },
    { boundTo, publicKey: await exportPublicKey(keyPair.publicKey), secret: isPaired ? secret : undefined },
  );
  return { ...PLAIN, type, sealed };
}

async function judged(push: Push, change: Partial<UnsealHost> = {}): Promise<string> {
  const { found: opened } = await unseal(push, makeHost(change));
  return "state" in opened ? `${opened.state} ${opened.reason ?? ""}`.trim() : `text ${opened.body}`;
}

Deno.test("a paired phone's message is opened, even one sealed without the secret [seal-stored, seal-base]", async () => {
  assert.equal(await judged(await sealedPush()), "text hello");
  assert.equal(await judged(await sealedPush({}, { isPaired: false })), "text hello");
  assert.equal(await judged({ ...await sealedPush(), body: "the relay's words" }), "text hello");
});

Deno.test("a paired script's sealed messages are opened, but nothing that only the user may send [pair-script, role-speaks-for]", async () => {
  const secretOf: UnsealHost["secretOf"] = (phone, { orScript = false } = {}) =>
    Promise.resolve(phone === PHONE && orScript ? secret : undefined);
  assert.equal(await judged(await sealedPush(), { secretOf }), "text hello");
  const users = ["agent.start", "agent.end", "agent.cancel", "project.mute", "dialog.answer", "ask.answer"];
  for (const type of users) {
    const push = await sealedPush({}, { type });
    assert.equal(await judged(push), "text hello", `${type} of a phone`);
    assert.equal(await judged(push, { secretOf }), "refused unsealable", type);
  }
});

Deno.test("a message cannot be opened if the relay changed anything around it [seal-stored, seal-unsealable, hostile-relay]", async () => {
  const push = await sealedPush();
  const changes: Partial<Push>[] = [
    { id: "00000000-0000-4000-8000-000000000002" },
    { type: "agent.start" },
    { from: "dev_phone_b" },
    { agentSessionName: "svc-b" },
    { agentSessionName: undefined },
    { data: { sendAnyway: true } },
    { sealed: undefined },
    { sealed: push.sealed && { ...push.sealed, mode: "base" } },
  ];
  for (const change of changes) {
    assert.equal(await judged({ ...push, ...change }), "refused unsealable", JSON.stringify(change));
  }
  assert.equal(await judged(push, { deviceId: "dev_listener_other" }), "refused unsealable");
});

Deno.test("the log distinguishes an unpaired phone and a host that never paired from a forgery", async () => {
  const push = await sealedPush();
  const host = makeHost({ secretOf: () => Promise.resolve(undefined) });
  await unseal(push, host);
  assert.match(host.logged[0] ?? "", /sealed by "dev_phone_a".*not paired/);
  assert.equal(await judged(push, { identity: () => Promise.resolve(undefined) }), "refused unsealable");
});

Deno.test("a message is refused if the keys cannot be read, and the log says why", async () => {
  const host = makeHost({ identity: () => Promise.reject(new Error("damaged file")) });
  assert.deepEqual((await unseal(await sealedPush(), host)).found, {
    state: "refused",
    reason: "unsealable",
  });
  assert.match(host.logged[0] ?? "", /damaged file/);
});

Deno.test("a message stays with the relay while another process changes the pairings", async () => {
  const host = makeHost({ secretOf: () => Promise.reject(new PairingsBusy("busy")) });
  await assert.rejects(unseal(await sealedPush(), host), PairingsBusy);
});

Deno.test("a message that a relay held back too long is not typed, nor one that would outlive the journal [hostile-relay]", async () => {
  const push = await sealedPush({ notAfter: NOW - 3_600_000 });
  assert.equal(await judged(push), "expired");
  assert.equal(await judged(await sealedPush({ notAfter: NOW - 60_000 })), "text hello", "clocks differ");
  assert.equal(await judged(await sealedPush({ notAfter: NOW + 8 * DAY_MS })), "refused unsealable");
});

Deno.test("an expired message is opened only to remove its text: if an earlier listener typed this very one [inj-take-back, hostile-relay]", async () => {
  const push = await sealedPush({ notAfter: NOW - DAY_MS, counter: 7 });
  assert.ok(secret);
  const own = { pairing: await pairingId(secret), counter: 7 };
  /** Returns what is opened for a push that arrives again, and what is removed for one that was interrupted. */
  const opened = async (step: "accepted" | "left", sealed = own): Promise<string[]> => {
    const known: JournalEntry = { id: push.id, at: NOW, step, sealed };
    const opener = new PushOpener({
      unseal: (one) => unseal(one, makeHost()),
      prepare: () => {},
      journal: { state: () => known, record: () => Promise.resolve(), take: () => Promise.resolve("taken") },
      floor: () => Promise.resolve("psk"),
      log: () => {},
    });
    const [again, interrupted] = [await opener.open(push), await opener.reopen(push, known)];
    const isOver = again === undefined || "state" in again || (again.notAfter ?? Infinity) <= NOW;
    assert.ok(isOver, "it is never submitted");
    const arrived = again !== undefined && "state" in again ? again.state : again?.body;
    return [arrived ?? "", interrupted?.body ?? ""];
  };
  assert.deepEqual(await opened("left"), ["hello", "hello"]);
  assert.deepEqual(await opened("accepted"), ["expired", "hello"]);
  assert.deepEqual(await opened("left", { ...own, counter: 6 }), ["expired", ""]);
});

Deno.test("a sealed text follows the same rules as any other [show-controls]", async () => {
  for (const body of ["a\u001bb", "", "x".repeat(16_385)]) {
    const push = await sealedPush({ body });
    assert.equal(await judged(push), "refused invalid_body");
  }
});

const QUESTION = "00000000-0000-4000-8000-00000000000a";
const ANSWER = "00000000-0000-4000-8000-00000000000b";

/** Returns an answer that no asker received, as the relay forwards it. */
async function lateAnswer(
  question: string,
  answer: Answer = { kind: "choices", choices: ["the first", "the second"] },
  notAfter = NOW + DAY_MS,
): Promise<Push> {
  const boundTo = {
    ...PLAIN,
    id: ANSWER,
    type: "ask.answer",
    targetDeviceId: LISTENER,
    agentSessionName: "svc-a",
    sendAnyway: false,
  };
  const body = encodeAnswer(question, answer);
  const publicKey = await exportPublicKey(keyPair.publicKey);
  const sealed = await sealMessage({ body, notAfter }, { boundTo, publicKey, secret });
  return { ...PLAIN, id: await lateAnswerId(ANSWER), inReplyTo: QUESTION, data: { answer: ANSWER }, sealed };
}

Deno.test("a late answer is opened as the text of the answer [seal-answers, mcp-late]", async () => {
  assert.equal(await judged(await lateAnswer(QUESTION)), "text the first, the second");
});

Deno.test("the text of a late answer that has expired is known, so that it can be removed, and claims nothing [inj-take-back, mcp-late]", async () => {
  const claimQuestion: UnsealHost["claimQuestion"] = () => assert.fail("claimed");
  const expired = await lateAnswer(QUESTION, undefined, NOW - DAY_MS);
  const { found, old } = await unseal(expired, makeHost({ claimQuestion }));
  assert.deepEqual(found, { state: "expired" });
  assert.equal(old?.body, "the first, the second");
});

Deno.test("an answer to a card is not typed if a relay forwards it as a message [hostile-relay, card-bound]", async () => {
  const answers: Answer[] = [
    { kind: "answers", answers: [{ options: [0], text: "and more" }] },
    { kind: "decided", decision: "once", digest: "0".repeat(64) },
  ];
  for (const answer of answers) {
    const claimed: string[] = [];
    const claimQuestion: UnsealHost["claimQuestion"] = (id) => Promise.resolve(claimed.push(id) > 0);
    assert.equal(await judged(await lateAnswer(QUESTION, answer), { claimQuestion }), "refused unsealable");
    assert.deepEqual(claimed, []);
  }
});

Deno.test("an answer that the asking program received is not typed as well [seal-answers, replay-window]", async () => {
  const asked: unknown[] = [];
  const claimQuestion: UnsealHost["claimQuestion"] = (id, claim) =>
    Promise.resolve(asked.push([id, claim]) < 1);
  assert.equal(await judged(await lateAnswer(QUESTION), { claimQuestion }), "refused answer_taken");
  assert.deepEqual(asked, [[QUESTION, { answer: ANSWER, by: "listener" }]]);
});

Deno.test("a late answer that cannot be claimed on a full disk is not refused: it waits like any message [inj-full-disk, seal-answers]", async () => {
  const claimQuestion: UnsealHost["claimQuestion"] = () => Promise.reject(new Error("disk full"));
  await assert.rejects(unseal(await lateAnswer(QUESTION), makeHost({ claimQuestion })), /disk full/);
});

Deno.test("a late answer for another question, under another id, or presented as a message is not typed [seal-answers, hostile-relay]", async () => {
  const push = await lateAnswer(QUESTION);
  const changes: Partial<Push>[] = [
    { id: PLAIN.id },
    { inReplyTo: ANSWER },
    { inReplyTo: undefined },
    { data: undefined },
    { data: { answer: QUESTION } },
    { data: { answer: ANSWER, sendAnyway: true } },
  ];
  for (const change of changes) {
    assert.equal(await judged({ ...push, ...change }), "refused unsealable", JSON.stringify(change));
  }
  const message = await sealedPush();
  const asAnswer = { inReplyTo: QUESTION, data: { answer: message.id } };
  assert.equal(await judged({ ...message, ...asAnswer }), "refused unsealable");
});

Deno.test("the seal names the pairing and the counter, and requires the secret [replay-window]", async () => {
  assert.ok(secret);
  const pairing = await pairingId(secret);
  assert.equal(pairing.length, 22);
  const sealOf = async (push: Push): Promise<unknown> => (await unseal(push, makeHost())).seal;
  assert.deepEqual(await sealOf(await sealedPush({ counter: 7 })), { pairing, counter: 7 });
  assert.deepEqual(await sealOf(await sealedPush()), { pairing, counter: undefined });
  assert.equal(await sealOf(await sealedPush({ counter: 7 }, { isPaired: false })), undefined);
  assert.equal(await judged(await sealedPush({ counter: 7 })), "text hello");
  const old = await sealedPush({ counter: 8, notAfter: NOW - 3_600_000 });
  assert.equal(await judged(old), "expired");
  assert.deepEqual(await sealOf(old), { pairing, counter: 8 }, "what is closed unread is closed for good");
});

Deno.test("a message that the host sealed for itself opens, whatever name the relay gives its key [send-seals]", async () => {
  const own = await importSecret(newSecret());
  const boundTo = {
    ...PLAIN,
    from: LISTENER,
    targetDeviceId: LISTENER,
    agentSessionName: "svc-a",
    sendAnyway: false,
  };
  const publicKey = await exportPublicKey(keyPair.publicKey);
  const content = { body: "hello", notAfter: NOW + DAY_MS, counter: 1 };
  const push = {
    ...PLAIN,
    from: "key_0123",
    sealed: await sealMessage(content, { boundTo, publicKey, secret: own }),
  };
  const ownSecret = () => Promise.resolve(own);
  assert.equal(await judged(push, { ownSecret }), "text hello");
  assert.equal(await judged({ ...push, from: PHONE }, { ownSecret }), "text hello");
  assert.equal(await judged(push), "refused unsealable");
});
