/** The keys, menus, commands and dialogs of every profile; versions as the agents print them, and how they compare. */
import assert from "node:assert/strict";
import {
  agentKindOfProgram,
  agentProfile,
  compareVersions,
  isNewerThanMeasured,
  parseVersion,
  unknownAgent,
} from "../../../src/agents/profiles.ts";
import { AGENT_KINDS } from "../../../src/agents/registry.ts";

/** Names that would change approvals, the sandbox, hooks, servers, plugins, logins or configuration files. */
const CHANGING = [
  ...[
    "permissions",
    "allow-all",
    "autopilot",
    "approve",
    "sandbox",
    "hooks",
    "mcp",
    "mcps",
    "plugin",
    "plugins",
  ],
  ...["login", "logout", "auth", "config", "settings", "add-dir", "reset-allowed-tools", "policies", "trust"],
  ...[
    "editor",
    "keybindings",
    "memory",
    "extensions",
    "ide",
    "plan",
    "agents",
    "update-config",
    "experimental",
  ],
  ...["terminal-setup", "statusline", "theme", "vim", "exit", "quit", "setup-github", "skills", "background"],
];

/** Text that is a command, in an editor or an agent. */
const COMMANDS = ["!touch X", ":!touch X", "/permissions", "!", ":", "/", "v", "x"];

for (const kind of AGENT_KINDS) {
  const { commands, keys, menus, foldedPaste } = agentProfile(kind);

  Deno.test(`the commands that ${kind} allows change no approval [agent-commands]`, () => {
    assert.deepEqual(commands.filter((name) => CHANGING.includes(name)), []);
    assert.deepEqual(commands.filter((name) => !/^[a-z][a-z-]*$/.test(name)), []);
  });

  Deno.test(`no key of ${kind} is both allowed and forbidden [agent-keys]`, () => {
    const forbidden = [...keys.forbidden, ...keys.forbiddenWhenEmpty ?? []];
    assert.deepEqual(keys.alsoAllowed.filter((key) => forbidden.includes(key)), []);
  });

  Deno.test(`no read-only list of ${kind} accepts text that runs something [read-menus]`, () => {
    for (const [name, { text }] of Object.entries(menus)) {
      const isSearch = text?.test("a long search") ?? false;
      const taken = COMMANDS.filter((one) =>
        text?.test(one) && !(isSearch && one.length === 1 && /\w/.test(one))
      );
      assert.deepEqual(taken, [], name);
    }
  });

  Deno.test(`a folded paste of ${kind} is a whole draft [read-positive]`, () => {
    assert.equal(foldedPaste?.test("and a text besides [Pasted text #1 +39 lines]") ?? false, false);
  });
}

Deno.test("the measured agents have commands, menus and folded pastes [agent-commands, read-menus]", () => {
  for (const kind of ["cc", "codex", "gemini", "opencode", "copilot"] as const) {
    const { commands, menus, foldedPaste, measuredVersion } = agentProfile(kind);
    assert.ok(commands.length > 5 && foldedPaste !== undefined && measuredVersion !== "", kind);
    assert.deepEqual(["model", "sessions"].filter((name) => !Object.hasOwn(menus, name)), [], kind);
  }
});

for (const kind of AGENT_KINDS) {
  const { dialog } = agentProfile(kind);
  const marks = [...dialog.lines, ...dialog.titles];

  Deno.test(`the marks of ${kind} are ASCII and contain nothing that tmux expands as a time [inj-profile]`, () => {
    assert.ok(dialog.lines.length > 0);
    assert.deepEqual(marks.filter((mark) => !/^[ -$&-~]+$/.test(mark)), []);
  });

  Deno.test(`the marks of ${kind} mean the same in POSIX and in JavaScript [inj-profile]`, () => {
    assert.deepEqual(dialog.lines.filter((mark) => /\\|\(\?|[*+?}][?+]/.test(mark)), []);
  });
}

Deno.test("a pane of no known agent has the marks of all agents except the echo agent [inj-pessimistic]", () => {
  const known = AGENT_KINDS.filter((kind) => kind !== "echo").map((kind) => agentProfile(kind).dialog);
  assert.deepEqual(new Set(unknownAgent.dialog.lines), new Set(known.flatMap((marks) => marks.lines)));
  assert.deepEqual(new Set(unknownAgent.dialog.titles), new Set(known.flatMap((marks) => marks.titles)));
});

const MODULES = "/usr/lib/node_modules";

Deno.test("an agent is recognized by the name of its program [read-unrecorded]", () => {
  assert.equal(agentKindOfProgram("claude", ["claude", "--continue"]), "cc");
  assert.equal(agentKindOfProgram("/usr/local/bin/opencode", ["opencode"]), "opencode");
  assert.equal(agentKindOfProgram("cursor-agent", ["cursor-agent"]), "cursor");
});

Deno.test("an agent whose file is named after its version, or ends in .exe, is recognized by its argv [read-unrecorded]", () => {
  assert.equal(agentKindOfProgram("2.1.329", ["claude"]), "cc");
  assert.equal(agentKindOfProgram("claude.exe", ["/usr/bin/claude"]), "cc");
  assert.equal(agentKindOfProgram("opencode.exe", ["opencode", "--continue"]), "opencode");
  assert.equal(agentKindOfProgram("node", ["gemini"]), "gemini");
});

Deno.test("an agent that node runs is recognized by its script [read-unrecorded]", () => {
  const node = (...words: string[]) => agentKindOfProgram("node", ["node", ...words]);
  assert.equal(node("/usr/bin/codex"), "codex");
  assert.equal(node("--max-old-space-size=4096", "/usr/bin/gemini"), "gemini");
  assert.equal(node(`${MODULES}/@google/gemini-cli/bundle/gemini.js`), "gemini");
  assert.equal(node(`${MODULES}/@github/copilot/index.js`), "copilot");
  assert.equal(node(`${MODULES}/@openai/codex/bin/codex.js`, "resume"), "codex");
});

Deno.test("no other program is an agent, whatever its arguments are [read-unrecorded]", () => {
  const none = [
    agentKindOfProgram("bash", ["bash", "claude"]),
    agentKindOfProgram("vi", ["vi", "/usr/bin/claude"]),
    agentKindOfProgram("node", ["node"]),
    agentKindOfProgram("node", ["node", "-i"]),
    agentKindOfProgram("node", ["node", "server.js", "/usr/bin/claude"]),
    agentKindOfProgram("node", ["node", `${MODULES}/@openai/codex/node_modules/other/index.js`]),
    agentKindOfProgram("svc", ["svc", "echo-agent"]),
    agentKindOfProgram("", []),
  ];
  assert.deepEqual(none, none.map(() => undefined));
});

for (
  const [printed, version] of [
    ["2.1.329 (Claude Code)\n", "2.1.329"],
    ["codex-cli 0.169.0\n", "0.169.0"],
    ["0.61.0\n", "0.61.0"],
    ["GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.", "1.0.102"],
    ["2025.09.18-7ae6800\n", "2025.09.18-7ae6800"],
    ["1.19.0-beta.2", "1.19.0-beta.2"],
    ["not a version", undefined],
  ] as const
) {
  Deno.test(`the version in "${printed.trim()}" is ${version} [agent-versions]`, () => {
    assert.equal(parseVersion(printed), version);
  });
}

Deno.test("versions compare by their numbers, and one with a suffix is older [agent-versions]", () => {
  const sign = (left: string, right: string) => Math.sign(compareVersions(left, right) ?? NaN);
  assert.equal(sign("2.1.330", "2.1.329"), 1);
  assert.equal(sign("2.1.99", "2.1.329"), -1);
  assert.equal(sign("1.2", "1.2.0"), 0);
  assert.equal(sign("2026.01.02-abc", "2025.12.31-def"), 1);
  assert.equal(sign("1.19.0-beta.2", "1.19.0"), -1);
  assert.equal(compareVersions("unknown", "1.0"), undefined);
});

Deno.test("only a known version counts as newer than the measured one [agent-versions]", () => {
  assert.equal(isNewerThanMeasured("0.170.0", "0.169.0"), true);
  assert.equal(isNewerThanMeasured("0.169.0", "0.169.0"), false);
  assert.equal(isNewerThanMeasured(undefined, "0.169.0"), false);
  assert.equal(isNewerThanMeasured("0.170.0", ""), false);
});
