/** The locations of the home's files. */
import assert from "node:assert/strict";
import { homePaths, withAbsolutePlaces } from "../../../src/home/paths.ts";
import { MAX_SOCKET_PATH_BYTES } from "../../../src/runtime/system.ts";

const place = { homeDirectory: "/home/a", cwd: "/work", uid: 7 };

Deno.test("all files are in ~/.svc [res-pid-file, res-version-file, res-log-file]", async () => {
  const paths = await homePaths(place);
  assert.equal(paths.root, "/home/a/.svc");
  assert.equal(paths.pid, "/home/a/.svc/listener.pid");
  assert.equal(paths.version, "/home/a/.svc/listener.version");
  assert.equal(paths.log, "/home/a/.svc/listener.log");
  assert.equal(paths.socket, "/home/a/.svc/listener.sock");
});

Deno.test("SVC_HOME moves the home, and may be relative to the working directory [cli-home]", async () => {
  assert.equal((await homePaths({ ...place, svcHome: "/x/" })).config, "/x/config.json");
  assert.equal((await homePaths({ ...place, svcHome: "y" })).config, "/work/y/config.json");
  assert.equal((await homePaths({ ...place, svcHome: "" })).root, "/home/a/.svc");
});

Deno.test("a home whose socket path would be too long gets a short one elsewhere [ls-socket]", async () => {
  const deep = (letter: string): string => `/${letter.repeat(100)}`;
  const [one, other, again] = await Promise.all(
    [deep("a"), deep("b"), deep("a")].map((svcHome) => homePaths({ ...place, svcHome })),
  );
  assert.match(one?.socket ?? "", /^\/tmp\/svc-7-[0-9a-f]{16}\/listener\.sock$/);
  assert.ok((one?.socket.length ?? 0) <= MAX_SOCKET_PATH_BYTES);
  assert.notEqual(one?.socket, other?.socket);
  assert.equal(one?.socket, again?.socket);
});

Deno.test("the limit of a socket's path counts bytes, not characters", async () => {
  const paths = await homePaths({ ...place, svcHome: `/${"é".repeat(50)}` });
  assert.match(paths.socket, /^\/tmp\/svc-7-/);
});

Deno.test("relative paths of the home, of tmux's sockets and of certificates become absolute, because the daemon and hooks run in other directories [cli-home]", () => {
  const env = { SVC_HOME: "s", DENO_CERT: "c.pem", SVC_TMUX_SOCKET: "t/sock", TMUX_TMPDIR: "t", PATH: "bin" };
  const absolute = {
    SVC_HOME: "/w/s",
    DENO_CERT: "/w/c.pem",
    SVC_TMUX_SOCKET: "/w/t/sock",
    TMUX_TMPDIR: "/w/t",
    PATH: "bin",
  };
  assert.deepEqual(withAbsolutePlaces(env, "/w"), absolute);
  const others = { SVC_TMUX_SOCKET: "/t/sock", TMUX_TMPDIR: "" };
  assert.deepEqual(withAbsolutePlaces(others, "/w"), others);
});
