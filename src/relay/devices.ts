/** The HTTP routes of devices: listing, revoking and releasing. */
import type { DeviceRevoked, DevicesAnswer } from "../protocol/http.ts";
import type { DeviceName, KeyRecord } from "../store/store.ts";
import { mayChangeDevice } from "./api_keys.ts";
import { json, type KeyedCall, noContent, Refusal } from "./handler.ts";
import type { Services } from "./services.ts";

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

/** `DELETE /devices/{id}`: its keys stop working at once, and its open WebSockets are closed. Names the key that still works. */
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

/** `DELETE /devices/{id}/owner`: the next key that says hello as the device becomes its owner. */
export async function releaseDevice({ store, log }: Services, { key, param }: KeyedCall): Promise<Response> {
  const device = { account: key.account, id: param("id") };
  if (!await store.releaseDevice(device)) throw unknownDevice();
  log(`${device.id} released: the next key that connects with this id becomes its owner`);
  return noContent();
}

/** The device, if the key may change it. */
export async function ownDevice(
  { store }: Pick<Services, "store">,
  { key, id }: { key: KeyRecord; id: string },
): Promise<DeviceName> {
  const name = { account: key.account, id };
  const [device, owner] = await Promise.all([store.findDevice(name), store.deviceOwner(name)]);
  if (device === undefined || device.revokedAt !== undefined) throw unknownDevice();
  if (!mayChangeDevice(key, { device, owner })) throw unknownDevice();
  return name;
}

function unknownDevice(): Refusal {
  return new Refusal("unknown_device", "Cannot find a device with this id that this key may change");
}
