/** A pairing from the host's side, with an honest relay and with one that is not. */
import assert from "node:assert/strict";
import { sha256Hex } from "../../../src/async/encodings.ts";
import { RelayError } from "../../../src/client/relay_error.ts";
import { checkPhrase } from "../../../src/crypto/check_phrase.ts";
import { exportPublicKey, generateKeyPair } from "../../../src/crypto/keys.ts";
import { hostProof, importSecret, phoneProof } from "../../../src/crypto/paired_secret.ts";
import {
  changePaired,
  completePairing,
  ensureIdentity,
  forgetClaim,
  forgetPhone,
  loadIdentity,
  loadPaired,
  offerPairing,
  type PairedPhone,
  pairedPhones,
  type PairingHost,
  type PendingPairing,
  setDamagedAside,
  withPairedLock,
} from "../../../src/home/pairing.ts";
import { CLAIMS_GAP_MS, hostKeys } from "../../../src/home/host_sealing.ts";
import { SKEW_MS } from "../../../src/protocol/limits.ts";
import type { Files } from "../../../src/runtime/types.ts";
import type { PairingOffer, PairingStatus } from "../../../src/protocol/http.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";
import { until } from "../../helpers/until.ts";

const NOW = 1_800_000_000_000;
const HOST = { deviceId: "dev_listener_01234567", hostname: "workstation" };

interface FakeRelay {
  offers: PairingOffer[];
  claims: Map<string, PairingStatus["phone"]>;
  isDown: boolean;
  host: PairingHost;
}

function fakeRelay({ files, paths }: TempHome): FakeRelay {
  const relay: FakeRelay = {
    offers: [],
    claims: new Map(),
    isDown: false,
    host: {
      ...HOST,
      files,
      paths,
      now: () => NOW,
      api: {
        createPairing: ({ offer } = {}) => {
          if (offer) relay.offers.push(offer);
          const code = `code${relay.offers.length}`;
          relay.claims.set(code, undefined);
          return Promise.resolve({ code, expiresAt: NOW + 600_000 });
        },
        pairingStatus: (code) => {
          if (relay.isDown) return Promise.reject(new RelayError("down", { code: "unreachable" }));
          if (!relay.claims.has(code)) {
            return Promise.reject(new RelayError("none", { code: "unknown_pairing", status: 404 }));
          }
          const phone = relay.claims.get(code);
          return Promise.resolve({ expiresAt: NOW + 600_000, ...(phone ? { phone } : {}) });
        },
      },
    },
  };
  return relay;
}

/** Returns the claim of a phone that scanned the code. */
async function claimFor({ code, secret }: PendingPairing, deviceId = "dev_phone_a") {
  const key = await importSecret(secret);
  assert.ok(key);
  const publicKey = await exportPublicKey((await generateKeyPair()).publicKey);
  const proof = await phoneProof(key, { code, name: "iPhone", publicKey });
  return { deviceId, name: "iPhone", publicKey, proof };
}

Deno.test("a claim that proves the secret pairs the phone, with the words that the phone shows [pair-words, pair-keys]", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  const pairing = await offerPairing(relay.host);
  assert.deepEqual(await completePairing(relay.host, pairing), { kind: "open" });
  const claim = await claimFor(pairing);
  relay.claims.set(pairing.code, claim);
  const outcome = await completePairing(relay.host, pairing);
  assert.ok(outcome.kind === "paired");

  const secret = await importSecret(pairing.secret);
  const [offer] = relay.offers;
  assert.ok(secret && offer);
  assert.equal(offer.proof, await hostProof(secret, offer));
  assert.deepEqual(
    outcome.words,
    await checkPhrase(secret, {
      phone: claim,
      listener: offer,
    }),
  );
  const { phones, pending } = await loadPaired(home.files, home.paths);
  assert.deepEqual(phones.map(({ deviceId, name }) => [deviceId, name]), [["dev_phone_a", "iPhone"]]);
  assert.deepEqual(pending, []);
});

Deno.test("the secret is never sent to the relay; key files are for their owner only [pair-fragment, sec-other-account]", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  const { secret } = await offerPairing(relay.host);
  assert.ok(!JSON.stringify(relay.offers).includes(secret));
  for (const path of [home.paths.identity, home.paths.paired, home.paths.pairedLock]) {
    assert.equal((await home.files.info(path))?.mode, 0o600, path);
  }
});

Deno.test("a claim with another key than the proven one is not accepted, nor one without a proof [sec-active-relay, hostile-relay]", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  const mallory = await exportPublicKey((await generateKeyPair()).publicKey);
  for (const change of [{ publicKey: mallory }, { proof: undefined }, { name: "Mallory" }]) {
    const pairing = await offerPairing(relay.host);
    relay.claims.set(pairing.code, { ...await claimFor(pairing), ...change });
    assert.equal((await completePairing(relay.host, pairing)).kind, "unproven");
  }
  const other = await offerPairing(relay.host);
  relay.claims.set(other.code, await claimFor({ ...other, code: "code1" }));
  assert.equal((await completePairing(relay.host, other)).kind, "unproven");
  assert.deepEqual(await loadPaired(home.files, home.paths), { phones: [], pending: [] });
});

Deno.test("a browser without cryptography joins without a secret; an ended code is deleted", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  const plain = await offerPairing(relay.host);
  relay.claims.set(plain.code, { deviceId: "dev_phone_a", name: "iPhone" });
  assert.deepEqual(await completePairing(relay.host, plain), { kind: "joined", name: "iPhone" });
  const late = await offerPairing(relay.host);
  const endsAfter = async (ms: number): Promise<string> =>
    (await completePairing({ ...relay.host, now: () => NOW + 600_000 + ms }, late)).kind;
  assert.equal(await endsAfter(SKEW_MS - 1), "open", "the relay's clock may be behind");
  assert.equal(await endsAfter(SKEW_MS), "ended");
  const gone = await offerPairing(relay.host);
  relay.claims.delete(gone.code);
  assert.equal((await completePairing(relay.host, gone)).kind, "ended");
  assert.deepEqual(await loadPaired(home.files, home.paths), { phones: [], pending: [] });
});

async function phoneOf(host: PairingHost, deviceId: string): Promise<PairedPhone | undefined> {
  return (await pairedPhones(host)).find((phone) => phone.deviceId === deviceId);
}

Deno.test("a claim that no command waited for takes effect when the phone sends something, even a later claim of the same phone", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  const first = await offerPairing(relay.host);
  assert.equal(await phoneOf(relay.host, "dev_phone_a"), undefined);
  relay.claims.set(first.code, await claimFor(first));
  assert.equal((await phoneOf(relay.host, "dev_phone_a"))?.secret, first.secret);
  const second = await offerPairing(relay.host);
  relay.claims.set(second.code, await claimFor(second));
  relay.isDown = true;
  assert.equal((await phoneOf(relay.host, "dev_phone_a"))?.secret, first.secret, "known without the relay");
  relay.isDown = false;
  assert.equal((await phoneOf(relay.host, "dev_phone_a"))?.secret, second.secret);
  assert.equal((await loadPaired(home.files, home.paths)).phones.length, 1);
});

Deno.test("many concurrent messages of a phone that has just claimed all find its secret, with one change of the file", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  const pairing = await offerPairing(relay.host);
  relay.claims.set(pairing.code, await claimFor(pairing));
  let changes = 0;
  const files: Files = {
    ...home.files,
    replaceText: (path, text, options) => {
      if (path === home.paths.paired) changes++;
      return home.files.replaceText(path, text, options);
    },
  };
  const keys = hostKeys({ ...relay.host, files });
  const found = await Promise.all(Array.from({ length: 200 }, () => keys.secretOf("dev_phone_a")));
  assert.equal(found.filter((secret) => secret !== undefined).length, 200);
  assert.equal(changes, 1);
});

Deno.test("a forgotten phone no longer shares a secret, even if it has just claimed [pair-devices]", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  const [one, other] = [await offerPairing(relay.host), await offerPairing(relay.host)];
  relay.claims.set(one.code, await claimFor(one, "dev_phone_a"));
  relay.claims.set(other.code, await claimFor(other, "dev_phone_b"));
  assert.equal(await forgetPhone(relay.host, "dev_phone_a"), false, "without asking the relay");
  assert.equal(await forgetClaim(relay.host, "dev_phone_a"), true);
  assert.equal(await forgetPhone(relay.host, "dev_phone_a"), false);
  assert.equal(await phoneOf(relay.host, "dev_phone_a"), undefined);
  assert.equal((await phoneOf(relay.host, "dev_phone_b"))?.secret, other.secret);
});

Deno.test("only one of two claims that a relay gives for a code pairs, and the host shows the words of no other [pair-words, sec-active-relay]", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  const pairing = await offerPairing(relay.host);
  relay.claims.set(pairing.code, await claimFor(pairing, "dev_phone_thief"));
  const [thief] = await pairedPhones(relay.host);
  assert.equal(thief?.deviceId, "dev_phone_thief");
  // The relay shows the claim of the user's own phone to the program that waits with the words.
  const own = await claimFor(pairing, "dev_phone_own");
  relay.claims.set(pairing.code, own);
  const outcome = await completePairing(relay.host, pairing);
  assert.ok(outcome.kind === "paired");
  assert.equal(outcome.phone.deviceId, "dev_phone_thief");
  const [secret, [offer]] = [await importSecret(pairing.secret), relay.offers];
  assert.ok(secret && offer);
  assert.notDeepEqual(outcome.words, await checkPhrase(secret, { phone: own, listener: offer }));
  assert.deepEqual((await pairedPhones(relay.host)).map(({ deviceId }) => deviceId), ["dev_phone_thief"]);
});

Deno.test("a late answer of a relay does not restore a phone that was forgotten in the meantime [pair-devices, sec-active-relay]", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  const pairing = await offerPairing(relay.host);
  const answer = Promise.withResolvers<PairingStatus>();
  const late = { ...relay.host, api: { ...relay.host.api, pairingStatus: () => answer.promise } };
  const listener = pairedPhones(late);
  const claim = await claimFor(pairing);
  relay.claims.set(pairing.code, claim);
  assert.equal((await completePairing(relay.host, pairing)).kind, "paired");
  assert.equal(await forgetPhone(relay.host, claim.deviceId), true);
  answer.resolve({ expiresAt: NOW + 600_000, phone: claim });
  assert.deepEqual(await listener, []);
  assert.deepEqual((await loadPaired(home.files, home.paths)).phones, []);
});

Deno.test("a code also expires at the host: no relay can extend it, or deliver its claim after more than a day [sec-claim, sec-active-relay]", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  const { host } = relay;
  let now = NOW;
  const createPairing: typeof host.api.createPairing = async (options) => ({
    ...await host.api.createPairing(options),
    expiresAt: NOW + 1e12,
  });
  const later = { ...host, now: () => now, api: { ...host.api, createPairing } };
  const [one, other] = [await offerPairing(later), await offerPairing(later)];
  assert.ok(one.expiresAt <= NOW + 600_000 + SKEW_MS);
  for (const pairing of [one, other]) {
    relay.claims.set(pairing.code, await claimFor(pairing, `dev_phone_${pairing.code}`));
  }
  now = one.expiresAt + 86_400_000 - 1;
  assert.equal((await completePairing(later, one)).kind, "paired", "the host was off meanwhile");
  now += 1;
  assert.equal((await completePairing(later, other)).kind, "ended");
  assert.deepEqual((await loadPaired(home.files, home.paths)).phones.map(({ secret }) => secret), [
    one.secret,
  ]);
});

Deno.test("a host that waits for a phone sends the code's digest, and the code itself only to a relay that does not support digests [sec-claim]", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  const { host } = relay;
  const pairing = await offerPairing(host);
  const digest = `sha256-${await sha256Hex(pairing.code)}`;
  const named: string[] = [];
  const asking = (known: string): PairingHost["api"]["pairingStatus"] => async (name) => {
    named.push(name);
    if (name === known) return await host.api.pairingStatus(pairing.code);
    throw new RelayError("none", { code: "unknown_pairing", status: 404 });
  };
  const at = (known: string): PairingHost => ({
    ...host,
    api: { ...host.api, pairingStatus: asking(known) },
  });
  assert.equal((await completePairing(at(digest), pairing)).kind, "open");
  assert.deepEqual(named, [digest]);
  assert.equal((await completePairing(at(pairing.code), pairing)).kind, "open");
  assert.deepEqual(named, [digest, digest, pairing.code]);
});

Deno.test("two processes that pair at once create one key and lose no pairing", async () => {
  await using home = await makeTempHome();
  const relay = fakeRelay(home);
  await Promise.all(Array.from({ length: 5 }, () => offerPairing(relay.host)));
  assert.equal((await loadPaired(home.files, home.paths)).pending.length, 5);
  assert.equal(new Set(relay.offers.map(({ publicKey }) => publicKey)).size, 1);
  const [one, other] = await Promise.all(
    [1, 2].map(() => withPairedLock(home.files, home.paths, () => ensureIdentity(home.files, home.paths))),
  );
  assert.equal(await exportPublicKey(one!.publicKey), await exportPublicKey(other!.publicKey));
});

Deno.test("damaged files are reported with what to do, and not overwritten", async () => {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.paired, '{"phones": 1}');
  await assert.rejects(
    changePaired(home.files, home.paths, (file) => file),
    /Set it aside and pair again with: svc pair$/,
  );
  assert.equal(await Deno.readTextFile(home.paths.paired), '{"phones": 1}');
  await Deno.writeTextFile(home.paths.identity, "{}");
  await assert.rejects(loadIdentity(home.files, home.paths), /it is not a P-256 key/);
});

Deno.test("damaged pairings are set aside for new ones, and nothing plain is accepted before or afterwards [sec-active-relay]", async () => {
  await using home = await makeTempHome();
  const { host } = fakeRelay(home);
  const keys = hostKeys(host);
  assert.equal(await setDamagedAside(home.files, home.paths), undefined, "there is no file");
  assert.equal(await keys.floor({}), "off");
  await offerPairing(host);
  assert.equal(await setDamagedAside(home.files, home.paths), undefined, "it can be read");
  for (
    const damage of [() => Deno.writeTextFile(home.paths.paired, "{"), () => Deno.mkdir(home.paths.paired)]
  ) {
    await Deno.remove(home.paths.paired, { recursive: true });
    await damage();
    assert.equal(await keys.floor({}), "psk");
    assert.equal(await setDamagedAside(home.files, home.paths), `${home.paths.paired}.damaged`);
    assert.equal(await keys.floor({}), "psk", "a relay must gain nothing by damage to the file");
    assert.equal((await loadPaired(home.files, home.paths)).phones.length, 0);
    await offerPairing(host);
  }
  await Deno.remove(home.paths.paired);
  await Deno.writeTextFile(home.paths.paired, "{");
  await setDamagedAside(home.files, home.paths);
  assert.equal(await Deno.readTextFile(`${home.paths.paired}.damaged`), "{");
});

Deno.test("the phones for the inventory are known without waiting for a silent relay, which is asked at intervals [det-report]", async () => {
  await using home = await makeTempHome();
  const { host } = fakeRelay(home);
  const pairing = await offerPairing(host);
  const answers: PromiseWithResolvers<PairingStatus>[] = [];
  let now = NOW;
  const pairingStatus = (): Promise<PairingStatus> => {
    const answer = Promise.withResolvers<PairingStatus>();
    answers.push(answer);
    return answer.promise;
  };
  const keys = hostKeys({ ...host, now: () => now, api: { ...host.api, pairingStatus } });
  const known = async (): Promise<string[]> => (await keys.knownPhones()).map(({ deviceId }) => deviceId);
  assert.deepEqual([await known(), await known()], [[], []]);
  await until("the relay is asked", () => Promise.resolve(answers.length > 0));
  assert.equal(answers.length, 1);
  answers[0]?.resolve({ expiresAt: NOW + 600_000 });
  await until("the first question's end", async () => {
    now += CLAIMS_GAP_MS;
    await known();
    return answers.length > 1;
  });
  answers[1]?.resolve({ expiresAt: NOW + 600_000, phone: await claimFor(pairing) });
  await until("the phone", async () => (await known()).join() === "dev_phone_a");
  // Runs after the file reads that the requests began.
  assert.equal((await keys.phones()).length, 1);
});
