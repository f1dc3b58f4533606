/** `svc service` with a real systemd: what a service starts survives it, and every way to start the listener starts that service. */
import assert from "node:assert/strict";
import { runSvc } from "../helpers/program.ts";
import { run } from "../helpers/run.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { cgroupFolder, startUserSystemd, type UserSystemd } from "../helpers/user_systemd.ts";

/** Undefined without root, systemd or cgroups version 2; the tests with "systemd" in their name are then skipped. */
const cgroups = await cgroupFolder();
const ignore = cgroups === undefined;

interface Host extends AsyncDisposable {
  stack: Stack;
  svc(...args: string[]): Promise<string>;
  /** The same, with any exit code. */
  try(...args: string[]): ReturnType<typeof runSvc>;
  systemctl(...args: string[]): Promise<string>;
  /** Resolves with the listener's pid once it is the service's process and answers. */
  listener(): Promise<number>;
}

/** Makes a host whose project has been used, without a tmux server and a listener. */
async function makeHost(): Promise<Host> {
  const stack = await makeStack({ listener: false });
  const { sandbox } = stack;
  const config = `${sandbox.svcHome}/config.json`;
  const before = JSON.parse(await Deno.readTextFile(config));
  await Deno.writeTextFile(config, JSON.stringify({ ...before, allowAgentStart: true }));
  const projects = [{ project: "proj", directory: sandbox.project }];
  await Deno.writeTextFile(`${sandbox.svcHome}/projects.json`, JSON.stringify({ projects }));
  const systemd: UserSystemd = await startUserSystemd(sandbox, cgroups ?? "");
  const { env } = systemd;
  const host: Host = {
    stack,
    async svc(...args) {
      const { code, stdout, stderr } = await runSvc(sandbox, args, { env });
      assert.equal(code, 0, stderr);
      return stdout;
    },
    try: (...args) => runSvc(sandbox, args, { env }),
    systemctl: async (...args) => (await run(["systemctl", "--user", ...args], { env })).stdout.trim(),
    listener: () =>
      until("the service's listener", async () => {
        const { listener } = JSON.parse((await runSvc(sandbox, ["status", "--json"], { env })).stdout);
        const main = Number(await host.systemctl("show", "--value", "--property=MainPID", "svc-listener"));
        return listener?.connected && listener.pid === main && main;
      }),
    async [Symbol.asyncDispose](): Promise<void> {
      await systemd[Symbol.asyncDispose]();
      await stack[Symbol.asyncDispose]();
    },
  };
  return host;
}

/** Starts an agent from a phone, so that the listener starts the tmux server. Resolves with the server's pid. */
async function startFromPhone({ stack }: Host): Promise<number> {
  const push = { type: "agent.start", targetDeviceId: stack.deviceId };
  await stack.api.sendPush({ ...push, data: { agent: "echo", project: "proj" } });
  await until("the agent's input line", async () => {
    return /^❯/mu.test(await stack.sandbox.screen("svc-proj").catch(() => ""));
  });
  return await tmuxServer(stack);
}

async function tmuxServer({ sandbox }: Stack): Promise<number> {
  return Number(await sandbox.tmux("display-message", "-p", "#{pid}"));
}

Deno.test({
  name:
    "systemd restarts the listener, and the tmux server that it started keeps running with its agent [srv-keep-agents, srv-install]",
  ignore,
  async fn() {
    await using host = await makeHost();
    const { stack } = host;
    assert.match(
      await host.svc("service", "install", "listener"),
      /Wrote .*svc-listener\.service\n.*journalctl/s,
    );
    const first = await host.listener();
    const server = await startFromPhone(host);
    const cgroup = await Deno.readTextFile(`/proc/${server}/cgroup`);
    assert.match(cgroup, /svc-listener\.service/, "the server was started in the service");
    await host.systemctl("restart", "svc-listener");
    const second = await host.listener();
    assert.notEqual(second, first);
    Deno.kill(second, "SIGKILL");
    const third = await until("another listener", async () => {
      const pid = await host.listener();
      return pid !== second && pid;
    });
    assert.ok(third > 0);
    assert.equal(await tmuxServer(stack), server);
    assert.equal((await stack.send("svc-proj", "still there?")).receipt.state, "submitted");
    await host.svc("service", "remove", "listener");
    await until("the listener's end", async () => {
      return (await Deno.stat(`${stack.sandbox.svcHome}/listener.pid`).catch(() => undefined)) === undefined;
    });
    assert.equal(await tmuxServer(stack), server);
  },
});

Deno.test({
  name:
    "with systemd, svc listener --restart and a wrapper start the service, and a second install changes nothing [srv-one, srv-install]",
  ignore,
  async fn() {
    await using host = await makeHost();
    const byWrapper = await host.stack.echo();
    await until(
      "the wrapper's listener",
      () => Deno.stat(`${host.stack.sandbox.svcHome}/listener.pid`).catch(() => 0),
    );
    assert.match(await host.svc("service", "install", "listener"), /Stopped the listener that ran before/);
    const first = await host.listener();
    assert.match(await host.svc("service", "install", "listener"), /Up to date/);
    assert.equal(await host.listener(), first);
    assert.match(await host.svc("listener", "--restart"), /The listener is running/);
    assert.notEqual(await host.listener(), first);
    await host.svc("listener", "--stop");
    await host.svc("--detach", "echo");
    await host.listener();
    assert.match(await host.svc("service", "status"), /^listener: running, /m);
    assert.equal((await host.stack.send(byWrapper.name, "hello")).receipt.state, "submitted");
  },
});

Deno.test({
  name:
    "with systemd, an install whose service does not run undoes everything, and the former listener runs again [srv-runs]",
  ignore,
  async fn() {
    await using host = await makeHost();
    const { stack, svc, systemctl } = host;
    const { sandbox } = stack;
    await svc("--detach", "echo");
    const folder = `${sandbox.home}/.config/systemd/user`;
    const units = async (): Promise<string[]> =>
      (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).filter((name) =>
        /^svc.*\.service$/.test(name)
      );
    const status = async (): Promise<boolean> => JSON.parse(await svc("status", "--json")).listener !== null;
    await until("the wrapper's listener", status);
    const dropIn = `${folder}/svc-listener.service.d`;
    await Deno.mkdir(dropIn, { recursive: true });
    const crash = `[Service]\nExecStart=\nExecStart=/bin/sh -c "echo crashed; sleep 0.3; exit 1"\n`;
    await Deno.writeTextFile(`${dropIn}/crash.conf`, crash);
    const failed = await host.try("service", "install", "listener");
    assert.equal(failed.code, 1, failed.stdout);
    assert.match(failed.stderr, /Cannot run svc's listener as a service: it ended right after its start/);
    assert.deepEqual(await units(), []);
    assert.equal(await Deno.stat(`${sandbox.svcHome}/service.json`).catch(() => 0), 0);
    assert.doesNotMatch(await systemctl("list-units", "--all", "--plain"), /svc-listener/);
    assert.ok(await status(), "the wrapper's listener runs again");
    await Deno.remove(dropIn, { recursive: true });

    assert.match(
      await svc("service", "install", "relay", "--", "--listen=127.0.0.1:0", "--data=relay"),
      /runs as/,
    );
    const unit = await Deno.readTextFile(`${folder}/svc-relay.service`);
    assert.match(unit, /"?--data"? \S+\/relay$/m);
    const taken = new URL(stack.wsUrl).host;
    const busy = await host.try("service", "install", "relay", "--", "--listen", taken);
    assert.equal(busy.code, 1, busy.stdout);
    assert.match(busy.stderr, /Everything is as it was before/);
    assert.equal(await Deno.readTextFile(`${folder}/svc-relay.service`), unit);
    assert.equal(await systemctl("is-active", "svc-relay"), "active");
    await svc("service", "remove", "relay");
    assert.deepEqual(await units(), []);
  },
});

Deno.test("a listener that does not know its relay's address is not made a service [srv-runs]", async () => {
  await using sandbox = await makeSandbox();
  const { code, stderr } = await runSvc(sandbox, ["service", "install", "listener"]);
  assert.equal(code, 1);
  assert.match(stderr, /the relay's WebSocket address is not known/);
  assert.deepEqual([...Deno.readDirSync(sandbox.home)], []);
});

Deno.test("wrong options of the relay are refused before anything is written [srv-install]", async () => {
  await using sandbox = await makeSandbox();
  const wrong = [["--lisen", "127.0.0.1:0"], ["--listen", "here"], ["--tls-cert", "a.pem"], ["x"], [
    "--trusted-proxy",
    "proxy",
  ]];
  for (const words of wrong) {
    const { code, stderr } = await runSvc(sandbox, ["service", "install", "relay", "--", ...words]);
    assert.equal(code, 2, `${words}: ${stderr}`);
  }
  assert.deepEqual([...Deno.readDirSync(sandbox.home)], []);
});

Deno.test({
  name:
    "a service that starts another svc's listener is named, and neither restarted nor replaced automatically [srv-one]",
  ignore,
  async fn() {
    await using host = await makeHost();
    const { svc, stack } = host;
    await svc("service", "install", "listener");
    await host.listener();
    const record = `${stack.sandbox.svcHome}/service.json`;
    const { command, ...rest } = JSON.parse(await Deno.readTextFile(record));
    await Deno.writeTextFile(record, JSON.stringify({ ...rest, command: ["/old/svc"] }));
    const pid = await host.listener();
    const refused = await host.try("listener", "--restart");
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /its service starts another one, "\/old\/svc". Run: svc service install listener/,
    );
    await Deno.writeTextFile(`${stack.sandbox.svcHome}/listener.version`, "0.0.1\n");
    const wrapper = await host.try("--detach", "echo");
    assert.match(wrapper.stderr, /runs v0\.0\.1, as a service that starts "\/old\/svc"/);
    assert.equal(await host.listener(), pid);
    await svc("service", "install", "listener");
    assert.deepEqual(JSON.parse(await Deno.readTextFile(record)).command, command);
    const unit = `${stack.sandbox.home}/.config/systemd/user/svc-listener.service`;
    const text = await Deno.readTextFile(unit);
    await Deno.writeTextFile(unit, text.replace(/^ExecStart=\S+/m, "ExecStart=/bin/env"));
    assert.match(
      await svc("service", "status"),
      /it starts another svc than this: .*; run: svc service install listener/,
    );
  },
});

Deno.test("an account of any name may look at its services and upgrade; a unit is written for plain names only [srv-install]", async () => {
  await using sandbox = await makeSandbox();
  for (const name of ["CORP\\alice", "jürgen"]) {
    for (const variable of ["USER", "SUDO_USER"]) {
      const env = { [variable]: name };
      const status = await runSvc(sandbox, ["service", "status"], { env });
      assert.deepEqual([status.code, status.stderr], [0, ""], name);
      const upgrade = await runSvc(sandbox, ["upgrade"], { env });
      assert.deepEqual([upgrade.code, upgrade.stderr], [0, ""], name);
    }
    const install = ["service", "install", "listener", "--system", "--dry-run"];
    const refused = await runSvc(sandbox, install, { env: { SUDO_USER: name } });
    assert.deepEqual([refused.code, refused.stdout], [2, ""]);
    assert.ok(refused.stderr.includes(`Cannot use the account "${name}": a service's file takes`));
  }
});

Deno.test("the listener's unit has the shell's proxies and certificates, and for a proxy with a password only advice on where to put it [srv-install]", async () => {
  await using sandbox = await makeSandbox();
  await Deno.writeTextFile(`${sandbox.project}/ca.pem`, "");
  const env = {
    HTTPS_PROXY: "http://proxy:3128",
    no_proxy: "localhost,127.0.0.1",
    NODE_EXTRA_CA_CERTS: "ca.pem",
    http_proxy: "http://me:verysecret@proxy:3128",
    ALL_PROXY: "me:verysecret@proxy:1080",
  };
  const { stdout } = await runSvc(sandbox, ["service", "install", "listener", "--dry-run"], { env });
  const unit = stdout.split("\n").filter((line) => line.startsWith("Environment="));
  const kept = (name: string): string | undefined =>
    unit.find((line) => line.startsWith(`Environment="${name}=`))?.slice(`Environment="${name}=`.length, -1);
  assert.equal(kept("HTTPS_PROXY"), env.HTTPS_PROXY);
  assert.equal(kept("no_proxy"), env.no_proxy);
  assert.match(kept("NODE_EXTRA_CA_CERTS") ?? "", /^\/.*\/proj\/ca\.pem$/);
  assert.doesNotMatch(stdout, /verysecret/);
  for (const name of ["http_proxy", "ALL_PROXY"]) {
    assert.match(stdout, new RegExp(`^# ${name} is not in .*password.*EnvironmentFile=`, "m"));
  }
  const relay = await runSvc(sandbox, ["service", "install", "relay", "--dry-run"], { env });
  assert.doesNotMatch(relay.stdout, /proxy/i);
});

Deno.test({
  name:
    "with systemd, an install in place of a connected listener fails if the service does not connect [srv-runs]",
  ignore,
  async fn() {
    await using host = await makeHost();
    const { sandbox } = host.stack;
    const connected = async (): Promise<boolean | undefined> =>
      JSON.parse((await host.try("status", "--json")).stdout).listener?.connected;
    await host.svc("--detach", "echo");
    await until("the wrapper's listener", connected);
    const unit = await host.svc("service", "install", "listener", "--dry-run");
    const [started] = /^ExecStart=.*$/m.exec(unit) ?? [];
    const dropIn = `${sandbox.home}/.config/systemd/user/svc-listener.service.d`;
    await Deno.mkdir(dropIn, { recursive: true });
    const elsewhere = `[Service]\nExecStart=\n${started} --ws-url ws://127.0.0.1:1/ws\n`;
    await Deno.writeTextFile(`${dropIn}/elsewhere.conf`, elsewhere);
    const installed = await host.try("service", "install", "listener");
    assert.equal(installed.code, 1, installed.stdout);
    assert.match(
      installed.stderr,
      /has not connected to the relay in 15 s.*svc logs says why.*edit svc-listener/,
    );
    await Deno.remove(dropIn, { recursive: true });
    await host.systemctl("daemon-reload");
    await host.svc("listener", "--restart");
    await until("the service's connection", connected);
    assert.match(
      await host.svc("service", "install", "listener"),
      /runs as a service and is connected to the/,
    );
  },
});

Deno.test({
  name: "systemd accepts every unit that svc writes [srv-install, srv-relay]",
  ignore,
  async fn() {
    await using sandbox = await makeSandbox();
    const plans = [
      ["install", "listener"],
      ["install", "listener", "--system", "--user", "root"],
      ["install", "relay", "--", "--listen", "127.0.0.1:0"],
      ["install", "relay", "--system", "--user", "root"],
    ];
    for (const [at, plan] of plans.entries()) {
      const [first = "", name = "", ...rest] = plan;
      const { stdout, stderr } = await runSvc(sandbox, ["service", first, name, "--dry-run", ...rest]);
      const file = `${sandbox.root}/svc-${at}.service`;
      await Deno.writeTextFile(file, stdout.replace(/^# systemctl.*$/gm, ""));
      assert.match(stdout, /^ExecStart=\//m, stderr);
      const scope = plan.includes("--system") ? [] : ["--user"];
      const env = { ...sandbox.env, XDG_RUNTIME_DIR: sandbox.root };
      const verified = await run(["systemd-analyze", ...scope, "--man=no", "verify", file], { env });
      assert.deepEqual([verified.code, verified.stderr], [0, ""], plan.join(" "));
    }
  },
});

Deno.test("a unit that svc did not write is neither replaced nor removed [srv-own]", async () => {
  await using sandbox = await makeSandbox();
  const folder = `${sandbox.home}/.config/systemd/user`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/svc-listener.service`, "[Service]\nExecStart=/bin/true\n");
  for (const verb of ["install", "remove"]) {
    const { code, stderr } = await runSvc(sandbox, ["service", verb, "listener"]);
    assert.equal(code, 1);
    assert.match(stderr, /svc-listener\.service": it exists, and svc did not write it/);
  }
  const kept = await Deno.readTextFile(`${folder}/svc-listener.service`);
  assert.equal(kept, "[Service]\nExecStart=/bin/true\n");
});

Deno.test("--dry-run prints the unit and the commands and writes nothing; wrong names are refused [srv-install]", async () => {
  await using sandbox = await makeSandbox();
  const shown = await runSvc(sandbox, ["service", "install", "listener", "--dry-run"]);
  assert.match(shown.stdout, /^ExecStart=.*cli\.[jt]s listener --standby$/m);
  assert.match(shown.stdout, /systemctl --user enable/);
  const env = { ...sandbox.env, SVC_TMUX_SOCKET: "tmux.sock" };
  const relative = await runSvc(sandbox, ["service", "install", "listener", "--dry-run"], { env });
  assert.match(relative.stdout, /SVC_TMUX_SOCKET=\/\S*\/tmux\.sock/);
  assert.deepEqual([...Deno.readDirSync(sandbox.home)], []);
  const wrong = await runSvc(sandbox, ["service", "install", "relais"]);
  assert.deepEqual([wrong.code, wrong.stdout], [2, ""]);
  assert.match(wrong.stderr, /it takes listener or relay/);
  const status = await runSvc(sandbox, ["service", "status"]);
  assert.match(status.stdout, /No service is installed/, status.stderr);
});
