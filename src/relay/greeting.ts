/** The first frame of a socket: who says hello, whether the key may say so, and the answer. */
import { CLOSE } from "../protocol/errors.ts";
import type { EventData } from "../protocol/frames.ts";
import * as limits from "../protocol/limits.ts";
import { VERSION } from "../protocol/version.ts";
import type { DeviceName, DeviceRecord, DeviceStore, KeyRecord } from "../store/store.ts";
import type { Connection } from "./connection.ts";
import { Outbox } from "./outbox.ts";
import type { Services } from "./services.ts";
import { tellSessions } from "./sessions.ts";

type Hello = EventData<"hello">;

/** Devices of one account. */
const DEVICES_MAX = 1_000;

/** What clients may count on, in the unit that each name ends with. */
const WELCOME_LIMITS = {
  bodyBytes: limits.BODY_MAX_BYTES,
  dataBytes: limits.DATA_MAX_BYTES,
  textFrameBytes: limits.TEXT_FRAME_MAX_BYTES,
  binaryFrameBytes: limits.BINARY_FRAME_MAX_BYTES,
  pingIntervalMs: limits.PING_INTERVAL_MS,
  silenceLimitMs: limits.SILENCE_LIMIT_MS,
  pushResendMs: limits.PUSH_RESEND_MS,
};

/** Answers hello with welcome, or closes. From the welcome on the client hears what concerns it. */
export async function greet(
  services: Services,
  { connection, hello, re }: { connection: Connection; hello: Hello; re?: string | undefined },
): Promise<void> {
  const { clock, hub } = services;
  const { account, key } = connection;
  const device = { account, id: helloDeviceId(key, hello) };
  const refusal = await refusalOf(services, { device, hello, key });
  if (refusal !== undefined) return connection.close(refusal.code, refusal.reason);
  hub.claim(connection, device.id);
  await saveDevice(services, { device, hello });
  if (!connection.isOpen) return;
  connection.greeted = { deviceId: device.id, role: hello.role, name: hello.name };
  if (hello.role === "listener") connection.outbox = outboxOf(services, { connection, device });
  hub.greeted(connection);
  connection.sendFrame("welcome", {
    relayVersion: VERSION,
    protocolVersion: limits.PROTOCOL_VERSION,
    deviceId: device.id,
    now: clock.now(),
    limits: WELCOME_LIMITS,
  }, re === undefined ? {} : { re });
  if (hello.role !== "listener") return;
  hub.fill(connection);
  await tellSessions(services, device);
}

/** A client without a device of its own gets one that is its key's. */
function helloDeviceId(key: KeyRecord, hello: Hello): string {
  const own = `dev_${hello.role}_${key.id.slice("key_".length).replaceAll("-", "_")}`;
  return hello.deviceId ?? key.deviceId ?? own;
}

interface Claim {
  device: DeviceName;
  hello: Hello;
  key: KeyRecord;
}

/** The key is asked for again: it may have been revoked since the handshake. */
async function refusalOf(
  { store }: Services,
  { device, hello, key }: Claim,
): Promise<{ code: number; reason: string } | undefined> {
  const [known, current] = await Promise.all([store.findDevice(device), store.findKeyById(key.id)]);
  if (current === undefined || current.revokedAt !== undefined) {
    return { code: CLOSE.REVOKED, reason: "the key was revoked" };
  }
  if (known?.revokedAt !== undefined) return { code: CLOSE.REVOKED, reason: "the device was revoked" };
  const wrong = wrongDevice(known, { device, hello, key }) ??
    (known === undefined ? await tooManyDevices(store, device) : undefined);
  return wrong === undefined ? undefined : { code: CLOSE.POLICY, reason: wrong };
}

async function tooManyDevices(store: DeviceStore, { account }: DeviceName): Promise<string | undefined> {
  const devices = await store.listDevices(account);
  return devices.length < DEVICES_MAX ? undefined : `the account has ${DEVICES_MAX} devices: revoke some`;
}

function wrongDevice(known: DeviceRecord | undefined, { device, hello, key }: Claim): string | undefined {
  if (key.deviceId !== undefined && key.deviceId !== device.id) return "the key belongs to another device";
  if (known !== undefined && known.kind !== hello.role) return `the device is a ${known.kind}`;
  if (hello.role === "listener" && hello.deviceId === undefined && key.deviceId === undefined) {
    return "a listener needs a deviceId";
  }
  return undefined;
}

async function saveDevice(
  { store, clock }: Services,
  { device, hello }: { device: DeviceName; hello: Hello },
): Promise<void> {
  const known = await store.findDevice(device);
  const now = clock.now();
  await store.saveDevice({
    ...device,
    kind: hello.role,
    name: hello.name,
    version: hello.version,
    publicKey: hello.publicKey ?? known?.publicKey,
    online: true,
    createdAt: known?.createdAt ?? now,
    lastSeen: now,
  });
}

function outboxOf(
  { store, clock }: Services,
  { connection, device }: { connection: Connection; device: DeviceName },
): Outbox {
  return new Outbox({
    send: (text) => connection.send(text),
    load: (page) => store.openPushes(device, page),
    elapsed: () => clock.elapsed(),
  });
}
