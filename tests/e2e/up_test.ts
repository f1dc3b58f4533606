/** `svc up` starts everything, shows sessions as they change, and stops only what it started. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { qrLines } from "../../src/cli/pair.ts";
import { hasCrashed } from "../../src/home/daemon.ts";
import { homePaths } from "../../src/home/paths.ts";
import { makeAuthority, makeCertificate } from "../helpers/nats_access.ts";
import { freePorts } from "../helpers/nats_server.ts";
import { runSvc, type Started, startSvc } from "../helpers/program.ts";
import { NAMED_HOST, namedHost } from "../helpers/stack.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const UP = ["up", "--listen", "127.0.0.1:0"];

async function stop(up: Started): Promise<void> {
  up.kill("SIGINT");
  assert.equal((await up.exited).code, 0, up.output());
}

async function listenerPid(sandbox: Sandbox): Promise<number | undefined> {
  const { stdout } = await runSvc(sandbox, ["status", "--json"]);
  return JSON.parse(stdout).listener?.pid ?? undefined;
}

async function connectedListener(sandbox: Sandbox): Promise<number> {
  return await until("the listener", async () => {
    const { stdout } = await runSvc(sandbox, ["status", "--json"]);
    const { listener } = JSON.parse(stdout);
    return listener?.connected && listener.pid;
  });
}

Deno.test("svc up starts relay and listener, prints QR and link, shows sessions as they appear, and Ctrl-C ends everything [up-one-command, up-inventory, up-demo, con-status, cli-send, con-send, con-send-exit, con-sessions]", async () => {
  await using sandbox = await makeSandbox();
  const up = startSvc(sandbox, [...UP, "--demo"]);
  await up.line(/^Open this link: http:\/\/localhost:\d+\/#\S+$/);
  assert.match(up.output(), /^[█▀▄ ]{20,}$/m);
  await up.line(/^svc-demo +demo · Echo/);
  await sandbox.executed("svc-demo");
  await connectedListener(sandbox);
  const sent = await runSvc(sandbox, ["send", "svc-demo", "hello", "--json"]);
  assert.equal(sent.code, 0, sent.stderr);
  assert.equal(JSON.parse(sent.stdout).receipt.state, "submitted");
  const listed = JSON.parse((await runSvc(sandbox, ["sessions", "--json"])).stdout);
  assert.deepEqual(listed.map((entry: { name: string }) => entry.name), ["svc-demo"]);
  const refused = await runSvc(sandbox, ["send", "svc-nobody", "hello", "--json"]);
  assert.equal(refused.code, 1);
  assert.equal(JSON.parse(refused.stdout).receipt.reason, "no_such_session");
  await stop(up);
  assert.equal(await listenerPid(sandbox), undefined);
  await assert.rejects(sandbox.tmux("has-session", "-t", "=svc-demo"));
});

Deno.test("svc pair uses the address with which svc up was started [up-addresses]", async () => {
  await using sandbox = await makeSandbox();
  const up = startSvc(sandbox, [...UP, "--public-url", "https://relay.example/"]);
  await up.line(/^Open this link: https:\/\/relay\.example\/#pair=/);
  const { stdout } = await runSvc(sandbox, ["pair", "--json"]);
  assert.match(JSON.parse(stdout).url, /^https:\/\/relay\.example\/#pair=/);
  await stop(up);
});

/** Puts shell scripts with these names first in PATH. */
async function install(sandbox: Sandbox, programs: Record<string, string>): Promise<void> {
  const bin = `${sandbox.root}/bin`;
  await Deno.mkdir(bin, { recursive: true });
  for (const [name, script] of Object.entries(programs)) {
    await Deno.writeTextFile(`${bin}/${name}`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  if (!sandbox.env.PATH?.startsWith(bin)) sandbox.env.PATH = `${bin}:${sandbox.env.PATH}`;
}

Deno.test("svc up --tunnel links to the address of cloudflared, or of tailscale if that is installed, and closes what it opened [up-tunnel]", async () => {
  await using sandbox = await makeSandbox();
  const log = `${sandbox.root}/calls`;
  const calls = async (): Promise<string[]> => (await Deno.readTextFile(log)).trim().split("\n");
  // Scripts that behave like the programs: cloudflared prints its address among other lines and keeps running;
  // tailscale serves in the background.
  const cloudflared = [
    `echo "cloudflared $*" >> ${log}`,
    `trap 'kill $!; echo ended >> ${log}; exit 0' TERM`,
    "tail -f /dev/null &",
    `echo "INF | https://quick-brown-fox.trycloudflare.com |" >&2`,
    "wait",
  ].join("\n");
  await install(sandbox, { cloudflared });
  const first = startSvc(sandbox, [...UP, "--tunnel"]);
  await first.line(/^Open this link: https:\/\/quick-brown-fox\.trycloudflare\.com\/#pair=/);
  await stop(first);
  const [opened = "", ...rest] = await calls();
  assert.match(opened, /^cloudflared tunnel --url http:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual(rest, ["ended"]);
  await Deno.remove(log);
  const tailscale = [
    `[ "$*" = "serve status --json" ] && echo '{}' && exit`,
    `echo "tailscale $*" >> ${log}`,
    `[ "$1" = status ] && echo '{"Self": {"DNSName": "host.tail1234.ts.net."}}'`,
    "exit 0",
  ].join("\n");
  await install(sandbox, { tailscale });
  const second = startSvc(sandbox, [...UP, "--tunnel"]);
  await second.line(/^Open this link: https:\/\/host\.tail1234\.ts\.net\/#pair=/);
  await stop(second);
  const [serve = "", ...others] = await calls();
  assert.match(serve, /^tailscale serve --bg --https=443 http:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual(others, ["tailscale status --json", "tailscale serve --https=443 off"]);
});

Deno.test("svc up --tunnel leaves alone what tailscale already serves: it takes the next free port, and closes only that one [up-tunnel]", async () => {
  await using sandbox = await makeSandbox();
  const log = `${sandbox.root}/calls`;
  const web = (port: number) => ({
    TCP: { [port]: { HTTPS: true } },
    Web: { [`host.tail1234.ts.net:${port}`]: { Handlers: { "/": { Proxy: "http://127.0.0.1:3000" } } } },
  });
  const serving = (config: unknown): string =>
    [
      `case "$*" in`,
      `"serve status --json") echo '${JSON.stringify(config)}' ;;`,
      `"status --json") echo '{"Self": {"DNSName": "host.tail1234.ts.net."}}' ;;`,
      `*) echo "$*" >> ${log} ;;`,
      "esac",
    ].join("\n");
  await install(sandbox, { tailscale: serving(web(443)) });
  const up = startSvc(sandbox, [...UP, "--tunnel"]);
  await up.line(/^Open this link: https:\/\/host\.tail1234\.ts\.net:8443\/#pair=/);
  await stop(up);
  const [serve = "", ...others] = (await Deno.readTextFile(log)).trim().split("\n");
  assert.match(serve, /^serve --bg --https=8443 http:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual(others, ["serve --https=8443 off"]);
  await Deno.remove(log);
  const everywhere = { ...web(443), Foreground: { one: web(8443), two: web(10_000) } };
  await install(sandbox, { tailscale: serving(everywhere) });
  const refused = await runSvc(sandbox, [...UP, "--tunnel"]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /already serves something else at the ports 443, 8443, 10000\..+--public-url/);
  await assert.rejects(Deno.stat(log), Deno.errors.NotFound);
  const both = await runSvc(sandbox, [...UP, "--tunnel", "--public-url", "https://relay.example"]);
  assert.equal(both.code, 2);
  assert.match(both.stderr, /Cannot use --tunnel with --public-url/);
});

Deno.test("svc up with a certificate uses the address that the certificate is for, and exits 1 without one [up-certificate]", async () => {
  await using sandbox = await makeSandbox();
  const [authority, relay] = [`${sandbox.root}/authority`, `${sandbox.root}/relay`];
  await makeAuthority(authority);
  await makeCertificate(relay, { authority, name: "DNS:localhost" });
  const env = { DENO_CERT: `${authority}.pem`, NODE_EXTRA_CA_CERTS: `${authority}.pem` };
  const tls = ["--tls-cert", `${relay}.pem`, "--tls-key", `${relay}.key`];
  const nameless = await runSvc(sandbox, [...UP, ...tls], { env });
  assert.equal(nameless.code, 1);
  assert.match(nameless.stderr, /--public-url https:\/\/NAME:PORT/);
  await assert.rejects(Deno.stat(`${sandbox.svcHome}/config.json`), Deno.errors.NotFound);
  const [port] = await freePorts(1);
  const up = startSvc(sandbox, [
    ...["up", "--listen", `127.0.0.1:${port}`, "--public-url", `https://localhost:${port}`],
    ...["--demo", ...tls],
  ], { env });
  await up.line(new RegExp(`^Open this link: https://localhost:${port}/`));
  await up.line(/^svc-demo +demo · Echo/);
  await sandbox.executed("svc-demo");
  assert.equal((await runSvc(sandbox, ["send", "svc-demo", "hello"], { env })).code, 0);
  const other = `${sandbox.root}/other`;
  await makeAuthority(other);
  const untrusting = { env: { DENO_CERT: `${other}.pem`, NODE_EXTRA_CA_CERTS: `${other}.pem` } };
  const said = /no authority that this machine trusts .* in NODE_EXTRA_CA_CERTS, or in DENO_CERT/s;
  for (const args of [["send", "svc-demo", "hello"], ["sessions"], ["status"], ["verify"]]) {
    const { stdout, stderr } = await runSvc(sandbox, args, untrusting);
    assert.match(stdout + stderr, said);
  }
  await stop(up);
});

Deno.test("svc up leaves a listener that ran before it, and its session, alone [up-stops-own]", async () => {
  await using sandbox = await makeSandbox();
  const first = startSvc(sandbox, UP);
  await first.line(/^Open this link:/);
  await connectedListener(sandbox);
  await stop(first);
  const daemon = startSvc(sandbox, ["listener"]);
  await daemon.line(/svc listener starting/);
  const second = startSvc(sandbox, UP);
  await second.line(/^Open this link:/);
  const pid = await connectedListener(sandbox);
  await stop(second);
  assert.equal(await listenerPid(sandbox), pid);
});

Deno.test("svc up ends its listener even if that is too busy to answer [up-stops-own]", async () => {
  await using sandbox = await makeSandbox();
  const up = startSvc(sandbox, UP);
  await up.line(/^Open this link:/);
  const own = await connectedListener(sandbox);
  sandbox.killAtEnd(own);
  Deno.kill(own, "SIGSTOP");
  await stop(up);
  await until("its end", () => !runtime.commands.kill(own, 0));
});

Deno.test("svc up leaves a listener alone that has replaced its own [up-stops-own]", async () => {
  await using sandbox = await makeSandbox();
  const up = startSvc(sandbox, UP);
  await up.line(/^Open this link:/);
  const own = await connectedListener(sandbox);
  assert.equal((await runSvc(sandbox, ["listener", "--restart"])).code, 0);
  const other = await connectedListener(sandbox);
  assert.notEqual(other, own);
  await stop(up);
  assert.equal(await listenerPid(sandbox), other);
  assert.equal((await runSvc(sandbox, ["listener", "--stop"])).code, 0);
});

Deno.test("while svc up runs, a listener that was killed is started again, and one that was stopped does not count as killed [up-keeps-listener, up-stops-own]", async () => {
  await using sandbox = await makeSandbox();
  const up = startSvc(sandbox, [...UP, "--demo"]);
  await up.line(/^svc-demo +demo · Echo/);
  await sandbox.executed("svc-demo");
  const first = await connectedListener(sandbox);
  Deno.kill(first, "SIGKILL");
  await up.line(/^The listener ended unexpectedly and was started again\./);
  const second = await connectedListener(sandbox);
  assert.notEqual(second, first);
  assert.equal((await runSvc(sandbox, ["send", "svc-demo", "hello"])).code, 0);
  assert.equal((await runSvc(sandbox, ["listener", "--stop"])).code, 0);
  const paths = await homePaths({
    svcHome: sandbox.svcHome,
    homeDirectory: sandbox.root,
    cwd: sandbox.root,
    uid: runtime.uid,
  });
  assert.equal(await hasCrashed(runtime, paths), false);
  await stop(up);
});

Deno.test("svc up says which address works for what, and does not replace another relay without --replace [up-addresses]", async () => {
  await using sandbox = await makeSandbox();
  const up = startSvc(sandbox, UP);
  await up.line(/^On this machine: http:\/\/localhost:\d+ \(everything works\)\.$/);
  await up.line(/^From the phone: not yet\./);
  await stop(up);
  const other = JSON.stringify({ apiKey: "svc_x", wsUrl: "wss://relay.example/prod" });
  await Deno.writeTextFile(`${sandbox.svcHome}/config.json`, other);
  const refused = await runSvc(sandbox, UP);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /names another one, "wss:\/\/relay\.example\/prod"\. Add --replace/);
  assert.equal(await Deno.readTextFile(`${sandbox.svcHome}/config.json`), other);
});

Deno.test("svc up --replace also removes the other relay's HTTP address: the new key is not sent there [up-addresses, env-one-relay]", async () => {
  await using sandbox = await makeSandbox();
  const asked: string[] = [];
  await using other = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    asked.push(url);
    return new Response(null, { status: 503 });
  });
  const baseUrl = `http://127.0.0.1:${other.addr.port}`;
  const file = `${sandbox.svcHome}/config.json`;
  await Deno.mkdir(sandbox.svcHome, { mode: 0o700 });
  const before = { apiKey: "svc_x", wsUrl: "wss://relay.example/prod", baseUrl, steer: true };
  await Deno.writeTextFile(file, JSON.stringify(before), { mode: 0o600 });
  const up = startSvc(sandbox, [...UP, "--demo", "--replace"]);
  await up.line(/^svc-demo +demo · Echo/);
  await sandbox.executed("svc-demo");
  const { baseUrl: left, steer } = JSON.parse(await Deno.readTextFile(file));
  const sent = await runSvc(sandbox, ["send", "svc-demo", "hello"]);
  assert.deepEqual([asked, left, steer, sent.code], [[], undefined, true, 0], sent.stderr);
  await stop(up);
});

Deno.test("a second relay takes over the listener of a running one only with --replace, or once that has ended [up-addresses]", async () => {
  await using sandbox = await makeSandbox();
  const up = startSvc(sandbox, UP);
  await up.line(/^Open this link:/);
  const config = await Deno.readTextFile(`${sandbox.svcHome}/config.json`);
  const { wsUrl } = JSON.parse(config);
  const second = [...UP, "--data", `${sandbox.root}/second`];
  const refused = await runSvc(sandbox, second);
  assert.equal(refused.code, 1);
  assert.ok(refused.stderr.includes(`names another one, "${wsUrl}". Add --replace`), refused.stderr);
  assert.equal(await Deno.readTextFile(`${sandbox.svcHome}/config.json`), config);
  await connectedListener(sandbox);
  const replacing = startSvc(sandbox, [...second, "--demo", "--replace"]);
  await replacing.line(/^svc-demo +demo · Echo/);
  await sandbox.executed("svc-demo");
  assert.notEqual(JSON.parse(await Deno.readTextFile(`${sandbox.svcHome}/config.json`)).wsUrl, wsUrl);
  const sent = await runSvc(sandbox, ["send", "svc-demo", "hello"]);
  assert.equal(sent.code, 0, sent.stderr);
  await stop(up);
  const after = await runSvc(sandbox, ["send", "svc-demo", "the first relay is gone"]);
  assert.equal(after.code, 0, after.stderr);
  await stop(replacing);
  const alone = startSvc(sandbox, [...UP, "--data", `${sandbox.root}/third`]);
  await alone.line(/^Open this link:/);
  await stop(alone);
});

Deno.test("a relay that is too busy to answer counts as running [up-addresses]", async () => {
  await using sandbox = await makeSandbox();
  const busy = { status: 429, headers: { "content-type": "application/problem+json", "retry-after": "1" } };
  const problem = JSON.stringify({ type: "about:blank", title: "t", status: 429, code: "rate_limited" });
  await using relay = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(problem, busy),
  );
  const wsUrl = `ws://127.0.0.1:${relay.addr.port}/ws`;
  await Deno.mkdir(sandbox.svcHome, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(`${sandbox.svcHome}/config.json`, JSON.stringify({ wsUrl }), { mode: 0o600 });
  const refused = await runSvc(sandbox, UP);
  assert.equal(refused.code, 1);
  assert.ok(refused.stderr.includes(`names another one, "${wsUrl}". Add --replace`), refused.stderr);
});

Deno.test("a host whose hostname changes stays the same host after svc up, with the devices that it had [role-hostname]", async () => {
  await using sandbox = await makeSandbox();
  const config = `${sandbox.svcHome}/config.json`;
  const hosts = async (hostname: string): Promise<unknown[]> => {
    const up = startSvc(sandbox, UP, { launch: NAMED_HOST, env: namedHost(hostname) });
    await up.line(/^Open this link:/);
    await connectedListener(sandbox);
    const { stdout } = await runSvc(sandbox, ["devices", "--json"]);
    await stop(up);
    const devices: { kind: string; id: string; name: string }[] = JSON.parse(stdout);
    return devices.filter(({ kind }) => kind === "listener").map(({ id, name }) => [id, name]);
  };
  const first = await hosts("laptop");
  assert.equal(first.length, 1);
  assert.deepEqual(await hosts("dhcp-17.example"), first);
  // As svc up left it before it kept the name.
  const { deviceName, ...old } = JSON.parse(await Deno.readTextFile(config));
  assert.equal(deviceName, "laptop");
  await Deno.writeTextFile(config, JSON.stringify(old));
  assert.deepEqual(await hosts("dhcp-18.example"), first);
});

Deno.test("svc up while it runs says so, and points to svc pair [up-one-command]", async () => {
  await using sandbox = await makeSandbox();
  const up = startSvc(sandbox, UP);
  await up.line(/^Open this link:/);
  const again = await runSvc(sandbox, UP);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /it is already running.*To pair a phone with it, run: svc pair\./);
  assert.doesNotMatch(again.stderr, /another/);
  await stop(up);
});

Deno.test("the QR of a pairing link fits 80 × 24 [tty-qr]", () => {
  const lines = qrLines(`https://workstation.tailnet-name.ts.net/#pair=${"x".repeat(27)}`);
  assert.ok(lines.length <= 24, `${lines.length} lines`);
  assert.ok(lines.every((line) => line.length <= 80));
});
