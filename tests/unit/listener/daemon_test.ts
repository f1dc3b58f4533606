/** The daemon's life, in this process: only one at a time, discoverable, and stopped cleanly. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { askDaemon, type ControlAnswer, type ControlRequest } from "../../../src/home/control_socket.ts";
import { tryLock } from "../../../src/home/lock.ts";
import { REPAIR_INTERVAL_MS, runDaemon } from "../../../src/listener/daemon.ts";
import type { RunningListener } from "../../../src/listener/listener.ts";
import type { Commands, Files } from "../../../src/runtime/types.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";
import { until } from "../../helpers/until.ts";

interface Bench {
  home: TempHome;
  clock: FakeClock;
  shown: string[];
  /** Prints in the foreground; collected in `shown` unless a test replaces it. */
  show(line: string): void;
  hooks: unknown[];
  listener: RunningListener;
  /** Sends this process's daemon a signal, as `onSignal` would. */
  signal(name: string): void;
  /** Lets the listener's stop complete. */
  release(): void;
  stopping: boolean;
  run(
    more?: {
      background?: boolean;
      printsOnlyStart?: boolean;
      start?: (log: (line: string) => void) => Promise<RunningListener>;
      files?: Files;
      commands?: Commands;
    },
  ): Promise<number>;
  ask(request: ControlRequest): Promise<ControlAnswer | undefined>;
  /** Waits until the daemon answers. */
  ready(): Promise<void>;
}

async function withBench(test: (bench: Bench) => Promise<void>): Promise<void> {
  await using home = await makeTempHome();
  const clock = new FakeClock();
  const handlers = new Map<string, () => void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const ask = (request: ControlRequest): Promise<ControlAnswer | undefined> =>
    askDaemon({ sockets: runtime.sockets, path: home.paths.socket }, request, { timeoutMs: 10_000 });
  const listener: RunningListener = {
    status: () => ({ connected: true, sessions: 3, deviceId: "dev_x" }),
    gate: () => Promise.resolve(),
    dialog: () => Promise.resolve(undefined),
    covers: () => Promise.resolve(false),
    hook: (report) => void bench.hooks.push(report),
    sessionBegins: () => Promise.resolve(void bench.hooks.push("begin")),
    look: () => void bench.hooks.push("look"),
    revokePhone: (phone) => void bench.hooks.push(`forget ${phone}`),
    stop: () => {
      bench.stopping = true;
      return released;
    },
  };
  const bench: Bench = {
    home,
    clock,
    ask,
    listener,
    release,
    shown: [],
    hooks: [],
    stopping: false,
    show: (line) => void bench.shown.push(line),
    signal: (name) => handlers.get(name)?.(),
    run: (
      { background = true, start = () => Promise.resolve(listener), ...more } = {},
    ) =>
      runDaemon({
        files: runtime.files,
        commands: runtime.commands,
        sockets: runtime.sockets,
        clock,
        ...more,
        pid: runtime.pid,
        uid: runtime.uid,
        show: (line) => bench.show(line),
        onSignal: (name, handler) => {
          handlers.set(name, handler);
          return () => void handlers.delete(name);
        },
      }, { paths: home.paths, version: "1.2.3", wsUrl: "ws://relay/ws", background, start, ...more }),
    ready: async () => void await until("the daemon's answer", () => ask({ op: "status" })),
  };
  await test(bench);
}

async function exists(path: string): Promise<boolean> {
  return await runtime.files.info(path) !== undefined;
}

Deno.test("it shows pid, version and socket while it lives, and removes them [res-pid-file, res-version-file, ver-written]", () =>
  withBench(async ({ home: { paths }, run, ready, ask, release }) => {
    const ended = run();
    await ready();
    assert.equal((await Deno.readTextFile(paths.pid)).trim(), String(runtime.pid));
    assert.equal((await Deno.readTextFile(paths.version)).trim(), "1.2.3");
    release();
    await ask({ op: "stop" });
    assert.equal(await ended, 0);
    for (const path of [paths.pid, paths.version, paths.socket]) {
      assert.equal(await exists(path), false, path);
    }
    const log = (await Deno.readTextFile(paths.log)).trimEnd().split("\n");
    assert.match(log[0] ?? "", /^\[\S+Z\] svc listener starting — v1\.2\.3 — ws:\/\/relay\/ws$/);
    assert.match(log.at(-1) ?? "", /svc listener stopped$/);
  }));

Deno.test("the status combines the daemon's part and the listener's; hooks reach the listener", () =>
  withBench(async ({ run, ready, ask, release, hooks, clock }) => {
    const ended = run();
    await ready();
    const answer = await ask({ op: "status" });
    assert.deepEqual(answer, {
      ok: true,
      status: {
        connected: true,
        sessions: 3,
        deviceId: "dev_x",
        pid: runtime.pid,
        version: "1.2.3",
        startedAt: clock.now(),
        wsUrl: "ws://relay/ws",
      },
    });
    const report = { event: "Stop", agent: "cc", cwd: "/p" };
    await ask({ op: "hook", report });
    await ask({ op: "look" });
    await ask({ op: "forget", phone: "dev_phone_a" });
    assert.deepEqual(hooks, [report, "look", "forget dev_phone_a"]);
    release();
    await ask({ op: "stop" });
    await ended;
  }));

Deno.test("a second daemon does not run: no failure in the background, a failure in the foreground [ls-lock]", () =>
  withBench(async ({ run, ready, ask, release, shown }) => {
    const first = run();
    await ready();
    for (const [background, code] of [[true, 0], [false, 1]] as const) {
      assert.equal(await run({ background }), code);
    }
    assert.match(
      shown[0] ?? "",
      new RegExp(`is already running: process ${runtime.pid}, v1\\.2\\.3 .*--restart`),
    );
    assert.ok((await ask({ op: "status" }))?.ok, "the first lives on");
    release();
    await ask({ op: "stop" });
    await first;
  }));

Deno.test("a process that only checks the lock does not keep the daemon from starting [ls-stale-pid]", () =>
  withBench(async ({ home: { files, paths }, run, ready, ask, release, clock }) => {
    const look = await tryLock(files, paths.lock);
    const ended = run();
    await until("the claim's pause", () => clock.pending === 1);
    look?.release();
    clock.advance(100);
    await ready();
    release();
    await ask({ op: "stop" });
    assert.equal(await ended, 0);
  }));

Deno.test("no second daemon starts next to one that does not answer", () =>
  withBench(async ({ home: { files, paths }, run, shown, clock }) => {
    const hung = await tryLock(files, paths.lock);
    const ended = run({ background: false });
    while (shown.length === 0) {
      await until("the claim's pause", () => clock.pending === 1 || shown.length > 0);
      clock.advance(500);
    }
    assert.equal(await ended, 1);
    assert.match(shown[0] ?? "", /is already running: another process holds/);
    hung?.release();
  }));

Deno.test("files of a dead daemon do not keep a new one from starting [ls-stale-pid]", () =>
  withBench(async ({ home: { paths }, run, ready, ask, release }) => {
    await Deno.writeTextFile(paths.pid, `${Deno.ppid}\n`);
    await Deno.writeTextFile(paths.version, "junk");
    await Deno.writeTextFile(paths.socket, "");
    const ended = run();
    await ready();
    assert.equal((await Deno.readTextFile(paths.pid)).trim(), String(runtime.pid));
    release();
    await ask({ op: "stop" });
    assert.equal(await ended, 0);
  }));

for (const signal of ["SIGTERM", "SIGINT"]) {
  Deno.test(`${signal} ends it after the current injection; meanwhile it does not count as a listener, but serves hooks [ls-handover]`, () =>
    withBench(async (bench) => {
      const ended = bench.run();
      await bench.ready();
      bench.signal(signal);
      await until("the listener's stop", () => bench.stopping);
      assert.equal((await bench.ask({ op: "status" }))?.ok, false);
      assert.deepEqual([await exists(bench.home.paths.pid), await exists(bench.home.paths.version)], [
        false,
        false,
      ]);
      // A hook that finds no listener opens its dialog, where an Enter could answer it.
      const report = { event: "PreToolUse", agent: "cc", cwd: "/", tool: { step: "before" as const } };
      assert.deepEqual(await bench.ask({ op: "gate", report }), { ok: true });
      assert.equal((await bench.ask({ op: "stop" }))?.ok, true);
      assert.equal(await tryLock(bench.home.files, bench.home.paths.lock), undefined, "held to the end");
      bench.release();
      assert.equal(await ended, 0);
    }));
}

Deno.test("a second signal ends the daemon without waiting for the current injection", () =>
  withBench(async (bench) => {
    const ended = bench.run();
    await bench.ready();
    bench.signal("SIGINT");
    await until("the listener's stop", () => bench.stopping);
    bench.signal("SIGINT");
    assert.equal(await ended, 0);
    bench.release();
  }));

Deno.test("closing the terminal ends a foreground listener, not the daemon", () =>
  withBench(async (bench) => {
    const background = bench.run();
    await bench.ready();
    bench.signal("SIGHUP");
    assert.ok((await bench.ask({ op: "status" }))?.ok);
    bench.release();
    bench.signal("SIGTERM");
    await background;
    const foreground = bench.run({ background: false });
    await bench.ready();
    bench.signal("SIGHUP");
    assert.equal(await foreground, 0);
    assert.ok(bench.shown.some((line) => line.endsWith("svc listener stopped")), "it shows its log");
  }));

Deno.test("a foreground listener stops cleanly although its terminal is gone", () =>
  withBench(async (bench) => {
    const { paths } = bench.home;
    const shows: string[] = [];
    bench.show = (line) => {
      shows.push(line);
      throw new Error("EIO: i/o error, write");
    };
    const ended = bench.run({ background: false });
    await bench.ready();
    bench.signal("SIGHUP");
    await until("the listener's stop", () => bench.stopping);
    bench.release();
    assert.equal(await ended, 0);
    for (const path of [paths.pid, paths.socket]) assert.equal(await exists(path), false, path);
    assert.match(await Deno.readTextFile(paths.log), /svc listener stopped\n$/);
    assert.equal(shows.length, 1);
  }));

Deno.test("a daemon that starts right after another one keeps its socket, whenever the runtime unlinks the previous one", () =>
  withBench(async ({ home: { paths }, run, ready, ask, release }) => {
    release();
    for (let turn = 0; turn < 50; turn++) {
      const ended = run();
      await ready();
      const names = await runtime.files.list(paths.root);
      assert.deepEqual(names.filter((name) => /^[0-9a-f]+$/.test(name)), [], "the bound name is gone");
      await ask({ op: "stop" });
      assert.equal(await ended, 0);
    }
  }));

Deno.test("deleted files are restored", () =>
  withBench(async ({ home: { paths }, run, ready, ask, release, clock }) => {
    const ended = run();
    await ready();
    for (const path of [paths.pid, paths.version, paths.socket]) await Deno.remove(path);
    clock.advance(REPAIR_INTERVAL_MS);
    await until("the pid file", () => exists(paths.pid));
    await ready();
    assert.equal((await Deno.readTextFile(paths.pid)).trim(), String(runtime.pid));
    release();
    await ask({ op: "stop" });
    await ended;
  }));

Deno.test("on a full disk it starts, and writes its files once there is room [inj-full-disk, fault-disk]", () =>
  withBench(async ({ home: { paths }, run, ready, ask, release, clock }) => {
    let isFull = true;
    const files: Files = {
      ...runtime.files,
      replaceText: (...args) =>
        isFull ? Promise.reject(new Error("No space left on device")) : runtime.files.replaceText(...args),
    };
    await Deno.writeTextFile(paths.pid, "1\n");
    const ended = run({ files });
    await ready();
    assert.equal(await exists(paths.pid), false, "that of a dead daemon");
    isFull = false;
    clock.advance(REPAIR_INTERVAL_MS);
    await until("the pid file", () => exists(paths.pid));
    assert.equal((await Deno.readTextFile(paths.pid)).trim(), String(runtime.pid));
    release();
    await ask({ op: "stop" });
    assert.equal(await ended, 0);
  }));

for (const anew of [false, true]) {
  Deno.test(`a daemon whose home was removed${anew ? " and made anew" : ""} exits`, () =>
    withBench(async ({ home: { paths }, run, ready, release, clock }) => {
      const ended = run();
      await ready();
      await Deno.remove(paths.root, { recursive: true });
      if (anew) await Deno.mkdir(paths.root, { mode: 0o700 });
      release();
      clock.advance(REPAIR_INTERVAL_MS);
      assert.equal(await ended, 0);
      assert.equal(await exists(paths.pid), false);
    }));
}

Deno.test("a daemon whose home was removed and taken by another one exits, and leaves that one's files [ls-lock]", () =>
  withBench(async ({ home: { paths }, run, ready, release, clock }) => {
    const other = { pid: "999999", args: "vim listener.log" };
    const commands: Commands = {
      ...runtime.commands,
      run: (argv, options) => runtime.commands.run(argv[0] === "ps" ? ["echo", other.args] : argv, options),
    };
    const ended = run({ commands });
    await ready();
    await Deno.remove(paths.root, { recursive: true });
    await Deno.mkdir(paths.root, { mode: 0o700 });
    await Deno.writeTextFile(paths.pid, other.pid);
    clock.advance(REPAIR_INTERVAL_MS);
    // The recorded process is no listener: this one stays, and can be asked again.
    await ready();
    await until("the next look at its files", () => clock.pending > 0);
    other.args = "deno run -A cli.ts listener --background";
    release();
    clock.advance(REPAIR_INTERVAL_MS);
    assert.equal(await ended, 0);
    assert.equal(await Deno.readTextFile(paths.pid), other.pid);
    assert.ok(await exists(paths.socket), "it would be the other one's");
  }));

Deno.test("a listener that cannot start is reported in the log, and leaves no files behind", () =>
  withBench(async ({ home: { paths, files }, run }) => {
    assert.equal(await run({ start: () => Promise.reject(new Error("no way")) }), 1);
    assert.match(await Deno.readTextFile(paths.log), /Cannot run the listener: no way\n$/);
    assert.equal(await exists(paths.pid), false);
    const lock = await tryLock(files, paths.lock);
    assert.ok(lock);
    lock.release();
  }));

Deno.test("under launchd it prints what a failed start needs, and the rest goes only to the log", () =>
  withBench(async ({ home: { paths }, listener, run, ready, ask, release, shown }) => {
    const options = { background: false, printsOnlyStart: true };
    assert.equal(await run({ ...options, start: () => Promise.reject(new Error("no way")) }), 1);
    assert.match(shown.splice(0).join("\n"), /starting — v1\.2\.3[^]*Cannot run the listener: no way$/);
    const log = { line: (_text: string): void => {} };
    const ended = run({
      ...options,
      start: (line) => {
        log.line = line;
        return Promise.resolve(listener);
      },
    });
    await ready();
    assert.match(shown.splice(0).join("\n"), /starting — v1\.2\.3 — ws:\/\/relay\/ws$/);
    log.line("reported 1 session(s): svc-p");
    release();
    await ask({ op: "stop" });
    await ended;
    assert.deepEqual(shown, []);
    assert.match(await Deno.readTextFile(paths.log), /reported 1 session[^]*listener stopped\n$/);
  }));

Deno.test("another daemon's pid file is not removed", () =>
  withBench(async ({ home: { paths }, run, ready, ask, release }) => {
    const ended = run();
    await ready();
    await Deno.writeTextFile(paths.pid, "1\n");
    release();
    await ask({ op: "stop" });
    await ended;
    assert.equal(await Deno.readTextFile(paths.pid), "1\n");
  }));
