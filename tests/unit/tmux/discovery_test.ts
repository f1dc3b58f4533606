/** tmux's servers are found in the specified order. */
import assert from "node:assert/strict";
import type { FileInfo, RunResult } from "../../../src/runtime/types.ts";
import {
  type DiscoveryEnvironment,
  HUNG_WAIT_MS,
  LSOF_INTERVAL_MS,
  parseLsof,
  runningServerSockets,
  socketFiles,
  TmuxDiscovery,
} from "../../../src/tmux/discovery.ts";
import { TmuxError } from "../../../src/tmux/server.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

const socket: FileInfo = {
  isFile: false,
  isDirectory: false,
  isSymlink: false,
  isSocket: true,
  size: 0,
  mode: 0o700,
  uid: 7,
  mtimeMs: 0,
};

function host(
  tree: Record<string, string[]>,
  { env = {}, lsof = "", uids = {} }: {
    env?: Record<string, string>;
    lsof?: string;
    uids?: Record<string, number>;
  } = {},
): DiscoveryEnvironment {
  const result: RunResult = { code: 0, stdout: new TextEncoder().encode(lsof), stderr: "" };
  return {
    uid: 7,
    env: { get: (name) => env[name] },
    files: {
      list: (path) => Promise.resolve([...tree[path] ?? []]),
      info: (path) => {
        const isSocket = /\/tmux-7\/|sock$|\/s$/.test(path);
        return Promise.resolve({ ...socket, isSocket, isDirectory: !isSocket, uid: uids[path] ?? 7 });
      },
      realPath: (path) => Promise.resolve(path),
    },
    commands: { run: () => Promise.resolve(result) },
  };
}

Deno.test("sockets: default location, then $TMPDIR, then /tmp, each once [sock-default, sock-tmpdir, sock-tmp]", async () => {
  const tree = {
    "/run/t/tmux-7": ["other", "default"],
    "/var/folders/x/T/tmux-7": ["mac"],
    "/tmp/tmux-7": ["default"],
  };
  const env = { TMUX_TMPDIR: "/run/t", TMPDIR: "/var/folders/x/T/" };
  assert.deepEqual(await socketFiles(host(tree, { env })), [
    "/run/t/tmux-7/default",
    "/run/t/tmux-7/other",
    "/var/folders/x/T/tmux-7/mac",
    "/tmp/tmux-7/default",
  ]);
  assert.deepEqual(await socketFiles(host(tree)), ["/tmp/tmux-7/default"]);
});

Deno.test("sockets: SVC_TMUX_SOCKET replaces discovery, lsof included [sock-override, env-tmux-socket]", async () => {
  const given = host({ "/tmp/tmux-7": ["default"] }, { env: { SVC_TMUX_SOCKET: "/x/s" }, lsof: "n/y\n" });
  assert.deepEqual(await socketFiles(given), ["/x/s"]);
  assert.deepEqual(await runningServerSockets(given), []);
});

Deno.test("sockets: another user's socket is not used", async () => {
  const given = host({ "/tmp/tmux-7": ["default"] }, { uids: { "/tmp/tmux-7/default": 0 } });
  assert.deepEqual(await socketFiles(given), []);
});

Deno.test("sockets: lsof finds a server at any path [sock-lsof]", async () => {
  const lsof =
    "p12\nf5\nn/home/me/my sock type=STREAM (LISTEN)\nf6\nnsocket\nf7\nn/home/me/my sock type=STREAM\n";
  assert.deepEqual(parseLsof(lsof), ["/home/me/my sock"]);
  assert.deepEqual(await runningServerSockets(host({}, { lsof })), ["/home/me/my sock"]);
});

Deno.test("sockets: lsof runs once a minute, and at once after a clock that was set back [sock-lsof, fault-clock]", async () => {
  let now = 3_600_000;
  let runs = 0;
  const { commands, ...rest } = host({});
  const counted = { run: (...call: Parameters<typeof commands.run>) => (runs++, commands.run(...call)) };
  const discovery = new TmuxDiscovery({ ...rest, commands: counted }, {
    now: () => now,
    openServer: () => undefined,
  });
  for (
    const [at, expected] of [[now, 1], [now + LSOF_INTERVAL_MS - 1, 1], [now + LSOF_INTERVAL_MS, 2], [0, 3]]
  ) {
    now = at ?? 0;
    await discovery.sessions();
    assert.equal(runs, expected, `${at}`);
  }
});

/** Returns the line of a session with one pane, as tmux lists it. */
function paneLine(session: string): string {
  const fields = [session, "$1", "100", "200", "0", "0", "cc", "a", "%1", "42", "123.ab", "/p", "/p/root"];
  return ["pane", ...fields, "%1", "42", "0", "1", "claude", "80", "24", "title", "/p"].join("\t");
}

const names = (sessions: readonly { name: string }[]): string[] => sessions.map(({ name }) => name);

Deno.test("sockets: a server that answered is asked again at once even while all of them are being searched [sock-default]", async () => {
  const line = paneLine("svc-a");
  const blocked = Promise.withResolvers<string>();
  const answers = [Promise.resolve(line), blocked.promise, Promise.resolve(line)];
  const server = {
    socket: "/tmp/tmux-7/default",
    run: () => answers.shift() ?? assert.fail("asked once more"),
  };
  const discovery = new TmuxDiscovery(host({ "/tmp/tmux-7": ["default"] }), {
    now: () => 0,
    openServer: () => server,
  });
  assert.deepEqual(names(await discovery.sessions()), ["svc-a"]);
  const searching = discovery.sessions();
  await until("the search", () => answers.length === 1);
  assert.deepEqual(names(await discovery.sessionsNamed("svc-a")), ["svc-a"]);
  blocked.resolve(line);
  assert.deepEqual(names(await searching), ["svc-a"]);
});

Deno.test("sockets: a hanging server delays the others once, and is listed again as soon as it answers [sock-hung]", async () => {
  const clock = new FakeClock();
  const asked: PromiseWithResolvers<RunResult>[] = [];
  const answer = (session: string): RunResult => ({
    code: 0,
    stdout: new TextEncoder().encode(paneLine(session)),
    stderr: "",
  });
  const late = new TmuxError("tmux did not answer", { lost: true, late: true });
  const tree = { "/tmp/tmux-7": ["default", "other"] };
  const run = (argv: readonly string[]): Promise<RunResult> => {
    if (argv[0] !== "tmux") return Promise.resolve({ code: 0, stdout: new Uint8Array(), stderr: "" });
    if (argv.includes("/tmp/tmux-7/default")) return Promise.resolve(answer("svc-a"));
    asked.push(Promise.withResolvers());
    return asked.at(-1)?.promise ?? assert.fail();
  };
  const options = { now: () => clock.now(), clock, openServer: () => undefined };
  const discovery = new TmuxDiscovery({ ...host(tree), commands: { run } }, options);
  const search = async (): Promise<() => Promise<string[]>> => {
    const found = discovery.sessions().then(names);
    await until("the wait for the hung server", () => clock.pending === 1);
    return () => found;
  };

  const first = discovery.sessions();
  await until("the first read", () => asked.length === 1);
  assert.equal(clock.pending, 0, "it has its full time");
  asked[0]?.reject(late);
  assert.deepEqual(names(await first), ["svc-a"]);
  for (let time = 0; time < 2; time++) {
    const found = await search();
    clock.advance(HUNG_WAIT_MS);
    assert.deepEqual(await found(), ["svc-a"]);
  }
  assert.equal(asked.length, 2, "the second read goes on");
  const patient = discovery.sessions({ deep: true });
  const impatient = await search();
  clock.advance(HUNG_WAIT_MS);
  assert.deepEqual(await impatient(), ["svc-a"]);
  asked[1]?.resolve(answer("svc-b"));
  assert.deepEqual(names(await patient), ["svc-a", "svc-b"], "who looks for one session waits for it");
  const hung = discovery.sessions();
  await until("a read with its full time", () => asked.length === 3);
  asked[2]?.reject(late);
  await hung;
  const found = await search();
  assert.equal(asked.length, 4);
  asked[3]?.resolve(answer("svc-b"));
  assert.deepEqual(await found(), ["svc-a", "svc-b"]);
  const again = discovery.sessions();
  await until("the next read", () => asked.length === 5);
  assert.equal(clock.pending, 0, "it has its full time again");
  asked[4]?.resolve(answer("svc-b"));
  assert.deepEqual(names(await again), ["svc-a", "svc-b"]);
});
