/** Leftovers of an agent that ignores hang-up are ended, and nothing else. */
import assert from "node:assert/strict";
import { systemClock } from "../../../src/async/clock.ts";
import { EndedAgents } from "../../../src/listener/agent_life.ts";
import { runtime } from "../../../src/runtime/deno.ts";
import { listSessions } from "../../../src/tmux/sessions.ts";
import { spawningServer } from "../../../src/tmux/server.ts";
import { makeSandbox } from "../../helpers/sandbox.ts";
import { until } from "../../helpers/until.ts";

/** A shell that ignores hang-up, as does its child. */
const WITH_CHILD = 'trap "" HUP; echo deaf; sleep 600 & wait';
const ALONE = 'trap "" HUP; echo deaf; exec sleep 600';

Deno.test("tmux: a session is listed only by its exact name [inj-exact]", async () => {
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
    await until("a deaf agent", async () => (await sandbox.screen(name)).includes("deaf"));
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

Deno.test("ended agents: an agent whose window moved to another session, or whose server cannot be asked, keeps running [wr-leftovers]", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", "svc-a", "--", "sh", "-c", ALONE);
  await sandbox.tmux("set-option", "-t", "=svc-a:", "@svc_agent", "gemini");
  await sandbox.tmux("new-session", "-d", "-s", "other", "cat");
  const pid = Number(await sandbox.tmux("display-message", "-p", "-t", "=svc-a:", "#{pane_pid}"));
  const read = () => listSessions(spawningServer(runtime.commands, sandbox.tmuxSocket));
  let checks = 0;
  const files = { readLink: (path: string) => (checks++, runtime.files.readLink(path)) };
  const ended = new EndedAgents({ ...runtime, files, clock: systemClock, log: (line) => assert.fail(line) });
  await ended.take(await read());
  await sandbox.tmux("move-window", "-s", "=svc-a:0", "-t", "=other:5");
  await ended.take(await read());
  await ended.take([]);
  await until("two checks of its terminal", () => checks > 1);
  await ended.close();
  assert.ok(runtime.commands.kill(pid, 0), "it goes on");
});
