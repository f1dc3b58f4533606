/** What an agent that ignores hang-up leaves behind is ended, and nothing else. */
import assert from "node:assert/strict";
import { systemClock } from "../../../src/async/clock.ts";
import { EndedAgents } from "../../../src/listener/agent_life.ts";
import { runtime } from "../../../src/runtime/deno.ts";
import { listSessions } from "../../../src/tmux/sessions.ts";
import { spawningServer } from "../../../src/tmux/server.ts";
import { makeSandbox } from "../../helpers/sandbox.ts";
import { until } from "../../helpers/until.ts";

/** It ignores hang-up, and so does its child. */
const WITH_CHILD = 'trap "" HUP; sleep 600 & wait';
const ALONE = 'trap "" HUP; exec sleep 600';

Deno.test("tmux: a session is listed by its exact name alone [inj-exact]", async () => {
  await using sandbox = await makeSandbox();
  for (const name of ["svc-a", "svc-a-2", "svc-A"]) {
    await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", name, "cat");
  }
  const server = spawningServer(runtime.commands, sandbox.tmuxSocket);
  const names = async (name?: string): Promise<string[]> =>
    (await listSessions(server, name)).map((session) => session.name).sort();
  assert.deepEqual(await names("svc-a"), ["svc-a"]);
  assert.deepEqual(await names("svc-b"), []);
  assert.deepEqual(await names(), ["svc-A", "svc-a", "svc-a-2"]);
});

Deno.test("ended agents: an agent that ignores SIGHUP leaves no process behind after its session was killed [wr-leftovers]", async () => {
  await using sandbox = await makeSandbox();
  const start = async (name: string, agent: string, script: string): Promise<number> => {
    await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", name, "--", "sh", "-c", script);
    await sandbox.tmux("set-option", "-t", `=${name}:`, "@svc_agent", agent);
    return Number(await sandbox.tmux("display-message", "-p", "-t", `=${name}:`, "#{pane_pid}"));
  };
  const gemini = await start("svc-a", "gemini", WITH_CHILD);
  const other = await start("svc-b", "cc", ALONE);
  sandbox.killAtEnd(other);
  await sandbox.tmux("new-session", "-d", "-s", "stays", "cat");
  const read = () => listSessions(spawningServer(runtime.commands, sandbox.tmuxSocket));
  const ended = new EndedAgents({ ...runtime, clock: systemClock, log: (line) => assert.fail(line) });
  const isAlive = (pid: number): boolean => runtime.commands.kill(pid, 0);
  await ended.take(await read());
  await sandbox.tmux("kill-session", "-t", "=svc-a");
  await sandbox.tmux("kill-session", "-t", "=svc-b");
  await until("the end of the deaf one", () => !isAlive(gemini));
  assert.ok(isAlive(other), "an agent that is not known to ignore hang-up is left alone");
  await ended.close();
});
