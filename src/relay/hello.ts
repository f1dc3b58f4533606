/** The first frame of a WebSocket: checks the client's hello against its key, claims the device, and sends welcome. */
import { CLOSE } from "../protocol/errors.ts";
import type { EventData } from "../protocol/frames.ts";
import * as limits from "../protocol/limits.ts";
import { VERSION } from "../protocol/version.ts";
import type { ClaimOutcome, DeviceName, DeviceRecord, KeyRecord } from "../store/store.ts";
import { helloDeviceId, helloFault, roleOfDevice } from "./api_keys.ts";
import { OVER_BUDGET } from "./budgets.ts";
import type { Connection } from "./connection.ts";
import type { Services } from "./handler.ts";
import { counter } from "./metrics.ts";
import { Outbox } from "./outbox.ts";
import { publishSessions } from "./sessions.ts";

const DEVICE_TAKEN = counter(
  "svc_device_taken_total",
  "Hellos refused because another key or home owns the device.",
);
const IDENTITY_CHANGED = counter(
  "svc_identity_changed_total",
  "Listeners that reconnected with a new identity and the same key.",
);

type Hello = EventData<"hello">;

/** How a rejected connection is closed; `reason` is at most 123 bytes (RFC 6455, section 5.5). */
interface Rejection {
  code: number;
  reason: string;
}

/** The limits sent to clients; each name ends with its unit. */
const WELCOME_LIMITS = {
  bodyBytes: limits.BODY_MAX_BYTES,
  dataBytes: limits.DATA_MAX_BYTES,
  textFrameBytes: limits.TEXT_FRAME_MAX_BYTES,
  binaryFrameBytes: limits.BINARY_FRAME_MAX_BYTES,
  pingIntervalMs: limits.PING_INTERVAL_MS,
  silenceLimitMs: limits.SILENCE_LIMIT_MS,
  pushResendMs: limits.PUSH_RESEND_MS,
};

/** Answers hello with welcome, or closes the connection. A welcomed client receives its account's frames. */
export async function greet(
  services: Services,
  { connection, hello, re }: { connection: Connection; hello: Hello; re?: string | undefined },
): Promise<void> {
  const { clock, hub } = services;
  const { account, key } = connection;
  const device = { account, id: helloDeviceId(key, hello) };
  const { rejection, known } = await checkHello(services, { device, hello, key });
  if (rejection !== undefined) return connection.close(rejection.code, rejection.reason);
  hub.claim(connection, device.id);
  // The client has gone, and nothing would mark the device offline again. No await may come before `claimDevice`.
  if (connection.claimed === undefined) return;
  const taken = await claimDevice(services, { device, hello, key, known });
  if (taken !== undefined) return connection.close(taken.code, taken.reason);
  if (!connection.isOpen || !hub.has(connection)) return;
  connection.greeted = { deviceId: device.id, role: hello.role, name: hello.name };
  if (hello.role === "listener") connection.outbox = outboxOf(services, { connection, device });
  hub.replaceOlder(connection);
  connection.sendFrame("welcome", {
    relayVersion: VERSION,
    protocolVersion: limits.PROTOCOL_VERSION,
    deviceId: device.id,
    now: clock.now(),
    limits: WELCOME_LIMITS,
  }, re === undefined ? {} : { re });
  if (hello.role !== "listener") return;
  hub.fill(connection);
  await publishSessions(services, device);
}

interface Claim {
  device: DeviceName;
  hello: Hello;
  key: KeyRecord;
}

/** Looks the key up again, because it may have been revoked since the handshake. `known` is the stored device. */
async function checkHello(
  services: Services,
  claim: Claim,
): Promise<{ rejection: Rejection | undefined; known: DeviceRecord | undefined }> {
  const { store } = services;
  const { device, key } = claim;
  const [known, current, owner] = await Promise.all([
    store.findDevice(device),
    store.findKeyById(key.id),
    store.deviceOwner(device),
  ]);
  return { rejection: await rejectionOf(services, { claim, known, current, owner }), known };
}

async function rejectionOf(
  services: Services,
  { claim, known, current, owner }: {
    claim: Claim;
    known: DeviceRecord | undefined;
    current: KeyRecord | undefined;
    /** The id of the key that owns the device. */
    owner: string | undefined;
  },
): Promise<Rejection | undefined> {
  const { device, hello, key } = claim;
  if (current === undefined || current.revokedAt !== undefined) {
    return { code: CLOSE.REVOKED, reason: "the key was revoked" };
  }
  if (known?.revokedAt !== undefined) return { code: CLOSE.REVOKED, reason: "the device was revoked" };
  const fault = helloFault(current, hello);
  if (fault !== undefined) return { code: CLOSE.POLICY, reason: fault };
  if (owner !== undefined && owner !== key.id) return deviceTaken(services, device);
  if (owner !== undefined && isOfAnotherKind(known, hello)) {
    return { code: CLOSE.POLICY, reason: `wrong_role: the device is a ${known?.kind}` };
  }
  return await isOtherHome(services, { claim, known }) ? deviceTaken(services, device) : undefined;
}

/**
 * True if the device is stored with another role. An id that names its role is checked by `helloFault`; any other keeps
 * the role of its owner's hello.
 */
function isOfAnotherKind(known: DeviceRecord | undefined, hello: Hello): boolean {
  return known !== undefined && known.kind !== hello.role && roleOfDevice(known.id) === undefined;
}

function deviceTaken({ log, metrics }: Services, { id }: DeviceName): Rejection {
  metrics.of(DEVICE_TAKEN).add();
  log(
    `! refused ${id}: it belongs to another key; svc devices release ${id} gives it to the next key that connects`,
  );
  return { code: CLOSE.DEVICE_TAKEN, reason: `device_taken: ${id} belongs to another key or home` };
}

/**
 * True for a second home that has a copy of the first one's key and host name: its identity differs from that of the
 * first, which is connected. While no listener is connected, a new identity is that of a home that was set up again,
 * and only the key is checked.
 */
async function isOtherHome(
  { hub, store }: Services,
  { claim, known }: { claim: Claim; known: DeviceRecord | undefined },
): Promise<boolean> {
  const { device, hello } = claim;
  if (hello.role !== "listener" || hello.publicKey === undefined) return false;
  if (known?.publicKey === undefined || known.publicKey === hello.publicKey) return false;
  return hub.listener(device.account, device.id) !== undefined ||
    await store.nodeOf(device) !== undefined;
}

/** Stores the device as owned by its key; decides again, because other processes and clients change the store too. */
async function claimDevice(
  services: Services,
  { device, hello, key, known }: Claim & { known: DeviceRecord | undefined },
): Promise<Rejection | undefined> {
  const { store, clock, log, metrics } = services;
  const now = clock.now();
  const publicKey = hello.publicKey ?? known?.publicKey;
  const outcome = await store.claimDevice({
    ...device,
    kind: hello.role,
    name: hello.name,
    version: hello.version,
    publicKey,
    online: true,
    createdAt: known?.createdAt ?? now,
    lastSeen: now,
  }, { keyId: key.id, most: MOST_DEVICES });
  if (outcome !== "claimed") return claimRejection(services, { device, outcome });
  if (hello.role === "listener" && known?.publicKey !== undefined && known.publicKey !== publicKey) {
    metrics.of(IDENTITY_CHANGED).add();
    log(`! ${device.id} has a new identity: its home was set up again, so its phones must be paired again`);
  }
  return undefined;
}

const MOST_DEVICES = { ofKey: limits.DEVICES_PER_KEY, ofAccount: limits.DEVICES_PER_ACCOUNT_MAX };

function claimRejection(
  services: Services,
  { device, outcome }: { device: DeviceName; outcome: Exclude<ClaimOutcome, "claimed"> },
): Rejection {
  if (outcome === "taken") return deviceTaken(services, device);
  if (outcome === "revoked") {
    return { code: CLOSE.REVOKED, reason: "the key or the device was revoked" };
  }
  services.metrics.of(OVER_BUDGET).add({ budget: "devices" });
  const reason = outcome === "key_full"
    ? `the key has ${MOST_DEVICES.ofKey} devices: release or revoke some`
    : `the account has ${MOST_DEVICES.ofAccount} devices: revoke some`;
  return { code: CLOSE.POLICY, reason };
}

function outboxOf(
  { store, clock, claims }: Services,
  { connection, device }: { connection: Connection; device: DeviceName },
): Outbox {
  return new Outbox({
    send: (text) => connection.send(text),
    claim: (push) => claims.send({ account: device.account, ...push }),
    load: (page) => store.openPushes(device, page),
    loadCancels: (page) => store.openPushes(device, { ...page, type: "agent.cancel" }),
    elapsed: () => clock.elapsed(),
  });
}
