/** `svc verify` on installations broken on purpose: each fault is reported with its fix. */
import assert from "node:assert/strict";
import type { HookReport } from "../../src/home/control_socket.ts";
import { splitLines } from "../../src/runtime/input.ts";
import { installCodex, installProgram } from "../helpers/installed_agents.ts";
import { FROM_CHECKOUT, runSvc, SVC } from "../helpers/program.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";

interface Line {
  name: string;
  mark: "ok" | "warning" | "fault";
  finding: string;
  fix?: string;
}

interface Broken {
  what: string;
  /** Whether the listener runs. */
  listener?: boolean;
  /** Breaks the installation; resolves with variables for verify, if they are part of the fault. */
  breakIt(stack: Stack): Promise<Record<string, string> | void>;
  /** The line that reports the fault: its name, finding and fix. */
  expected: [name: string, finding: RegExp, fix: RegExp];
  /** The names of all reported faults; empty if the finding is only a warning. */
  faults: string[];
  /** Whether the fix is a command after which all is well. */
  fixIsCommand?: true;
}

const home = ({ sandbox }: Stack, name: string): string => `${sandbox.svcHome}/${name}`;

async function edit(path: string, change: (text: string) => string): Promise<void> {
  await Deno.writeTextFile(path, change(await Deno.readTextFile(path)));
}

async function editConfig(stack: Stack, fields: Record<string, unknown>): Promise<void> {
  await edit(home(stack, "config.json"), (text) => JSON.stringify({ ...JSON.parse(text), ...fields }));
}

async function setUp(stack: Stack, agent: string, program = agent): Promise<void> {
  await installProgram(stack.sandbox, program);
  const { code, stderr } = await stack.svc("setup", "--agent", agent);
  assert.equal(code, 0, stderr);
}

async function writeLauncher(stack: Stack, script: string): Promise<void> {
  await Deno.writeTextFile(home(stack, "bin/svc"), `#!/bin/sh\n${script}\n`);
}

const ASKED = ["relay, HTTP", "key", "relay, WebSocket"];

const BROKEN: Broken[] = [
  {
    what: "a config.json that is no JSON",
    breakIt: (stack) => Deno.writeTextFile(home(stack, "config.json"), '{\n  "apiKey": oops\n}'),
    expected: ["configuration", /config\.json": line 2, column 13 is not JSON/, /^fix ".*config\.json"$/],
    faults: ["configuration", ...ASKED, "encryption"],
  },
  {
    what: "a mistyped key in config.json",
    breakIt: (stack) => editConfig(stack, { requireEncrytion: "psk" }),
    expected: [
      "configuration",
      /^"requireEncrytion" is not a key of config\.json and has no effect$/,
      /^rename it to "requireEncryption" in ".*config\.json"$/,
    ],
    faults: ["configuration"],
  },
  {
    what: "a mistyped wsUrl in config.json, where no other relay is named",
    breakIt: (stack) => edit(home(stack, "config.json"), (text) => text.replace('"wsUrl"', '"wsurl"')),
    expected: [
      "configuration",
      /^"wsurl" is not a key of config\.json and has no effect$/,
      /^rename it to "wsUrl" in ".*config\.json"$/,
    ],
    faults: ["configuration", ...ASKED],
  },
  {
    what: "a relay address in config.json that is not one of a WebSocket",
    breakIt: (stack) => editConfig(stack, { wsUrl: "http://127.0.0.1:7420/ws" }),
    expected: [
      "configuration",
      /^Cannot use the WebSocket address "http:.*" \(wsUrl in config\.json\): it must be ws:/,
      /^fix ".*config\.json"$/,
    ],
    faults: ["configuration", ...ASKED],
  },
  {
    what: "a key in config.json that is like no key of svc",
    breakIt: (stack) => editConfig(stack, { colorOfTheShed: "green" }),
    expected: [
      "configuration",
      /^svc does not know "colorOfTheShed"$/,
      /^remove what no other version of svc needs/,
    ],
    faults: [],
  },
  {
    what: "a config.json that others can read",
    breakIt: (stack) => Deno.chmod(home(stack, "config.json"), 0o644),
    expected: ["home", /^others could read .*config\.json; fixed$/, /make a new key/],
    faults: [],
  },
  {
    what: "a home where a file stands in the way",
    async breakIt({ sandbox }) {
      await Deno.writeTextFile(`${sandbox.root}/file`, "");
      return { SVC_HOME: `${sandbox.root}/file` };
    },
    expected: ["home", /\/file is not a directory$/, /^move it away, or set SVC_HOME/],
    faults: ["home", "configuration", ...ASKED],
  },
  {
    what: "a home that does not exist yet and cannot be made",
    async breakIt({ sandbox }) {
      await Deno.writeTextFile(`${sandbox.root}/file`, "");
      return { SVC_HOME: `${sandbox.root}/file/svc` };
    },
    expected: ["home", /\/file\/svc cannot be made: Cannot write in ".*\/file": /, /or set SVC_HOME$/],
    faults: ["home", "configuration", ...ASKED],
  },
  {
    what: "a key that the relay does not know",
    breakIt: (stack) => editConfig(stack, { apiKey: "svc_wrong" }),
    expected: [
      "key",
      /key/,
      /^make one: svc keys create --name NAME --scope push:read,push:send\. Put it into ".*\/config\.json" as apiKey, then run: svc listener --restart$/,
    ],
    faults: ["key", "relay, WebSocket"],
  },
  {
    what: "a key that was revoked",
    async breakIt(stack) {
      const data = ["--data", home(stack, "server")];
      const [{ id }] = JSON.parse((await stack.svc("keys", "list", "--json", ...data)).stdout);
      assert.equal((await stack.svc("keys", "revoke", id, ...data)).code, 0);
    },
    expected: ["key", /key/, /^make one: svc keys create/],
    faults: ["key", "relay, WebSocket"],
  },
  {
    what: "a relay that is down",
    breakIt: (stack) => stack.killHostsRelay(),
    expected: ["relay, HTTP", /^Cannot /, /^check that the relay runs there/],
    faults: ASKED,
  },
  {
    what: "a listener that died and left its pid",
    listener: true,
    async breakIt({ listener }) {
      listener.kill("SIGKILL");
      await listener.exited;
    },
    expected: ["listener", /^it is not running$/, /^start an agent, which starts it: svc cc$/],
    faults: [],
  },
  {
    what: "a listener that hangs",
    listener: true,
    breakIt: ({ listener }) => Promise.resolve(listener.kill("SIGSTOP")),
    expected: ["listener", /^it is running, but does not answer$/, /^run: svc listener --restart$/],
    faults: ["listener"],
  },
  {
    what: "a listener of an older version",
    listener: true,
    breakIt: (stack) => Deno.writeTextFile(home(stack, "listener.version"), "0.0.1\n"),
    expected: ["listener", /^it is running v0\.0\.1, and v.* is installed$/, /^run: svc listener --restart$/],
    faults: [],
  },
  {
    what: "SVC_WS_URL still set",
    breakIt: () => Promise.resolve({ SVC_WS_URL: "ws://old/ws" }),
    expected: ["SVC_WS_URL", /"ws:\/\/old\/ws" and has no effect/, /^put wsUrl into .* and unset it$/],
    faults: [],
  },
  {
    what: "no tmux on PATH",
    async breakIt({ sandbox }) {
      await Deno.mkdir(`${sandbox.root}/empty`);
      return { PATH: `${sandbox.root}/empty` };
    },
    expected: ["tmux", /^tmux is not installed$/, /^install it as described at https:/],
    faults: ["tmux"],
  },
  {
    what: "a floor of encryption that no phone can meet",
    breakIt: (stack) => editConfig(stack, { requireEncryption: "psk" }),
    expected: ["encryption", /must be sealed \("psk"\), and no phone is paired/, /^run: svc pair$/],
    faults: ["encryption"],
  },
  {
    what: "an agent that was never set up",
    breakIt: (stack) => installProgram(stack.sandbox, "copilot"),
    expected: ["Copilot, hooks", /^svc's hooks are not set up$/, /^run: svc setup --agent copilot$/],
    faults: [],
    fixIsCommand: true,
  },
  {
    what: "settings of an agent that are no JSON",
    async breakIt(stack) {
      await setUp(stack, "gemini");
      await edit(`${stack.sandbox.home}/.gemini/settings.json`, (text) => text.replace(":", ""));
    },
    expected: [
      "Gemini, hooks",
      /^Cannot edit ".*\/\.gemini\/settings\.json": line 2, .* is not JSON/,
      /^fix that/,
    ],
    faults: ["Gemini, hooks"],
  },
  {
    what: "a hook whose command is gone",
    async breakIt(stack) {
      await setUp(stack, "gemini");
      await Deno.remove(home(stack, "bin/svc"));
    },
    expected: [
      "Gemini, hooks",
      /^its hook runs ".*\/bin\/svc", which no longer exists$/,
      /^run: svc setup --agent gemini$/,
    ],
    faults: ["Gemini, hooks", "Gemini, MCP"],
    fixIsCommand: true,
  },
  {
    what: "a hook that may not be executed",
    async breakIt(stack) {
      await setUp(stack, "copilot");
      await Deno.chmod(home(stack, "bin/svc"), 0o600);
    },
    expected: [
      "Copilot, hooks",
      /^its command cannot be run: .*denied$/,
      /^run: svc setup --agent copilot$/,
    ],
    faults: ["Copilot, hooks", "Copilot, MCP"],
    fixIsCommand: true,
  },
  {
    what: "a plugin whose svc is gone, which says nothing to its agent",
    async breakIt(stack) {
      await setUp(stack, "cc", "claude");
      await Deno.remove(home(stack, "bin/svc"));
    },
    expected: [
      "Claude, hooks",
      /prints nothing and leaves the phone's prompt unread/,
      /svc setup --agent cc$/,
    ],
    faults: ["Claude, hooks", "Claude, MCP"],
    fixIsCommand: true,
  },
  {
    what: "a hook that speaks to another home",
    async breakIt(stack) {
      await setUp(stack, "opencode");
      await edit(
        home(stack, "bin/svc"),
        (text) => text.replace("export SVC_HOME", 'export SVC_HOME="$HOME/other"'),
      );
    },
    expected: ["OpenCode, hooks", /has another home$/, /svc setup --agent opencode$/],
    faults: ["OpenCode, hooks"],
    fixIsCommand: true,
  },
  {
    what: "a hook that never ends",
    async breakIt(stack) {
      await setUp(stack, "gemini");
      await writeLauncher(stack, "exec sleep 600");
    },
    expected: ["Gemini, hooks", /^its command does not end within 15 s$/, /svc setup --agent gemini$/],
    faults: ["Gemini, hooks", "Gemini, MCP"],
    fixIsCommand: true,
  },
  {
    what: "an MCP server whose command is gone",
    async breakIt(stack) {
      await setUp(stack, "gemini");
      const change = (text: string): string => {
        const settings = JSON.parse(text);
        settings.mcpServers.svc.command = "/gone/svc";
        return JSON.stringify(settings);
      };
      await edit(`${stack.sandbox.home}/.gemini/settings.json`, change);
    },
    expected: [
      "Gemini, MCP",
      /^its MCP entry runs "\/gone\/svc", which no longer exists$/,
      /--agent gemini$/,
    ],
    faults: ["Gemini, MCP"],
    fixIsCommand: true,
  },
  {
    what: "a svc that has moved",
    async breakIt(stack) {
      await setUp(stack, "gemini");
      await edit(home(stack, "bin/svc"), (text) => text.replaceAll(/[^']*(cli\.[jt]s)/g, "/gone/$1"));
    },
    expected: [
      "hooks and tools",
      /^".*\/bin\/svc" runs "\/gone\/cli\.[jt]s", which no longer exists$/,
      /^run: svc setup$/,
    ],
    faults: ["hooks and tools", "Gemini, hooks", "Gemini, MCP"],
    fixIsCommand: true,
  },
  {
    what: "agents that run another svc",
    async breakIt(stack) {
      await setUp(stack, "gemini");
      await edit(
        home(stack, "bin/svc"),
        (text) => {
          const option = SVC === FROM_CHECKOUT ? "--no-prompt" : "--no-warnings";
          return text.replaceAll(/'([^']*cli\.[jt]s)'/g, `'${option}' '$1'`);
        },
      );
    },
    expected: [
      "hooks and tools",
      /^agents run another svc, ".* --no-(?:prompt|warnings) .*"; this one is ".*"$/,
      /^run: svc setup,/,
    ],
    faults: [],
  },
  {
    what: "a plugin that has moved",
    async breakIt(stack) {
      await setUp(stack, "cc", "claude");
      const settings = `${stack.sandbox.home}/.claude/settings.json`;
      await edit(settings, (text) => text.replace(/"path": *"[^"]*"/, '"path": "/gone/plugin"'));
    },
    expected: ["Claude, hooks", /^Claude uses the plugin in "\/gone\/plugin", which no/, /setup --agent cc$/],
    faults: ["Claude, hooks", "Claude, MCP"],
    fixIsCommand: true,
  },
  {
    what: "a service whose svc is gone",
    async breakIt({ sandbox }) {
      const folder = `${sandbox.home}/.config/systemd/user`;
      await Deno.mkdir(folder, { recursive: true });
      const unit = "# Written by svc service install\n[Service]\nExecStart=/gone/deno run cli.ts listener\n";
      await Deno.writeTextFile(`${folder}/svc-listener.service`, unit);
    },
    expected: [
      "services",
      /^the listener's service starts "\/gone\/deno", which no longer exists$/,
      /^run: svc service install listener$/,
    ],
    faults: ["services"],
  },
  {
    what: "hooks that Codex has not reviewed",
    async breakIt(stack) {
      await installCodex(stack.sandbox, "unwilling");
      assert.equal((await stack.svc("setup", "--agent", "codex")).code, 1);
    },
    expected: ["Codex, hooks", /^they work, but do not run: Codex has not reviewed 8 of 8/, /--agent codex$/],
    faults: ["Codex, hooks"],
  },
  {
    what: "a Codex that cannot be asked whether it trusts its hooks",
    async breakIt(stack) {
      await installCodex(stack.sandbox, "willing");
      assert.equal((await stack.svc("setup", "--agent", "codex")).code, 0);
      await installCodex(stack.sandbox, "broken");
    },
    expected: ["Codex, hooks", /^they work; not checked whether Codex trusts them: /, /^start codex once/],
    faults: [],
  },
];

Deno.test("svc verify prints its list to the end when the relay's address is malformed [cmd-verify]", async () => {
  await using stack = await makeStack({ listener: false });
  await editConfig(stack, { wsUrl: "http://127.0.0.1:7420/ws" });
  const { code, stdout, stderr } = await stack.svc("verify");
  assert.match(stdout, /\n\d of \d+ checks failed: fix them from the top down\.\n$/);
  assert.deepEqual([code, stderr], [1, ""]);
});

async function verify(stack: Stack, env: Record<string, string> = {}): Promise<[number, Line[]]> {
  const { code, stdout, stderr } = await runSvc(stack.sandbox, ["verify", "--json"], { env });
  assert.equal(stderr, "");
  return [code, JSON.parse(stdout)];
}

const faultsIn = (lines: readonly Line[]): string[] =>
  lines.filter(({ mark }) => mark === "fault").map(({ name }) => name);

/** Runs the fix exactly as printed. */
async function follow(stack: Stack, fix: string): Promise<void> {
  const args = /^run: svc (.*)$/.exec(fix)?.[1]?.split(" ") ?? [];
  assert.equal((await stack.svc(...args)).code, 0, fix);
}

for (const row of BROKEN) {
  Deno.test(`svc verify names ${row.what}, and its fix [set-verify, set-verify-path, tty-verify-agents]`, async () => {
    const { faults, expected: [name, finding, fix] } = row;
    await using stack = await makeStack({ listener: row.listener ?? false });
    const env = await row.breakIt(stack) ?? {};
    const [code, lines] = await verify(stack, env);
    const line = lines.find((one) => one.name === name);
    assert.match(line?.finding ?? "", finding);
    assert.match(line?.fix ?? "", fix);
    assert.equal(line?.mark, faults.includes(name) ? "fault" : "warning");
    assert.deepEqual(faultsIn(lines), faults, JSON.stringify(lines, null, 2));
    assert.equal(code, faults.length > 0 ? 1 : 0);
    if (!row.fixIsCommand) return;
    await follow(stack, line?.fix ?? "");
    const [codeAfter, after] = await verify(stack, env);
    assert.deepEqual([codeAfter, after.find((one) => one.name === name)?.mark], [0, "ok"]);
  });
}

Deno.test("svc verify finds every agent's hooks and MCP server working, and leaves nothing behind [set-verify, tty-verify-agents]", async () => {
  await using stack = await makeStack();
  const { sandbox } = stack;
  await stack.echo();
  for (const name of ["claude", "gemini", "opencode", "copilot", "cursor-agent"]) {
    await installProgram(stack.sandbox, name);
  }
  await installCodex(stack.sandbox, "willing");
  assert.equal((await stack.svc("setup")).code, 0);
  const temporary = `${sandbox.root}/tmp`;
  await Deno.mkdir(temporary);
  const [code, lines] = await verify(stack, { TMPDIR: temporary, SVC_SESSION: "svc-proj" });
  assert.deepEqual(lines.filter(({ mark }) => mark !== "ok"), []);
  assert.equal(code, 0);
  assert.match(
    lines.find(({ name }) => name === "agents")?.finding ?? "",
    /^Claude, Gemini, Codex, Cursor, OpenCode, Copilot$/,
  );
  for (const agent of ["Claude", "Gemini", "Codex", "OpenCode", "Copilot"]) {
    assert.match(lines.find(({ name }) => name === `${agent}, hooks`)?.finding ?? "", /informs the model$/);
    assert.match(lines.find(({ name }) => name === `${agent}, MCP`)?.finding ?? "", /svc_ask/);
  }
  const left = [temporary, home(stack, "markers"), home(stack, "remote")];
  for (const directory of left) assert.deepEqual(await Array.fromAsync(Deno.readDir(directory)), []);
});

/** Takes the listener's place and records the hooks' reports. */
function recordReports(stack: Stack): { reports: HookReport[] } & AsyncDisposable {
  const server = Deno.listen({ transport: "unix", path: home(stack, "listener.sock") });
  const reports: HookReport[] = [];
  const takeFirst = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const line of splitLines(chunks)) {
      const { report } = JSON.parse(line);
      if (report !== undefined) reports.push(report);
      return;
    }
  };
  const serve = async (): Promise<void> => {
    for await (const connection of server) await takeFirst(connection.readable);
  };
  const served = serve();
  return {
    reports,
    async [Symbol.asyncDispose](): Promise<void> {
      server.close();
      await served;
    },
  };
}

Deno.test("svc verify sends no report about the pane and the session in which it runs [set-verify]", async () => {
  await using stack = await makeStack({ listener: false });
  await setUp(stack, "gemini");
  await using listener = recordReports(stack);
  const socket = `${stack.sandbox.root}/tmux.sock`;
  await Deno.writeTextFile(socket, "");
  const [, lines] = await verify(stack, {
    TMUX: `${socket},1,0`,
    TMUX_PANE: "%3",
    SVC_SESSION: "svc-proj",
  });
  assert.equal(lines.find(({ name }) => name === "Gemini, hooks")?.mark, "ok");
  assert.ok(listener.reports.length > 0, "the probe's hook reports to the listener");
  for (const { pane, socket, session } of listener.reports) {
    assert.deepEqual([pane, socket, session], [undefined, undefined, undefined]);
  }
});

Deno.test("svc verify finds the launcher of a home whose path has an apostrophe [set-verify, set-verify-path]", async () => {
  await using stack = await makeStack({ listener: false });
  await installProgram(stack.sandbox, "gemini");
  const env = { SVC_HOME: `${stack.sandbox.home}/o'brien/.svc` };
  assert.equal((await runSvc(stack.sandbox, ["setup"], { env })).code, 0);
  const [, lines] = await verify(stack, env);
  const found = lines.filter(({ name }) => /^Gemini|^hooks/.test(name));
  assert.deepEqual(found.map(({ name, mark, finding }) => mark === "ok" ? name : finding), [
    "hooks and tools",
    "Gemini, hooks",
    "Gemini, MCP",
  ]);
});
