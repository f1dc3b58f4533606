/** The system's data about a process is parsed correctly, whatever its name contains. */
import assert from "node:assert/strict";
import { judgePane } from "../../../src/listener/inject/guard.ts";
import {
  isPaneBusy,
  parentProcess,
  parseStat,
  readProcessFacts,
  THREADS_MAX,
} from "../../../src/listener/process_facts.ts";
import { runtime } from "../../../src/runtime/deno.ts";
import { makeSandbox } from "../../helpers/sandbox.ts";
import { until } from "../../helpers/until.ts";

Deno.test("process facts: the name in a stat line may hold spaces and parentheses", () => {
  const read = parseStat("12 (a) b (c) S 1 12 12 34816 55 4194304");
  assert.deepEqual(read, { state: "S", parent: 1, group: 12, foregroundGroup: 55, ending: false });
  assert.deepEqual(parseStat(""), { state: "", parent: 0, group: 0, foregroundGroup: 0, ending: true });
});

Deno.test("process facts: a process that is dead, exiting, or killed and not yet gone is ending [sec-no-shell]", () => {
  const fields = (flags: number, pending: number): string =>
    `7 (cat) R 1 7 7 34816 7 ${flags}${" 0".repeat(21)} ${pending} 0 0 0`;
  assert.equal(parseStat(fields(0x400000, 0)).ending, false);
  assert.equal(parseStat(fields(0x400004, 0)).ending, true);
  assert.equal(parseStat(fields(0x400000, 256)).ending, true);
  assert.equal(parseStat("7 (cat) Z 1 7 7 34816 7 0").ending, true);
});

Deno.test("process facts: a shell whose program was upgraded is still a shell [sec-no-shell]", async () => {
  const folder = await Deno.makeTempDir();
  const program = `${folder}/sh`;
  await Deno.copyFile("/bin/sh", program);
  const shell = new Deno.Command(program, { args: ["-c", "read line"], stdin: "piped" }).spawn();
  await Deno.remove(folder, { recursive: true });
  const { shellBelow } = await readProcessFacts(shell.pid, runtime, { findAgent: false });
  await shell.stdin.close();
  await shell.status;
  assert.equal(shellBelow, true);
});

Deno.test("process facts: a stopped process is recognized [inj-dead]", async () => {
  const child = new Deno.Command("cat", { stdin: "piped", stdout: "null" }).spawn();
  const stopped = async (): Promise<boolean> =>
    (await readProcessFacts(child.pid, runtime, { findAgent: false })).stopped;
  assert.equal(await stopped(), false);
  Deno.kill(child.pid, "SIGSTOP");
  await until("the stop", stopped);
  Deno.kill(child.pid, "SIGCONT");
  await until("its end", async () => !(await stopped()));
  await child.stdin.close();
  await child.status;
});

Deno.test("process facts: an agent is found in the foreground, even behind the program that launched it [read-unrecorded]", async () => {
  await using sandbox = await makeSandbox();
  const agent = `${sandbox.root}/claude`;
  await Deno.copyFile("/bin/sleep", agent);
  const ps = { ...runtime, platform: "other" };
  const found = async (launcher: string, program: string): Promise<boolean[]> => {
    const argv = ["-f", "/dev/null", "new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", "svc-own"];
    const pid = Number((await sandbox.tmux(...argv, `${launcher} ${program}; exit`)).trim());
    const isRunning = async (): Promise<boolean> => {
      const { stdout } = await runtime.commands.run(["ps", "-A", "-o", "args="]);
      return new TextDecoder().decode(stdout).split("\n").includes(program);
    };
    await until(program, isRunning);
    const read = await Promise.all(
      [runtime, ps].map((host) => readProcessFacts(pid, host, { findAgent: true })),
    );
    await sandbox.tmux("kill-session", "-t", "=svc-own:");
    return read.map(({ hasAgent }) => hasAgent);
  };
  await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", "keeper", "exec sleep 600");
  const inGroup = "timeout --foreground 600";
  assert.deepEqual(await found("exec", `${agent} 600`), [true, true]);
  assert.deepEqual(await found(`exec ${inGroup}`, `${agent} 601`), [true, true]);
  assert.deepEqual(await found(`exec ${inGroup} ${inGroup}`, `${agent} 602`), [true, true]);
  assert.deepEqual(await found(`exec ${inGroup}`, `sleep ${Deno.pid}603`), [false, false]);
  assert.deepEqual(await found(`exec ${inGroup} setsid --wait`, `${agent} 604`), [false, false]);
  // A job of a shell is in a process group of its own.
  assert.deepEqual(await found(`set -m; ${inGroup}`, `${agent} 605`), [true, true]);
});

Deno.test("process facts: a shell run by an interpreter is found below its pane and in the foreground, however it is read [inj-guard-more]", async () => {
  await using sandbox = await makeSandbox();
  const shell = `${sandbox.root}/xonsh`;
  await Deno.writeTextFile(shell, "#!/usr/bin/env node\nconsole.log('begun');process.stdin.resume();\n");
  await Deno.chmod(shell, 0o755);
  await sandbox.newSession("svc-own", [shell]);
  await until("the shell", async () => (await sandbox.screen("svc-own")).includes("begun"));
  const pid = Number(await sandbox.tmux("display-message", "-p", "-t", "=svc-own:", "#{pane_pid}"));
  const command = (await sandbox.tmux("display-message", "-p", "-t", "=svc-own:", "#{pane_current_command}"))
    .trim();
  for (const host of [runtime, { ...runtime, platform: "other" }]) {
    const process = await readProcessFacts(pid, host, { findAgent: false });
    assert.equal(process.shellBelow, true);
    const pane = { dead: false, inputOff: false, synchronized: false, pid, command };
    const policy = { allowUnknownScreens: true };
    const reason = judgePane(pane, { process, recordedPid: 0, isProfiled: true, policy });
    assert.equal(reason, "shell_in_pane");
  }
});

Deno.test("process facts: whether a process is busy is unknown if the system does not show it", async () => {
  const child = new Deno.Command("cat", { stdin: "piped", stdout: "null" }).spawn();
  assert.equal(await isPaneBusy(child.pid, { files: runtime.files, platform: "darwin" }), undefined);
  await until("its rest", async () => await isPaneBusy(child.pid, runtime) === false);
  await child.stdin.close();
  await child.status;
});

Deno.test("process facts: a pane is busy while its program runs, but not for a build in a separate process group [inj-key-view]", async () => {
  await using sandbox = await makeSandbox();
  const open = async (name: string, script: string): Promise<number> => {
    const argv = ["-f", "/dev/null", "new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", name];
    const pid = await sandbox.tmux(...argv, `exec bash -c '${script}'`);
    await until("its loop", async () => (await sandbox.screen(name)).includes("begun"));
    return Number(pid.trim());
  };
  const spin = "echo begun; while kill -0 \\$PPID 2> /dev/null; do :; done";
  const own = await open("own", `bash -c "${spin}"; true`);
  assert.equal(await isPaneBusy(own, runtime), true);
  const build = await open("build", `setsid bash -c "${spin}" & exec sleep 600`);
  // Killed only now, because a server without a session ends.
  await sandbox.tmux("kill-session", "-t", "=own:");
  await until("rest beside the build", async () => await isPaneBusy(build, runtime) === false);
});

Deno.test("process facts: a program is busy while any of its threads runs [inj-key-view]", async () => {
  const worker = "postMessage(0); const end = Date.now() + 60_000; while (Date.now() < end);";
  const program = `new Worker("data:text/javascript," + encodeURIComponent(${JSON.stringify(worker)}),
    { type: "module" }).onmessage = () => console.log("begun")`;
  const child = new Deno.Command(Deno.execPath(), { args: ["eval", program], stdout: "piped" }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  await until(
    "the main thread's rest",
    async () => parseStat(await Deno.readTextFile(`/proc/${child.pid}/stat`)).state === "S",
  );
  // The worker may also wait for a moment while its code is compiled.
  await until("its busy worker", () => isPaneBusy(child.pid, runtime));
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
});

/** Returns a pane's process 7 under tmux 1, with this many threads, the last of which is in the given state. */
function threaded(count: number, { state, group = 7 }: { state: string; group?: number }) {
  const read: string[] = [];
  const stat = (of: string, own: number): string => `7 (agent) ${of} 1 ${own} 7 34816 7 0`;
  const files: Record<string, string> = {
    "/proc/1/stat": stat("S", 1),
    "/proc/7/stat": stat("S", 7),
    "/proc/7/task/1/children": "8 ",
    "/proc/8/stat": stat("S", group),
    [`/proc/8/task/${count}/stat`]: stat(state, group),
  };
  const host = {
    platform: "linux",
    files: {
      ...runtime.files,
      readText: (path: string) => {
        read.push(path);
        return Promise.resolve(files[path] ?? (path.endsWith("/children") ? "" : stat("S", group)));
      },
      list: (path: string) =>
        Promise.resolve(Array.from({ length: path.includes("/8/") ? count : 1 }, (_, at) => `${at + 1}`)),
    },
  };
  return { host, read };
}

Deno.test("process facts: each of a hundred threads counts, and more than can be checked count as busy [inj-key-view]", async () => {
  assert.equal(await isPaneBusy(7, threaded(100, { state: "S" }).host), false);
  assert.equal(await isPaneBusy(7, threaded(100, { state: "R" }).host), true);
  assert.equal(await isPaneBusy(7, threaded(THREADS_MAX + 1, { state: "S" }).host), true);
});

Deno.test("process facts: the threads of a child in a separate process group are not checked [inj-key-view]", async () => {
  const { host, read } = threaded(100, { state: "R", group: 9 });
  assert.equal(await isPaneBusy(7, host), false);
  assert.deepEqual(read.filter((path) => /^\/proc\/8\/task\/\d+\/stat$/.test(path)), []);
});

Deno.test("process facts: a pane's process was started by its tmux server, as the agent's hook finds it in TMUX [rm-cwd]", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.newSession("work", ["cat"]);
  const ids = await sandbox.tmux("display-message", "-p", "-t", "=work:", "#{pane_pid} #{pid}");
  const [pane = 0, server] = ids.trim().split(" ").map(Number);
  assert.equal(await parentProcess(pane, runtime), server);
  assert.equal(await parentProcess(pane, { ...runtime, platform: "darwin" }), undefined);
});
