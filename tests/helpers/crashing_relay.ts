/**
 * The runtime of a relay that is killed (SIGKILL) at one step: `SVC_TEST_CRASH=<n>` is the step's number, counted from
 * the first push that it stores. The steps are the begin of a transaction, and the moments before and after its commit
 * and before and after a frame about a push.
 */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { WebSocket as Socket } from "ws";
import { runtime as real } from "../../src/runtime/deno.ts";

const at = Number(Deno.env.get("SVC_TEST_CRASH") ?? Infinity);
let count: number | undefined;

function step(name: string): void {
  if (count === undefined || ++count !== at) return;
  Deno.stderr.writeSync(new TextEncoder().encode(`svc-test-crash at ${name}\n`));
  Deno.kill(Deno.pid, "SIGKILL");
  // Nothing more may happen until the signal arrives.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

const prepare = DatabaseSync.prototype.prepare;
DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
  const statement = prepare.call(this, sql);
  if (!/^\s*insert into pushes\b/i.test(sql)) return statement;
  for (const name of ["run", "get"] as const) {
    const act: (...values: SQLInputValue[]) => unknown = statement[name].bind(statement);
    const counted = (...values: SQLInputValue[]): unknown => {
      count ??= 0;
      return act(...values);
    };
    Object.assign(statement, { [name]: counted });
  }
  return statement;
};

const exec = DatabaseSync.prototype.exec;
DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string): void {
  if (sql === "COMMIT") step("before a commit");
  exec.call(this, sql);
  if (sql === "COMMIT") step("after a commit");
  if (sql.startsWith("BEGIN")) step("a transaction's begin");
};

const send: (data: string | Uint8Array, ...rest: []) => void = Socket.prototype.send;
Socket.prototype.send = function (data: string | Uint8Array, ...rest: []): void {
  const isPush = typeof data === "string" && data.includes('"push.');
  if (isPush) step("before a frame");
  send.call(this, data, ...rest);
  if (isPush) step("after a frame");
};

export const runtime = real;
