/** The phone's side of a pairing: what it accepts from the relay's answer, and what it does not. */
import assert from "node:assert/strict";
import { randomUuid, sha256Hex } from "../../../src/async/encodings.ts";
import { claimPairing } from "../../../src/client/claim_pairing.ts";
import { DamagedLink, RelayError, UnprovenHost } from "../../../src/client/relay_error.ts";
import { checkPhrase } from "../../../src/crypto/check_phrase.ts";
import { exportPublicKey, generateKeyPair } from "../../../src/crypto/keys.ts";
import { phoneProof } from "../../../src/crypto/paired_secret.ts";
import type { PairingClaim, PairingClaimed } from "../../../src/protocol/http.ts";
import { PushId } from "../../../src/protocol/push.ts";
import { HOST_ID, offeringHost, PHONE_ID } from "../phone/offering_host.ts";

const keyPair = await generateKeyPair();
const publicKey = await exportPublicKey(keyPair.publicKey);
const other = await exportPublicKey((await generateKeyPair()).publicKey);
const mine = { code: "c", name: "iPhone", keyPair };

Deno.test("a proven host is stored with a secret that cannot be extracted, and the words match the host's [pair-keys, pair-words]", async () => {
  const host = await offeringHost();
  const { account, paired } = await claimPairing(host.api, { ...mine, secret: host.word });
  assert.deepEqual(account, { apiKey: "svc_claimed", deviceId: PHONE_ID });
  assert.ok(paired);
  assert.deepEqual([paired.host.deviceId, paired.host.host, paired.host.phone], [
    HOST_ID,
    "workstation",
    PHONE_ID,
  ]);
  assert.equal(paired.host.secret.extractable, false);
  const devices = { phone: { deviceId: PHONE_ID, publicKey }, listener: host.offer };
  assert.deepEqual(paired.words, await checkPhrase(host.secret, devices));
});

Deno.test("the claim proves the secret without revealing it [pair-fragment]", async () => {
  const host = await offeringHost();
  await claimPairing(host.api, { ...mine, secret: host.word });
  const proof = await phoneProof(host.secret, { code: "c", name: "iPhone", publicKey });
  assert.deepEqual(host.claims, [{ name: "iPhone", publicKey, proof, code: "c" }]);
  assert.ok(!JSON.stringify(host.claims).includes(host.word));
});

Deno.test("no path has the code, which a proxy would log while it can still be claimed [sec-claim]", async () => {
  const host = await offeringHost();
  const named: string[] = [];
  const api = {
    claimPairing: (name: string, claim: PairingClaim): Promise<PairingClaimed> => {
      named.push(`${name} ${claim.code}`);
      return host.api.claimPairing(name, claim);
    },
  };
  await claimPairing(api, { ...mine, secret: host.word });
  assert.deepEqual(named, [`sha256-${await sha256Hex("c")} c`]);
});

Deno.test("an older relay, which knows no digest, gets the code itself", async () => {
  const host = await offeringHost();
  const api = {
    claimPairing: (name: string, claim: PairingClaim): Promise<PairingClaimed> =>
      name === "c"
        ? host.api.claimPairing(name, claim)
        : Promise.reject(new RelayError("none", { code: "unknown_pairing", status: 404 })),
  };
  assert.ok((await claimPairing(api, { ...mine, secret: host.word })).paired);
});

Deno.test("a relay that swaps the host's key, changes its name, or withholds the offer pairs nothing [sec-active-relay, hostile-relay]", async () => {
  const lies = [
    { publicKey: other },
    { deviceId: "dev_listener_other" },
    { host: "another workstation" },
    { proof: "" },
  ];
  for (const lie of lies) {
    const host = await offeringHost((offer) => ({ ...offer, ...lie }));
    await assert.rejects(claimPairing(host.api, { ...mine, secret: host.word }), UnprovenHost);
  }
  const silent = await offeringHost(() => undefined);
  await assert.rejects(claimPairing(silent.api, { ...mine, secret: silent.word }), UnprovenHost);
});

Deno.test("a link that lost some characters claims nothing [pair-keys]", async () => {
  const host = await offeringHost();
  for (const secret of [host.word.slice(0, -3), `${host.word}x`, "x", "%"]) {
    await assert.rejects(claimPairing(host.api, { ...mine, secret }), DamagedLink);
  }
  assert.deepEqual(host.claims, []);
});

Deno.test("a host's link that lost its secret pairs nothing, where the browser could encrypt [pair-keys]", async () => {
  const host = await offeringHost();
  await assert.rejects(claimPairing(host.api, { ...mine, secret: undefined }), DamagedLink);
});

Deno.test("without a host's offer, or without WebCrypto, a code gives an account and nothing else [seal-off]", async () => {
  const host = await offeringHost();
  const alone = await offeringHost(() => undefined);
  for (
    const [at, without] of [[alone, { secret: undefined }], [host, {
      secret: host.word,
      keyPair: undefined,
    }]] as const
  ) {
    const { account, paired } = await claimPairing(at.api, { ...mine, ...without });
    assert.deepEqual([account.deviceId, paired], [PHONE_ID, undefined]);
  }
  assert.deepEqual([...alone.claims, ...host.claims], [{ name: "iPhone", code: "c" }, { name: "iPhone" }]);
});

Deno.test("a push id can be made without https", () => {
  const ids = Array.from({ length: 50 }, randomUuid);
  for (const id of ids) {
    assert.ok(PushId.safeParse(id).success);
    assert.match(id, /^.{14}4.{4}[89ab]/);
  }
  assert.equal(new Set(ids).size, 50);
});
