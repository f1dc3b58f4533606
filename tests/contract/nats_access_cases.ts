/** NATS servers with TLS and users: correct access connects, and an error for incorrect access says what to do. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import type { NatsAddress } from "../../src/runtime/nats_address.ts";
import { openNatsStore } from "../../src/store/nats.ts";
import { type Store, StoreUnavailable } from "../../src/store/store.ts";
import { credentialsUser, makeAuthority, nkeyUser, tlsLines } from "../helpers/nats_access.ts";
import { type NatsServer, startNats } from "../helpers/nats_server.ts";
import type { Case } from "../helpers/on_node.ts";
import { utf8Length } from "../../src/async/encodings.ts";
import { INVENTORIES_PER_KEY_MAX_BYTES, SESSIONS_MAX } from "../../src/protocol/limits.ts";
import { aClaim, aDevice, aKey, NOW, sessionEntry } from "./store_samples.ts";

type Access = Partial<NatsAddress>;

interface Setting {
  works(access: Access): Promise<void>;
  open(): Promise<Store>;
  server: NatsServer;
  /** Asserts that access fails with a message that matches `says`. */
  fails(access: Access, says: RegExp): Promise<void>;
}

async function onServer(
  directory: string,
  lines: readonly string[],
  body: (setting: Setting) => Promise<void>,
): Promise<void> {
  const server = await startNats(`${directory}/nats`, lines);
  const address = { servers: [server.url], prefix: "test" };
  try {
    await body({
      open: () => openNatsStore(address),
      server,
      async works(access) {
        const store = await openNatsStore({ ...address, ...access });
        await store.insertKey(aKey(1));
        assert.equal((await store.listKeys()).length, 1);
        await store.close();
      },
      async fails(access, says) {
        await assert.rejects(openNatsStore({ ...address, ...access }), (error: Error) => {
          assert.ok(error instanceof StoreUnavailable || error instanceof TypeError, String(error));
          assert.match(error.message, says);
          return true;
        });
      },
    });
  } finally {
    await server.stop();
  }
}

const SUBSCRIPTION_BYTES = 60_000;

/**
 * Stores reports with long session names from as many of the key's listeners as the relay accepts; returns their ids.
 */
async function fillNames(store: Store, keyId: string): Promise<string[]> {
  const hosts: string[] = [];
  for (;;) {
    const device = aDevice(`dev_listener_${keyId}_${hosts.length}`);
    const sessions = Array.from(
      { length: SESSIONS_MAX },
      (_, n) => ({ ...sessionEntry, name: `${hosts.length} ${n} `.padEnd(256, "\u6587") }),
    );
    const own = utf8Length(JSON.stringify(sessions));
    if (own + await store.inventoryBytes(keyId, device) > INVENTORIES_PER_KEY_MAX_BYTES) return hosts;
    await store.claimDevice(device, aClaim(keyId, { ofKey: 200, ofAccount: 1_000 }));
    await store.saveInventory({ account: "a", deviceId: device.id, sessions, reportedAt: NOW });
    hosts.push(device.id);
  }
}

/**
 * Stores long subscriptions for the key's phones until none has room left; the first one then takes every remaining
 * byte.
 */
async function fill(store: Store, keyId: string): Promise<{ phones: number; refusal: string }> {
  const phone = (n: number) => aDevice(`dev_phone_${keyId}_${n}`, { kind: "phone" });
  const claim = aClaim(keyId, { ofKey: 200, ofAccount: 1_000 });
  const save = (n: number, length: number) =>
    refusalOf(store.saveWebPush(phone(n), {
      endpoint: "x".repeat(length),
      keys: { p256dh: "BD3xJ1b8", auth: "k9m" },
    }));
  let phones = 0;
  while (await refusalOf(store.claimDevice(phone(phones), claim)) === undefined) {
    if (await save(phones, SUBSCRIPTION_BYTES) !== undefined) break;
    phones++;
  }
  let length = SUBSCRIPTION_BYTES;
  for (let step = SUBSCRIPTION_BYTES; step >= 1; step = Math.floor(step / 2)) {
    while (await save(0, length + step) === undefined) length += step;
  }
  return { phones, refusal: await save(0, length + 1) ?? "" };
}

async function refusalOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    assert.ok(error instanceof StoreUnavailable, String(error));
    return error.message;
  }
}

const BODIES: Record<string, (directory: string) => Promise<void>> = {
  "a server with TLS is used if its certificate's authority is known [nats-access]": async (
    directory,
  ) => {
    const [own, other] = [`${directory}/own`, `${directory}/other`];
    await Promise.all([own, other].map(makeAuthority));
    const lines = await tlsLines(`${directory}/server`, own);
    const [ca, wrong] = await Promise.all([own, other].map((file) => readFile(`${file}.pem`, "utf8")));
    await onServer(directory, lines, async ({ works, fails }) => {
      await works({ ca });
      await fails({ ca: wrong }, /the authority of --nats-ca did not sign its certificate: name the one/);
      await fails({}, /no authority known here signed its certificate: .* with --nats-ca$/);
    });
    await onServer(`${directory}/plain`, [], async ({ fails }) => {
      await fails({ ca }, /it has no TLS: leave --nats-ca out, or give it a certificate$/);
    });
  },
  "a server whose max_payload is shorter than svc's messages is refused, and a message that is too long is not stored [nats-payload]":
    async (directory) => {
      await onServer(directory, ["max_payload: 65536"], async ({ fails }) => {
        await fails({}, /: it takes messages of up to 65536 bytes, .*: set max_payload to 1MB or more/);
      });
      await onServer(`${directory}/default`, [], async ({ open }) => {
        const store = await open();
        const device = { account: "a", id: "dev_l" };
        const long = { ...device, deviceId: device.id, sessions: [], reportedAt: 1 };
        const details = { plain: { at: 1, lines: { long: "x".repeat(1_100_000) } } };
        await assert.rejects(store.saveInventory({ ...long, details }), (error: Error) => {
          assert.ok(error instanceof StoreUnavailable);
          assert.match(error.message, /too long for it; raise max_payload in the configuration/);
          return true;
        });
        assert.equal(await store.findInventory(device), undefined);
        await store.close();
      });
    },
  "one key's subscriptions leave room in the account's document, and its revocation makes more [nats-room]":
    async (directory) => {
      await onServer(directory, [], async ({ open }) => {
        const store = await open();
        for (const n of [1, 2, 3]) await store.insertKey(aKey(n));
        const filled = await fill(store, "key_2");
        assert.ok(filled.phones > 10, `${filled.phones} phones`);
        await store.revokeKey("key_3", NOW);
        assert.equal((await store.findKeyById("key_3"))?.revokedAt, NOW);
        assert.match(filled.refusal, /keys, devices and subscriptions may have 786432 together/);
        assert.ok((await store.listWebPush("a")).size > 10, "what fits stays");
        await assert.rejects(
          store.insertKey(aKey(4, { name: "x".repeat(SUBSCRIPTION_BYTES) })),
          StoreUnavailable,
        );
        await store.revokeKey("key_2", NOW);
        assert.equal((await store.findKeyById("key_2"))?.revokedAt, NOW);
        await store.insertKey(aKey(5, { name: "x".repeat(SUBSCRIPTION_BYTES) }));
        assert.ok((await fill(store, "key_1")).phones > 10, "the room is free again");
        await store.close();
      });
    },
  "a key and a device are revoked even in a document that has almost no room left [nats-room]": async (
    directory,
  ) => {
    // Three quarters of this are almost as much as a message of the default size.
    await onServer(directory, ["max_payload: 1396000"], async ({ open, server }) => {
      const store = await open();
      for (const n of [1, 2]) await store.insertKey(aKey(n));
      await fill(store, "key_2");
      for (const length of [10_000, 1_000]) {
        const key = (n: number) => aKey(n, { id: `key_${length}_${n}`, name: "x".repeat(length) });
        for (let n = 1; await store.insertKey(key(n)).catch(() => false); n++);
      }
      const file = `${directory}/nats/nats.conf`;
      await writeFile(file, (await readFile(file, "utf8")).replace("max_payload: 1396000", ""));
      await server.restart();
      await store.ready();
      await assert.rejects(store.insertKey(aKey(3)), StoreUnavailable);
      await store.revokeKey("key_1", NOW);
      assert.equal((await store.findKeyById("key_1"))?.revokedAt, NOW);
      assert.equal((await store.listWebPush("a")).size, 0, "phones store them again");
      const phone = { account: "a", id: "dev_phone_key_2_0" };
      assert.deepEqual(await store.revokeDevice(phone, NOW), { keys: [], workingKey: "key_2" });
      assert.equal((await store.findDevice(phone))?.revokedAt, NOW);
      await store.close();
    });
  },
  "one key's session names leave room for those of other keys' hosts, and are removed with their devices [nats-room]":
    async (directory) => {
      await onServer(directory, [], async ({ open }) => {
        const store = await open();
        for (let n = 1; n <= 10; n++) await store.insertKey(aKey(n));
        const host = aDevice("dev_listener_host");
        await store.claimDevice(host, aClaim("key_1"));
        for (let n = 2; n <= 10; n++) {
          const hosts = await fillNames(store, `key_${n}`);
          const name = `svc-p-${n}`;
          const sessions = [{ ...sessionEntry, name }];
          await store.saveInventory({ account: "a", deviceId: host.id, sessions, reportedAt: NOW });
          assert.deepEqual(await store.devicesWithSession("a", name), [host.id]);
          for (const id of hosts) await store.revokeDevice({ account: "a", id }, NOW);
        }
        await store.close();
      });
    },
  "a user is authenticated by an nkey seed [nats-access]": async (directory) => {
    const { lines, seed } = nkeyUser();
    await onServer(directory, lines, async ({ works, fails }) => {
      await works({ credentials: `${seed}\n` });
      await fails({ credentials: nkeyUser().seed }, /it refused the credentials: .* with --nats-creds$/);
      await fails({}, /it wants credentials: name the user's file with --nats-creds$/);
      await fails({ credentials: "junk" }, /neither a user's credentials, as nsc writes them, nor an nkey/);
    });
  },
  "a server that refuses a user and resets the connection does not end the process [nats-access]": async (
    directory,
  ) => {
    const { lines, seed } = nkeyUser();
    await onServer(directory, lines, async ({ works, fails }) => {
      // About one in six connections is reset before the client has read why it was refused.
      for (let n = 0; n < 60; n++) await fails({}, /it wants credentials|ECONNRESET/);
      await works({ credentials: seed });
    });
  },
  "a user is authenticated by credentials as nsc writes them [nats-access]": async (directory) => {
    const { lines, credentials } = credentialsUser();
    await onServer(directory, lines, async ({ works, fails }) => {
      await works({ credentials });
      await fails({ credentials: credentialsUser().credentials }, /it refused the credentials/);
      await fails({}, /it wants credentials/);
    });
  },
};

export const cases: readonly Case[] = Object.entries(BODIES).map(([name, body]) => ({
  name,
  run: (_runtime, directory) => body(directory),
}));
