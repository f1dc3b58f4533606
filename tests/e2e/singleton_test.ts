/** There is only one listener, however it is started and whatever was left behind (docs/specification.md, Listener). */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { until } from "../helpers/until.ts";
import { makeWrapperBench, type WrapperBench } from "../helpers/wrapper_bench.ts";
import { SVC } from "../helpers/program.ts";
import type { Ran } from "../helpers/run.ts";
import { VERSION } from "../../src/protocol/version.ts";

/** No relay listens at this address; the daemon runs anyway. */
const WS_URL = "ws://127.0.0.1:9/ws";

/** Output of a wrapper without problems; the line appears if the listener is slow to answer. */
const QUIET = ["", "svc: Waiting for the listener to start …\n"];

/** Output of `svc listener --stop`; the line appears if the listener is slow to end. */
const UNHURRIED = ["", "svc: Waiting for the listener to finish its current work …\n"];

interface Host extends WrapperBench {
  /** `~/.svc/<name>` */
  path(name: string): string;
  read(name: string): Promise<string>;
  write(name: string, text: string): Promise<void>;
  /** Runs a wrapper to its end. */
  wrapper(env?: Record<string, string>): Promise<Ran>;
  /** Resolves with the pid of the daemon that answers; it is killed at the end of the test. */
  daemon(): Promise<number>;
  /** Resolves with the number of daemons that have started in this home. */
  daemonStarts(): Promise<number>;
}

async function makeHost(): Promise<Host> {
  const bench = await makeWrapperBench();
  const path = (name: string): string => `${bench.sandbox.svcHome}/${name}`;
  await Deno.mkdir(bench.sandbox.svcHome, { mode: 0o700 });
  const host: Host = {
    ...bench,
    path,
    read: async (name) => (await Deno.readTextFile(path(name))).trim(),
    write: (name, text) => Deno.writeTextFile(path(name), text, { mode: 0o600 }),
    async wrapper(env = {}) {
      const ran = await bench.svc(["--detach", "cc"], { env });
      assert.equal(ran.code, 0, ran.stderr);
      await host.daemon();
      return ran;
    },
    async daemon() {
      const pid = await until("a daemon that answers", async () => {
        const found: unknown = JSON.parse((await bench.svc(["status", "--json"])).stdout).listener.pid;
        return typeof found === "number" && found;
      });
      bench.sandbox.killAtEnd(pid);
      return pid;
    },
    async daemonStarts() {
      const log = await Deno.readTextFile(path("listener.log")).catch(() => "");
      return log.split("\n").filter((line) => line.includes("svc listener starting")).length;
    },
    [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
  };
  await host.write("config.json", JSON.stringify({ apiKey: "svc_test", wsUrl: WS_URL }));
  return host;
}

/** Starts a process unrelated to svc. */
function startStranger(host: Host): number {
  const child = new Deno.Command("sleep", { args: ["600"] }).spawn();
  host.sandbox.killAtEnd(child.pid);
  host.sandbox.awaitAtEnd(child.status);
  return child.pid;
}

Deno.test("twenty wrappers at once lead to one listener [ls-twenty, wrap-starts-listener, wrap-singleton, ls-readiness, state-absent]", async () => {
  await using host = await makeHost();
  const runs = await Promise.all(
    Array.from({ length: 20 }, () => host.svc(["--detach", "cc"])),
  );
  const pid = await host.daemon();
  assert.deepEqual(runs.filter(({ code, stderr }) => code !== 0 || !QUIET.includes(stderr)), []);
  assert.equal(await host.daemonStarts(), 1);
  assert.equal(await host.read("listener.pid"), String(pid));
  assert.equal(await host.read("listener.version"), VERSION);
});

Deno.test("the next wrapper starts none; the daemon outlives the wrappers in a separate session [state-running, wrap-survives, ls-own-session, con-ps, cmd-ps, wrap-never-by-hand]", async () => {
  await using host = await makeHost();
  await host.wrapper();
  const pid = await host.daemon();
  const { stderr } = await host.wrapper();
  assert.ok(QUIET.includes(stderr), stderr);
  assert.equal(await host.daemon(), pid);
  assert.equal(await host.daemonStarts(), 1);
  const shown = await runtime.commands.run(["ps", "-o", "sid=,args=", "-p", String(pid)]);
  const [session, ...args] = new TextDecoder().decode(shown.stdout).trim().split(/\s+/);
  assert.equal(session, String(pid));
  assert.match(args.join(" "), /cli\.[jt]s listener/);
});

Deno.test("the daemon has the wrapper's environment, without what belongs to one agent [wrap-env, ls-clean-env]", async () => {
  await using host = await makeHost();
  await host.wrapper({ SVC_TEST_WORD: "from the wrapper", CLAUDE_PROJECT_DIR: "/x/y", CODEX_SANDBOX: "1" });
  const environment = await Deno.readTextFile(`/proc/${await host.daemon()}/environ`);
  const names = new Map(
    environment.split("\0").map((one) => [one.split("=")[0], one.slice(one.indexOf("=") + 1)]),
  );
  assert.equal(names.get("SVC_TEST_WORD"), "from the wrapper");
  for (const name of ["CLAUDE_PROJECT_DIR", "CODEX_SANDBOX", "SVC_SESSION"]) {
    assert.ok(!names.has(name), name);
  }
});

Deno.test("an older daemon is replaced, and both versions are printed [state-older, state-older-told, ver-older, ver-upgrade]", async () => {
  await using host = await makeHost();
  await host.wrapper();
  const old = await host.daemon();
  await host.write("listener.version", "0.0.1\n");
  assert.equal(await host.daemon(), old, "nothing but a wrapper replaces it");
  const { stderr } = await host.wrapper();
  assert.match(stderr, new RegExp(`runs v0\\.0\\.1, v${VERSION} is installed: restarting it on v${VERSION}`));
  assert.notEqual(await host.daemon(), old);
  await until("the old one's end", () => !runtime.commands.kill(old, 0));
  assert.equal(await host.read("listener.version"), VERSION);
});

Deno.test("a newer daemon is left alone [state-newer, ver-newer]", async () => {
  await using host = await makeHost();
  await host.wrapper();
  const pid = await host.daemon();
  await host.write("listener.version", "99.0.0\n");
  const { stderr } = await host.wrapper();
  assert.ok(QUIET.includes(stderr), stderr);
  assert.equal(await host.daemon(), pid);
  assert.equal(await host.read("listener.version"), "99.0.0");
});

Deno.test("a killed daemon is replaced although its files say that it runs [ls-stale-pid, state-absent]", async () => {
  await using host = await makeHost();
  await host.wrapper();
  const first = await host.daemon();
  Deno.kill(first, "SIGKILL");
  await until("its end", () => !runtime.commands.kill(first, 0));
  assert.equal(await host.read("listener.pid"), String(first));
  await host.wrapper();
  assert.notEqual(await host.daemon(), first);
});

Deno.test("a pid that another process now has neither prevents a start nor is killed [ls-stale-pid]", async () => {
  await using host = await makeHost();
  const stranger = startStranger(host);
  await host.write("listener.pid", `${stranger}\n`);
  await host.write("listener.version", "0.0.1\n");
  await host.wrapper();
  assert.notEqual(await host.daemon(), stranger);
  assert.equal(runtime.commands.kill(stranger, 0), true);
});

Deno.test("a daemon is found without its pid file [ls-stale-pid, ls-lock]", async () => {
  await using host = await makeHost();
  await host.wrapper();
  const pid = await host.daemon();
  await Deno.remove(host.path("listener.pid"));
  await Deno.remove(host.path("listener.version"));
  await host.wrapper();
  assert.equal(await host.daemon(), pid);
  assert.equal(await host.daemonStarts(), 1);
});

Deno.test("junk in every file of a dead daemon does not prevent a start [ls-stale-pid]", async () => {
  await using host = await makeHost();
  for (const name of ["pid", "version", "lock", "sock", "log"]) {
    await host.write(`listener.${name}`, "\u0000junk\n");
  }
  for (const name of ["start.lock", "journal.jsonl", "muted.json"]) await host.write(name, "{junk");
  await host.wrapper();
  assert.equal(await host.read("listener.pid"), String(await host.daemon()));
});

Deno.test("folders in place of a daemon's files prevent neither the agent's start nor the daemon's [ls-stale-pid, fault-files]", async () => {
  await using host = await makeHost();
  const names = ["listener.pid", "listener.version", "listener.sock"];
  for (const name of names) await Deno.mkdir(host.path(name), { mode: 0o700 });
  const { stderr } = await host.wrapper();
  assert.ok(QUIET.includes(stderr), stderr);
  // The daemon answers before its lines are written.
  for (const name of names) {
    const line = `"${host.path(name)}" was a folder, not a file`;
    await until(line, async () => (await host.read("listener.log").catch(() => "")).includes(line));
  }
});

Deno.test("a second svc listener says which one runs and exits 1 [ls-lock]", async () => {
  await using host = await makeHost();
  await host.wrapper();
  const pid = await host.daemon();
  const { code, stdout } = await host.svc(["listener"]);
  assert.equal(code, 1);
  assert.match(stdout, new RegExp(`is already running: process ${pid}, .*svc listener --restart`));
});

Deno.test("a foreground listener keeps running after its reader has ended, and stops cleanly", async () => {
  await using host = await makeHost();
  const { sandbox } = host;
  const script = '{ "$@"; echo $? > "$SVC_HOME/code"; } | head -n 1';
  const args = ["-c", script, "sh", ...SVC, "listener"];
  const child = new Deno.Command("sh", {
    args,
    cwd: sandbox.project,
    env: sandbox.env,
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  sandbox.killAtEnd(child.pid);
  await host.daemon();
  // "head" has ended by then, so further lines find no reader.
  await until(
    "a line after the first",
    async () => (await host.read("listener.log").catch(() => "")).includes("\n"),
  );
  assert.equal((await host.svc(["listener", "--stop"])).stdout, "The listener has stopped.\n");
  await child.status;
  assert.equal(await host.read("code"), "0");
  for (const name of ["listener.pid", "listener.version", "listener.sock"]) {
    assert.equal(await runtime.files.info(host.path(name)), undefined, name);
  }
  assert.match(await host.read("listener.log"), /svc listener stopping\n[^]*svc listener stopped$/);
});

Deno.test("--restart replaces a daemon of any version, --stop ends it [state-restart, cmd-restart, cli-listener-stop, ls-handover]", async () => {
  await using host = await makeHost();
  await host.wrapper();
  const first = await host.daemon();
  await host.write("listener.version", "99.0.0\n");
  const restarted = await host.svc(["listener", "--restart"]);
  const second = await host.daemon();
  assert.deepEqual([restarted.code, restarted.stdout], [
    0,
    `The listener is running: v${VERSION}, process ${second}.\n`,
  ]);
  assert.notEqual(second, first);
  const { code, stdout, stderr } = await host.svc(["listener", "--stop"]);
  assert.deepEqual([code, stdout], [0, "The listener has stopped.\n"]);
  assert.ok(UNHURRIED.includes(stderr), stderr);
  // It has released its lock, and may still be ending.
  await until("the process's end", () => !runtime.commands.kill(second, 0));
  assert.equal((await host.svc(["listener", "--stop"])).stdout, "No listener is running.\n");
  const log = await host.read("listener.log");
  assert.match(log, /svc listener stopped$/);
});

Deno.test("a hanging daemon is replaced by --restart, even if COLUMNS makes ps cut its lines, and its status says that it hangs [cmd-restart, cli-status]", async () => {
  await using host = await makeHost();
  await host.wrapper();
  const hung = await host.daemon();
  Deno.kill(hung, "SIGSTOP");
  const status = await host.svc(["status", "--json"]);
  assert.equal(status.code, 1);
  const { running, answers, pid } = JSON.parse(status.stdout).listener;
  assert.deepEqual({ running, answers, pid }, { running: true, answers: false, pid: hung });
  const restarted = await host.svc(["listener", "--restart"], { env: { COLUMNS: "40" } });
  assert.equal(restarted.code, 0, restarted.stderr);
  assert.notEqual(await host.daemon(), hung);
  await until("its end", () => !runtime.commands.kill(hung, 0));
});

Deno.test("a broken configuration is reported with its line, and the agent starts anyway", async () => {
  await using host = await makeHost();
  await host.write("config.json", '{\n  "apiKey": oops\n}');
  const { code, stdout, stderr } = await host.svc(["--detach", "cc"]);
  assert.deepEqual([code, stdout], [0, "svc-proj\n"]);
  assert.match(stderr, /config\.json": line 2, column 13 is not JSON/);
});
