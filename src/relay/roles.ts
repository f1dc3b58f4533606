/** What a key may be: the roles that it may say hello in, the device that it is then, and whether it may let others in. */
import type { EventData, Role } from "../protocol/frames.ts";
import type { DeviceRecord, KeyRecord } from "../store/store.ts";

type Hello = Pick<EventData<"hello">, "role" | "deviceId">;
type Key = Pick<KeyRecord, "id" | "role" | "deviceId">;

/**
 * A host's other programs (svc mcp, svc verify) share its listener's key, and are scripts beside it. A key that was made
 * for no role may say hello in each.
 */
const HELLO_ROLES: Record<Role, readonly Role[]> = {
  listener: ["listener", "script"],
  phone: ["phone"],
  script: ["script"],
};

/** The device that the hello is for: a client without one of its own gets one that is its key's. */
export function helloDeviceId(key: Key, hello: Hello): string {
  const own = `dev_${hello.role}_${key.id.slice("key_".length).replaceAll("-", "_")}`;
  return hello.deviceId ?? (isBound(key, hello) ? key.deviceId : undefined) ?? own;
}

/** Why the key may not say this hello, whatever else there is; undefined when it may. */
export function helloFault(key: Key, hello: Hello): string | undefined {
  if (isBound(key, hello) && helloDeviceId(key, hello) !== key.deviceId) {
    return "the key belongs to another device";
  }
  if (key.role !== undefined && !HELLO_ROLES[key.role].includes(hello.role)) {
    return `the key is a ${key.role}'s, and cannot connect as a ${hello.role}`;
  }
  if (hello.role === "listener" && hello.deviceId === undefined && key.deviceId === undefined) {
    return "a listener needs a deviceId";
  }
  return undefined;
}

/** What a phone's key lets in would outlive the phone, and a script has nobody to let in. */
export function mayPair({ role }: Pick<KeyRecord, "role">): boolean {
  return role !== "phone" && role !== "script";
}

/** A device is changed by its owner; one that no key owns, by any key of the account that is bound to no other. */
export function mayChangeDevice(
  key: Key,
  { device, owner }: { device: Pick<DeviceRecord, "id">; owner: string | undefined },
): boolean {
  if (key.deviceId !== undefined && key.deviceId !== device.id) return false;
  return owner === undefined || owner === key.id;
}

/** The script beside a listener is another device than the listener. */
function isBound({ deviceId, role }: Key, hello: Hello): boolean {
  return deviceId !== undefined && !(role === "listener" && hello.role === "script");
}
