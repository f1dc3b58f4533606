/** Pairing: a one-time code, and its claim by a phone, which gets a device and a key of its own. */
import { PairingClaim, type PairingClaimed, type PairingCreated, type Scope } from "../protocol/http.ts";
import { PAIRING_TTL_SECONDS } from "../protocol/limits.ts";
import { sha256 } from "../runtime/digest.ts";
import type { PairingRecord } from "../store/store.ts";
import { type Call, json, type KeyedCall, readBody } from "./call.ts";
import { createKey, randomWord } from "./keys.ts";
import { Refusal, tooManyRequests } from "./problems.ts";
import type { Services } from "./services.ts";

/** 160 bits. */
const CODE_BYTES = 20;
const DEVICE_ID_BYTES = 9;
/** What a phone may do, as far as the key that asked for the code may. */
const PHONE_SCOPES: readonly Scope[] = ["push:send", "push:read"];

/** `POST /pairings`. */
export async function createPairing({ store, clock }: Services, { key }: KeyedCall): Promise<Response> {
  const code = randomWord(CODE_BYTES);
  const expiresAt = clock.now() + PAIRING_TTL_SECONDS * 1000;
  const scopes = PHONE_SCOPES.filter((scope) => key.scopes.includes(scope));
  await store.insertPairing({
    codeHash: sha256(code),
    account: key.account,
    keyId: key.id,
    scopes,
    expiresAt,
  });
  const answer: PairingCreated = { code, expiresAt };
  return json(answer, 201);
}

/** `POST /pairings/{code}/claim`: needs no key, works once. */
export async function claimPairing(services: Services, call: Call): Promise<Response> {
  const { claims, clock, store } = services;
  const now = clock.now();
  const wait = claims.take(call.address, now);
  if (wait > 0) throw tooManyRequests(wait);
  const claim = await readBody(call, { schema: PairingClaim, code: "invalid_request" });
  const pairing = await store.takePairing(sha256(call.param("code")), now);
  if (pairing === undefined || !await isStillGranted(services, pairing)) throw unknownCode();
  return json(await pairPhone(services, { pairing, claim, now }), 201);
}

/** A code does not outlive the key that asked for it. */
async function isStillGranted({ store }: Services, { keyId }: PairingRecord): Promise<boolean> {
  const key = await store.findKeyById(keyId);
  return key !== undefined && key.revokedAt === undefined;
}

interface Claimed {
  pairing: PairingRecord;
  claim: { name: string; publicKey?: string | undefined };
  now: number;
}

async function pairPhone({ store }: Services, { pairing, claim, now }: Claimed): Promise<PairingClaimed> {
  const { account, scopes } = pairing;
  const id = `dev_phone_${randomWord(DEVICE_ID_BYTES).replaceAll("-", "_")}`;
  await store.saveDevice({
    account,
    id,
    kind: "phone",
    name: claim.name,
    version: "",
    publicKey: claim.publicKey,
    online: false,
    createdAt: now,
    lastSeen: now,
  });
  const { key } = await createKey(store, { account, name: claim.name, scopes, deviceId: id, now });
  return { deviceId: id, apiKey: key };
}

function unknownCode(): Refusal {
  return new Refusal(
    "unknown_pairing",
    "Cannot claim the pairing code: it is unknown, used or older than 10 minutes",
  );
}
