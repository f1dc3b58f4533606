/** `deno task bench:history [pushes]`: the cost of a long history: copying it to NATS, starting a node on it, and sweeping it. */
import { say } from "../../scripts/say.ts";
import { copyStore } from "../../src/store/open.ts";
import { openNatsStore } from "../../src/store/nats.ts";
import { openStore } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { aKey, aPush, NOW, queued, uuid } from "../../tests/contract/store_samples.ts";
import { startNats } from "../../tests/helpers/nats_server.ts";
import { timed } from "../measure.ts";

const PUSHES = Number(Deno.args[0] ?? 100_000);
/** Pushes without an acknowledgement. */
const OPEN = 100;
const AT_ONCE = 1_000;

async function fill(store: Store): Promise<void> {
  await store.insertKey(aKey(1));
  const ended = { ...queued, state: "submitted", final: true } as const;
  for (let from = 0; from < PUSHES; from += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, PUSHES - from) }, (_, n) => from + n);
    await Promise.all(numbers.map((n) => store.insertPush({ ...aPush(n), digest: new Uint8Array(32) })));
    const closed = numbers.filter((n) => n < PUSHES - OPEN);
    await Promise.all(closed.map((n) => store.changeReceipt({ account: "a", id: uuid(n) }, () => ended)));
  }
}

async function main(): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "svc-history-" });
  const nats = await startNats(`${directory}/nats`);
  const address = { servers: [nats.url], prefix: "bench" };
  const print = (what: string, ms: number): void =>
    say(`history of ${PUSHES} pushes: ${what} ${Math.round(ms)} ms`);
  try {
    const sqlite = await openStore(`${directory}/data`);
    print("stored in SQLite in", await timed(() => fill(sqlite)));
    const target = await openNatsStore(address);
    print("copied to NATS in", await timed(() => copyStore({ from: sqlite, to: target }, NOW)));
    await target.close();
    const second = await openNatsStore(address);
    print("copied again, nothing new, in", await timed(() => copyStore({ from: sqlite, to: second }, NOW)));
    await second.close();
    await sqlite.close();
    for (const what of ["first node delivers after", "next node delivers after"]) {
      let node: Store | undefined;
      print(
        what,
        await timed(async () => {
          node = await openNatsStore(address, { node: crypto.randomUUID() });
          const found = await node.openPushes({ account: "a", id: "dev_l" }, { afterSeq: 0, limit: 1_000 });
          if (found.length !== OPEN) throw new Error(`${found.length} open pushes`);
        }),
      );
      for (const sweep of ["its first sweep takes", "its next sweep takes"]) {
        print(
          sweep,
          await timed(async () => void await node?.removePushes({ madeBefore: 0, expiredBefore: NOW + 1 })),
        );
      }
      await node?.close();
    }
  } finally {
    await nats.stop("SIGKILL");
    await Deno.remove(directory, { recursive: true });
  }
}

await main();
