/** Copying all of a store in NATS, and writing a copy into one. */
import { decodeBase64url, encodeBase64url } from "../async/encodings.ts";
import type { Receipt } from "../protocol/receipt.ts";
import { sha256 } from "../runtime/digest.ts";
import { subjectName, subjectToken } from "../runtime/nats.ts";
import type { Account, NatsContext, StoredKey } from "./nats_context.ts";
import {
  indexOf,
  pairingOf,
  type SessionIndex,
  type StoredInventory,
  wholeInventory,
} from "./nats_devices.ts";
import { keyOf } from "./nats_keys.ts";
import type { Nodes, Presences } from "./nats_presences.ts";
import { noteOfPush, type PushNote, type ReceiptNote } from "./nats_open.ts";
import { type NatsPushes, textOf } from "./nats_pushes.ts";
import { eachOf, type Entry } from "./nats_streams.ts";
import {
  type AccountCopy,
  type Charge,
  type CopyStore,
  type HookRecord,
  nameKey,
  type PushName,
  type StoredPush,
  StoreInUse,
  StoreUnavailable,
} from "./store.ts";

/** Pushes that are read, or written, at a time. */
const PUSHES_AT_ONCE = 256;
/** Bytes of a receipt's digest that are kept. */
const MARK_BYTES = 12;

interface NatsCopiesOptions {
  prefix: string;
  nodes: Nodes;
  presences: Presences;
  pushes: NatsPushes;
}

export function natsCopies(context: NatsContext, options: NatsCopiesOptions): CopyStore {
  const { state, subjects } = context;
  const { prefix, nodes, presences, pushes } = options;
  const copiedPushes = new CopiedPushes(context, { prefix, pushes });
  return {
    isInUse: () => nodes.anyAlive(),
    accountIds: async () => (await state.subjects(subjects.everyAccount)).map(lastName).sort(),
    readAccount: (account) => readAccount(context, { account, presences }),
    async readSecrets() {
      const secrets = await state.list(subjects.everySecret);
      return Object.fromEntries(secrets.map(({ subject, text }) => [lastName(subject), text]));
    },
    readPushes: () => copiedPushes.read(),
    beginCopy: () => beginCopy(context, nodes),
    writeAccount: (copy) => writeAccount(context, { copy, presences }),
    async writeSecrets(secrets) {
      await eachOf(Object.entries(secrets), ([name, value]) => state.put(subjects.secret(name), value));
    },
    writePushes: (pages) => copiedPushes.write(pages),
    async endCopy() {
      if (await state.get(subjects.copy) !== undefined) return;
      throw new StoreInUse(
        "Cannot finish the copy: a relay was started on this NATS meanwhile; stop it, remove its data and copy again",
      );
    },
  };
}

/** Removes the mark of a copy, because a relay uses the store from now on: no copy may replace what it stores. */
export async function forgetCopy({ state, subjects }: NatsContext): Promise<void> {
  const mark = await state.get(subjects.copy);
  if (mark !== undefined) await state.remove(mark.seq);
}

/** The name in the last token of a subject. */
function lastName(subject: string): string {
  return subjectName(subject.slice(subject.lastIndexOf(".") + 1));
}

async function readAccount(
  { state, subjects, account: accountOf }: NatsContext,
  { account, presences }: { account: string; presences: Presences },
): Promise<AccountCopy> {
  const { keys, devices, owners, pairings, webPush } = await accountOf(account).get();
  const [hooks, inventories, charges] = await Promise.all([
    state.get(subjects.hooks(account)),
    state.list(subjects.inventoriesOf(account)),
    state.list(subjects.chargesOf(account)),
  ]);
  return {
    account,
    owners,
    webPush,
    keys: Object.values(keys).map(keyOf).filter((key) => key !== undefined).sort(byAge),
    devices: (await eachOf(Object.values(devices), (device) => presences.of(device))).sort(byAge),
    pairings: Object.entries(pairings).sort(byName).map(([code, pairing]) => ({
      ...pairingOf(pairing, { account, codeHash: decodeBase64url(code) ?? new Uint8Array() }),
      taken: pairing.taken === true,
      ...(pairing.phone === undefined ? {} : { phone: pairing.phone }),
    })),
    inventories: inventories.map((entry) => wholeInventory(parse<StoredInventory>(entry)))
      .filter((one) => one !== undefined),
    hooks: hooks === undefined ? [] : Object.values(parse<Record<string, HookRecord>>(hooks)),
    charges: Object.fromEntries(charges.map((entry) => [lastName(entry.subject), parse<Charge>(entry)])),
  };
}

function byAge(one: { createdAt: number; id: string }, other: { createdAt: number; id: string }): number {
  return one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1);
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}

function parse<V>({ text }: Entry): V {
  return JSON.parse(text) as V;
}

async function beginCopy({ state, subjects }: NatsContext, nodes: Nodes): Promise<void> {
  if (await nodes.anyAlive()) {
    throw new StoreInUse("Cannot copy into this NATS: a relay is running on it; stop it first");
  }
  const found = await eachOf(
    [subjects.everyAccount, subjects.everySecret],
    (filter) => state.subjects(filter),
  );
  if (found.flat().length > 0 && await state.get(subjects.copy) === undefined) {
    throw new StoreUnavailable(
      "Cannot copy into this NATS: a relay has stored its own data there; choose another --nats-prefix",
    );
  }
  await state.put(subjects.copy, "");
}

async function writeAccount(
  context: NatsContext,
  { copy, presences }: { copy: AccountCopy; presences: Presences },
): Promise<void> {
  const { state, subjects, account: accountOf } = context;
  await writePlaces(context, copy);
  await accountOf(copy.account).change((account) => void Object.assign(account, documentOf(copy)));
  await eachOf(copy.devices, (device) => presences.set(device, { ...device, online: false }));
  await writeInventories(context, copy);
  const hooks = Object.fromEntries(copy.hooks.map((hook) => [hook.id, hook]));
  await state.put(subjects.hooks(copy.account), JSON.stringify(hooks));
  await eachOf(
    Object.entries(copy.charges),
    ([from, charge]) => state.put(subjects.charge(copy.account, from), JSON.stringify(charge)),
  );
}

/** Called before the account is written: a place whose key is missing finds nothing. */
async function writePlaces({ state, subjects }: NatsContext, { account, keys, pairings }: AccountCopy) {
  await eachOf(keys, async ({ id, hash }) => {
    const place = JSON.stringify({ account, id });
    await state.put(subjects.hash(encodeBase64url(hash)), place);
    await state.put(subjects.key(id), place);
  });
  await eachOf(pairings, ({ codeHash }) => state.put(subjects.code(encodeBase64url(codeHash)), account));
}

function documentOf({ keys, devices, owners, pairings, webPush }: AccountCopy): Account {
  return {
    owners: { ...owners },
    webPush: { ...webPush },
    keys: Object.fromEntries(
      keys.map((key): [string, StoredKey] => [key.id, { ...key, hash: encodeBase64url(key.hash) }]),
    ),
    devices: Object.fromEntries(
      devices.map(({ online: _online, lastSeen: _lastSeen, ...device }) => [device.id, device]),
    ),
    pairings: Object.fromEntries(pairings.map((pairing) => {
      const { codeHash, keyId, scopes, expiresAt, offer, taken, phone } = pairing;
      const rest = { ...(taken ? { taken } : {}), ...(phone === undefined ? {} : { phone }) };
      return [encodeBase64url(codeHash), { keyId, scopes, expiresAt, offer, ...rest }];
    })),
  };
}

async function writeInventories(
  { state, subjects }: NatsContext,
  { account, inventories }: AccountCopy,
): Promise<void> {
  const index: SessionIndex = {};
  await eachOf(inventories, async (inventory) => {
    const { deviceId } = inventory;
    index[deviceId] = indexOf(inventory);
    await state.put(subjects.inventory(account, deviceId), JSON.stringify(inventory));
  });
  await state.put(subjects.sessions(account), JSON.stringify(index));
  const kept = new Set(inventories.map(({ deviceId }) => subjects.inventory(account, deviceId)));
  const all = await state.list(subjects.inventoriesOf(account));
  await eachOf(all.filter(({ subject }) => !kept.has(subject)), ({ seq }) => state.remove(seq));
}

class CopiedPushes {
  readonly #context: NatsContext;
  readonly #options: Pick<NatsCopiesOptions, "prefix" | "pushes">;
  /** The stored pushes by name, once they were read; each with the mark of its receipt if that is as it was copied. */
  #stored: Map<string, string | undefined> | undefined;

  constructor(context: NatsContext, options: Pick<NatsCopiesOptions, "prefix" | "pushes">) {
    this.#context = context;
    this.#options = options;
  }

  async *read(): AsyncIterable<readonly StoredPush[]> {
    const { pushes } = this.#options;
    await pushes.completeAnswers();
    const names: PushName[] = [];
    await this.#scan((note) => void names.push(note));
    for (let start = 0; start < names.length; start += PUSHES_AT_ONCE) {
      const found = await eachOf(names.slice(start, start + PUSHES_AT_ONCE), (name) => pushes.findPush(name));
      yield found.filter((one) => one !== undefined);
    }
  }

  async write(all: readonly StoredPush[]): Promise<{ added: number; changed: number }> {
    const stored = this.#stored ??= await this.#readStored();
    const isStored = (push: StoredPush): boolean => stored.has(nameKey(nameOf(push)));
    const mayDiffer = all.filter((push) =>
      isStored(push) && stored.get(nameKey(nameOf(push))) !== markOf(push.receipt)
    );
    const changes = await eachOf(mayDiffer, (push) => this.#replaceReceipt(push));
    const missing = all.filter((push) => !isStored(push));
    for (let start = 0; start < missing.length; start += PUSHES_AT_ONCE) {
      await this.#add(missing.slice(start, start + PUSHES_AT_ONCE));
    }
    return { added: missing.length, changed: changes.filter((isChanged) => isChanged).length };
  }

  /**
   * Publishes the pushes together, each on condition that the one before it is the newest, so that the stream keeps
   * their order.
   */
  async #add(missing: readonly StoredPush[]): Promise<void> {
    const { pushes: stream } = this.#context;
    let rest = missing;
    while (rest.length > 0) {
      const last = await stream.lastSeq();
      const seqs = await Promise.all(
        rest.map((push, n) =>
          stream.put(this.#subject(nameOf(push)), JSON.stringify(textOf(push)), {
            expected: 0,
            last: last + n,
            note: JSON.stringify({ ...noteOfPush(push), copied: markOf(push.receipt) }),
          })
        ),
      );
      const refused = seqs.indexOf(undefined);
      if (refused === 0) {
        throw new StoreInUse("Cannot copy into this NATS: another program is writing to it");
      }
      rest = refused === -1 ? [] : rest.slice(refused);
    }
    for (const push of missing) this.#stored?.set(nameKey(nameOf(push)), markOf(push.receipt));
  }

  async #replaceReceipt({ receipt, ...push }: StoredPush): Promise<boolean> {
    const text = JSON.stringify(receipt);
    const outcome = await this.#options.pushes.changeReceipt(
      nameOf(push),
      (stored) => JSON.stringify(stored.receipt) === text ? undefined : receipt,
    );
    if (outcome?.changed === true) this.#stored?.set(nameKey(nameOf(push)), undefined);
    return outcome?.changed === true;
  }

  async #readStored(): Promise<Map<string, string | undefined>> {
    const stored = new Map<string, string | undefined>();
    await this.#scan((note) => void stored.set(nameKey(note), note.copied));
    await this.#context.receipts.scan(`${this.#options.prefix}.receipt.>`, ({ note }) => {
      const key = nameKey(JSON.parse(note) as ReceiptNote);
      if (stored.has(key)) stored.set(key, undefined);
    });
    return stored;
  }

  async #scan(handler: (note: PushNote) => void): Promise<void> {
    const { pushes } = this.#context;
    await pushes.scan(`${this.#options.prefix}.push.>`, ({ note }) => handler(JSON.parse(note) as PushNote));
  }

  #subject({ account, id }: PushName): string {
    return `${this.#options.prefix}.push.${subjectToken(account)}.${subjectToken(id)}`;
  }
}

function markOf(receipt: Receipt): string {
  return encodeBase64url(sha256(JSON.stringify(receipt)).subarray(0, MARK_BYTES));
}

function nameOf({ account, push }: Pick<StoredPush, "account" | "push">): PushName {
  return { account, id: push.id };
}
