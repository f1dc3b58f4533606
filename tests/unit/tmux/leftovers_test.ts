/** Processes that an agent leaves behind. */
import assert from "node:assert/strict";
import { systemClock } from "../../../src/async/clock.ts";
import { runtime } from "#runtime";
import { endLeftovers, leftovers, processIdentity } from "../../../src/tmux/leftovers.ts";
import { until } from "../../helpers/until.ts";

Deno.test("leftovers are the pane's process group and its descendants, nothing else", () => {
  const rows = [
    { pid: 1, parent: 0, group: 1 },
    { pid: 10, parent: 1, group: 10 },
    { pid: 11, parent: 10, group: 10 },
    { pid: 12, parent: 11, group: 12 },
    { pid: 13, parent: 12, group: 13 },
    { pid: 14, parent: 1, group: 10 },
    { pid: 20, parent: 1, group: 20 },
  ];
  assert.deepEqual(leftovers(rows, 10).sort(), [10, 11, 12, 13, 14]);
  assert.deepEqual(leftovers(rows.filter(({ pid }) => pid !== 10), 10).sort(), [11, 12, 13, 14]);
  assert.deepEqual(leftovers(rows, 99), []);
});

const host = { commands: runtime.commands, clock: systemClock };

/** Starts a process in a separate process group that ignores hang-up and SIGTERM, with a child that does too. */
function startDeaf(): Deno.ChildProcess {
  return new Deno.Command("setsid", {
    args: ["sh", "-c", "trap '' HUP TERM; sh -c 'while :; do sleep 1; done' & echo $!; wait"],
    stdout: "piped",
  }).spawn();
}

Deno.test("a process that ignores signals is killed [wr-leftovers]", async () => {
  const parent = startDeaf();
  const reader = parent.stdout.getReader();
  const child = Number(new TextDecoder().decode((await reader.read()).value));
  const identity = await processIdentity(host, parent.pid);
  await endLeftovers(host, { pid: parent.pid, identity });
  assert.equal((await parent.status).signal, "SIGKILL");
  await until("the child's end", () => !runtime.commands.kill(child, 0));
  await reader.cancel();
});

Deno.test("a later process with the same pid is left alone", async () => {
  const stranger = new Deno.Command("sleep", { args: ["60"] }).spawn();
  await endLeftovers(host, { pid: stranger.pid, identity: "another time" });
  assert.equal(runtime.commands.kill(stranger.pid, 0), true);
  stranger.kill("SIGKILL");
  await stranger.status;
});
