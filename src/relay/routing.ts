/** Which listener or phones a push is for. */
import type { PushRequest } from "../protocol/push.ts";
import type { DeviceStore, InventoryStore } from "../store/store.ts";
import { Refusal } from "./problems.ts";

/** A listener that must acknowledge it, one other device, every phone and script of the account, or all its devices. */
export type Route = { listener: string } | { device: string } | { phones: true } | { everyone: true };

export interface Routed {
  account: string;
  push: PushRequest;
}

type Devices = DeviceStore & InventoryStore;

/** Types that only a listener acts on. */
const LISTENER_TYPES: readonly string[] = ["agent.command", "agent.start"];
/** An account is one channel. */
const BROADCAST = "broadcast";

export async function routePush(store: Devices, { account, push }: Routed): Promise<Route> {
  const forListener = LISTENER_TYPES.includes(push.type);
  if (push.targetDeviceId === undefined) {
    if (forListener) return { listener: await findListener(store, { account, push }) };
    return push.type === BROADCAST ? { everyone: true } : { phones: true };
  }
  const device = await store.findDevice({ account, id: push.targetDeviceId });
  if (device === undefined || device.revokedAt !== undefined) {
    throw unknownDevice(`"${push.targetDeviceId}" is no device of this account`);
  }
  if (device.kind === "listener") return { listener: device.id };
  if (forListener) throw unknownDevice(`"${device.id}" is no listener but a ${device.kind}`);
  return { device: device.id };
}

/** The one listener that has the session; else the account's only one, which then says that it has no such session. */
async function findListener(store: Devices, { account, push }: Routed): Promise<string> {
  const name = push.agentSessionName;
  const having = name === undefined ? [] : await store.devicesWithSession(account, name);
  if (having.length > 1) {
    const detail = `"${name}" is a session of ${having.join(" and ")}: name one of them as targetDeviceId`;
    throw new Refusal("ambiguous_session", detail);
  }
  const [one, other] = having.length === 1 ? having : await listenersOf(store, account);
  if (one === undefined) throw unknownDevice("no listener of this account has ever connected");
  if (other !== undefined) {
    throw unknownDevice(`no listener reports a session "${name ?? ""}": name the listener as targetDeviceId`);
  }
  return one;
}

async function listenersOf(store: Devices, account: string): Promise<string[]> {
  const devices = await store.listDevices(account);
  return devices.filter((device) => device.kind === "listener").map((device) => device.id);
}

function unknownDevice(why: string): Refusal {
  return new Refusal("unknown_device", `Cannot find the device that the push is for: ${why}`);
}
