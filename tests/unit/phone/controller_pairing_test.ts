/** Pairing: check words, an unproven host, words that differ, a second host, and links of another account. */
import assert from "node:assert/strict";
import { Controller } from "../../../src/phone/controller.ts";
import { createStore } from "../../../src/phone/state.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { FakeSockets } from "../client/fake_socket.ts";
import { FakePairingStorage } from "./fake_pairing_storage.ts";
import { FakeRelay } from "./fake_relay.ts";
import { FakeStorage } from "./fake_storage.ts";
import { HOST_ID, type OfferingHost, offeringHost, PHONE_ID } from "./offering_host.ts";
import { live, phoneWith } from "./phone_bench.ts";
import { NOW } from "./samples.ts";

function phoneBefore(host: OfferingHost, account = new FakeStorage()) {
  const relay = new FakeRelay();
  const keys: (string | null)[] = [];
  const pairing = new FakePairingStorage();
  const store = createStore(() => {});
  const controller = new Controller({
    baseUrl: "https://relay.example/svc/",
    name: "iPhone",
    version: "0.1.0",
    store,
    storage: account,
    pairing,
    clock: new FakeClock(NOW),
    createSocket: new FakeSockets().create,
    fetch: async (url, init) => {
      if (!url.endsWith("/claim")) return await relay.fetch(url, init);
      keys.push(new Headers(init.headers).get("x-api-key"));
      return Response.json(await host.api.claimPairing("c", JSON.parse(String(init.body))));
    },
  });
  return { controller, store, account, pairing, keys };
}

Deno.test("after a pairing the page shows the words until the user answers; only then does the host count as paired [pair-words, ux-pair]", async () => {
  const host = await offeringHost();
  const { controller, store, pairing } = phoneBefore(host);
  await controller.start({ kind: "pair", code: "c", secret: host.word });
  const { signIn, pairing: news, paired } = store.get();
  assert.equal(signIn.kind, "in");
  assert.ok(news?.kind === "words");
  assert.deepEqual([news.host, news.words.length], ["workstation", 6]);
  assert.deepEqual([...paired], []);
  await controller.confirmPairing();
  assert.equal(store.get().pairing, undefined);
  assert.deepEqual([...store.get().paired], [HOST_ID]);
  assert.equal(pairing.hosts.size, 1);
  controller.stop();
});

Deno.test("a reloaded page asks again about unanswered words; once answered it is paired for good [pair-words]", async () => {
  const host = await offeringHost();
  const first = phoneBefore(host);
  await first.controller.start({ kind: "pair", code: "c", secret: host.word });
  const shown = first.store.get().pairing;
  first.controller.stop();

  const asked = reopened(first);
  await asked.controller.start();
  assert.deepEqual([asked.store.get().pairing, [...asked.store.get().paired]], [shown, []]);
  await asked.controller.confirmPairing();
  assert.deepEqual([asked.store.get().pairing, [...asked.store.get().paired]], [undefined, [HOST_ID]]);
  asked.controller.stop();

  const again = reopened(first);
  await again.controller.start();
  assert.deepEqual([again.store.get().pairing, [...again.store.get().paired]], [undefined, [HOST_ID]]);
  again.controller.stop();
});

/** Opens the same phone's page as after a reload. */
function reopened({ account, pairing }: Pick<ReturnType<typeof phoneBefore>, "account" | "pairing">) {
  const store = createStore(() => {});
  const controller = new Controller({
    baseUrl: "https://relay.example/svc/",
    name: "iPhone",
    version: "0.1.0",
    store,
    storage: account,
    pairing,
    fetch: new FakeRelay().fetch,
    createSocket: new FakeSockets().create,
    clock: new FakeClock(NOW),
  });
  return { controller, store };
}

Deno.test("a link is kept if a part of the page that it needs failed to load, and works at the next try [ux-link-kept]", async () => {
  const host = await offeringHost();
  const phone = phoneBefore(host);
  const { ownKeys } = phone.pairing;
  phone.pairing.ownKeys = () => Promise.reject(new TypeError("Failed to fetch dynamically imported module"));
  await phone.controller.start({ kind: "pair", code: "c", secret: host.word });
  const { signIn } = phone.store.get();
  assert.ok(signIn.kind === "out" && signIn.problem?.hasLink, JSON.stringify(signIn));
  phone.pairing.ownKeys = ownKeys;
  await phone.controller.start();
  assert.deepEqual([phone.store.get().signIn.kind, phone.store.get().pairing?.kind], ["in", "words"]);
  await phone.controller.stop();
});

Deno.test("an unproven host does not sign the phone in and is reported; a phone that was signed in stays signed in [sec-active-relay]", async () => {
  const liar = await offeringHost(() => undefined);
  const fresh = phoneBefore(liar);
  await fresh.controller.start({ kind: "pair", code: "c", secret: liar.word });
  const { signIn } = fresh.store.get();
  assert.equal(signIn.kind === "out" && signIn.problem?.code, "unproven_host");
  assert.deepEqual([fresh.account.account, fresh.pairing.hosts.size], [undefined, 0]);

  const known = phoneBefore(liar, new FakeStorage({ apiKey: "svc_k", deviceId: PHONE_ID }));
  await known.controller.start({ kind: "pair", code: "c", secret: liar.word });
  const { signIn: still, pairing } = known.store.get();
  assert.equal(still.kind, "in");
  assert.equal(pairing?.kind === "failed" && pairing.code, "unproven_host");
  assert.deepEqual(known.keys, ["svc_k"], "it claims as the device that it is");
  known.controller.stop();
});

Deno.test("if the words differ, the pairing is erased, and the phone says what to revoke", async () => {
  const host = await offeringHost();
  const { controller, store, account, pairing } = phoneBefore(host);
  await controller.start({ kind: "pair", code: "c", secret: host.word });
  await controller.wordsDiffer();
  const { signIn, pairing: news, paired } = store.get();
  const { code, deviceId } = signIn.kind === "out" && signIn.problem || {};
  assert.deepEqual([code, deviceId], ["words_differ", PHONE_ID]);
  assert.deepEqual([news, paired.size, account.account, pairing.hosts.size], [undefined, 0, undefined, 0]);
});

Deno.test("a link with another key asks first, names both accounts, and changes nothing if declined [account-swap]", async () => {
  const host = await offeringHost();
  const kept = new FakeStorage({ apiKey: "svc_0123456789", deviceId: "dev_phone_1" });
  const { controller, store, account } = phoneBefore(host, kept);
  await controller.start({ kind: "key", key: " svc_other56789 " });
  const { signIn, swap } = store.get();
  assert.equal(signIn.kind, "in", "it goes on as who it was");
  assert.deepEqual(swap, { from: "dev_phone_1 (key svc_0123…)", to: "key svc_othe…" });
  controller.keepAccount();
  assert.equal(store.get().swap, undefined);
  assert.equal(account.account?.apiKey, "svc_0123456789");
  await controller.swapAccount(() => Promise.resolve());
  assert.equal(account.account?.apiKey, "svc_0123456789", "the answer was given");

  await controller.start({ kind: "key", key: "svc_other56789" });
  await controller.swapAccount(() => Promise.resolve());
  assert.deepEqual([account.account?.apiKey, store.get().swap], ["svc_other56789", undefined]);
  await controller.start({ kind: "key", key: "svc_other56789" });
  assert.equal(store.get().swap, undefined, "the same account is no question");
  controller.stop();
});

Deno.test("the old account is left only once the relay has accepted the new one, and while its key is still there [account-swap]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_0123456789", deviceId: "dev_phone_1" }));
  const { controller, relay, storage } = bench;
  const left: unknown[] = [];
  const leave = () => Promise.resolve(void left.push(storage.account?.apiKey));
  const swap = async (): Promise<void> => {
    await controller.start({ kind: "key", key: "svc_other56789" });
    await controller.swapAccount(leave);
  };
  relay.refusal = "unauthenticated";
  await swap();
  assert.deepEqual([left, storage.account?.apiKey], [[], "svc_0123456789"]);
  relay.refusal = undefined;
  await swap();
  assert.deepEqual([left, storage.account?.apiKey], [["svc_0123456789"], "svc_other56789"]);
  await controller.stop();
});

Deno.test("a pairing link of another account asks first, and pairs with no host if declined [account-swap]", async () => {
  const host = await offeringHost();
  const kept = new FakeStorage({ apiKey: "svc_mine456789", deviceId: "dev_phone_1" });
  const { controller, store, account, pairing } = phoneBefore(host, kept);
  await controller.start({ kind: "pair", code: "c", secret: host.word });
  assert.match(store.get().swap?.to ?? "", new RegExp(`^${PHONE_ID} `));
  assert.deepEqual([account.account?.apiKey, pairing.hosts.size], ["svc_mine456789", 0]);
  controller.keepAccount();
  assert.deepEqual([account.account?.apiKey, pairing.hosts.size], ["svc_mine456789", 0]);

  await controller.start({ kind: "pair", code: "c", secret: host.word });
  await controller.swapAccount(() => Promise.resolve());
  assert.deepEqual([account.account?.apiKey, [...pairing.hosts.keys()]], ["svc_claimed", [HOST_ID]]);
  assert.equal(store.get().pairing?.kind, "words");
  controller.stop();
});

Deno.test("a renamed host keeps its new name and its secret; a forgotten one is no longer paired [ux-settings]", async () => {
  const host = await offeringHost();
  const phone = phoneBefore(host);
  await phone.controller.start({ kind: "pair", code: "c", secret: host.word });
  await phone.controller.confirmPairing();
  await phone.controller.renameHost(HOST_ID, "Attic");
  phone.controller.stop();

  const { controller, store } = reopened(phone);
  await controller.start();
  assert.deepEqual(controller.pairedHosts(), [{ deviceId: HOST_ID, host: "Attic" }]);
  assert.deepEqual([...store.get().paired], [HOST_ID]);
  await controller.forgetHost(HOST_ID);
  assert.deepEqual([controller.pairedHosts(), [...store.get().paired], phone.pairing.hosts.size], [
    [],
    [],
    0,
  ]);
  controller.stop();
});
