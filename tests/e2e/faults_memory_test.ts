/** The listener and the relay reach their memory limit and end, and are started again, while messages are sent. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { REQUEST_MAX_BYTES } from "../../src/protocol/limits.ts";
import { FaultStage } from "../helpers/fault_stage.ts";
import { run } from "../helpers/run.ts";
import type { Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

/** Limits the process's memory to what it has. */
async function setLimit(pid: number): Promise<void> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const kilobytes = Number(/^VmData:\s+(\d+)/m.exec(status)?.[1]);
  await run(["prlimit", "--pid", String(pid), `--data=${kilobytes * 1024}:`]);
}

/** Unfinished requests of many megabytes, more than a process may have free in its allocated memory. */
const UNFINISHED = {
  listener: { connections: 32, start: "", bytes: 2_000_000 },
  relay: {
    connections: 400,
    start: `POST /pushes/send HTTP/1.1\r\nHost: x\r\nContent-Length: ${REQUEST_MAX_BYTES}\r\n\r\n`,
    bytes: REQUEST_MAX_BYTES - 1,
  },
};

/** Makes the process hold requests until all are sent or it has ended. */
async function fill(who: "listener" | "relay", { url, sandbox }: Stack): Promise<void> {
  const { hostname, port } = new URL(url);
  const { connections, start, bytes } = UNFINISHED[who];
  const text = new TextEncoder().encode(`${start}${"x".repeat(bytes)}`);
  const open: Deno.Conn[] = [];
  const send = async (): Promise<void> => {
    const connection =
      await (who === "relay"
        ? Deno.connect({ hostname, port: Number(port) })
        : Deno.connect({ transport: "unix", path: `${sandbox.svcHome}/listener.sock` }));
    open.push(connection);
    for (let at = 0; at < text.length;) at += await connection.write(text.subarray(at));
  };
  await Promise.allSettled(Array.from({ length: connections }, send));
  for (const connection of open) connection.close();
}

Deno.test("faults: the listener and the relay reach their memory limit [fault-memory, fault-count]", async (t) => {
  await using stage = await FaultStage.make();
  const { stack } = stage;
  for (const who of ["listener", "relay"] as const) {
    await t.step(who, async () => {
      const row = await stage.row({
        fault: `${who}'s memory limit reached`,
        inject: (load) =>
          stage.during(load, async () => {
            const { pid, exited } = stack[who];
            let ended = false;
            void exited.then(() => ended = true);
            await setLimit(pid);
            // A failed allocation may end only its request and not the process, so requests are sent until it ends.
            await until("the end at the memory limit", async () => {
              if (!ended) await fill(who, stack);
              return ended;
            });
            if (who === "relay") return await stack.startRelay();
            await stage.noteBegun();
            await stack.startListener();
          }),
      });
      assert.ok(row.injected > 0);
      say(`${who} ended at its memory limit ${row.injected} times`);
    });
  }
});
