/** How a control client ends when its tmux does not answer. */
import assert from "node:assert/strict";
import { verbs } from "../../../src/tmux/argv.ts";
import { ControlClient, REQUEST_LIMIT_MS } from "../../../src/tmux/control_client.ts";
import { TmuxError } from "../../../src/tmux/server.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

Deno.test("control client: a tmux that does not answer is killed, whatever its mirror does at the end", async () => {
  const clock = new FakeClock();
  const output = new TransformStream<Uint8Array, Uint8Array>();
  const end = output.writable.getWriter();
  const killed: unknown[] = [];
  const client = new ControlClient({
    stdin: { write: () => Promise.resolve(), close: () => {} },
    stdout: output.readable,
    stderr: new ReadableStream({ start: (controller) => controller.close() }),
    exited: Promise.resolve(0),
    pid: 1,
    kill: (signal) => {
      killed.push(signal);
      void end.close();
    },
  }, {
    socket: "/tmux.sock",
    clock,
    events: {
      ...{ output: () => {}, otherOutput: () => {}, notified: () => {} },
      ended: () => {
        throw new Error("a mirror that fails");
      },
    },
  });
  const asked = client.run(verbs.printPlain("x"));
  const refused = assert.rejects(asked, (error) => error instanceof TmuxError && error.lost);
  assert.throws(() => clock.advance(REQUEST_LIMIT_MS), /a mirror that fails/);
  await refused;
  assert.deepEqual([killed, client.alive], [["SIGKILL"], false]);
  await client.close();
  assert.equal(clock.pending, 0);
});
