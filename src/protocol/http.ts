/** Request and response bodies of the HTTP routes, except pushes and sessions. */
import * as z from "zod/mini";
import { maxLength, minLength } from "./lengths.ts";
import { DeviceId, PublicKey } from "./push.ts";

export const SCOPES = ["push:send", "push:read", "admin"] as const;
export const Scope = z.enum(SCOPES);
export type Scope = z.infer<typeof Scope>;

/** A client that has sent hello, or a phone that has claimed a pairing. */
export const Device = z.object({
  id: z.string(),
  kind: z.enum(["listener", "phone", "script"]),
  name: z.string(),
  version: z.string(),
  online: z.boolean(),
  createdAt: z.number(),
  lastSeen: z.number(),
});
export type Device = z.infer<typeof Device>;

export const DevicesAnswer = z.object({ devices: z.array(Device) });
export type DevicesAnswer = z.infer<typeof DevicesAnswer>;

/** The answer of `DELETE /devices/{id}` when the owner's key still works. */
export const DeviceRevoked = z.object({
  /**
   * The key of the device's owner, which still works because other devices use it. Anyone who has it can still send.
   */
  workingKey: z.object({ id: z.string(), name: z.string() }),
});
export type DeviceRevoked = z.infer<typeof DeviceRevoked>;

/** Identifies one installation's hooks in every push that they send. */
export const HookId = z.string().check(
  z.regex(/^hook_[A-Za-z0-9_-]{1,64}$/, "hook_ and 1 to 64 characters of A-Z a-z 0-9 _ -"),
);

/** `muted`: its pushes are stored, but no phone is notified. `revoked`: its pushes are refused. */
const HOOK_STATES = ["active", "muted", "revoked"] as const;
export const HookState = z.enum(HOOK_STATES);
export type HookState = z.infer<typeof HookState>;

/** Times are epoch milliseconds. */
export const Hook = z.object({
  id: z.string(),
  state: HookState,
  /** Number of pushes that it has sent, including muted and refused ones. */
  pushes: z.number(),
  firstSeen: z.number(),
  lastSeen: z.number(),
});
export type Hook = z.infer<typeof Hook>;

/** `GET /hooks`. */
export const HooksAnswer = z.object({ hooks: z.array(Hook) });
export type HooksAnswer = z.infer<typeof HooksAnswer>;

/** `PUT /hooks/{id}`; the answer is the hook. */
export const HookChange = z.object({ state: HookState });
export type HookChange = z.infer<typeof HookChange>;

/** Proves that a key comes from a holder of the secret in the QR code; the relay cannot forge one. */
const Proof = z.string().check(maxLength(100));
const PeerName = z.string().check(minLength(1), maxLength(200));

/** The host that a pairing code is for, as phones will show it. */
export const PairingOffer = z.object({
  deviceId: DeviceId,
  host: PeerName,
  publicKey: PublicKey,
  proof: Proof,
});
export type PairingOffer = z.infer<typeof PairingOffer>;

/** `POST /pairings`. The body is optional: a code without an offer gives a phone a key but pairs it with no host. */
export const PairingRequest = z.object({ offer: z.optional(PairingOffer) });
export type PairingRequest = z.infer<typeof PairingRequest>;

/** `POST /pairings`: a one-time code for the QR. `publicUrl` is where phones reach the relay, if that is known. */
export const PairingCreated = z.object({
  code: z.string(),
  expiresAt: z.number(),
  publicUrl: z.optional(z.string()),
});
export type PairingCreated = z.infer<typeof PairingCreated>;

/** What a phone says of itself in a claim, and the host reads. */
const Claimant = z.object({
  name: PeerName,
  publicKey: z.optional(PublicKey),
  proof: z.optional(Proof),
});

/** The body of a claim. `code`: the code, if the path has only its digest, because proxies log paths. */
export const PairingClaim = z.object({ ...Claimant.shape, code: z.optional(z.string()) });
export type PairingClaim = z.infer<typeof PairingClaim>;

/** `POST /pairings/{code}/claim`: the phone's own key, shown only once, and the host's offer. */
export const PairingClaimed = z.object({
  deviceId: z.string(),
  apiKey: z.string(),
  offer: z.optional(PairingOffer),
});
export type PairingClaimed = z.infer<typeof PairingClaimed>;

/** `GET /pairings/{code}`, polled by the host. `phone` is set once a phone has claimed the code. */
export const PairingStatus = z.object({
  expiresAt: z.number(),
  phone: z.optional(z.object({ deviceId: DeviceId, ...Claimant.shape })),
});
export type PairingStatus = z.infer<typeof PairingStatus>;

/** `GET /healthz` and `GET /readyz`. */
export const Health = z.object({ status: z.enum(["ok", "unavailable"]), version: z.string() });
