/** The program of `backup_test.ts`: a store that is written to without a pause until its stdin is closed. */
import { openStore } from "../../src/store/sqlite.ts";
import { aKey, aPush } from "./store_samples.ts";

/** It ends by itself after this many writes, so that a backup that waits for its end fails instead of hanging. */
const WRITES_MAX = 50_000;
/** Enough that a copy takes longer than the time between two writes. */
const LONG = 3_000;

const say = (line: string): Promise<number> => Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
const directory = Deno.args[0] ?? "";
const filled = await openStore(directory);
await filled.insertKey(aKey(1));
const longPush = (n: number) => ({ ...aPush(n), push: { ...aPush(n).push, body: "x".repeat(16_000) } });
await Promise.all(Array.from({ length: LONG }, (_, n) => filled.insertPush(longPush(n))));
// Empties the write-ahead log, whose first checkpoint would otherwise be a long pause.
await filled.close();
const store = await openStore(directory);
await say(String(LONG));
let isOpen = true;
const closed = Deno.stdin.readable.getReader().read().then(() => isOpen = false);
let written = 0;
const { account, push: { id } } = aPush(0);
while (isOpen && written < WRITES_MAX) {
  written += 1;
  // Such a write does not wait for the disk.
  await store.changeReceipt(
    { account, id },
    ({ receipt }) => ({ ...receipt, at: { ...receipt.at, queued: written } }),
  );
}
await store.close();
await say(written < WRITES_MAX ? "until closed" : "to the end");
await closed;
