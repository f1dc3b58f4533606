/** Which tmux sockets no other account can control, what tmux clients get, and what their exits mean. */
import assert from "node:assert/strict";
import type { FileInfo } from "../../../src/runtime/types.ts";
import { verbs } from "../../../src/tmux/argv.ts";
import {
  type SocketTrust,
  socketTrust,
  spawningServer,
  tmuxEnvironment,
  TmuxError,
  withEnvironment,
} from "../../../src/tmux/server.ts";

const OWN = 7;
const OTHER = 8;

type Node = Partial<FileInfo> & { link?: string };

const folder = (mode: number, uid = OWN): Node => ({ isDirectory: true, mode, uid });
const socket = (uid = OWN, mode = 0o660): Node => ({ isSocket: true, mode, uid });
const SYSTEM: Record<string, Node> = {
  "/": folder(0o755, 0),
  "/tmp": folder(0o1777, 0),
  "/home": folder(0o755, 0),
};

function trust(path: string, tree: Record<string, Node>): Promise<SocketTrust> {
  const nodes = { ...SYSTEM, ...tree };
  const resolve = (one: string): string => {
    const [link] = Object.entries(nodes).filter(([at, { link }]) => link && `${one}/`.startsWith(`${at}/`));
    return link === undefined ? one : resolve((link[1].link ?? "") + one.slice(link[0].length));
  };
  return socketTrust(path, {
    uid: OWN,
    files: {
      info: (one) => Promise.resolve(nodes[resolve(one)] as FileInfo | undefined),
      realPath: (one) => Promise.resolve(nodes[resolve(one)] && resolve(one)),
    },
  });
}

Deno.test("a socket of this account in folders that only it and root can write to is used, by its resolved path [tmux-trust]", async () => {
  const own = { "/tmp/tmux-7": folder(0o700), "/tmp/tmux-7/default": socket() };
  assert.deepEqual(await trust("/tmp/tmux-7/default", own), { kind: "trusted", path: "/tmp/tmux-7/default" });
  assert.deepEqual(await trust("/tmp/sock", { "/tmp/sock": socket() }), {
    kind: "trusted",
    path: "/tmp/sock",
  });
  const linked = { ...own, "/home/me": folder(0o750), "/home/me/t": { link: "/tmp/tmux-7" } };
  assert.deepEqual(await trust("/home/me/t/default", linked), {
    kind: "trusted",
    path: "/tmp/tmux-7/default",
  });
  assert.deepEqual(await trust("/tmp/tmux-7/gone", own), { kind: "absent" });
  assert.deepEqual(await trust("/tmp/tmux-7", own), { kind: "absent" });
});

Deno.test("a socket that another account owns, or could swap anywhere on its path, is refused with the reason [tmux-trust]", async () => {
  const path = "/tmp/tmux-7/default";
  const rows: [Record<string, Node>, RegExp][] = [
    [{ "/tmp/tmux-7": folder(0o700, OTHER), [path]: socket(OTHER) }, /default" belongs to user 8/],
    [{ "/tmp/tmux-7": folder(0o700, OTHER), [path]: socket() }, /tmux-7" belongs to user 8/],
    [{ "/tmp/tmux-7": folder(0o777), [path]: socket() }, /others can write to "\/tmp\/tmux-7" \(mode 0777\)/],
    [{ "/tmp/tmux-7": folder(0o770), [path]: socket() }, /others can write to "\/tmp\/tmux-7"/],
    [
      { "/tmp": folder(0o777, 0), "/tmp/tmux-7": folder(0o700), [path]: socket() },
      /others can write to "\/tmp"/,
    ],
    [{ "/tmp/tmux-7": folder(0o700), [path]: socket(OWN, 0o777) }, /others can write to .*default"/],
    [{
      "/tmp/tmux-7": { link: "/home/eve" },
      "/home/eve": folder(0o755, OTHER),
      "/home/eve/default": socket(),
    }, /eve" belongs/],
    [{ "/tmp/tmux-7": folder(0o700, 0), [path]: socket(0) }, /default" belongs to user 0/],
  ];
  for (const [tree, why] of rows) {
    const found = await trust(path, tree);
    assert.ok(found.kind === "refused", JSON.stringify(tree));
    assert.match(found.why, why);
  }
});

Deno.test("a path that cannot be checked is refused, not an error [tmux-trust]", async () => {
  const closed = (): Promise<never> => Promise.reject(new Error("EACCES"));
  const found = await socketTrust("/tmp/a", { uid: OWN, files: { info: closed, realPath: closed } });
  assert.deepEqual(found, { kind: "refused", why: '"/tmp/a" cannot be read (EACCES)' });
});

Deno.test("tmux clients get only the variables tmux reads, and no API key [tmux-env]", async () => {
  const env = {
    PATH: "/bin",
    HOME: "/root",
    TERM: "xterm",
    LC_ALL: "C",
    TMUX_TMPDIR: "/t",
    SSH_AUTH_SOCK: "/s",
    ANTHROPIC_API_KEY: "sk",
    SVC_API_KEY: "svc_",
    AWS_SECRET_ACCESS_KEY: "x",
    TMUX: "/a,1,0",
    LANGUAGE: "de",
  };
  const names = (kept: Record<string, string>): string[] => Object.keys(kept).sort();
  assert.deepEqual(names(tmuxEnvironment(env)), ["HOME", "LC_ALL", "PATH", "TERM", "TMUX_TMPDIR"]);
  assert.deepEqual(names(tmuxEnvironment(env, { attaches: true })), [
    ...["HOME", "LC_ALL", "PATH", "SSH_AUTH_SOCK", "TERM", "TMUX_TMPDIR"],
  ]);
  const given: unknown[] = [];
  const { run } = withEnvironment({
    run: (argv, options) => {
      given.push([argv, options]);
      return Promise.resolve({ code: 0, stdout: new Uint8Array(), stderr: "" });
    },
    pipe: () => assert.fail(),
  }, { HOME: "/" });
  await run(["tmux"], { stdin: "x" });
  assert.deepEqual(given, [[["tmux"], { stdin: "x", env: { HOME: "/" } }]]);
});

Deno.test("tmux clients: one that was killed, or whose server ended, leaves open whether its commands ran; one that was refused does not [fault-tmux]", async () => {
  const rows: [code: number, stderr: string, lost: boolean][] = [
    [137, "", true],
    [143, "", true],
    [1, "lost server\n", true],
    [1, "server exited unexpectedly\n", true],
    [1, "can't find pane: %9\n", false],
    [1, "no server running on /tmux.sock\n", false],
    [127, "", false],
  ];
  for (const [code, stderr, lost] of rows) {
    const run = () => Promise.resolve({ code, stdout: new Uint8Array(), stderr });
    const asked = spawningServer({ run }, "/tmux.sock").run(verbs.printPlain("x"));
    await assert.rejects(
      asked,
      (error) => error instanceof TmuxError && error.lost === lost,
      `${code} ${stderr}`,
    );
  }
});
