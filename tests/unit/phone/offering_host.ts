/** A host that offers a pairing, and a relay in between that may lie. */
import assert from "node:assert/strict";
import { exportPublicKey, generateKeyPair } from "../../../src/crypto/keys.ts";
import { hostProof, importSecret, newSecret } from "../../../src/crypto/paired_secret.ts";
import { PairingClaim, type PairingClaimed, type PairingOffer } from "../../../src/protocol/http.ts";
import { FakePairingStorage } from "./fake_pairing_storage.ts";

export const HOST_ID = "dev_listener_01234567";
export const PHONE_ID = "dev_phone_9";

export interface OfferingHost {
  keyPair: CryptoKeyPair;
  /** The secret as in the link. */
  word: string;
  secret: CryptoKey;
  offer: PairingOffer;
  /** The phone's claims. */
  claims: PairingClaim[];
  api: { claimPairing(code: string, claim: PairingClaim): Promise<PairingClaimed> };
}

/** Makes a host that offers a pairing; `change` is what the relay does to the offer. */
export async function offeringHost(
  change: (offer: PairingOffer) => PairingOffer | undefined = (offer) => offer,
): Promise<OfferingHost> {
  const keyPair = await generateKeyPair();
  const word = newSecret();
  const secret = await importSecret(word);
  assert.ok(secret);
  const offered = {
    deviceId: HOST_ID,
    host: "workstation",
    publicKey: await exportPublicKey(keyPair.publicKey),
  };
  const offer = { ...offered, proof: await hostProof(secret, offered) };
  const claims: PairingClaim[] = [];
  const given = change(offer);
  return {
    keyPair,
    word,
    secret,
    offer,
    claims,
    api: {
      claimPairing: (_code, claim) => {
        claims.push(PairingClaim.parse(claim));
        return Promise.resolve({
          deviceId: PHONE_ID,
          apiKey: "svc_claimed",
          ...(given ? { offer: given } : {}),
        });
      },
    },
  };
}

/** Returns the host, and the storage of a phone that is paired with it under `deviceId`. */
export async function pairedWith(deviceId: string) {
  const host = await offeringHost();
  const { offer: { publicKey }, secret } = host;
  const pairing = new FakePairingStorage();
  await pairing.putHost({ deviceId, host: "workstation", phone: PHONE_ID, publicKey, secret });
  return { ...host, pairing };
}
