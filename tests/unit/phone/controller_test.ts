/** The page without a browser: signing in, catching up after a reconnect, and keeping unsent messages. */

import assert from "node:assert/strict";
import { WATCHED_RHYTHM } from "../../../src/client/relay_link.ts";
import { ALL_SEEN } from "../../../src/phone/attention.ts";
import { TerminalStream } from "../../../src/phone/terminal_stream.ts";
import { until } from "../../helpers/until.ts";
import { type Bench, live, phoneWith, reloaded, stateOf, TO } from "./phone_bench.ts";
import { deviceOf, entryOf, idOf, NOW, receiptOf, recordOf } from "./samples.ts";

const kindOf = ({ store }: Bench): string => store.get().signIn.kind;

Deno.test("a signed-out phone asks for a key, and stores a valid one [ph-first-page]", async () => {
  const bench = phoneWith();
  await bench.controller.start();
  assert.equal(kindOf(bench), "out");
  await bench.controller.signIn("  svc_good\n");
  assert.equal(kindOf(bench), "in");
  assert.deepEqual(bench.storage.account, { apiKey: "svc_good" });
  bench.sockets.last.welcome(NOW);
  await until("the device's name", () => bench.storage.account?.deviceId === "dev_phone_1");
  bench.controller.stop();
});

Deno.test("a key that the relay rejects is not stored", async () => {
  const bench = phoneWith();
  bench.relay.refusal = "missing_scope";
  await bench.controller.signIn("svc_weak");
  const { signIn } = bench.store.get();
  assert.equal(signIn.kind === "out" && signIn.problem?.code, "missing_scope");
  assert.deepEqual([bench.storage.account, bench.sockets.made.length], [undefined, 0]);
});

Deno.test("a pairing code becomes an account; a failed one leaves a paired phone paired", async () => {
  const bench = phoneWith();
  await bench.controller.start({ kind: "pair", code: "abc" });
  assert.deepEqual(bench.storage.account, { apiKey: "svc_claimed", deviceId: "dev_phone_9" });
  bench.relay.refusal = "unknown_pairing";
  await bench.controller.start({ kind: "pair", code: "abc" });
  assert.equal(kindOf(bench), "in");
  assert.equal(bench.sockets.alive, 1, "the old link was ended");
  bench.controller.stop();
});

Deno.test("after every reconnect it loads what changed in the meantime", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.relay.devices = [deviceOf({ lastSeen: NOW + 1, sessions: [entryOf({ state: "waiting" })] })];
  bench.relay.records = [recordOf(7)];
  bench.sockets.last.ends(1006);
  bench.controller.reconnectNow();
  bench.sockets.last.welcome(NOW);
  await until("the missed message", () => stateOf(bench, idOf(7)) === "submitted");
  assert.equal(bench.store.get().devices?.[0]?.sessions[0]?.state, "waiting");
  bench.controller.stop();
});

Deno.test("the last list is kept for a page that is opened without a link [ph-offline-shell]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const ended = deviceOf({ sessions: [], lastSeen: NOW + 1 });
  bench.sockets.last.says("sessions.changed", ended);
  await until("the list", () => bench.store.get().devices?.[0]?.sessions.length === 0);
  bench.sockets.last.ends(1006);
  await until("the kept list", () => bench.storage.sessions?.[0]?.sessions.length === 0);
  await bench.controller.stop();
});

Deno.test("a session that the page shows at once gets its mirror as soon as the link is up [ux-mirror-touch]", async () => {
  const viewer = {
    terminal: { write: () => {}, resize: () => {}, input: () => {} },
    onState: () => {},
    onStatus: () => {},
    onDrawn: () => {},
  };
  const asked: unknown[] = [];
  const bench: Bench = phoneWith({ apiKey: "svc_good" }, ({ signIn }) => {
    if (signIn.kind === "in" && asked.length === 0) {
      asked.push(bench.controller.mirror(TO, viewer, TerminalStream));
    }
  });
  await live(bench);
  assert.notEqual(asked[0], undefined);
  await until("the mirror", () => bench.sockets.last.events.includes("pane.open"));
});

const full = (): Promise<never> => Promise.reject(new DOMException("full", "QuotaExceededError"));

Deno.test("a full storage hides nothing that arrived while the link was lost [ux-any-order]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.storage.writeSessions = full;
  bench.relay.records = [recordOf(7)];
  bench.sockets.last.ends(1006);
  bench.controller.reconnectNow();
  bench.sockets.last.welcome(NOW);
  await until("what came meanwhile", () => stateOf(bench, idOf(7)) === "submitted");
  await bench.controller.stop();
});

Deno.test("a phone that cannot store its device id, read marks and drafts still shows the history [ux-any-order]", async () => {
  const bench = phoneWith({ apiKey: "svc_k" });
  Object.assign(bench.storage, { writeSessions: full, writeAccount: full, putSeen: full, putDraft: full });
  bench.relay.records = [recordOf(7)];
  await live(bench);
  assert.equal(stateOf(bench, idOf(7)), "submitted");
  bench.controller.draft(TO, "a draft");
  bench.controller.keepDrafts();
  await bench.controller.stop();
});

Deno.test("a receipt for a message from another phone loads the message", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.relay.records = [recordOf(8, receiptOf("delivered"))];
  bench.sockets.last.says("push.updated", { id: idOf(8), receipt: receiptOf("delivered") });
  await until("the message", () => stateOf(bench, idOf(8)) === "delivered");
  bench.controller.stop();
});

Deno.test("a message is stored until the relay has it, and no longer [ux-outbox]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.relay.away = true;
  bench.sockets.last.ends(1006);
  await bench.controller.send(TO, "hello");
  const [kept] = [...bench.storage.outbox.values()];
  assert.equal(kept?.body, "hello");
  bench.controller.stop();

  const next = await live(reloaded(bench));
  await until("the message to be taken", () => stateOf(next, kept?.id ?? "") === "queued");
  await until("the outbox to be empty", () => next.storage.outbox.size === 0);
  next.controller.stop();
});

Deno.test("if WebSockets are blocked, messages are sent and receipts are polled over HTTP [http-no-stream]", async () => {
  const bench = phoneWith({ apiKey: "svc_k" });
  await bench.controller.start();
  bench.sockets.last.ends(1006);
  await until("the explanation", () => bench.store.get().devices !== undefined);
  await bench.controller.send(TO, "hello");
  const [id = ""] = [...bench.store.get().messages.keys()];
  assert.equal(stateOf(bench, id), "queued");
  const [record] = bench.relay.records;
  assert.ok(record);
  bench.relay.records = [{ ...record, receipt: receiptOf("submitted") }];
  bench.controller.reconnectNow();
  bench.sockets.last.ends(1006);
  await until("the receipt", () => stateOf(bench, id) === "submitted");
  bench.controller.stop();
});

Deno.test("once the relay accepts a message the link no longer waits for its next attempt [ux-relay-back]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.relay.away = true;
  bench.sockets.last.ends(1006);
  bench.controller.reconnectNow();
  bench.sockets.last.ends(1006);
  await until("the reason", () => "problem" in bench.store.get().link);
  bench.relay.away = false;
  const before = bench.sockets.last;
  await bench.controller.send(TO, "out of the tunnel");
  assert.notEqual(bench.sockets.last, before, "nobody advanced the clock");
  bench.sockets.last.welcome(NOW);
  assert.equal(bench.store.get().link.kind, "live");
  bench.controller.stop();
});

Deno.test("signing out erases the key and the unsent messages", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.relay.away = true;
  await bench.controller.send(TO, "hello");
  assert.equal(bench.storage.outbox.size, 1);
  await bench.controller.signOut();
  assert.deepEqual([bench.storage.account, bench.storage.outbox.size, kindOf(bench)], [undefined, 0, "out"]);
  assert.deepEqual([bench.sockets.alive, bench.clock.pending], [0, 0]);
});

Deno.test("a message that never left the phone is cancelled there; one that may have is cancelled at the relay [ux-no-dead-end]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, relay, storage, store } = bench;
  relay.away = true;
  await controller.send(TO, "tried in vain");
  await controller.send(TO, "never tried");
  const [tried, fresh] = [...store.get().messages.values()];
  assert.ok(tried && fresh);
  await controller.edit(fresh);
  assert.equal(store.get().messages.has(fresh.id), false);
  assert.equal(store.get().drafts["dev_listener_1/svc-demo"], "never tried");
  await controller.edit(tried);
  const stored = [...storage.outbox.values()];
  assert.deepEqual(stored.map(({ editing, cancels }) => editing ?? cancels), [true, tried.id]);
  assert.equal(store.get().drafts["dev_listener_1/svc-demo"], "never tried", "it may have been typed");
  const withdrawn = receiptOf("withdrawn", { final: true });
  bench.sockets.last.says("push.updated", { id: tried.id, receipt: withdrawn });
  await until("the draft", () => store.get().drafts["dev_listener_1/svc-demo"] !== "never tried");
  assert.equal(store.get().drafts["dev_listener_1/svc-demo"], "tried in vain\n\nnever tried");
  controller.stop();
});

Deno.test("drafts and read marks survive another sign-in of the same page [ux-no-dead-end, ux-unread]", async () => {
  const key = "dev_listener_1/svc-demo";
  const bench = phoneWith({ apiKey: "svc_k" }, ({ signIn }) => {
    // Does what the page does after each change, with the session in view.
    bench.controller.keepDrafts();
    if (signIn.kind === "in") bench.controller.read(key);
  });
  const { controller, storage } = await live(bench);
  controller.draft(TO, "half a thought");
  storage.seen.set(key, NOW);
  await controller.claim({ code: "abc" });
  assert.deepEqual([storage.drafts.get(key), storage.seen.get(key)], ["half a thought", NOW]);
  controller.stop();
});

Deno.test("a cancelled message is not sent while its stored copy is being removed [ux-no-dead-end]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, relay, storage, store, clock } = bench;
  relay.away = true;
  await controller.send(TO, "tried in vain");
  await controller.send(TO, "not after all");
  const [tried, fresh] = [...store.get().messages.values()];
  assert.ok(tried && fresh);
  const removal = Promise.withResolvers<void>();
  storage.removing.set(fresh.id, removal.promise);
  const cancelled = controller.cancel(fresh);
  relay.away = false;
  clock.advance(5_000);
  await until("the first message at the relay", () => stateOf(bench, tried.id) === "queued");
  removal.resolve();
  await cancelled;
  assert.deepEqual(relay.records.map(({ push }) => push.body), ["tried in vain"]);
  controller.stop();
});

Deno.test("items that count as read from the beginning are determined by the relay's clock, not the phone's [ux-unread]", async () => {
  const bench = phoneWith({ apiKey: "svc_k" });
  const { controller, sockets, store, storage } = bench;
  await controller.start();
  controller.read(ALL_SEEN);
  assert.deepEqual([store.get().seen, storage.seen.size], [{}, 0]);
  sockets.last.welcome(NOW - 3_600_000);
  await until("the history", () => store.get().history !== "unread");
  assert.deepEqual(store.get().seen, { [ALL_SEEN]: NOW - 3_600_000 });
  assert.equal(storage.seen.get(ALL_SEEN), NOW - 3_600_000);
  controller.stop();
});

Deno.test("requests and writes under way when the user signed out reach neither the next account nor the storage", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, relay, storage, store, sockets } = bench;
  const written = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  relay.records = [recordOf(8, receiptOf("delivered"))];
  relay.answering = answered.promise;
  controller.readOlder();
  await until("the request", () => relay.asked.at(-1) === "GET /pushes");
  Object.assign(relay, { records: [], answering: undefined });
  storage.writing = written.promise;
  controller.watch(false);
  const signedOut = controller.signOut();
  written.resolve();
  await signedOut;
  assert.deepEqual([storage.account, storage.sessions], [undefined, undefined]);

  await controller.signIn("svc_other");
  sockets.last.welcome(NOW);
  await until("the history", () => store.get().history !== "unread");
  answered.resolve();
  relay.records = [recordOf(9, receiptOf("delivered"))];
  controller.readOlder();
  await until("the next page", () => store.get().messages.has(idOf(9)));
  assert.equal(store.get().messages.has(idOf(8)), false);
  controller.stop();
});

Deno.test("a link that is opened while the user signs out signs in once that is over [ux-link-kept]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, storage } = bench;
  const left = Promise.withResolvers<void>();
  const signedOut = controller.leave(() => left.promise);
  const signedIn = controller.start({ kind: "key", key: "svc_other" });
  left.reject(new Error("the relay cannot be reached"));
  await Promise.all([signedOut, signedIn]);
  assert.deepEqual([kindOf(bench), storage.account], ["in", { apiKey: "svc_other" }]);
  controller.stop();
});

Deno.test("a link that answers late reads nothing again, and does not interrupt sending [ux-outbox]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, relay, store, sockets, clock } = bench;
  controller.watch(true);
  const answered = Promise.withResolvers<void>();
  relay.answering = answered.promise;
  void controller.send(TO, "over a slow uplink");
  await until("the request", () => relay.asked.at(-1) === "POST /pushes/send");
  const asked = [...relay.asked];
  clock.advance(WATCHED_RHYTHM.quietAfterMs);
  assert.equal(store.get().link.kind, "down");
  sockets.last.says("pong", {});
  assert.equal(store.get().link.kind, "live");
  answered.resolve();
  await until(
    "the message at the relay",
    () => [...store.get().messages.values()].every(({ id }) => stateOf(bench, id) === "queued"),
  );
  assert.deepEqual(relay.asked, asked);
  controller.stop();
});

Deno.test("drafts are kept for the next page until they are sent [ux-no-dead-end]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.controller.draft(TO, "half a thought");
  bench.controller.keepDrafts();
  assert.deepEqual([...bench.storage.drafts.values()], ["half a thought"]);
  bench.controller.stop();
  const next = await live(reloaded(bench));
  assert.equal(next.store.get().drafts["dev_listener_1/svc-demo"], "half a thought");
  await next.controller.send(TO, "half a thought");
  next.controller.keepDrafts();
  assert.equal(next.storage.drafts.size, 0);
  next.controller.stop();
});
