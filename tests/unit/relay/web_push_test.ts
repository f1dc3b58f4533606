/** Web Push at the relay: who is notified, what a message contains, what withdraws it, and how dead endpoints are handled. */
import assert from "node:assert/strict";
import { decodeBase64url, encodeBase64url } from "../../../src/async/encodings.ts";
import type { SealedForPhones } from "../../../src/protocol/push.ts";
import type { WebPushPayload } from "../../../src/protocol/web_push.ts";
import { IN_VIEW_LIMIT_MS } from "../../../src/relay/web_push.ts";
import { MESSAGES_PER_ACCOUNT_MAX, MESSAGES_PER_PHONE_MAX } from "../../../src/relay/web_push_delivery.ts";
import { lookupPublicly, postPublicly } from "../../../src/runtime/public_post.ts";
import { makeSubscriber, openText, openToken, SUBSCRIPTION } from "../../helpers/push_vendor.ts";
import { until } from "../../helpers/until.ts";
import { uuid } from "./fixture.ts";
import { HOST, type RungPhone, SESSION, Stage } from "./web_push_stage.ts";

const kinds = (payloads: readonly WebPushPayload[]): string[] => payloads.map(({ kind }) => kind);

Deno.test("a question, a dialog, a turn's end and a note ring every phone; other pushes do not [push-rings, push-phones]", async () => {
  await using stage = await Stage.make();
  const phones = [await stage.phone(), await stage.phone()];
  await stage.ask(1);
  for (const [n, type] of ["agent.attention", "agent.stop", "note", "broadcast", "weather"].entries()) {
    await stage.push({ id: uuid(n + 2), type, body: "text", agentSessionName: SESSION });
  }
  await stage.push({ type: "agent.command", targetDeviceId: HOST, agentSessionName: SESSION, body: "x" });
  for (const phone of phones) {
    const sent = await stage.sentTo(phone);
    const types = sent.map((payload) => payload.kind === "ring" ? payload.type : payload.kind);
    assert.deepEqual(types, ["ask", "agent.attention", "agent.stop", "note"]);
  }
});

Deno.test("a message carries the session to open, and no text that is not sealed [push-textless]", async () => {
  await using stage = await Stage.make();
  const phone = await stage.phone();
  await stage.ask(1);
  const createdAt = stage.relay.clock.now();
  const about = { id: uuid(1), type: "ask", host: HOST, session: SESSION };
  assert.deepEqual(await stage.sentTo(phone), [{ kind: "ring", ...about, createdAt }]);
});

Deno.test("a sealed text is sent with the key of this phone only; one that is too long must be fetched [push-sealed]", async () => {
  await using stage = await Stage.make();
  const [phone, other] = [await stage.phone(), await stage.phone()];
  const key = { enc: "AAAA", ciphertext: "AAAA" };
  const sealedFor = (bytes: number): SealedForPhones => ({
    host: HOST,
    nonce: "AAAA",
    ciphertext: "A".repeat(bytes),
    keys: { [phone.id]: key, dev_phone_gone: key },
  });
  await stage.push({ id: uuid(1), type: "note", sealedFor: sealedFor(1_000) });
  await stage.push({ id: uuid(2), type: "note", sealedFor: sealedFor(20_000) });
  const [short, long] = await stage.sentTo(phone);
  assert.ok(short?.kind === "ring" && long?.kind === "ring");
  assert.deepEqual(short.sealedFor, { ...sealedFor(1_000), keys: { [phone.id]: key } });
  assert.deepEqual([long.sealedFor, long.load], [undefined, true]);
  for (const payload of await stage.sentTo(other)) {
    assert.ok(!("sealedFor" in payload) && !("load" in payload));
  }
});

Deno.test("messages have a token of the relay's key, a time to live, an urgency and a topic [push-vapid]", async () => {
  await using stage = await Stage.make();
  const phone = await stage.phone();
  await stage.ask(1, { ttlSeconds: 600 });
  await stage.push({ id: uuid(2), type: "agent.stop", agentSessionName: SESSION, ttlSeconds: 10 });
  await stage.push({ id: uuid(3), type: "agent.attention", agentSessionName: SESSION });
  await stage.sentTo(phone);
  const [ask, stop, attention] = stage.posts.map(({ headers }) => headers);
  assert.ok(ask && stop && attention);
  assert.deepEqual([ask["ttl"], ask["urgency"]], ["600", "high"]);
  assert.deepEqual([stop["ttl"], stop["urgency"]], ["60", "normal"]);
  assert.equal(attention["topic"], stop["topic"], "a session's later notification replaces the earlier one");
  assert.notEqual(ask["topic"], stop["topic"]);
  assert.match(ask["topic"] ?? "", /^[A-Za-z0-9_-]{1,32}$/);
  await using other = await Stage.make();
  const sameName = await other.phone();
  await other.push({ id: uuid(2), type: "agent.stop", agentSessionName: SESSION, ttlSeconds: 10 });
  await other.sentTo(sameName);
  assert.notEqual(other.posts[0]?.headers["topic"], stop["topic"], "nobody can compute it from the names");
  const { publicKey, claims } = await openToken(ask);
  const answer = await (await stage.relay.request("GET", "/web-push/key", { key: phone.key })).json();
  assert.deepEqual(answer, { publicKey });
  assert.equal(decodeBase64url(publicKey)?.length, 65);
  assert.equal(claims["aud"], "https://push.example");
  assert.match(String(claims["sub"]), /^mailto:/);
});

Deno.test("the example of RFC 8291 opens, so what these tests open is what a browser opens [other-web-push]", async () => {
  const { keys } = SUBSCRIPTION;
  const point = decodeBase64url(keys.p256dh) ?? new Uint8Array();
  const jwk = {
    kty: "EC",
    crv: "P-256",
    x: encodeBase64url(point.subarray(1, 33)),
    y: encodeBase64url(point.subarray(33)),
    d: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
  };
  const params = { name: "ECDH", namedCurve: "P-256" };
  const privateKey = await crypto.subtle.importKey("jwk", jwk, params, false, ["deriveBits"]);
  const body = decodeBase64url(
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  );
  const text = await openText(body ?? new Uint8Array(), { subscription: SUBSCRIPTION, privateKey });
  assert.equal(text, "When I grow up, I want to be a watermelon");
});

Deno.test("the token of the example of RFC 8292 is accepted, and no other claims under its signature [other-web-push]", async () => {
  const head = "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9";
  const claims =
    "eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0";
  const signature = "i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA";
  const key = "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs";
  const open = (claims: string) =>
    openToken({ authorization: `vapid t=${head}.${claims}.${signature}, k=${key}` });
  assert.deepEqual((await open(claims)).claims, {
    aud: "https://push.example.net",
    exp: 1_453_523_768,
    sub: "mailto:push@example.com",
  });
  await assert.rejects(open(claims.replace("NTM1", "NTM2")));
});

Deno.test("kinds, sessions and quiet hours that a phone switched off do not ring it [push-preferences, push-quiet]", async () => {
  await using stage = await Stage.make();
  const none = { off: [], sessions: {} };
  const noNotes = await stage.phone({ ...none, off: ["note"] });
  const noSession = await stage.phone({ ...none, sessions: { [`${HOST}/${SESSION}`]: ["ask"] } });
  // The fake clock shows 08:00 UTC.
  const asleep = await stage.phone({ ...none, quiet: { from: "23:30", to: "09:30", timeZone: "Etc/UTC" } });
  const awake = await stage.phone({ ...none, quiet: { from: "23:30", to: "09:30", timeZone: "Asia/Tokyo" } });
  await stage.ask(1);
  await stage.push({ id: uuid(2), type: "note", body: "x", agentSessionName: SESSION });
  const ids = async (phone: RungPhone): Promise<string[]> => (await stage.sentTo(phone)).map(({ id }) => id);
  assert.deepEqual(await ids(noNotes), [uuid(1)]);
  assert.deepEqual(await ids(noSession), [uuid(2)]);
  assert.deepEqual(await ids(asleep), []);
  assert.deepEqual(await ids(awake), [uuid(1), uuid(2)]);
});

Deno.test("a push that a connected phone reports as in view does not ring it; one that it does not report does [push-in-view]", async () => {
  await using stage = await Stage.make();
  const [open, closed] = [await stage.phone(), await stage.phone()];
  await stage.relay.connect(open.key);
  await stage.ask(1);
  await until("the closed phone rings at once", () => stage.posts.length === 1);
  assert.equal(await stage.seen(1, open), 204);
  stage.relay.clock.advance(IN_VIEW_LIMIT_MS);
  assert.deepEqual(await stage.sentTo(open), []);
  await stage.ask(2);
  await until("the wait", () => stage.relay.clock.pending > 0);
  stage.relay.clock.advance(IN_VIEW_LIMIT_MS);
  assert.deepEqual((await stage.sentTo(open)).map(({ id }) => id), [uuid(2)]);
  assert.deepEqual(kinds(await stage.sentTo(closed)), ["ring", "ring"]);
});

Deno.test("a phone that is connected to another node has the same time to report a push in view [nodes-presence]", async () => {
  await using stage = await Stage.make();
  const [elsewhere, closed] = [await stage.phone(), await stage.phone()];
  stage.relay.services.store.nodeOf = ({ id }) => Promise.resolve(id === elsewhere.id ? "other" : undefined);
  await stage.ask(1);
  await until("the closed phone rings at once", () => stage.posts.length === 1);
  assert.equal(await stage.seen(1, elsewhere), 204);
  stage.relay.clock.advance(IN_VIEW_LIMIT_MS);
  assert.deepEqual(await stage.sentTo(elsewhere), []);
  assert.deepEqual(kinds(await stage.sentTo(closed)), ["ring"]);
});

Deno.test("a question that is answered meanwhile does not ring, and its notification is withdrawn from the other phones [push-withdrawn]", async () => {
  await using stage = await Stage.make();
  const [one, other] = [await stage.phone(), await stage.phone()];
  await stage.relay.connect(other.key);
  await stage.relay.connect(stage.host, { role: "script", deviceId: "dev_script_asker" });
  await stage.ask(1);
  await until("the first phone rings", () => stage.posts.length === 1);
  await until("its receipt", async () => (await stage.record(1)).receipt.shown?.[one.id]?.sent);
  await stage.push({ type: "ask.answer", inReplyTo: uuid(1), data: { choices: ["yes"] } });
  stage.relay.clock.advance(IN_VIEW_LIMIT_MS);
  assert.deepEqual(kinds(await stage.sentTo(one)), ["ring", "withdraw"]);
  assert.deepEqual(kinds(await stage.sentTo(other)), []);
  assert.equal(stage.posts[0]?.headers["topic"], stage.posts[1]?.headers["topic"]);
});

Deno.test("the phone that answers gets no withdrawal of its own question [push-withdrawn]", async () => {
  await using stage = await Stage.make();
  const [one, other] = [await stage.phone(), await stage.phone()];
  await stage.ask(1);
  await stage.relay.settle();
  await stage.answer(1, one);
  assert.deepEqual(kinds(await stage.sentTo(one)), ["ring"]);
  assert.deepEqual(kinds(await stage.sentTo(other)), ["ring", "withdraw"]);
});

for (const status of [400, 403, 404, 410]) {
  Deno.test(`a subscription that the vendor answers with ${status} is removed [push-dead]`, async () => {
    await using stage = await Stage.make();
    const phone = await stage.phone();
    stage.answers.push({ status });
    await stage.push({ id: uuid(1), type: "note", body: "x" });
    await stage.push({ id: uuid(2), type: "note", body: "x" });
    await stage.relay.settle();
    const device = { account: "default", id: phone.id };
    assert.equal(await stage.relay.services.store.findWebPush(device), undefined);
    assert.equal((await stage.record(1)).receipt.shown, undefined);
  });
}

Deno.test("a vendor that may refuse the placeholder contact keeps its subscription, and the log says what to give [push-contact]", async () => {
  await using stage = await Stage.make();
  const phone = await stage.phone();
  stage.relay.contact = undefined;
  stage.answers.push({ status: 403 });
  await stage.push({ id: uuid(1), type: "note", body: "x" });
  await stage.relay.settle();
  assert.match(stage.relay.logged.join("\n"), /push\.example answered 403; .*--web-push-contact mailto:/);
  await stage.push({ id: uuid(2), type: "note", body: "x" });
  assert.equal((await stage.sentTo(phone)).length, 2);
});

/** Stands in for a network whose DNS answers every name with an address inside that network. */
function captured(): Promise<never> {
  return new Promise((_, reject) => {
    const resolve = lookupPublicly((_name, _options, found) =>
      found(null, [{ address: "10.0.0.1", family: 4 }])
    );
    resolve("push.example", { all: true }, reject);
  });
}

Deno.test("a vendor whose name resolves to a private address keeps its subscription, and gets the message later [push-dead, push-ssrf]", async () => {
  await using stage = await Stage.make();
  const { clock, vendor } = stage.relay;
  const phone = await stage.phone();
  stage.relay.vendor = captured;
  await stage.push({ id: uuid(1), type: "note", body: "x" });
  await until("the first try", () => clock.pending > 0);
  stage.relay.vendor = vendor;
  clock.advance(60_000);
  assert.deepEqual((await stage.sentTo(phone)).map(({ id }) => id), [uuid(1)]);
  stage.relay.vendor = captured;
  await stage.push({ id: uuid(2), type: "note", body: "x" });
  const settled = stage.relay.settle().then(() => true);
  await until("the end of the tries", async () => {
    clock.advance(60_000);
    return await Promise.race([settled, Promise.resolve(false)]);
  });
  assert.match(stage.relay.metrics.render([]), /svc_web_push_total\{outcome="failed"\} 1\n/);
  const device = { account: "default", id: phone.id };
  assert.notEqual(await stage.relay.services.store.findWebPush(device), undefined);
});

Deno.test("a subscription whose address is not public by itself is removed [push-dead, push-ssrf]", async () => {
  await using stage = await Stage.make();
  const { id, subscriber } = await stage.phone();
  const device = { account: "default", id };
  const { store } = stage.relay.services;
  await store.saveWebPush(device, { ...subscriber.subscription, endpoint: "https://10.0.0.1/x" });
  stage.relay.vendor = postPublicly;
  await stage.push({ id: uuid(1), type: "note", body: "x" });
  await stage.relay.settle();
  assert.equal(await store.findWebPush(device), undefined);
});

Deno.test("a busy vendor is asked again after its Retry-After, but not forever [push-retry]", async () => {
  await using stage = await Stage.make();
  const { clock } = stage.relay;
  const phone = await stage.phone();
  stage.answers.push({ status: 429, retryAfterSeconds: 30 }, { status: 503, retryAfterSeconds: 7 });
  await stage.push({ id: uuid(1), type: "note", body: "x" });
  await until("the first try", () => stage.posts.length === 1 && clock.pending > 0);
  clock.advance(29_999);
  assert.equal(clock.pending, 1, "the wait goes on until its last millisecond");
  clock.advance(1);
  await until("the second try", () => stage.posts.length === 2 && clock.pending > 0);
  clock.advance(6_999);
  assert.equal(clock.pending, 1, "the second wait is as long as the second answer asks");
  clock.advance(1);
  assert.deepEqual(kinds(await stage.sentTo(phone)), ["ring", "ring", "ring"]);
  const times = stage.posts.map(({ headers }) => headers["ttl"]);
  assert.deepEqual(times, ["3600", "3570", "3563"], "what remains of the push's time to live");
  stage.answers.push(...Array.from({ length: 20 }, () => ({ status: 500 })));
  await stage.push({ id: uuid(2), type: "note", body: "x" });
  const done = stage.relay.settle().then(() => "done");
  await until("the end of the tries", async () => {
    clock.advance(60_000);
    return await Promise.race([done, Promise.resolve("")]) === "done";
  });
  assert.equal(stage.posts.length, 3 + 6);
});

for (
  const [what, change] of [
    ["that is revoked", async ({ relay }, { id }) => {
      const admin = await relay.key(["admin"]);
      assert.equal((await relay.request("DELETE", `/devices/${id}`, { key: admin })).status, 204);
    }],
    ["whose key is revoked", async ({ relay }, { id }) => {
      const owner = await relay.services.store.deviceOwner({ account: "default", id });
      await relay.services.store.revokeKey(owner ?? "", relay.clock.now());
    }],
    ["that subscribes anew", async ({ relay }, { id, key }) => {
      const { subscription: body } = await makeSubscriber(`https://push.example/${id}/new`);
      assert.equal((await relay.request("PUT", `/devices/${id}/web-push`, { key, body })).status, 204);
    }],
  ] as [string, (stage: Stage, phone: RungPhone) => Promise<void>][]
) {
  for (const kind of ["ring", "withdraw"]) {
    Deno.test(`a ${kind} that waits for a busy vendor is not sent to a phone ${what} meanwhile [push-retry, sec-leaked-key]`, async () => {
      await using stage = await Stage.make();
      const [phone, other] = [await stage.phone(), await stage.phone()];
      if (kind === "withdraw") await stage.ask(1).then(() => stage.relay.settle());
      const busy = { status: 503, retryAfterSeconds: 100 };
      const before = stage.posts.length;
      stage.answers.push(...(kind === "ring" ? [busy, busy] : [busy]));
      if (kind === "ring") await stage.ask(1);
      else void stage.answer(1, other);
      const own = (): number => stage.posts.slice(before).filter(({ url }) => url.includes(phone.id)).length;
      const tries = kind === "ring" ? 2 : 1;
      await until("the first tries", () => own() === 1 && stage.relay.clock.pending === tries);
      await change(stage, phone);
      stage.relay.clock.advance(100_000);
      await stage.relay.settle();
      assert.equal(own(), 1);
    });
  }
}

/** Holds the vendor's answers for these phones until the returned function is called. */
function holdBack(stage: Stage, phones: readonly RungPhone[]): () => void {
  const held = Promise.withResolvers<void>();
  const endpoints = phones.map(({ subscriber }) => subscriber.subscription.endpoint);
  stage.relay.vendor = async (post) => {
    stage.posts.push(post);
    if (endpoints.includes(post.url)) await held.promise;
    return { status: 201 };
  };
  return held.resolve;
}

const hasDropped = ({ relay }: Stage, messages: number): boolean =>
  relay.metrics.render([]).includes(`svc_web_push_total{outcome="dropped"} ${messages}\n`);

Deno.test("waiting messages are bounded for each account [push-bounded]", async () => {
  await using stage = await Stage.make();
  const phones: RungPhone[] = [];
  const most = MESSAGES_PER_ACCOUNT_MAX / MESSAGES_PER_PHONE_MAX;
  for (let n = 0; n < most; n++) {
    // An address may claim one pairing code every 5 s.
    stage.relay.clock.advance(5_000);
    phones.push(await stage.phone());
  }
  const release = holdBack(stage, phones);
  for (let n = 0; n < MESSAGES_PER_PHONE_MAX + 2; n++) await stage.push({ type: "note", body: "x" });
  await until("two dropped messages for each phone", () => hasDropped(stage, 2 * most));
  release();
  await stage.relay.settle();
  assert.equal(stage.posts.length, MESSAGES_PER_ACCOUNT_MAX);
});

Deno.test("a phone whose vendor does not answer delays no other phone, and is sent the newest messages [push-bounded]", async () => {
  await using stage = await Stage.make();
  const [slow, other] = [await stage.phone(), await stage.phone()];
  const release = holdBack(stage, [slow]);
  const postsTo = ({ subscriber }: RungPhone): number =>
    stage.posts.filter(({ url }) => url === subscriber.subscription.endpoint).length;
  const all = Array.from({ length: MESSAGES_PER_ACCOUNT_MAX + 20 }, (_, n) => uuid(n));
  for (const [n, id] of all.entries()) {
    await stage.push({ id, type: "note", body: "x" });
    await until("the other phone rings", () => postsTo(other) === n + 1);
  }
  assert.ok(hasDropped(stage, all.length - 1 - MESSAGES_PER_PHONE_MAX));
  release();
  const ids = (await stage.sentTo(slow)).map(({ id }) => id);
  assert.deepEqual(ids, [all[0], ...all.slice(-MESSAGES_PER_PHONE_MAX)]);
});

Deno.test("if too many messages wait for a phone, one of the same topic is dropped first, else the oldest [push-bounded]", async () => {
  await using stage = await Stage.make();
  const phone = await stage.phone();
  const release = holdBack(stage, [phone]);
  const note = (n: number): Promise<void> => stage.push({ id: uuid(n), type: "note", body: "x" });
  const ofSession = (n: number, type: string): Promise<void> =>
    stage.push({ id: uuid(n), type, body: "x", agentSessionName: SESSION });
  await note(0);
  await note(1);
  await ofSession(2, "agent.stop");
  for (let n = 3; n <= MESSAGES_PER_PHONE_MAX; n++) await note(n);
  await ofSession(MESSAGES_PER_PHONE_MAX + 1, "agent.attention");
  await until("the earlier message of the session is dropped", () => hasDropped(stage, 1));
  await note(MESSAGES_PER_PHONE_MAX + 2);
  await until("the oldest message is dropped", () => hasDropped(stage, 2));
  release();
  const left = Array.from({ length: MESSAGES_PER_PHONE_MAX }, (_, n) => uuid(n + 3));
  assert.deepEqual((await stage.sentTo(phone)).map(({ id }) => id), [uuid(0), ...left]);
});

Deno.test("a receipt lists what each phone was shown, and phones report only for themselves [push-receipt]", async () => {
  await using stage = await Stage.make();
  const [one, other] = [await stage.phone(), await stage.phone()];
  await stage.ask(1);
  await stage.relay.settle();
  const sent = stage.relay.clock.now();
  stage.relay.clock.advance(1_000);
  assert.equal(await stage.seen(1, one, "notification"), 204);
  stage.relay.clock.advance(1_000);
  assert.equal(await stage.seen(1, one, "tap"), 204);
  stage.relay.clock.advance(1_000);
  assert.equal(await stage.seen(1, one, "tap"), 204);
  assert.deepEqual((await stage.record(1)).receipt.shown, {
    [one.id]: { sent, notified: sent + 1_000, seen: sent + 2_000 },
    [other.id]: { sent },
  });
  assert.equal(await stage.seen(1, { ...one, key: other.key }), 404);
  assert.equal(await stage.seen(7, one), 404);
  await stage.answer(1, other);
  const { state, shown } = (await stage.record(1)).receipt;
  assert.deepEqual([state, shown?.[one.id]?.seen], ["answered", sent + 2_000]);
});

Deno.test("a test message is answered with the vendor's answer [push-test]", async () => {
  await using stage = await Stage.make();
  const phone = await stage.phone();
  const path = `/devices/${phone.id}/web-push/test`;
  const test = (): Promise<Response> =>
    stage.relay.request("POST", path, { key: phone.key, body: { id: uuid(1) } });
  assert.deepEqual(await (await test()).json(), { status: 201, milliseconds: 0 });
  assert.deepEqual(await stage.sentTo(phone), [{ kind: "test", id: uuid(1) }]);
  stage.answers.push({ status: 503 });
  assert.equal((await (await test()).json()).status, 503);
  stage.answers.push({ status: 410 });
  assert.match((await (await test()).json()).detail, /push\.example answered 410/);
  assert.equal((await (await test()).json()).code, "not_found");
});

Deno.test("a phone has one test message under way at a time [push-test, push-bounded]", async () => {
  await using stage = await Stage.make();
  const phone = await stage.phone();
  const [begun, vendor] = [Promise.withResolvers<void>(), Promise.withResolvers<{ status: number }>()];
  stage.relay.vendor = () => {
    begun.resolve();
    return vendor.promise;
  };
  const path = `/devices/${phone.id}/web-push/test`;
  const test = (): Promise<Response> =>
    stage.relay.request("POST", path, { key: phone.key, body: { id: uuid(1) } });
  const first = test();
  await begun.promise;
  const second = await test();
  assert.deepEqual([second.status, second.headers.get("retry-after")], [429, "10"]);
  vendor.resolve({ status: 201 });
  assert.equal((await (await first).json()).status, 201);
  assert.equal((await (await test()).json()).status, 201);
});

Deno.test("a subscription with an address that is not public, or with bad keys, is refused [push-ssrf]", async () => {
  await using stage = await Stage.make();
  const { id, key, subscriber: { subscription } } = await stage.phone();
  const put = async (body: unknown): Promise<number> =>
    (await stage.relay.request("PUT", `/devices/${id}/web-push`, { key, body })).status;
  for (
    const endpoint of [
      "https://127.0.0.1/x",
      "https://10.0.0.1/x",
      "https://[::1]/x",
      "https://[::ffff:192.168.0.1]/x",
      "https://2130706433/x",
      "https://localhost/x",
      "https://router.local/x",
      "https://me@push.example/x",
      "http://127.0.0.1:8080/x",
    ]
  ) assert.equal(await put({ ...subscription, endpoint }), 400, endpoint);
  assert.equal(await put({ ...subscription, keys: { ...subscription.keys, auth: "AAAA" } }), 400);
  assert.equal(await put({ ...subscription, keys: { ...subscription.keys, p256dh: "AAAA" } }), 400);
  assert.equal(await put(subscription), 204);
});
