/** Behavior of child processes on every runtime. */

import assert from "node:assert/strict";
import { mkdir, rmdir } from "node:fs/promises";
import process from "node:process";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";
import type { Runtime } from "../../src/runtime/types.ts";

const decoder = new TextDecoder();

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  const streaming = new TextDecoder();
  for await (const chunk of chunks) text += streaming.decode(chunk, { stream: true });
  return text;
}

/** Starts a process that sleeps; resolves with its pid. */
async function sleeper({ commands, env }: Runtime, directory: string): Promise<number> {
  return await commands.spawnDetached(["sleep", "1000"], {
    env: { PATH: env.get("PATH") ?? "" },
    logFile: `${directory}/sleeper.log`,
  });
}

const running: Case[] = [
  {
    name: "run gives output, errors and the exit code",
    async run({ commands }) {
      const result = await commands.run(["sh", "-c", "echo out; echo err >&2; exit 3"]);
      assert.deepEqual({ ...result, stdout: decoder.decode(result.stdout) }, {
        code: 3,
        stdout: "out\n",
        stderr: "err\n",
      });
    },
  },
  {
    name: "run starts a program also where the folder that this process runs in was deleted",
    async run({ commands }, directory) {
      const [before, gone] = [process.cwd(), `${directory}/gone`];
      await mkdir(gone);
      process.chdir(gone);
      try {
        await rmdir(gone);
        const { code, stdout } = await commands.run(["echo", "here"]);
        assert.deepEqual([code, decoder.decode(stdout)], [0, "here\n"]);
      } finally {
        process.chdir(before);
      }
    },
  },
  {
    name: "run passes arguments unchanged",
    async run({ commands }) {
      const args = ["", "a b", "$(id)", "'\"", "--", "é👩‍👩‍👧", "line\nline", ";"];
      const { stdout } = await commands.run(["printf", "%s\\0", ...args]);
      assert.equal(decoder.decode(stdout), args.map((arg) => `${arg}\0`).join(""));
    },
  },
  {
    name: "run feeds stdin, and without it the child reads nothing",
    async run({ commands }) {
      const big = "x".repeat(1_000_000);
      assert.equal(decoder.decode((await commands.run(["cat"], { stdin: big })).stdout), big);
      const bytes = new Uint8Array([0, 255, 10]);
      assert.deepEqual((await commands.run(["cat"], { stdin: bytes })).stdout, bytes);
      assert.equal((await commands.run(["cat"])).stdout.length, 0);
    },
  },
  {
    name: "run tolerates a child that does not read its stdin",
    async run({ commands }) {
      const result = await commands.run(["true"], { stdin: "x".repeat(1_000_000) });
      assert.equal(result.code, 0);
    },
  },
  {
    name: "run replaces the environment and sets the directory",
    async run({ commands, files }, directory) {
      const result = await commands.run(["/bin/sh", "-c", 'echo "$ONE,$HOME"; pwd'], {
        cwd: directory,
        env: { ONE: "1", PWD: "" },
      });
      assert.equal(decoder.decode(result.stdout), `1,\n${await files.realPath(directory)}\n`);
    },
  },
  {
    name: "a missing program gives code 127, one that is not executable 126, and neither throws",
    async run({ commands, files }, directory) {
      await files.writeText(`${directory}/text`, "", { mode: 0o600 });
      assert.equal((await commands.run([`${directory}/absent`])).code, 127);
      const missing = await commands.run(["svc-no-such-program"]);
      assert.equal(missing.code, 127);
      assert.match(missing.stderr, /cannot run "svc-no-such-program"/);
      assert.equal((await commands.run([`${directory}/text`])).code, 126);
    },
  },
  {
    name: "a child that was killed by a signal has code 128 plus the signal's number",
    async run({ commands }) {
      assert.equal((await commands.run(["sh", "-c", "kill -TERM $$"])).code, 143);
    },
  },
  {
    name: "aborting ends the child at once, even when a grandchild holds the output open",
    async run({ commands }, directory) {
      const abort = new AbortController();
      const script = `trap '' TERM; sleep 1000 & echo $! > ${directory}/pid; wait`;
      const result = commands.run(["sh", "-c", script], { signal: abort.signal });
      const pid = await until("the grandchild", async () => {
        const { stdout } = await commands.run(["cat", `${directory}/pid`]);
        return Number(decoder.decode(stdout));
      });
      abort.abort();
      assert.equal((await result).code, 137);
      assert.equal(commands.kill(pid, "SIGKILL"), true);
    },
  },
  {
    name: "nothing is started once the signal has fired",
    async run({ commands, files }, directory) {
      const signal = AbortSignal.abort();
      assert.equal((await commands.run(["touch", `${directory}/file`], { signal })).code, 137);
      assert.deepEqual(await files.list(directory), []);
    },
  },
  {
    name: "runInherited gives the exit code",
    async run({ commands }, directory) {
      assert.equal(await commands.runInherited(["sh", "-c", "exit 7"], { cwd: directory }), 7);
      assert.equal(await commands.runInherited(["sh", "-c", "kill -KILL $$"]), 137);
      assert.equal(await commands.runInherited(["svc-no-such-program"]), 127);
    },
  },
];

const piping: Case[] = [
  {
    name: "pipe talks with the child until its input closes",
    async run({ commands }) {
      const child = commands.pipe(["sh", "-c", "cat; echo gone >&2; exit 5"]);
      await child.stdin.write(new TextEncoder().encode("one\n"));
      const lines = child.stdout[Symbol.asyncIterator]();
      assert.equal(decoder.decode((await lines.next()).value), "one\n");
      child.stdin.close();
      assert.equal(await readAll(child.stderr), "gone\n");
      assert.equal((await lines.next()).done, true);
      assert.equal(await child.exited, 5);
    },
  },
  {
    name: "killing a piped child ends its streams, and killing it again is no error",
    async run({ commands }) {
      const child = commands.pipe(["sleep", "1000"], { env: { PATH: "/usr/bin:/bin" } });
      assert.equal(commands.kill(child.pid, 0), true);
      child.kill();
      assert.deepEqual(await Promise.all([readAll(child.stdout), readAll(child.stderr)]), ["", ""]);
      assert.equal(await child.exited, 143);
      child.kill("SIGKILL");
      child.stdin.close();
    },
  },
  {
    name: "writing to a child that has ended rejects",
    async run({ commands }) {
      const child = commands.pipe(["true"]);
      await Promise.all([readAll(child.stdout), readAll(child.stderr), child.exited]);
      const writing = async (): Promise<void> => {
        for (let round = 0; round < 100; round++) await child.stdin.write(new Uint8Array(65536));
      };
      await assert.rejects(writing());
      child.stdin.close();
    },
  },
  {
    name: "pipe throws for a missing program",
    run({ commands }) {
      assert.throws(() => commands.pipe(["svc-no-such-program"]), /svc-no-such-program/);
    },
  },
];

const processes: Case[] = [
  {
    name: "a detached process has its own session and appends both outputs to a private log",
    async run({ commands, files }, directory) {
      const logFile = `${directory}/log`;
      await files.writeText(logFile, "before\n", { mode: 0o644 });
      const pid = await commands.spawnDetached(
        ["/bin/sh", "-c", 'echo "$ONE $HOME"; echo err >&2; ps -o sid= -p $$; pwd; echo end'],
        { cwd: directory, env: { ONE: "1", PATH: "/usr/bin:/bin" }, logFile },
      );
      const text = await until("the last line", async () => {
        const log = await files.readText(logFile);
        return log?.endsWith("end\n") && log;
      });
      const [before, environment, error, session, cwd] = text.split("\n").map((line) => line.trim());
      assert.deepEqual([before, environment, error, session], ["before", "1", "err", `${pid}`]);
      assert.equal(cwd, await files.realPath(directory));
      assert.equal((await files.info(logFile))?.mode, 0o600);
      await until("its end", async () => (await commands.run(["ps", "-p", `${pid}`])).code !== 0);
    },
  },
  {
    name: "spawnDetached rejects for a missing program",
    async run({ commands }, directory) {
      const options = { env: { PATH: "/usr/bin" }, logFile: `${directory}/log` };
      await assert.rejects(commands.spawnDetached(["svc-no-such-program"], options), { code: "ENOENT" });
    },
  },
  {
    name: "kill reports whether a process is alive, and one that is dead and not yet waited for is not",
    async run(runtime, directory) {
      const { commands } = runtime;
      const pid = await sleeper(runtime, directory);
      assert.equal(commands.kill(pid, 0), true);
      assert.equal(commands.kill(pid, "SIGKILL"), true);
      await until("its end", () => !commands.kill(pid, 0));
      await until("no process to signal", () => !commands.kill(pid, "SIGTERM"));
    },
  },
  {
    name: "a zombie is not alive",
    async run({ commands, files }, directory) {
      const script = `exec 3<&0; (read line <&3) & echo $! > ${directory}/pid; exec sleep 1000`;
      const parent = commands.pipe(["sh", "-c", script]);
      const show = async (field: string, of: number): Promise<string> =>
        decoder.decode((await commands.run(["ps", "-o", `${field}=`, "-p", `${of}`])).stdout);
      await until(
        "a parent that waits for nobody",
        async () => /^sleep/.test(await show("comm", parent.pid)),
      );
      const pid = Number(await files.readText(`${directory}/pid`));
      assert.equal(commands.kill(pid, 0), true);
      await parent.stdin.write(new TextEncoder().encode("\n"));
      await until("the zombie", async () => (await show("stat", pid)).startsWith("Z"));
      assert.equal(commands.kill(pid, 0), false);
      parent.kill("SIGKILL");
      await Promise.all([readAll(parent.stdout), readAll(parent.stderr), parent.exited]);
      parent.stdin.close();
    },
  },
  {
    name: "kill refuses numbers that would name process groups",
    run({ commands }) {
      for (const pid of [0, -1, 1.5, NaN, 2 ** 60]) {
        assert.equal(commands.kill(pid, 0), false);
        assert.equal(commands.kill(pid, "SIGCONT"), false);
      }
    },
  },
  {
    name: "which searches PATH, and takes a path as it is",
    async run({ commands, files }, directory) {
      const sh = await commands.which("sh");
      assert.ok(sh?.startsWith("/") && await files.isExecutable(sh));
      assert.equal(await commands.which("svc-no-such-program"), undefined);
      assert.equal(await commands.which(""), undefined);
      await files.writeText(`${directory}/tool`, "", { mode: 0o755 });
      assert.equal(await commands.which(`${directory}/tool`), `${directory}/tool`);
      assert.equal(await commands.which(`${directory}/absent`), undefined);
    },
  },
  {
    name: "which finds nothing where the system refuses to look",
    async run({ commands }, directory) {
      await commands.run(["ln", "-s", "loop", `${directory}/loop`]);
      assert.equal(await commands.which(`${directory}/loop/tool`), undefined);
      assert.equal(await commands.which("x".repeat(300)), undefined);
    },
  },
];

export const cases: readonly Case[] = [...running, ...piping, ...processes];
