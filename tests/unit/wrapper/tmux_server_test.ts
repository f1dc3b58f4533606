/** Which tmux server a wrapper uses, and with which environment; what an agent printed before it ended. */
import assert from "node:assert/strict";
import { makeSandbox } from "../../helpers/sandbox.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";
import type { FileInfo } from "../../../src/runtime/types.ts";
import {
  environmentNames,
  prepareLastWords,
  readableWords,
  saveLastWords,
  type ServerHost,
  trustedServer,
} from "../../../src/wrapper/tmux_server.ts";
import { until } from "../../helpers/until.ts";

const folder = (uid = 7, mode = 0o700): Partial<FileInfo> => ({ isDirectory: true, uid, mode });
const socket = (uid = 7): Partial<FileInfo> => ({ isSocket: true, uid, mode: 0o660 });

function host(tree: Record<string, Partial<FileInfo>>, made: string[] = []): ServerHost {
  const nodes: Record<string, Partial<FileInfo>> = {
    "/": folder(0, 0o755),
    "/tmp": folder(0, 0o1777),
    ...tree,
  };
  const never = (): never => assert.fail("no client is started");
  return {
    uid: 7,
    commands: { run: never, runInherited: never },
    files: {
      info: (path) => Promise.resolve(nodes[path] as FileInfo | undefined),
      realPath: (path) => Promise.resolve(nodes[path] && path),
      makeDirectory: (path, { mode } = {}) => {
        nodes[path] = folder(7, mode);
        made.push(path);
        return Promise.resolve();
      },
    },
  };
}

const OWN = { "/tmp/tmux-7": folder(), "/tmp/tmux-7/default": socket() };

Deno.test("the server is the named one, the one around the terminal, or the default, by its resolved path [tmux-trust]", async () => {
  const socketOf = async (tree: Record<string, Partial<FileInfo>>, env: Record<string, string>) =>
    (await trustedServer(host(tree), env)).socket;
  assert.equal(await socketOf(OWN, {}), "/tmp/tmux-7/default");
  assert.equal(await socketOf({}, {}), undefined, "tmux makes its default folder itself");
  assert.equal(await socketOf(OWN, { SVC_TMUX_SOCKET: "/tmp/new" }), "/tmp/new");
  assert.equal(await socketOf({ "/tmp/s": socket() }, { TMUX: "/tmp/s,12,0" }), "/tmp/s");
});

Deno.test("a named socket in tmux's own folder works where a boot has removed that folder; no other folder is made [tmux-folder]", async () => {
  const madeFor = async (socket: string): Promise<string[]> => {
    const made: string[] = [];
    assert.equal((await trustedServer(host({}, made), { SVC_TMUX_SOCKET: socket })).socket, socket);
    return made;
  };
  assert.deepEqual(await madeFor("/tmp/tmux-7/work"), ["/tmp/tmux-7"]);
  for (const other of ["/tmp/absent/s", "/tmp/absent/tmux-7/s", "/tmp/tmux-8/s", "/tmp/s"]) {
    assert.deepEqual(await madeFor(other), [], other);
  }
});

Deno.test("a server that could belong to another account is refused, and the error says what to do [tmux-trust]", async () => {
  const rows: [Record<string, Partial<FileInfo>>, Record<string, string>][] = [
    [{ "/tmp/tmux-7": folder(8), "/tmp/tmux-7/default": socket(8) }, {}],
    [{ "/tmp/tmux-7": folder(8) }, {}],
    [{ "/tmp/open": folder(7, 0o777) }, { SVC_TMUX_SOCKET: "/tmp/open/new" }],
    [{ "/t": folder(8, 0o755) }, { TMUX_TMPDIR: "/t" }],
  ];
  for (const [tree, env] of rows) {
    await assert.rejects(trustedServer(host(tree), env), /Cannot use the tmux socket .*Set SVC_TMUX_SOCKET/);
  }
});

Deno.test("a file or folder in place of the socket is refused, because tmux would delete it [sock-no-file]", async () => {
  const notes = { isFile: true, uid: 7, mode: 0o600 };
  const rows: [Record<string, Partial<FileInfo>>, Record<string, string>][] = [
    [{ "/tmp/notes": notes }, { SVC_TMUX_SOCKET: "/tmp/notes" }],
    [{ "/tmp/notes": folder() }, { SVC_TMUX_SOCKET: "/tmp/notes" }],
    [{ "/tmp/notes": notes }, { TMUX: "/tmp/notes,12,0" }],
    [{ ...OWN, "/tmp/tmux-7/default": notes }, {}],
  ];
  for (const [tree, env] of rows) {
    await assert.rejects(
      trustedServer(host(tree), env),
      /Cannot use "\/tmp\/\S+" as the tmux socket: it is (a file|a directory), .*SVC_TMUX_SOCKET/,
    );
  }
});

Deno.test("clients get no API keys; the one that creates the session gets the user's environment [tmux-env]", async () => {
  const env = { PATH: "/bin", OPENAI_API_KEY: "sk" };
  const server = await trustedServer(host(OWN), env);
  assert.deepEqual([server.env, server.serverEnv], [{ PATH: "/bin" }, env]);
});

Deno.test("names are read from tmux's list; removed variables and further lines of a value are skipped", () => {
  const output = "A=1\n-REMOVED\nB=two\nlines of B\nBASH_FUNC_x%%=() {\n C_1=\n";
  assert.deepEqual(environmentNames(output), ["A", "B"]);
});

Deno.test("plain lines, including colored ones, are shown again", () => {
  assert.equal(readableWords("claude 9.9.9\r\n"), "claude 9.9.9");
  assert.equal(readableWords("\x1b[31mno key\x1b[0m\r\n\r\n"), "\x1b[31mno key\x1b[0m");
  assert.equal(readableWords(""), "");
});

Deno.test("lines in which an agent moves to columns in place of printing spaces are shown again, without what changes the terminal", () => {
  const claude = "\x1b7\x1b[r\x1b8\x1b[?25l\x1b[?1004h\x1b[31mWelcome\x1b[9Gto\x1b[39m\r\r\n" +
    "\x1bPtmux;\x1b\x1b]11;?\x07\x1b\\\x1b]11;?\x07\x1b[?2026$p\x1b[c\x1b[>0q\x1b[?u\x1b[2G\x1b[95mFailed\x1b[9Gto\x1b[1Cconnect:\x1b[C\u00fc\x1b[39m\r\r\n" +
    "\x1b[?1004l\x1b[>4m\x1b[<u\x1b(B\x0f\x1b[?25h\x1b7\x1b[r\x1b8\x1b[?25h";
  assert.equal(
    readableWords(claude),
    "\x1b[31mWelcome to\x1b[39m\n \x1b[95mFailed to connect: \u00fc\x1b[39m",
  );
});

Deno.test("output that draws a screen, or too much output, is not shown again", () => {
  for (
    const work of [
      "\x1b[?1049hx",
      "\x1b[2J",
      "\x1b[H",
      "a\x1b[3A",
      "\x1b[10;5Hx",
      "abc\x1b[Gd",
      "\x1b[9999999C",
      "x".repeat(70_000),
    ]
  ) {
    assert.equal(readableWords(work), "", JSON.stringify(work.slice(0, 20)));
  }
});

Deno.test("a killed wrapper's copy of an agent's output is removed within a day or two", async () => {
  await using home = await makeTempHome();
  const { files } = home;
  const folder = home.paths.lastWords;
  await files.makeDirectory(folder);
  for (const name of ["svc-gone", "svc-gone.part", "svc-other", "svc-p"]) {
    await files.writeText(`${folder}/${name}`, "secret");
  }
  const now = Date.now();
  const before = new Date(now - 2 * 86_400_000);
  for (const name of ["svc-gone", "svc-gone.part"]) await Deno.utime(`${folder}/${name}`, before, before);
  assert.equal(await prepareLastWords(files, `${folder}/svc-p`, { now }), `${folder}/svc-p`);
  assert.deepEqual(await files.list(folder), ["svc-other", "svc-p.part"]);
});

Deno.test("the program that saves an agent's output ends by itself, so that the pane's pipe is free", async () => {
  await using sandbox = await makeSandbox();
  const file = `${sandbox.root}/it's last`;
  await sandbox.newSession("svc-p", ["sh", "-c", "read line; echo said $line; read line"]);
  const save = async (options: { seconds?: number }): Promise<void> => {
    await Deno.writeTextFile(`${file}.part`, "");
    await sandbox.tmux(...saveLastWords("=svc-p:", file, options));
  };
  const isFree = async (): Promise<boolean> =>
    (await sandbox.tmux("display-message", "-p", "-t", "=svc-p:", "#{pane_pipe}")).trim() === "0";
  // Created as the wrapper does: the time may be over before anything is saved.
  await Deno.writeTextFile(`${file}.part`, "");
  await save({ seconds: 0 });
  await until("the end of saving", () => Deno.stat(file).then(() => true, () => false));
  // tmux notices it at the next output.
  await sandbox.tmux("send-keys", "-t", "=svc-p:", "all ");
  await until("a free pipe", isFree);
  assert.equal(await Deno.readTextFile(file), "");
  await save({});
  assert.equal(await isFree(), false);
  await sandbox.tmux("send-keys", "-t", "=svc-p:", "of this", "Enter");
  await until("the output", async () => (await sandbox.screen("svc-p")).includes("said all of this"));
  await sandbox.tmux("kill-session", "-t", "=svc-p").catch(() => {});
  await until("the last words", async () => (await Deno.readTextFile(file)).includes("said all of this"));
});

Deno.test("a path with special characters of a shell or a format is used unchanged", () => {
  const [, , , command = ""] = saveLastWords("=svc-p:", "/home/it's #[z] #{x} 100%/$(y)");
  assert.match(
    command,
    /mv '\/home\/it'\\''s #\[z\] ##\{x\} 100%%\/\$\(y\)\.part' '\/home\/it'\\''s #\[z\] ##\{x\} 100%%\/\$\(y\)'$/,
  );
});
