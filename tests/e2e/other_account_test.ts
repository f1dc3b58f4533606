/** Another account on the same machine, a real second uid, can access nothing of svc and no tmux client's environment. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { homePaths } from "../../src/home/paths.ts";
import { runtime } from "../../src/runtime/deno.ts";
import { spawningServer, tmuxEnvironment, withEnvironment } from "../../src/tmux/server.ts";
import { socketFiles } from "../../src/tmux/discovery.ts";
import type { Probed } from "../helpers/account_prober.ts";
import { canBecomeOther, otherAccount } from "../helpers/as_other_account.ts";
import { runSvc, startSvc } from "../helpers/program.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { pairScriptedPhone } from "../helpers/scripted_phone.ts";
import { makeStack } from "../helpers/stack.ts";

const CANARY = "sk-canary-of-the-model";
/** `deno task prove keys` swaps for a minute. */
const SWAP_SECONDS = Number(Deno.env.get("SVC_SWAP_SECONDS") ?? 10);
/** With fewer checks the attack would have had no chance, so on a slow machine it runs longer. */
const LOOKS_LEAST = 10;
const WRAPPERS_LEAST = 1;

Deno.test({
  name:
    "no file, socket, folder or process of svc can be read, written, swapped or joined by another account [sec-other-account]",
  ignore: !canBecomeOther,
  fn: async () => {
    await using stack = await makeStack();
    const { sandbox } = stack;
    await stack.echo();
    const phone = await pairScriptedPhone(await stack.pairLink());
    await phone.send("svc-nobody", "an entry for the journal");
    const paired = await stack.svc("devices", "--json");
    assert.equal(paired.code, 0, paired.stderr);
    // Each file must be protected by itself, even if the folders around it are open to every account.
    const folders = [sandbox.root, sandbox.home, sandbox.svcHome];
    for (const folder of folders) await Deno.chmod(folder, 0o755);
    await using other = await otherAccount(sandbox.root);
    const paths = [...entries(sandbox.svcHome), [sandbox.tmuxSocket, "socket"]];
    const wanted = ["config.json", "identity", "paired.json", "journal.jsonl", "listener.sock", "server"];
    for (const name of wanted) assert.ok(paths.some(([path]) => path?.endsWith(`/${name}`)), name);
    const pids = [
      stack.relay.pid,
      stack.listener.pid,
      Number(await sandbox.tmux("display-message", "-p", "#{pid}")),
    ];
    const child = other.start("account_prober.ts", [JSON.stringify({ paths, pids })]);
    await child.stdin.close();
    const { stdout: said, stderr } = await child.output();
    assert.equal(new TextDecoder().decode(stderr), "");
    const rows: Probed[] = JSON.parse(new TextDecoder().decode(said));
    print(rows, sandbox.root);
    // This test opened these folders, which reveals only the names in them.
    const gained = rows.flatMap(({ what, read, write, swap, connect }) => {
      const isOpened = folders.includes(what);
      return [isOpened ? "-" : read, write, swap, connect].some((one) => one.includes("GOT IT"))
        ? [what]
        : [];
    });
    assert.deepEqual(gained, []);
    const commandLines = await Promise.all(pids.map((pid) => Deno.readTextFile(`/proc/${pid}/cmdline`)));
    assert.ok(!commandLines.join().includes(stack.apiKey), "no command line shows a key");
  },
});

function entries(folder: string): [string, string][] {
  const found: [string, string][] = [[folder, "folder"]];
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...entries(path));
    else found.push(...kindOf(path).map((kind): [string, string] => [path, kind]));
  }
  return found;
}

/** Returns nothing for a file that was renamed in the meantime: the listener first writes under another name. */
function kindOf(path: string): string[] {
  try {
    return [Deno.statSync(path).isSocket ? "socket" : "file"];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function print(rows: readonly Probed[], root: string): void {
  const table = rows.map(({ what, kind, read, write, swap, connect }) =>
    [
      what.replace(root, "").padEnd(44),
      kind.padEnd(8),
      read.padEnd(10),
      write.padEnd(10),
      swap.padEnd(10),
      connect,
    ]
      .join(" ")
  );
  const head = `${"what".padEnd(44)} kind     read       write      swap       connect`;
  say([head, ...table].join("\n"));
  say(`${rows.length} files, sockets, folders and processes tried by uid 12345`);
}

Deno.test({
  name:
    "a tmux folder that another account created first and keeps swapping gets no client and no environment [tmux-trust, tmux-env]",
  ignore: !canBecomeOther,
  fn: async () => {
    await using sandbox = await makeSandbox();
    await Deno.chmod(sandbox.root, 0o755);
    const shared = ["linked", "made"].map((name) => `${sandbox.root}/${name}`);
    for (const folder of shared) {
      await Deno.mkdir(folder);
      await Deno.chmod(folder, 0o1777);
    }
    const real = `${sandbox.root}/real`;
    await Deno.mkdir(real, { mode: 0o700 });
    await sandbox.tmux("new-session", "-d", "-s", "svc-real", "cat");
    await Deno.symlink(sandbox.tmuxSocket, `${real}/default`);
    await using other = await otherAccount(sandbox.root);
    const places = shared.map((folder) => `${folder}/tmux-${Deno.uid()}`);
    const impostor = other.start("tmux_impostor.ts", [...places, real, `${other.home}/evil`]);
    const said = impostor.stdout.pipeThrough(new TextDecoderStream()).getReader();
    assert.match((await said.read()).value ?? "", /ready/);
    const tries = await visit(sandbox, shared);
    await impostor.stdin.close();
    const { text, swaps, connections } = JSON.parse((await said.read()).value ?? "");
    await said.cancel();
    await impostor.stderr.cancel();
    await impostor.status;
    const leaks = text.split(CANARY).length - 1;
    say(
      `${swaps} swaps in ${SWAP_SECONDS} s, ${tries.looks} looks and ${tries.wrappers} wrappers, a listener: ` +
        `${connections} connections, ${leaks} environment leaks`,
    );
    assert.ok(
      swaps > 100 && tries.looks > LOOKS_LEAST && tries.wrappers > WRAPPERS_LEAST,
      "the attack never got going",
    );
    assert.deepEqual([connections, leaks, text], [0, 0, ""]);
    const others = tries.refusals.filter((line) =>
      !/Cannot use the tmux socket|unsafe permissions/.test(line)
    );
    assert.deepEqual(others, []);
  },
});

Deno.test({
  name:
    "another account that first listens on the control socket of a long home path receives nothing and approves nothing [sec-other-account]",
  ignore: !canBecomeOther,
  fn: async () => {
    await using sandbox = await makeSandbox();
    await Deno.chmod(sandbox.root, 0o755);
    const svcHome = `${sandbox.home}/${"long".repeat(20)}`;
    const place = { homeDirectory: sandbox.home, cwd: "/", uid: runtime.uid };
    const { socket } = await homePaths({ ...place, svcHome });
    assert.match(socket, /^\/tmp\/svc-/);
    await using _folder = {
      [Symbol.asyncDispose]: () => Deno.remove(socket.replace(/\/[^/]+$/, ""), { recursive: true }),
    };
    await using other = await otherAccount(sandbox.root);
    const impostor = other.start("control_impostor.ts", [socket]);
    const said = impostor.stdout.pipeThrough(new TextDecoderStream()).getReader();
    assert.match((await said.read()).value ?? "", /ready/);
    const env = { SVC_HOME: svcHome, SVC_SESSION: "svc-proj" };
    const input = { tool_name: "Bash", tool_input: { command: CANARY } };
    const call = { session_id: "s1", hook_event_name: "PermissionRequest", cwd: sandbox.project, ...input };
    const hook = await runSvc(sandbox, ["hook", "PermissionRequest", "cc", "cards"], {
      env,
      stdin: JSON.stringify(call),
    });
    assert.deepEqual([hook.code, hook.stdout], [0, ""], "the agent asks at the computer");
    const config = { apiKey: "svc_none", wsUrl: "ws://127.0.0.1:9/ws" };
    await Deno.mkdir(svcHome, { recursive: true, mode: 0o700 });
    await Deno.writeTextFile(`${svcHome}/config.json`, JSON.stringify(config), { mode: 0o600 });
    const wrapper = await runSvc(sandbox, ["--detach", "echo"], { env });
    assert.match(wrapper.stderr, /belongs to user 12345, not to/);
    await impostor.stdin.close();
    const { connections, text } = JSON.parse((await said.read()).value ?? "");
    await said.cancel();
    await impostor.stderr.cancel();
    await impostor.status;
    say(`an impostor at the control socket: ${connections} connections, ${text.length} characters`);
    assert.deepEqual([connections, text], [0, ""]);
  },
});

interface Visited {
  looks: number;
  wrappers: number;
  /** The errors of wrappers that failed to start. */
  refusals: string[];
}

/** Repeatedly runs everything in svc that uses tmux. */
async function visit(sandbox: Sandbox, shared: readonly string[]): Promise<Visited> {
  const envOf = (folder: string) => ({ TMUX_TMPDIR: folder, SVC_TMUX_SOCKET: "", ANTHROPIC_API_KEY: CANARY });
  await Deno.mkdir(sandbox.svcHome, { recursive: true, mode: 0o700 });
  const config = { apiKey: "svc_none", wsUrl: "ws://127.0.0.1:9/ws" };
  await Deno.writeTextFile(`${sandbox.svcHome}/config.json`, JSON.stringify(config), { mode: 0o600 });
  const socket = `${shared[0]}/tmux-${Deno.uid()}/default`;
  const listening = { ANTHROPIC_API_KEY: CANARY, SVC_TMUX_SOCKET: socket };
  const listener = startSvc(sandbox, ["listener"], { env: listening });
  const visited: Visited = { looks: 0, wrappers: 0, refusals: [] };
  const end = Date.now() + SWAP_SECONDS * 1_000;
  const isGoing = (): boolean =>
    Date.now() < end || visited.looks <= LOOKS_LEAST || visited.wrappers <= WRAPPERS_LEAST;
  const discovering = (async () => {
    while (isGoing()) {
      visited.looks += shared.length;
      for (const folder of shared) await look(folder);
    }
  })();
  while (isGoing()) {
    const folder = shared[visited.wrappers % shared.length] ?? "";
    const { code, stderr } = await runSvc(sandbox, ["--detach", "echo"], { env: envOf(folder) });
    visited.wrappers += 1;
    if (code !== 0) visited.refusals.push(stderr);
  }
  await discovering;
  listener.kill("SIGTERM");
  await listener.exited;
  return visited;
}

/** Searches for servers as the listener does, with the canary in this process's environment. */
async function look(shared: string): Promise<void> {
  const env = { ...Deno.env.toObject(), ANTHROPIC_API_KEY: CANARY };
  const commands = withEnvironment(runtime.commands, tmuxEnvironment(env));
  const { uid, files } = runtime;
  const places: Record<string, string> = { TMUX_TMPDIR: shared };
  const sockets = await socketFiles({ uid, files, commands, env: { get: (name) => places[name] } });
  for (const socket of sockets.filter((path) => path.startsWith(shared) || path.includes("svc-test-"))) {
    await spawningServer(commands, socket).run(["list-sessions"]).catch(() => {});
  }
}
