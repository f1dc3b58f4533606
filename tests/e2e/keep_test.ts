/** `svc keep` with a real listener, tmux and the echo agent; a reboot is simulated by killing tmux and changing the boot id in the list. */
import assert from "node:assert/strict";
import { runSvc, type Started, startSvc } from "../helpers/program.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

/** Starts the listener as a service does; resolves once it is connected. */
async function startService({ sandbox }: Stack): Promise<Started> {
  const listener = startSvc(sandbox, ["listener", "--standby"]);
  await listener.line(/connected to/);
  return listener;
}

async function stop(listener: Started): Promise<void> {
  listener.kill("SIGTERM");
  await listener.exited;
}

/** Ends the listener that an agent's wrapper has started. */
async function endWrappersListener(stack: Stack): Promise<void> {
  await until("a listener", () => Deno.stat(`${stack.sandbox.svcHome}/listener.pid`).catch(() => false));
  assert.equal((await stack.svc("listener", "--stop")).code, 0);
}

/** Ends everything that ran, and changes the boot id in the list. */
async function reboot(stack: Stack): Promise<void> {
  await endWrappersListener(stack);
  await stack.sandbox.tmux("kill-server");
  const path = `${stack.sandbox.svcHome}/kept.json`;
  const text = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, text.replaceAll(/"boot": "[^"]*"/g, '"boot": "an earlier one"'));
}

function sessions({ sandbox }: Stack): Promise<string> {
  return sandbox.tmux("list-sessions", "-F", "#{session_name}").catch(() => "");
}

Deno.test("a marked session comes back after a reboot, once, and takes messages [keep-back, keep-once]", async () => {
  await using stack = await makeStack({ listener: false });
  const { sandbox } = stack;
  const { name } = await stack.echo();
  const transcript = `${sandbox.root}/after.jsonl`;
  const kept = await stack.svc("keep", name, "--", "--transcript", transcript);
  assert.equal(kept.code, 0, kept.stderr);
  assert.ok(
    kept.stdout.startsWith(`${name} comes back after a reboot: svc echo --transcript ${transcript}, in `),
  );
  assert.match(kept.stdout, /svc service install listener/);
  assert.equal(Deno.statSync(`${sandbox.svcHome}/kept.json`).mode! & 0o777, 0o600);

  await reboot(stack);
  const first = await startService(stack);
  await first.line(/kept session svc-proj: started again as svc-proj in/);
  await until("the agent's input line", async () => /^❯/mu.test(await sandbox.screen(name).catch(() => "")));
  assert.equal((await stack.send(name, "back again")).receipt.state, "submitted");
  assert.equal(
    (await sandbox.tmux("display-message", "-p", "-t", `=${name}:`, "#{pane_current_path}")).trim(),
    sandbox.project,
  );
  await stop(first);

  await sandbox.tmux("kill-session", "-t", `=${name}`);
  const second = await startService(stack);
  assert.doesNotMatch(second.output(), /kept session/);
  await stop(second);
  assert.equal((await sessions(stack)).trim(), "", "the user ended it in this boot");
});

Deno.test("sessions of one agent in two folders of a project all come back, as do two in one folder if their agent cannot continue a conversation [keep-back]", async () => {
  await using stack = await makeStack({ listener: false });
  const { sandbox } = stack;
  await Deno.mkdir(`${sandbox.project}/.git`);
  const folders = ["api", "web", "web"].map((name) => `${sandbox.project}/${name}`);
  for (const cwd of folders) {
    await Deno.mkdir(cwd, { recursive: true });
    const started = await runSvc(sandbox, ["--detach", "--new-session", "echo"], { cwd });
    assert.equal(started.code, 0, started.stderr);
    assert.equal((await stack.svc("keep", started.stdout.trim())).code, 0);
  }
  const places = async (): Promise<string[]> =>
    (await sandbox.tmux("list-sessions", "-F", "#{session_name} #{pane_current_path}")).trim().split("\n");
  const before = await places();
  const names = ["svc-proj", "svc-proj-2", "svc-proj-3"];
  assert.deepEqual(before, names.map((name, index) => `${name} ${folders[index]}`));
  await reboot(stack);
  const listener = await startService(stack);
  await listener.line(/kept session svc-proj-3: started again as svc-proj-3 in/);
  // tmux knows where a program is once that is executed.
  await until("the programs", async () => (await places()).every((place) => place.includes(" /")));
  assert.deepEqual(await places(), before);
  await stop(listener);
});

Deno.test("an existing session is left alone, and a released one does not come back [keep-once]", async () => {
  await using stack = await makeStack({ listener: false });
  const { name } = await stack.echo();
  assert.equal((await stack.svc("keep", name)).code, 0);
  await reboot(stack);
  await stack.echo();
  await endWrappersListener(stack);
  const listener = await startService(stack);
  await listener.line(/kept session svc-proj: it exists already/);
  assert.equal((await sessions(stack)).trim(), name);
  await stop(listener);
  assert.match((await stack.svc("keep")).stdout, /^svc-proj +svc echo +\//);
  assert.match((await stack.svc("keep", "--off", name)).stdout, /does not come back/);
  assert.match((await stack.svc("keep")).stdout, /^No session is marked\./);
});

Deno.test("svc keep refuses a session that it cannot restart, and a second session of the same conversation [keep-twin]", async () => {
  await using stack = await makeStack({ listener: false });
  const { sandbox } = stack;
  const refusal = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await stack.svc("keep", ...args);
    assert.deepEqual([code, stdout], [1, ""]);
    return stderr;
  };
  assert.match(await refusal("svc-none"), /Cannot keep "svc-none": there is no such session/);
  await sandbox.newSession("mine", ["sleep", "600"]);
  assert.match(await refusal("mine"), /svc did not start its agent/);
  for (const name of ["one", "two"]) {
    await sandbox.newSession(name, ["env", "-C", sandbox.project, "sleep", "600"]);
    await sandbox.tmux("set-option", "-t", `=${name}:`, "@svc_agent", "cc");
  }
  assert.equal((await stack.svc("keep", "one")).code, 0);
  assert.match(await refusal("two"), /"one" is kept and has the same agent and folder/);
});
