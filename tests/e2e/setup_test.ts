/** `svc setup` as a user runs it, with programs that stand in for the real agents. */
import assert from "node:assert/strict";
import { parse } from "smol-toml";
import { runtime } from "#runtime";
import type { SetupOutcome } from "../../src/cli/setup.ts";
import { tryLock } from "../../src/home/lock.ts";
import { installCodex, installProgram } from "../helpers/installed_agents.ts";
import { type McpProcess, startMcp } from "../helpers/mcp_process.ts";
import { FROM_CHECKOUT, runSvc } from "../helpers/program.ts";
import type { Ran } from "../helpers/run.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { makeStack } from "../helpers/stack.ts";
import { startProxy } from "../helpers/http_proxy.ts";

function setup(sandbox: Sandbox, ...args: string[]): Promise<Ran> {
  return runSvc(sandbox, ["setup", ...args]);
}

async function outcome(sandbox: Sandbox, ...args: string[]): Promise<SetupOutcome> {
  return JSON.parse((await setup(sandbox, "--json", ...args)).stdout);
}

/** Returns path and content of every file under the home, except svc's and Deno's. */
async function tree(sandbox: Sandbox, below = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(sandbox.home + below)) {
    const path = `${below}/${name}`;
    if (path === "/.svc" || path === "/.cache") continue;
    if (isDirectory) Object.assign(found, { [path]: "" }, await tree(sandbox, path));
    else found[path] = await Deno.readTextFile(sandbox.home + path);
  }
  return found;
}

async function write(sandbox: Sandbox, path: string, text: string): Promise<void> {
  await Deno.mkdir(`${sandbox.home}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
  await Deno.writeTextFile(`${sandbox.home}/${path}`, text);
}

const SETTINGS = '{\n  // mine\n  "theme": "dark",\n  "hooks": {\n    "Stop": [] // none yet\n  }\n}\n';
const CONFIG = '# mine\nmodel = "x"\n';

async function withAgents(test: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  await using sandbox = await makeSandbox();
  for (const name of ["claude", "gemini", "opencode", "copilot"]) await installProgram(sandbox, name);
  await installCodex(sandbox);
  await write(sandbox, ".claude/settings.json", SETTINGS);
  await write(sandbox, ".codex/config.toml", CONFIG);
  await test(sandbox);
}

Deno.test("setup finds the agents, says what it did and trusts; again it changes nothing; --remove restores every byte [cmd-setup, set-detect, set-idempotent, set-remove, set-trust-told]", () =>
  withAgents(async (sandbox) => {
    const before = await tree(sandbox);
    const first = await setup(sandbox);
    assert.equal(first.code, 0, first.stderr);
    for (const label of ["Claude", "Gemini", "Codex", "OpenCode", "Copilot"]) {
      assert.match(first.stdout, new RegExp(`^${label}$`, "m"));
    }
    assert.match(first.stdout, /Not found: Cursor/);
    assert.match(first.stdout, /Trusted on your behalf: the plugin in ".*\/plugin"/);
    assert.match(first.stdout, /Trusted on your behalf: hooks that run .*, marked as reviewed by you/);
    const after = await tree(sandbox);
    const second = await setup(sandbox);
    assert.deepEqual([second.code, /Nothing to change/.test(second.stdout)], [0, true]);
    assert.deepEqual(await tree(sandbox), after);
    const removed = await setup(sandbox, "--remove");
    assert.equal(removed.code, 0, removed.stderr);
    assert.deepEqual(await tree(sandbox), before);
    assert.match((await setup(sandbox, "--remove")).stdout, /Nothing of svc is left/);
    assert.deepEqual((await Array.fromAsync(Deno.readDir(sandbox.svcHome))).map(({ name }) => name).sort(), [
      "markers",
      "setup.lock",
    ]);
  }));

Deno.test("settings that begin with a byte order mark are read, and edited after it [set-remove, set-idempotent]", () =>
  withAgents(async (sandbox) => {
    const mark = "\ufeff";
    await write(sandbox, ".claude/settings.json", mark + SETTINGS);
    await write(sandbox, ".codex/config.toml", mark + CONFIG);
    await write(sandbox, ".svc/config.json", `${mark}{"wsUrl": "ws://127.0.0.1:1/ws"}`);
    const before = await tree(sandbox);
    const first = await setup(sandbox, "--agent", "cc", "--agent", "codex");
    assert.equal(first.code, 0, first.stderr);
    for (const path of [".claude/settings.json", ".codex/config.toml"]) {
      const text = await Deno.readTextFile(`${sandbox.home}/${path}`);
      assert.ok(text.startsWith(mark) && text.includes("svc"), path);
    }
    assert.match((await setup(sandbox, "--agent", "cc", "--agent", "codex")).stdout, /Nothing to change/);
    const status = await runSvc(sandbox, ["status"]);
    assert.doesNotMatch(status.stderr, /is not JSON/);
    assert.equal((await setup(sandbox, "--remove")).code, 0);
    assert.deepEqual(await tree(sandbox), before);
  }));

Deno.test("setup changes nothing while another setup runs, which would lose its undo records [set-remove]", () =>
  withAgents(async (sandbox) => {
    await Deno.mkdir(sandbox.svcHome, { mode: 0o700 });
    const before = await tree(sandbox);
    const lock = await tryLock(runtime.files, `${sandbox.svcHome}/setup.lock`);
    const { code, stderr } = await setup(sandbox, "--agent", "gemini");
    lock?.release();
    assert.deepEqual([code, await tree(sandbox)], [1, before]);
    assert.match(stderr, /another svc setup holds ".*setup\.lock"\. Try again/);
    assert.equal((await setup(sandbox, "--agent", "gemini")).code, 0);
  }));

Deno.test("removing svc from one agent keeps the launcher for the others; a complete removal deletes it [set-remove]", () =>
  withAgents(async (sandbox) => {
    const launcher = `${sandbox.svcHome}/bin/svc`;
    assert.equal((await setup(sandbox, "--agent", "gemini")).code, 0);
    assert.equal((await setup(sandbox, "--remove", "--agent", "gemini")).code, 0);
    assert.ok((await Deno.stat(launcher)).isFile);
    assert.equal((await setup(sandbox, "--remove")).code, 0);
    await assert.rejects(Deno.stat(launcher));
  }));

Deno.test("a removal names the files of a setup with other variables, and says how to remove svc from them [set-remove]", () =>
  withAgents(async (sandbox) => {
    const other = `${sandbox.root}/other`;
    const env = { CLAUDE_CONFIG_DIR: other };
    const settings = `${other}/settings.json`;
    assert.equal((await runSvc(sandbox, ["setup", "--agent", "cc"], { env })).code, 0);
    const first = await setup(sandbox, "--remove");
    assert.deepEqual([first.code, first.stdout], [1, "Nothing was changed.\n"]);
    assert.ok(first.stderr.includes(`An earlier svc setup also changed ${settings}.\n`), first.stderr);
    assert.match(
      first.stderr,
      /set its variables as they were then.*CLAUDE_CONFIG_DIR.*svc setup --remove again/,
    );
    assert.deepEqual((await outcome(sandbox, "--remove")).left, [settings]);
    assert.match(await Deno.readTextFile(settings), /svc@svc-market/);
    const second = await runSvc(sandbox, ["setup", "--remove"], { env });
    assert.deepEqual([second.code, second.stderr], [0, ""]);
    await assert.rejects(Deno.stat(settings), Deno.errors.NotFound);
    await assert.rejects(Deno.stat(`${sandbox.svcHome}/bin/svc`), Deno.errors.NotFound);
    assert.equal((await runSvc(sandbox, ["setup", "--agent", "cc"], { env })).code, 0);
    await Deno.remove(other, { recursive: true });
    assert.deepEqual((await outcome(sandbox, "--remove")).left, [], "what is gone runs nothing");
    assert.equal((await setup(sandbox, "--remove")).code, 0);
  }));

Deno.test("Codex itself marks svc's hooks as trusted, but not the user's [set-trust-told, remote-codex]", () =>
  withAgents(async (sandbox) => {
    const own = { hooks: { Stop: [{ hooks: [{ type: "command", command: "mine" }] }] } };
    await write(sandbox, ".codex/hooks.json", JSON.stringify(own));
    assert.equal((await setup(sandbox, "--agent", "codex")).code, 0);
    const text = await Deno.readTextFile(`${sandbox.home}/.codex/config.toml`);
    assert.ok(text.startsWith(CONFIG));
    const keys = Object.keys(Object(parse(text).hooks).state);
    assert.equal(keys.length, 8);
    assert.ok(keys.some((key) => key.endsWith("hooks.json:Stop:1:0")));
    assert.ok(!keys.some((key) => key.endsWith("hooks.json:Stop:0:0")));
    await write(sandbox, ".codex/config.toml", `${text}\n[newer]\na = 1\n`);
    await setup(sandbox, "--remove");
    assert.equal(
      await Deno.readTextFile(`${sandbox.home}/.codex/config.toml`),
      `${CONFIG}\n[newer]\na = 1\n`,
    );
    assert.equal(await Deno.readTextFile(`${sandbox.home}/.codex/hooks.json`), JSON.stringify(own));
  }));

/** Starts the server as Codex does: with few variables, and those that its entry names. */
async function startedByCodex(sandbox: Sandbox, given: Record<string, string>): Promise<McpProcess> {
  const { mcp_servers: { svc } } = Object(
    parse(await Deno.readTextFile(`${sandbox.home}/.codex/config.toml`)),
  );
  const names: string[] = ["HOME", "PATH", "LANG", ...svc.env_vars];
  const all: Record<string, string> = { ...sandbox.env, ...given };
  const { DENO_DIR = "" } = all;
  const env = Object.fromEntries(names.flatMap((name) => name in all ? [[name, all[name] ?? ""]] : []));
  return await startMcp({ ...sandbox, env: { DENO_DIR } }, { launch: [svc.command], env });
}

Deno.test("the MCP server reaches the relay under Codex, which clears the environment: by SVC_WS_URL and through a proxy [set-codex-env]", () =>
  withAgents(async (sandbox) => {
    await using stack = await makeStack({ listener: false });
    using proxy = startProxy(Number(new URL(stack.url).port));
    assert.equal((await setup(sandbox, "--agent", "codex")).code, 0);
    const { client } = await startedByCodex(sandbox, {
      SVC_WS_URL: "ws://relay.invalid/ws",
      SVC_API_KEY: stack.apiKey,
      http_proxy: `http://127.0.0.1:${proxy.addr.port}`,
    });
    const note = { name: "svc_notify", arguments: { title: "It is done" } };
    const { isError, content } = await client.callTool(note);
    await client.close();
    assert.notEqual(isError, true, JSON.stringify(content));
    const { pushes } = await stack.api.listPushes({ before: "end" });
    assert.deepEqual(pushes.map(({ push }) => push.title), ["It is done"]);
  }));

Deno.test("under Codex the MCP server uses the current name of a renamed session [set-codex-env]", () =>
  withAgents(async (sandbox) => {
    await using stack = await makeStack({ listener: false });
    assert.equal((await setup(sandbox, "--agent", "codex")).code, 0);
    await sandbox.newSession("work", ["cat"]);
    await sandbox.tmux("set-option", "-t", "=work:", "@svc_pane", "%0");
    const { client } = await startedByCodex(sandbox, {
      SVC_WS_URL: stack.wsUrl,
      SVC_API_KEY: stack.apiKey,
      SVC_SESSION: "svc-proj",
      TMUX: `${sandbox.tmuxSocket},1,0`,
      TMUX_PANE: "%0",
    });
    await client.callTool({ name: "svc_notify", arguments: { title: "It is done" } });
    await client.close();
    const { pushes } = await stack.api.listPushes({ before: "end" });
    assert.deepEqual(pushes.map(({ push }) => push.agentSessionName), ["work"]);
  }));

Deno.test("setup updates an older svc's entry in Codex's file, and --remove deletes it too [set-codex-env, set-remove]", () =>
  withAgents(async (sandbox) => {
    const path = ".codex/config.toml";
    const older = `${CONFIG}
[mcp_servers.svc]
command = "${sandbox.svcHome}/bin/svc"
args = ["mcp"]
env_vars = ["SVC_SESSION", "SVC_HOME"]
`;
    await write(sandbox, path, older);
    assert.equal((await setup(sandbox, "--agent", "codex")).code, 0);
    const text = await Deno.readTextFile(`${sandbox.home}/${path}`);
    assert.match(text, /^env_vars = \["SVC_SESSION", "SVC_HOME", "SVC_WS_URL", .*"HTTPS_PROXY"/m);
    assert.match((await setup(sandbox, "--agent", "codex")).stdout, /Nothing to change/);
    await write(sandbox, path, older);
    await Deno.remove(`${sandbox.svcHome}/setup`, { recursive: true });
    assert.equal((await setup(sandbox, "--remove", "--agent", "codex")).code, 0);
    assert.equal(await Deno.readTextFile(`${sandbox.home}/${path}`), CONFIG);
  }));

Deno.test("changes by the user to Codex's file while Codex marks the hooks survive a removal of svc [set-remove]", () =>
  withAgents(async (sandbox) => {
    await installCodex(sandbox, "shared");
    assert.equal((await setup(sandbox, "--agent", "codex")).code, 0);
    const path = `${sandbox.home}/.codex/config.toml`;
    assert.match(await Deno.readTextFile(path), /^\[newer\]$/m);
    assert.equal((await setup(sandbox, "--remove")).code, 0);
    assert.equal(await Deno.readTextFile(path), `${CONFIG}\n[newer]\na = 1\n`);
  }));

Deno.test("a Codex that does not answer, or does not trust the hooks, is reported with what to do", () =>
  withAgents(async (sandbox) => {
    for (
      const [mode, why] of [["unwilling", /still does not trust/], [
        "broken",
        /refused "initialize"/,
      ]] as const
    ) {
      await installCodex(sandbox, mode);
      const { code, stdout } = await setup(sandbox, "--agent", "codex");
      assert.equal(code, 1);
      assert.match(stdout, why);
      assert.match(stdout, /start codex once and answer its question/);
      assert.doesNotMatch(stdout, /marked as reviewed by you/);
      assert.match(stdout, /Trusted on your behalf: the MCP server svc/);
      const { agents: [codex] } = await outcome(sandbox, "--agent", "codex");
      assert.deepEqual([codex?.isOk, codex?.trusts.some((trust) => /reviewed/.test(trust))], [false, false]);
    }
  }));

Deno.test("the launcher that hooks run is this svc, by absolute path, and needs no PATH", () =>
  withAgents(async (sandbox) => {
    await setup(sandbox, "--agent", "gemini");
    const { hooks } = JSON.parse(await Deno.readTextFile(`${sandbox.home}/.gemini/settings.json`));
    const command: string = hooks.BeforeAgent[0].hooks[0].command;
    const input = JSON.stringify({ session_id: "1", cwd: sandbox.project, prompt: "x" });
    const script =
      `printf %s '${input}' | ${command}; echo "exit $?"; '${sandbox.svcHome}/bin/svc' --version`;
    const { HOME = "", DENO_DIR = "" } = sandbox.env;
    const env = { HOME, DENO_DIR, PATH: "/usr/bin:/bin" };
    const { stdout } = await new Deno.Command("sh", { args: ["-c", script], env, clearEnv: true }).output();
    assert.match(new TextDecoder().decode(stdout), /^exit 0\n\d+\.\d+\.\d+\n$/);
  }));

Deno.test("setup warns if the launcher runs a program in npx's cache", () =>
  withAgents(async (sandbox) => {
    const cached = `${sandbox.root}/_npx/svc`;
    await Deno.mkdir(`${sandbox.root}/_npx`);
    await Deno.symlink(CHECKOUT, cached);
    const launch = FROM_CHECKOUT.map((word) => word.replace(CHECKOUT, `${cached}/`));
    const { code, stdout } = await runSvc(sandbox, ["setup", "--agent", "gemini"], { launch });
    assert.equal(code, 0);
    // Deno itself may be in that cache too.
    assert.match(
      stdout,
      /^".*\/\.svc\/bin\/svc" starts ".*\/_npx\/.*", which is in npx's cache: npm may clear that/,
    );
  }));

Deno.test("a dry run shows the lines and writes nothing [set-dry-run]", () =>
  withAgents(async (sandbox) => {
    const before = await tree(sandbox);
    const { code, stdout } = await setup(sandbox, "--dry-run");
    assert.equal(code, 0);
    assert.match(stdout, /settings\.json: would be changed\n/);
    assert.match(stdout, /^ {4}\+ +"svc@svc-market": true$/m);
    assert.match(stdout, /Would be trusted on your behalf/);
    assert.match(stdout, /Nothing was written: \d+ file\(s\) would change\.\n$/);
    assert.deepEqual(await tree(sandbox), before);
    await assert.rejects(Deno.stat(sandbox.svcHome), Deno.errors.NotFound);
  }));

Deno.test("one agent alone, by name; unknown names, and agents that are not installed", () =>
  withAgents(async (sandbox) => {
    const { agents } = await outcome(sandbox, "--agent", "gemini", "--agent", "copilot");
    assert.deepEqual(agents.map(({ kind }) => kind), ["gemini", "copilot"]);
    assert.equal(await Deno.readTextFile(`${sandbox.home}/.claude/settings.json`), SETTINGS);
    const wrong = await setup(sandbox, "--agent", "nobody");
    assert.deepEqual([wrong.code, /the agents are cc, gemini/.test(wrong.stderr)], [2, true]);
    const absent = await setup(sandbox, "--agent", "cursor");
    const why =
      "svc: Cannot set up Cursor: it is not installed here. Install it with: the installer at cursor.com/install\n";
    assert.deepEqual([absent.code, absent.stderr], [1, why]);
  }));

Deno.test("a broken file of one agent stops only that agent's setup, and the error says where", () =>
  withAgents(async (sandbox) => {
    await write(sandbox, ".gemini/settings.json", '{\n  "a": ,\n}');
    const { code, stderr, stdout } = await setup(sandbox);
    assert.equal(code, 1);
    assert.match(stderr, /Cannot edit ".*\/\.gemini\/settings\.json": line 2, column 8 is not JSON/);
    assert.match(stdout, /^Codex$/m);
    assert.equal(await Deno.readTextFile(`${sandbox.home}/.gemini/settings.json`), '{\n  "a": ,\n}');
    const alone = await setup(sandbox, "--agent", "gemini");
    assert.match(alone.stdout, /Nothing was changed\.$/m);
    assert.doesNotMatch(alone.stdout, /To undo it/);
  }));

Deno.test("the Cursor-class agent: only the editor's stop hook, and what was found of its terminal agent [remote-cursor-none, remote-cursor-ask, remote-cursor-stop, remote-cursor-tools]", () =>
  withAgents(async (sandbox) => {
    await Deno.mkdir(`${sandbox.home}/.cursor`);
    const editor = await setup(sandbox, "--agent", "cursor");
    assert.match(editor.stdout, /its terminal agent cursor-agent is not/);
    const { hooks } = JSON.parse(await Deno.readTextFile(`${sandbox.home}/.cursor/hooks.json`));
    assert.deepEqual(Object.keys(hooks), ["stop"]);
    assert.match(editor.stdout, /ask it once per session to end every response with svc_ask/);
    await installProgram(sandbox, "cursor-agent", 'echo "$@" > "$HOME/asked"; echo "- svc_ask (question)"');
    assert.match(
      (await setup(sandbox, "--agent", "cursor")).stdout,
      /Found: ".*cursor-agent mcp list-tools svc" lists its tools/,
    );
    assert.equal(await Deno.readTextFile(`${sandbox.home}/asked`), "mcp list-tools svc\n");
    await installProgram(sandbox, "cursor-agent", "exit 1");
    assert.match(
      (await setup(sandbox, "--agent", "cursor")).stdout,
      /not approved yet. Run: .* mcp enable svc/,
    );
  }));
