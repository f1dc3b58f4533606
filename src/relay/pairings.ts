/** The HTTP routes of pairing: a one-time code, claimed by a phone that gets its own device and key. */
import {
  PairingClaim,
  type PairingClaimed,
  type PairingCreated,
  PairingRequest,
  type PairingStatus,
  type Scope,
} from "../protocol/http.ts";
import { DEVICES_PER_KEY, OPEN_PAIRINGS_PER_KEY, PAIRING_TTL_SECONDS } from "../protocol/limits.ts";
import { sha256 } from "../runtime/digest.ts";
import { decodeHex, encodeHex } from "../async/encodings.ts";
import { networkOf } from "../runtime/plain_connections.ts";
import type { KeyRecord, PairingRecord } from "../store/store.ts";
import { createKeyUnlessRevoked, findKey, keyOfRequest, mayPair, randomToken } from "./api_keys.ts";
import { OVER_BUDGET } from "./budgets.ts";
import type { ClaimAnswer } from "./claim_answers.ts";
import {
  type Call,
  json,
  type KeyedCall,
  overBudget,
  readBody,
  Refusal,
  type Services,
  tooManyRequests,
} from "./handler.ts";

/** 128 bits. The QR code holds the code and the pairing's secret, and must fit a terminal. */
const CODE_BYTES = 16;
const DEVICE_ID_BYTES = 9;
/** The scopes of a phone, limited to those of the key that created the code. */
const PHONE_SCOPES: readonly Scope[] = ["push:send", "push:read"];

/** `POST /pairings`. */
export async function createPairing(services: Services, call: KeyedCall): Promise<Response> {
  const { store, clock, publicUrl } = services;
  const { key } = call;
  if (!mayPair(key)) {
    throw new Refusal("wrong_role", `Cannot create a pairing code: the key "${key.name}" is a ${key.role}'s`);
  }
  const offer = await readOffer(call);
  checkOffered(key, offer);
  await checkRoom(services, key);
  const code = randomToken(CODE_BYTES);
  const expiresAt = clock.now() + PAIRING_TTL_SECONDS * 1000;
  const scopes = PHONE_SCOPES.filter((scope) => key.scopes.includes(scope));
  await store.insertPairing({
    codeHash: sha256(code),
    account: key.account,
    keyId: key.id,
    scopes,
    expiresAt,
    offer,
  });
  const answer: PairingCreated = { code, expiresAt, ...(publicUrl === undefined ? {} : { publicUrl }) };
  return json(answer, 201);
}

/** Throws Refusal when the key has too many open codes or too many devices. */
async function checkRoom({ store, clock, metrics }: Services, { id }: KeyRecord): Promise<void> {
  const now = clock.now();
  const { devices, openPairings, firstPairingEnds = now } = await store.keyUse(id, now);
  if (openPairings >= OPEN_PAIRINGS_PER_KEY) {
    metrics.of(OVER_BUDGET).add({ budget: "open_pairings" });
    const wait = Math.max(1, Math.ceil((firstPairingEnds - now) / 1_000));
    throw overBudget(`the key has ${openPairings} unclaimed pairing codes`, wait);
  }
  if (devices < DEVICES_PER_KEY) return;
  metrics.of(OVER_BUDGET).add({ budget: "devices" });
  throw overBudget(`the key has ${DEVICES_PER_KEY} devices: release or revoke some`);
}

async function readOffer(call: KeyedCall): Promise<PairingRequest["offer"]> {
  if (call.request.body === null) return undefined;
  return (await readBody(call, { schema: PairingRequest, code: "invalid_request" })).offer;
}

/**
 * Throws Refusal for an offer of another device than the key's: phones seal messages with the offer's public key, and a
 * host's key must not replace that of another host.
 */
function checkOffered({ name, deviceId }: KeyRecord, offer: PairingRequest["offer"]): void {
  if (offer === undefined || deviceId === undefined || offer.deviceId === deviceId) return;
  throw new Refusal(
    "wrong_role",
    `Cannot offer the device "${offer.deviceId}": the key "${name}" was made for "${deviceId}"`,
  );
}

/** A claim that was begun in time may still be carried out, perhaps by another node. */
const CLAIM_GRACE_MS = 5_000;

const DIGEST_PREFIX = "sha256-";

/** The digest of a pairing code. `name` is the code, or `sha256-` and its digest in hex. */
function hashOf(name: string): Uint8Array {
  const digest = name.startsWith(DIGEST_PREFIX) ? decodeHex(name.slice(DIGEST_PREFIX.length)) : undefined;
  return digest?.length === 32 ? digest : sha256(name);
}

/** `GET /pairings/{code}`: only for the account that created the code. */
export async function pairingStatus(
  { store, clock }: Services,
  { key, param }: KeyedCall,
): Promise<Response> {
  const pairing = await store.findPairing(hashOf(param("code")));
  if (pairing?.account !== key.account) throw unknownCode();
  const { expiresAt, phone } = pairing;
  if (phone === undefined && clock.now() >= expiresAt + CLAIM_GRACE_MS) throw unknownCode();
  const answer: PairingStatus = { expiresAt, ...(phone ? { phone } : {}) };
  return json(answer);
}

/**
 * `POST /pairings/{code}/claim`: needs no key, works for one phone. Only wrong codes count against an address: behind a
 * tunnel all callers share one, and a stranger's guesses must not lock a phone out.
 */
export async function claimPairing(services: Services, call: Call): Promise<Response> {
  const { clock, store } = services;
  const now = clock.now();
  const codeHash = hashOf(call.param("code"));
  // A wrong code costs one read: its body is not parsed, and it does not take the write lock.
  if (await store.findPairing(codeHash) === undefined) throw wrongCode(services, call);
  const { code = call.param("code"), ...claim } = await readBody(call, {
    schema: PairingClaim,
    code: "invalid_request",
  });
  // Whoever has only the digest, such as from a proxy's log, claims nothing.
  if (encodeHex(sha256(code)) !== encodeHex(codeHash)) throw wrongCode(services, call);
  const pairing = await store.takePairing(codeHash, now);
  const answer = pairing === undefined
    ? await services.claimAnswers.repeat({ codeHash, claim, now })
    : await answerOnce(services, { call, pairing, claim, now });
  if (answer === undefined || !await isUsable(services, { call, answer })) throw wrongCode(services, call);
  const { isOwn: _isOwn, keyId: _keyId, ...shown } = answer;
  return json(shown, 201);
}

async function answerOnce(
  services: Services,
  { call, ...claimed }: Claimed & { call: Call },
): Promise<ClaimAnswer | undefined> {
  const { pairing, claim } = claimed;
  const { codeHash, keyId, offer, expiresAt } = pairing;
  const made: NewPhone = { deviceId: newPhoneId() };
  const make = async (): Promise<ClaimAnswer | undefined> => {
    if (!await isStillGranted(services, pairing)) return undefined;
    const own = await ownKey(services, { call, pairing });
    const phone = own ?? await newPhone(services, { ...claimed, made });
    if (phone === undefined) return undefined;
    await services.store.completePairing(codeHash, { ...claim, deviceId: phone.deviceId });
    return { ...phone, ...(offer ? { offer } : {}), isOwn: own !== undefined, keyId };
  };
  return await services.claimAnswers.first({ codeHash, claim, expiresAt, make });
}

/** True if the phone's key and the key that made the code still work, and a phone that already had its key sent it. */
async function isUsable(
  services: Services,
  { call, answer: { apiKey, isOwn, keyId } }: { call: Call; answer: ClaimAnswer },
): Promise<boolean> {
  if (isOwn && keyOfRequest(call.request) !== apiKey) return false;
  return await findKey(services.store, apiKey) !== undefined && await isStillGranted(services, { keyId });
}

function wrongCode({ budgets, clock, metrics }: Services, { address }: Call): Error {
  const wait = budgets.claims.take(networkOf(address), clock.elapsed());
  if (wait === 0) return unknownCode();
  metrics.of(OVER_BUDGET).add({ budget: "claims" });
  return tooManyRequests(wait);
}

/** Returns the phone if it already has a key of this account: it keeps its device id and its key. */
async function ownKey(
  { store }: Services,
  { call, pairing }: { call: Call; pairing: PairingRecord },
): Promise<Phone | undefined> {
  const apiKey = keyOfRequest(call.request);
  const key: KeyRecord | undefined = apiKey === undefined ? undefined : await findKey(store, apiKey);
  if (apiKey === undefined || key?.account !== pairing.account || key.deviceId === undefined) {
    return undefined;
  }
  const device = await store.findDevice({ account: key.account, id: key.deviceId });
  return device?.kind === "phone" ? { deviceId: device.id, apiKey } : undefined;
}

/** False once the key that created the code is revoked. */
async function isStillGranted(
  { store }: Services,
  { keyId }: Pick<PairingRecord, "keyId">,
): Promise<boolean> {
  const key = await store.findKeyById(keyId);
  return key !== undefined && key.revokedAt === undefined;
}

interface Claimed {
  pairing: PairingRecord;
  claim: PairingClaim;
  now: number;
}

type Phone = Pick<PairingClaimed, "deviceId" | "apiKey">;

/** The parts of a new phone that exist after a claim during which the store failed. */
interface NewPhone {
  deviceId: string;
  apiKey?: string;
}

function newPhoneId(): string {
  return `dev_phone_${randomToken(DEVICE_ID_BYTES).replaceAll("-", "_")}`;
}

/** Undefined when the key that created the code was revoked a moment ago. */
async function newPhone(
  { store }: Services,
  { pairing, claim, now, made }: Claimed & { made: NewPhone },
): Promise<Phone | undefined> {
  const { account, scopes, keyId: parent } = pairing;
  const { deviceId: id } = made;
  const of = { account, name: claim.name, scopes, role: "phone", deviceId: id, parent, now } as const;
  made.apiKey ??= (await createKeyUnlessRevoked(store, of))?.key;
  if (made.apiKey === undefined) return undefined;
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
  return { deviceId: id, apiKey: made.apiKey };
}

function unknownCode(): Refusal {
  return new Refusal(
    "unknown_pairing",
    "Cannot use the pairing code: it is unknown, already used, or older than 10 minutes",
  );
}
