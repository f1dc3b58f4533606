/** A database that the browser closes while the page is open. */
import assert from "node:assert/strict";
import { reopening } from "../../../src/phone/database.ts";

const gone = (): DOMException => new DOMException("The database connection is closing", "InvalidStateError");

/** Connections to one value, which the test closes as a browser does when it loses them. */
class Connections {
  readonly opened: { isClosed: boolean; close(): void; read(): Promise<string> }[] = [];
  refusal: Error | undefined;

  readonly open = () => {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    const one = {
      isClosed: false,
      close: () => void (one.isClosed = true),
      read: () => one.isClosed ? Promise.reject(gone()) : Promise.resolve("kept"),
    };
    this.opened.push(one);
    return Promise.resolve(one);
  };
}

Deno.test("a database whose connection is lost is reopened, once for all waiting callers [ux-outbox]", async () => {
  const connections = new Connections();
  const database = reopening(connections.open);
  const read = () => database((one) => one.read());
  assert.deepEqual([await read(), await read(), connections.opened.length], ["kept", "kept", 1]);
  connections.opened[0]?.close();
  assert.deepEqual(await Promise.all([read(), read()]), ["kept", "kept"]);
  assert.equal(connections.opened.length, 2);
});

Deno.test("work that fails again on a new connection fails, and the next work gets another one [ux-outbox]", async () => {
  const connections = new Connections();
  const database = reopening(connections.open);
  let tries = 0;
  await assert.rejects(database(() => (tries++, Promise.reject(gone()))), { name: "InvalidStateError" });
  assert.deepEqual([tries, connections.opened.map(({ isClosed }) => isClosed)], [2, [true, true]]);
  assert.equal(await database((one) => one.read()), "kept");
});

Deno.test("work is not repeated after an error that a new connection cannot fix, and opening a database is retried after a failure [ux-outbox]", async () => {
  const connections = new Connections();
  const database = reopening(connections.open);
  const full = new DOMException("full", "QuotaExceededError");
  let tries = 0;
  const work = () => (tries++, Promise.reject(full));
  await assert.rejects(database(work), full);
  assert.equal(tries, 1);
  connections.refusal = new Error("cannot open");
  await assert.rejects(database((one) => one.read()), /cannot open/);
  connections.refusal = undefined;
  assert.equal(await database((one) => one.read()), "kept");
});
