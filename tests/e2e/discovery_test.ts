/** Discovery of real tmux servers: stale sockets, servers at unusual paths, one call for each. */
import assert from "node:assert/strict";
import { runtime } from "../../src/runtime/deno.ts";
import type { Commands } from "../../src/runtime/types.ts";
import { TmuxDiscovery } from "../../src/tmux/discovery.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { spawningServer, TmuxError } from "../../src/tmux/server.ts";
import { verbs } from "../../src/tmux/argv.ts";
import type { TmuxSession } from "../../src/tmux/sessions.ts";
import { until } from "../helpers/until.ts";

interface Found {
  names: string[];
  /** The argv of every process that was run. */
  ran: string[][];
}

async function discover(sandbox: Sandbox, env: Record<string, string>): Promise<Found> {
  const ran: string[][] = [];
  const run: Commands["run"] = (argv, options) => {
    ran.push([...argv]);
    return runtime.commands.run(argv, options);
  };
  const host = {
    uid: runtime.uid,
    env: { get: (name: string): string | undefined => env[name] },
    files: runtime.files,
    commands: { run },
  };
  const discovery = new TmuxDiscovery(host, { now: () => 0, openServer: () => undefined });
  const sessions = await discovery.sessions();
  const own = sessions.filter((session) => session.socket.startsWith(sandbox.root));
  return { names: own.map((session) => session.name).sort(), ran };
}

async function start(socket: string, session: string): Promise<void> {
  const args = ["-f", "/dev/null", "-S", socket, "new-session", "-d", "-s", session, "cat"];
  await new Deno.Command("tmux", { args }).output();
}

async function kill(socket: string): Promise<void> {
  await new Deno.Command("tmux", { args: ["-S", socket, "kill-server"], stderr: "null" }).output();
}

Deno.test("discovery: a stale socket file does not stop it, and every live server is found [sock-stale, sock-default, ls-every-server]", async () => {
  await using sandbox = await makeSandbox();
  const folder = `${sandbox.root}/tmux-${Deno.uid()}`;
  await Deno.mkdir(folder, { mode: 0o700 });
  const sockets = ["default", "other", "stale"].map((name) => `${folder}/${name}`);
  try {
    for (const socket of sockets) await start(socket, `svc-${socket.split("/").pop()}`);
    const stale = sockets[2] ?? "";
    await Deno.rename(stale, `${stale}.kept`);
    await kill(`${stale}.kept`);
    await Deno.rename(`${stale}.kept`, stale);
    const { names } = await discover(sandbox, { TMUX_TMPDIR: sandbox.root });
    assert.deepEqual(names, ["svc-default", "svc-other"]);
  } finally {
    for (const socket of sockets) await kill(socket);
  }
});

Deno.test("discovery: a server at any path is found through lsof [sock-lsof]", async () => {
  await using sandbox = await makeSandbox();
  const odd = `${sandbox.root}/an-odd-path.sock`;
  await start(odd, "svc-odd");
  try {
    assert.deepEqual((await discover(sandbox, { TMUX_TMPDIR: `${sandbox.root}/none` })).names, ["svc-odd"]);
  } finally {
    await kill(odd);
  }
});

Deno.test("discovery: one call asks a server for all its sessions [ls-one-call]", async () => {
  await using sandbox = await makeSandbox();
  for (const name of ["svc-a", "svc-b", "svc-c"]) await sandbox.tmux("new-session", "-d", "-s", name, "cat");
  const { names, ran } = await discover(sandbox, { SVC_TMUX_SOCKET: sandbox.tmuxSocket });
  assert.deepEqual(names, ["svc-a", "svc-b", "svc-c"]);
  assert.equal(ran.filter(([program]) => program === "tmux").length, 1);
});

/** Far more than a responding server needs, and more than a client's limit for a stalled one. */
const STALLED_LIMIT_MS = 60_000;

Deno.test("discovery: a stopped server does not hide the sessions of others, and is found again once it continues [fault-tmux]", async () => {
  await using sandbox = await makeSandbox();
  const folder = `${sandbox.root}/tmux-${Deno.uid()}`;
  await Deno.mkdir(folder, { mode: 0o700 });
  const [healthy, stalled] = [`${folder}/default`, `${folder}/stalled`];
  await start(healthy, "svc-healthy");
  await start(stalled, "svc-stalled");
  const { commands, uid, files } = runtime;
  const env = { get: (name: string) => ({ TMUX_TMPDIR: sandbox.root })[name] };
  const discovery = new TmuxDiscovery({ uid, env, files, commands }, {
    now: () => 0,
    openServer: () => undefined,
  });
  const names = async (search: Promise<TmuxSession[]>): Promise<string[]> => {
    let found: TmuxSession[] | undefined;
    void search.then((sessions) => found = sessions);
    const sessions = await until("the sessions", () => found, STALLED_LIMIT_MS);
    return sessions.filter(({ socket }) => socket.startsWith(folder)).map(({ name }) => name).sort();
  };
  const pid = Number(await spawningServer(commands, stalled).run(verbs.printPlain("#{pid}")));
  assert.deepEqual(await names(discovery.sessions()), ["svc-healthy", "svc-stalled"]);
  Deno.kill(pid, "SIGSTOP");
  try {
    const asked = spawningServer(commands, stalled).run(verbs.printPlain("x"));
    const lost = assert.rejects(asked, (error) => error instanceof TmuxError && error.lost);
    assert.deepEqual(await names(discovery.sessionsNamed("svc-healthy")), ["svc-healthy"]);
    await lost;
    assert.deepEqual(await names(discovery.sessions()), ["svc-healthy"]);
    Deno.kill(pid, "SIGCONT");
    assert.deepEqual(await names(discovery.sessions()), ["svc-healthy", "svc-stalled"]);
  } finally {
    Deno.kill(pid, "SIGCONT");
    for (const socket of [healthy, stalled]) await kill(socket);
  }
});
