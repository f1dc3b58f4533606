/** Sample keys, devices, pushes and pages for the store tests. */
import type { Push } from "../../src/protocol/push.ts";
import type { Receipt } from "../../src/protocol/receipt.ts";
import type { Runtime } from "../../src/runtime/types.ts";
import type {
  DeviceClaim,
  DeviceRecord,
  KeyRecord,
  NewPush,
  PageRequest,
  Store,
  StoredPush,
} from "../../src/store/store.ts";

/** Opens a store in a directory, empty at first; opening the same directory again shows what was stored. */
export type OpenStore = (runtime: Runtime, directory: string) => Promise<Store>;

export const NOW = 1_800_000_000_000;
export const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
export const bytes = (n: number): Uint8Array => new Uint8Array(32).fill(n);

export function aKey(n: number, fields: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: `key_${n}`,
    account: "a",
    name: `key ${n}`,
    hash: bytes(n),
    scopes: ["push:read"],
    role: undefined,
    deviceId: undefined,
    parent: undefined,
    createdAt: NOW + n,
    revokedAt: undefined,
    ...fields,
  };
}

export function aDevice(id: string, fields: Partial<DeviceRecord> = {}): DeviceRecord {
  return {
    account: "a",
    id,
    kind: "listener",
    name: "host",
    version: "1.0.0",
    publicKey: undefined,
    online: false,
    createdAt: NOW,
    lastSeen: NOW,
    revokedAt: undefined,
    ...fields,
  };
}

export function aClaim(keyId: string, most = { ofKey: 9, ofAccount: 9 }): DeviceClaim {
  return { keyId, most };
}

export const queued: Receipt = { state: "queued", final: false, at: { queued: NOW } };

export function aPush(n: number, fields: Partial<NewPush> & { expiresAt?: number } = {}): NewPush {
  const { expiresAt = NOW + 60_000, ...rest } = fields;
  const push: Push = {
    id: uuid(n),
    type: "agent.command",
    body: `text ${n}`,
    from: "key_1",
    createdAt: NOW,
    expiresAt,
  };
  return { account: "a", target: "dev_l", digest: bytes(n), push, receipt: queued, ...rest };
}

export const sessionEntry = {
  name: "",
  project: "",
  agent: "cc",
  agentLabel: "Claude",
  ordinal: 1,
  label: "",
  state: "idle" as const,
  stateSince: NOW,
  attached: false,
  lastActivity: NOW,
  cwd: "/",
  title: "",
  cols: 80,
  rows: 24,
  muted: false,
  addressable: true,
};

export const idsOf = (found: readonly { push: Push }[] | undefined): string[] | undefined =>
  found?.map(({ push }) => push.id);

/** Returns a page limited only by its number of pushes. */
export async function pageOf(
  store: Store,
  request: Omit<PageRequest, "bytes">,
): Promise<StoredPush[] | undefined> {
  return (await store.pagePushes({ bytes: Number.MAX_SAFE_INTEGER, ...request }))?.pushes;
}

/** The body of a case, which gets an open store with the accounts `a` and `b`. */
export type Body = (store: Store, again: () => Promise<Store>) => Promise<void>;
