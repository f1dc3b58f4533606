/** The program of `disk_full_test.ts`: stores pushes until the disk is full and reports what was stored. */
import { openStore } from "../../src/store/sqlite.ts";
import { StoreUnavailable } from "../../src/store/store.ts";
import { aKey, aPush, pageOf } from "./store_samples.ts";

const dataDir = Deno.args[0] ?? "";
const store = await openStore(dataDir);
const isReady = (): Promise<boolean> => store.ready().then(() => true, () => false);
const ready = [await isReady()];
await store.insertKey(aKey(1));
const kept: string[] = [];
let failure: unknown;
for (let n = 0; failure === undefined && n < 5_000; n++) {
  const push = aPush(n);
  push.push.body = "x".repeat(8_000);
  try {
    kept.push((await store.insertPush(push)).stored.push.id);
  } catch (error) {
    failure = error;
  }
}
ready.push(await isReady());
const page = await pageOf(store, { account: "a", limit: 10_000 });
const stored = page?.map(({ push }) => push.id) ?? [];
await store.close();
const unavailable = failure instanceof StoreUnavailable;
await Deno.stdout.write(
  new TextEncoder().encode(JSON.stringify({ unavailable, ready, kept, stored, why: String(failure) })),
);
