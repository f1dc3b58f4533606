/** `svc server` and `svc keys` as processes: output, exit codes, and durability after a kill. */
import assert from "node:assert/strict";
import { noteNats } from "../../src/store/open.ts";
import { openStore } from "../../src/store/sqlite.ts";
import { FROM_CHECKOUT, runSvc, type Started, startSvc, SVC } from "../helpers/program.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { until } from "../helpers/until.ts";
import { ask, Peer, Wire } from "./relay_peer.ts";

const TLS = `${CHECKOUT}tests/testdata/tls/localhost`;

const READY = /^svc server listening on (http:\/\/127\.0\.0\.1:\d+) \((ws:\/\/127\.0\.0\.1:\d+\/ws)\)$/;

async function startServer(sandbox: Sandbox): Promise<{ server: Started; url: string; wsUrl: string }> {
  const server = startSvc(sandbox, ["server", "--listen", "127.0.0.1:0"]);
  const [, url = "", wsUrl = ""] = await server.line(READY);
  return { server, url, wsUrl };
}

async function createKey(
  sandbox: Sandbox,
  scope = "push:read,push:send",
): Promise<{ id: string; key: string }> {
  const { code, stdout } = await runSvc(sandbox, [
    "keys",
    "create",
    "--name",
    "n",
    "--scope",
    scope,
    "--json",
  ]);
  assert.equal(code, 0);
  return JSON.parse(stdout);
}

Deno.test("the server prints one line when it is ready, and stops promptly on request [con-ready, con-free-port, rl-stop]", async () => {
  await using sandbox = await makeSandbox();
  const { server, url, wsUrl } = await startServer(sandbox);
  const { key } = await createKey(sandbox);
  const peer = await Peer.greeted(wsUrl, { key, hello: {} });
  assert.equal((await ask(url, { path: "/healthz" })).status, 200);
  server.kill("SIGTERM");
  assert.equal((await peer.end()).code, 1012);
  assert.equal((await server.exited).code, 0);
  const stdout = server.output().split("\n").filter((line) => !line.startsWith("["));
  assert.equal(stdout.filter((line) => line !== "").length, 1);
  assert.ok(!server.output().includes(key));
});

Deno.test("a relay serves every client even if its log's disk is full or its log has no reader [fault-relay]", async () => {
  await using sandbox = await makeSandbox();
  const logs = { full: "exec 2> /dev/full", gone: "exec 2> >(exec 0<&-)" };
  for (const [name, redirect] of Object.entries(logs)) {
    const launch = ["/bin/bash", "-c", `${redirect}; exec "$@"`, "bash", ...SVC];
    const server = startSvc(sandbox, ["server", "--listen", "127.0.0.1:0"], { launch });
    const [, url = "", wsUrl = ""] = await server.line(READY);
    const { key } = await createKey(sandbox);
    // Each connection leaves two lines in the log.
    await (await Peer.greeted(wsUrl, { key, hello: {} })).leave();
    await (await Peer.greeted(wsUrl, { key, hello: {} })).leave();
    assert.equal((await ask(url, { path: "/devices", key })).status, 200, name);
    server.kill("SIGTERM");
    assert.equal((await server.exited).code, 0, name);
  }
});

Deno.test("a relay started by nohup keeps running when its terminal is closed [rl-stop]", async () => {
  // Node restores the default action of every signal.
  if (SVC !== FROM_CHECKOUT) return;
  await using sandbox = await makeSandbox();
  const launch = ["/bin/sh", "-c", 'trap "" HUP; exec "$@"', "sh", ...SVC];
  const server = startSvc(sandbox, ["server", "--listen", "127.0.0.1:0"], { launch });
  const [, url = "", wsUrl = ""] = await server.line(READY);
  const { key } = await createKey(sandbox);
  const peer = await Peer.greeted(wsUrl, { key, hello: {} });
  server.kill("SIGHUP");
  for (let n = 0; n < 20; n++) assert.equal((await ask(url, { path: "/healthz" })).status, 200);
  assert.equal(peer.closed, undefined);
  server.kill("SIGTERM");
  assert.equal((await server.exited).code, 0);
});

Deno.test("a relay without a free file descriptor accepts connections again once it has one [fault-limits]", async () => {
  await using sandbox = await makeSandbox();
  const launch = ["/bin/bash", "-c", 'ulimit -n 100; exec "$@"', "bash", ...SVC];
  const server = startSvc(sandbox, ["server", "--listen", "127.0.0.1:0"], { launch });
  const [, url = "", wsUrl = ""] = await server.line(READY);
  const { key } = await createKey(sandbox);
  const phone = await Peer.greeted(wsUrl, { key, hello: {} });
  const files = (): number => Array.from(Deno.readDirSync(`/proc/${server.pid}/fd`)).length;
  const wires = await Promise.all(Array.from({ length: 150 }, () => Wire.open(Number(new URL(url).port))));
  await until("no file is left", () => files() >= 99);
  await Promise.all(wires.map((wire) => wire.end()));
  assert.equal((await ask(url, { path: "/devices", key })).status, 200);
  assert.equal(phone.closed, undefined);
  await phone.leave();
  server.kill("SIGTERM");
  await server.exited;
});

Deno.test("a key is shown once, listed without the key itself, and revoked while the server runs [con-keys, cli-keys, rl-key-once]", async () => {
  await using sandbox = await makeSandbox();
  const { server, url, wsUrl } = await startServer(sandbox);
  const created = await runSvc(sandbox, [
    "keys",
    "create",
    "--name",
    "laptop",
    "--scope",
    "push:read",
    "--json",
  ]);
  const { id, name, scopes, key, ...rest } = JSON.parse(created.stdout);
  assert.deepEqual([name, scopes, rest], ["laptop", ["push:read"], {}]);
  const peer = await Peer.greeted(wsUrl, { key, hello: {} });
  const listed = await runSvc(sandbox, ["keys", "list", "--json"]);
  assert.ok(!listed.stdout.includes(key.slice(4)));
  assert.equal(JSON.parse(listed.stdout)[0].id, id);
  assert.equal((await runSvc(sandbox, ["keys", "revoke", id])).code, 0);
  assert.equal((await ask(url, { path: "/sessions", key })).status, 401);
  assert.equal((await peer.end()).code, 4401);
  const again = await runSvc(sandbox, ["keys", "revoke", id]);
  assert.deepEqual([again.code, /svc keys list/.test(again.stderr)], [1, true]);
  server.kill("SIGTERM");
  await server.exited;
});

Deno.test("without --json the key is alone on stdout, so that a script can put it into a variable [cli-keys]", async () => {
  await using sandbox = await makeSandbox();
  const args = ["keys", "create", "--name", "ci", "--scope", "push:send"];
  const { code, stdout, stderr } = await runSvc(sandbox, args);
  assert.equal(code, 0);
  assert.match(stdout, /^svc_[A-Za-z0-9_-]{43}\n$/);
  assert.match(stderr, /^svc: The key is stored nowhere else: .* key_[A-Za-z0-9_-]{12}\n$/);
});

Deno.test("an account without keys is offered the command that makes one of its own [cli-keys, cli-error-next]", async () => {
  await using sandbox = await makeSandbox();
  const shown = async (...args: string[]): Promise<string> =>
    (await runSvc(sandbox, ["keys", "list", ...args])).stdout;
  assert.match(await shown(), /^No keys yet\. Create one: svc keys create .* push:read,push:send$/m);
  assert.match(await shown("--account", "work"), /Create one: svc keys create .* --account work$/m);
});

Deno.test("wrong arguments exit with 2 and list what is accepted [cli-exit]", async () => {
  await using sandbox = await makeSandbox();
  const junk = `${sandbox.root}/junk`;
  await Deno.writeTextFile(junk, "junk");
  const wrong: [string[], RegExp][] = [
    [["keys", "create", "--name", "n", "--scope", "push:all"], /push:send, push:read, admin/],
    [["keys", "create", "--scope", "admin"], /--name/],
    [["keys", "create", "--name", "n", "--scope", "admin", "--device", "x"], /dev_/],
    [["keys", "burn"], /create, list, or revoke/],
    [["server", "--listen", "everywhere"], /127\.0\.0\.1:7420/],
    [["server", "--tls-cert", "x"], /--tls-key/],
    [
      ["server", "--tls-cert", junk, "--tls-key", `${TLS}.key`],
      /certificate ".*junk": the file contains no certificate in PEM/,
    ],
    [
      ["up", "--tls-cert", `${TLS}.crt`, "--tls-key", junk],
      /key ".*junk": the file contains no private key in PEM/,
    ],
    [["server", "--tls-cert", sandbox.root, "--tls-key", `${TLS}.key`], /it is a folder\. Name a PEM file/],
    [["server", "--public-url", "x"], /https:\/\/relay\.example/],
    [["server", "backup"], /file/],
    [["server", "--nats", "nats://u:hushed@127.0.0.1:1"], /^(?![^]*hushed)[^]*--nats-creds/],
    [["server", "migrate", "--to", "tls://u:hushed@a/"], /^(?![^]*hushed)[^]*--nats-creds/],
  ];
  const ran = await Promise.all(wrong.map(([args]) => runSvc(sandbox, args)));
  for (const [index, [args, said]] of wrong.entries()) {
    assert.equal(ran[index]?.code, 2, args.join(" "));
    assert.match(ran[index]?.stderr ?? "", said, args.join(" "));
  }
});

Deno.test("a backup taken under load has every push acknowledged before it [rl-backup]", async () => {
  await using sandbox = await makeSandbox();
  const { server, url } = await startServer(sandbox);
  const { key } = await createKey(sandbox);
  const sent = await ask(url, {
    method: "POST",
    path: "/pushes/send",
    key,
    body: { type: "note", body: "kept" },
  });
  const copy = `${sandbox.root}/copy/relay.db`;
  await Deno.mkdir(`${sandbox.root}/copy`);
  const { code, stderr } = await runSvc(sandbox, ["server", "backup", copy]);
  assert.equal(code, 0, stderr);
  const store = await openStore(`${sandbox.root}/copy`);
  const found = await store.findPush({ account: "default", id: String(sent.json["id"]) });
  await store.close();
  assert.equal(found?.push.body, "kept");
  server.kill("SIGTERM");
  await server.exited;
  const none = await runSvc(sandbox, ["server", "backup", copy, "--data", `${sandbox.root}/nothing`]);
  assert.deepEqual([none.code, /no store/.test(none.stderr)], [1, true]);
});

Deno.test("a backup to - is refused before anything is written [rl-backup]", async () => {
  await using sandbox = await makeSandbox();
  const { code, stdout, stderr } = await runSvc(sandbox, ["server", "backup", "-"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^svc: Cannot back up to standard output: .* Name a file, or \.\/- for/);
});

Deno.test("a backup does not copy a database that the relay has left for NATS [rl-backup]", async () => {
  await using sandbox = await makeSandbox();
  const data = `${sandbox.root}/data`;
  const copy = `${sandbox.root}/copy.db`;
  await (await openStore(data)).close();
  await noteNats(data, { servers: ["nats://127.0.0.1:1"], prefix: "svc" });
  const backup = ["server", "backup", copy, "--data", data];
  const { code, stdout, stderr } = await runSvc(sandbox, backup);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.ok(stderr.includes(`svc server migrate --data ${data} --to sqlite:FOLDER`), stderr);
  await assert.rejects(Deno.stat(copy), Deno.errors.NotFound);
  // The relay was moved back.
  await noteNats(data, undefined);
  assert.equal((await runSvc(sandbox, backup)).code, 0);
});

Deno.test("the files for NATS are stored with absolute paths, because later commands run elsewhere", async () => {
  await using sandbox = await makeSandbox();
  for (const option of ["--nats-creds", "--nats-ca"]) {
    const args = ["server", "--nats", "nats://127.0.0.1:1", option, "nats/gone"];
    const { code, stderr } = await runSvc(sandbox, args);
    const said = `svc: Cannot read "${await Deno.realPath(
      sandbox.project,
    )}/nats/gone": there is no such file\n`;
    assert.deepEqual([code, stderr], [1, said]);
  }
});

Deno.test("every push answered with 202 survives kill -9 at any time [http-202, http-2xx-stored, fault-relay]", async () => {
  await using sandbox = await makeSandbox();
  const acknowledged: string[] = [];
  let key = "";
  for (let round = 0; round < 3; round++) {
    const { server, url } = await startServer(sandbox);
    key ||= (await createKey(sandbox)).key;
    let answered = 0;
    const flood = Array.from({ length: 60 }, async () => {
      const id = crypto.randomUUID();
      const sent = await ask(url, { method: "POST", path: "/pushes/send", key, body: { id, type: "note" } });
      if (sent.status !== 202) return;
      acknowledged.push(id);
      answered += 1;
      if (answered === 20) server.kill("SIGKILL");
    });
    await Promise.allSettled(flood);
    await server.exited;
  }
  assert.ok(acknowledged.length >= 60);
  const store = await openStore(`${sandbox.svcHome}/server`);
  for (const id of acknowledged) assert.ok(await store.findPush({ account: "default", id }), id);
  await store.close();
});

Deno.test("a relay that still waits for NATS stops at once on request [rl-stop]", async () => {
  await using sandbox = await makeSandbox();
  const nats = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const asked = Promise.withResolvers<void>();
  const serving = serveWithoutLeader(nats, asked.resolve);
  const { port } = nats.addr as Deno.NetAddr;
  const args = ["server", "--listen", "127.0.0.1:0", "--nats", `nats://127.0.0.1:${port}`];
  const server = startSvc(sandbox, args);
  await asked.promise;
  server.kill("SIGTERM");
  // By itself the start fails later, with 1.
  assert.equal((await server.exited).code, 0);
  nats.close();
  await serving;
});

/** A NATS server of which JetStream answers nothing, as while there is no leader. */
async function serveWithoutLeader(nats: Deno.TcpListener, asked: () => void): Promise<void> {
  const info = { server_id: "n", version: "2.10.0", proto: 1, headers: true, jetstream: true };
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  for await (const connection of nats) {
    await connection.write(encode(`INFO ${JSON.stringify({ ...info, max_payload: 1_048_576 })}\r\n`));
    for await (const part of connection.readable) {
      const text = new TextDecoder().decode(part);
      if (text.includes("PING\r\n")) await connection.write(encode("PONG\r\n"));
      if (text.includes("$JS.API")) asked();
    }
  }
}
