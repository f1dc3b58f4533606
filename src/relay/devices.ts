/** The HTTP routes of devices and of Web Push. */
import type { DeviceRevoked, DevicesAnswer } from "../protocol/http.ts";
import type { DeviceName, KeyRecord } from "../store/store.ts";
import type { Shown } from "../protocol/receipt.ts";
import {
  ShownReport,
  type WebPushKey,
  WebPushSubscription,
  WebPushTest,
  type WebPushTested,
} from "../protocol/web_push.ts";
import { mayChangeDevice } from "./api_keys.ts";
import { json, type KeyedCall, noContent, overBudget, readBody, Refusal, type Services } from "./handler.ts";

/** `GET /devices`. */
export async function listDevices({ store, clock }: Services, { key }: KeyedCall): Promise<Response> {
  const devices = await store.listDevices(key.account);
  const answer: DevicesAnswer = {
    devices: devices.map(({ id, kind, name, version, online, createdAt, lastSeen }) => ({
      id,
      kind,
      name,
      version,
      online,
      createdAt,
      lastSeen: online ? clock.now() : lastSeen,
    })),
  };
  return json(answer);
}

/**
 * `DELETE /devices/{id}`: its keys stop working at once, and its open WebSockets are closed. Answers with the owner's
 * key if that still works.
 */
export async function revokeDevice({ store, hub, clock }: Services, call: KeyedCall): Promise<Response> {
  const { account } = call.key;
  const id = call.param("id");
  const revoked = await store.revokeDevice({ account, id }, clock.now());
  if (revoked === undefined) throw unknownDevice();
  hub.revoke({ kind: "device", account, id });
  for (const key of revoked.keys) hub.revoke({ kind: "key", account, id: key });
  const key = revoked.workingKey === undefined ? undefined : await store.findKeyById(revoked.workingKey);
  if (key === undefined) return noContent();
  const answer: DeviceRevoked = { workingKey: { id: key.id, name: key.name } };
  return json(answer);
}

/** `DELETE /devices/{id}/owner`: the next key that connects as the device becomes its owner. */
export async function releaseDevice({ store, log }: Services, { key, param }: KeyedCall): Promise<Response> {
  const device = { account: key.account, id: param("id") };
  if (!await store.releaseDevice(device)) throw unknownDevice();
  log(`${device.id} released: the next key that connects with this id becomes its owner`);
  return noContent();
}

/** `GET /web-push/key`. */
export async function webPushKey({ webPush }: Services): Promise<Response> {
  const answer: WebPushKey = { publicKey: await webPush.publicKey() };
  return json(answer);
}

/** `PUT /devices/{id}/web-push`. */
export async function saveWebPush({ store, webPush }: Services, call: KeyedCall): Promise<Response> {
  const device = await ownPhone({ store }, { key: call.key, id: call.param("id") });
  const subscription = await readBody(call, { schema: WebPushSubscription, code: "invalid_request" });
  const fault = webPush.fault(subscription);
  if (fault !== undefined) {
    throw new Refusal("invalid_request", "Cannot use the subscription: a field is not valid", {
      errors: [fault],
    });
  }
  await store.saveWebPush(device, subscription);
  return noContent();
}

/** `DELETE /devices/{id}/web-push`. */
export async function removeWebPush({ store }: Services, call: KeyedCall): Promise<Response> {
  await store.removeWebPush(await ownPhone({ store }, { key: call.key, id: call.param("id") }));
  return noContent();
}

/** As long as a vendor may take to answer. */
const TEST_WAIT_SECONDS = 10;

/** `POST /devices/{id}/web-push/test`: answers once the browser's vendor has answered. */
export async function testWebPush(services: Services, call: KeyedCall): Promise<Response> {
  const device = await ownPhone(services, { key: call.key, id: call.param("id") });
  const request = await readBody(call, { schema: WebPushTest, code: "invalid_request" });
  const answer = await services.webPush.test(device, request);
  if (answer === "busy") throw overBudget("notifications to this phone are being sent", TEST_WAIT_SECONDS);
  if (answer === undefined) {
    throw new Refusal("not_found", "Cannot test Web Push: this phone has no subscription, or it was removed");
  }
  return json(answer satisfies WebPushTested);
}

/** `PUT /pushes/{id}/shown`. */
export async function reportShown(services: Services, call: KeyedCall): Promise<Response> {
  const { account } = call.key;
  const { deviceId, how } = await readBody(call, { schema: ShownReport, code: "invalid_request" });
  await ownPhone(services, { key: call.key, id: deviceId });
  const push = { account, id: call.param("id") };
  const stored = await services.store.findPush(push);
  if (stored === undefined || stored.target !== undefined) {
    throw new Refusal("unknown_push", "Cannot find a push to phones with this id in this account");
  }
  const now = services.clock.now();
  const shown: Shown = how === "notification" ? { notified: now } : { seen: now };
  await services.webPush.note(push, { phone: deviceId, shown });
  return noContent();
}

/** Returns the phone's name if the key may change it; throws Refusal otherwise. */
async function ownPhone(
  { store }: Pick<Services, "store">,
  { key, id }: { key: KeyRecord; id: string },
): Promise<DeviceName> {
  const name = { account: key.account, id };
  const [device, owner] = await Promise.all([store.findDevice(name), store.deviceOwner(name)]);
  if (device?.kind !== "phone" || device.revokedAt !== undefined) throw unknownDevice("phone");
  if (!mayChangeDevice(key, { device, owner })) throw unknownDevice("phone");
  return name;
}

function unknownDevice(what = "device"): Refusal {
  return new Refusal("unknown_device", `Cannot find a ${what} with this id that this key may change`);
}
