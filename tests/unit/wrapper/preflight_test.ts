/** Which project a directory belongs to; what prevents a session, in one sentence each. */
import assert from "node:assert/strict";
import { agentProfile } from "../../../src/agents/profiles.ts";
import type { RunResult } from "../../../src/runtime/types.ts";
import {
  agentCommand,
  checkTerminal,
  checkTmux,
  isTmuxTooOld,
  type PreflightHost,
  type Project,
  resolveProject,
} from "../../../src/wrapper/preflight.ts";
import { runtime } from "#runtime";

async function withTree(
  test: (
    root: string,
    resolve: (cwd: string, env?: Record<string, string>) => Promise<Project>,
  ) => Promise<void>,
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "svc-project-" }));
  try {
    await Deno.mkdir(`${root}/repo/.git`, { recursive: true });
    await Deno.mkdir(`${root}/repo/src/deep`, { recursive: true });
    await Deno.mkdir(`${root}/my.plain dir`);
    const { files } = runtime;
    await test(root, (cwd, env = {}) => resolveProject({ cwd, env, files }));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("the editors' variables come first, in their order [wrap-dir-env, wr-basename]", () =>
  withTree(async (root, resolve) => {
    const env = { WINDSURF_PROJECT_DIR: "/w/wind", CURSOR_PROJECT_DIR: "/c/curs" };
    const all = { ...env, CLAUDE_PROJECT_DIR: "/a/claude/" };
    assert.equal((await resolve(`${root}/repo`, all)).name, "claude");
    assert.equal((await resolve(`${root}/repo`, env)).name, "curs");
    assert.equal((await resolve(`${root}/repo`, { ...env, CURSOR_PROJECT_DIR: "" })).name, "wind");
  }));

Deno.test("otherwise the project is the root of the git repository, from anywhere in it [wrap-dir-git]", () =>
  withTree(async (root, resolve) => {
    assert.deepEqual(await resolve(`${root}/repo/src/deep`), { name: "repo", root: `${root}/repo` });
    assert.deepEqual(await resolve(`${root}/repo`), { name: "repo", root: `${root}/repo` });
  }));

Deno.test("a worktree, whose .git is a file, is a separate repository", () =>
  withTree(async (root, resolve) => {
    await Deno.writeTextFile(`${root}/repo/src/.git`, "gitdir: elsewhere");
    assert.equal((await resolve(`${root}/repo/src/deep`)).name, "src");
  }));

Deno.test("otherwise the project is the working directory; odd characters become _ [wrap-dir-cwd, wr-underscore]", () =>
  withTree(async (root, resolve) => {
    const directory = `${root}/my.plain dir`;
    assert.deepEqual(await resolve(directory), { name: "my_plain_dir", root: directory });
    assert.deepEqual(await resolve("/"), { name: "project", root: "/" });
  }));

Deno.test("a link and its directory are one project", () =>
  withTree(async (root, resolve) => {
    await Deno.symlink(`${root}/repo`, `${root}/link`);
    const linked = await resolve(root, { CLAUDE_PROJECT_DIR: `${root}/link` });
    assert.deepEqual(linked, { name: "link", root: `${root}/repo` });
  }));

interface Machine {
  programs?: Record<string, string>;
  tmux?: string;
  terminal?: boolean;
}

function host({ programs = {}, tmux, terminal = true }: Machine): PreflightHost {
  const answer: RunResult = {
    code: tmux === undefined ? 127 : 0,
    stdout: new TextEncoder().encode(`${tmux}\n`),
    stderr: "",
  };
  return {
    commands: {
      run: () => Promise.resolve(answer),
      which: (program) => Promise.resolve(programs[program]),
    },
    terminal: { isInputTerminal: () => terminal, isOutputTerminal: () => terminal },
    selfCommand: () => ["deno", "run", "cli.ts"],
  };
}

const claude = agentProfile("cc");

Deno.test("the agent's program is the one on PATH, with its own first arguments", async () => {
  const machine = host({ programs: { claude: "/bin/claude" } });
  assert.deepEqual(await agentCommand(machine, claude), ["/bin/claude", ...claude.args]);
});

Deno.test("the built-in agent is svc itself", async () => {
  assert.deepEqual(await agentCommand(host({}), agentProfile("echo")), [
    "deno",
    "run",
    "cli.ts",
    "echo-agent",
  ]);
});

Deno.test("a missing agent is reported with the command that installs it [wr-no-agent]", async () => {
  await assert.rejects(
    agentCommand(host({}), claude),
    new Error(`Cannot start Claude: "claude" is not on PATH. Install it with: ${claude.install}`),
  );
});

Deno.test("the editor's launcher is not mistaken for its terminal agent [spec-cursor-binary]", async () => {
  const machine = host({ programs: { cursor: "/bin/cursor" } });
  await assert.rejects(agentCommand(machine, agentProfile("cursor")), /"cursor-agent" is not on PATH/);
});

Deno.test("a missing tmux is reported with this system's install command [wrap-tmux, wr-no-tmux]", async () => {
  const debian = host({ programs: { "apt-get": "/usr/bin/apt-get" } });
  await assert.rejects(
    checkTmux(debian, claude, { running: "" }),
    /^Error: Cannot start Claude: tmux is not installed\. Install it with: sudo apt-get install -y tmux$/,
  );
  const mac = host({ programs: { brew: "/opt/homebrew/bin/brew" } });
  await assert.rejects(checkTmux(mac, claude, { running: "" }), /brew install tmux$/);
  await assert.rejects(
    checkTmux(host({}), claude, { running: "" }),
    /Install it as described at https:\/\/github\.com\/tmux/,
  );
});

Deno.test("a tmux that is too old is reported with its version; a running server's version counts [wr-no-tmux]", async () => {
  const old = /tmux 2\.9 is too old: svc needs 3\.2 or newer/;
  await assert.rejects(checkTmux(host({ tmux: "tmux 2.9" }), claude, { running: "" }), old);
  await assert.rejects(checkTmux(host({ tmux: "tmux 3.3a" }), claude, { running: "2.9" }), old);
  await checkTmux(host({ tmux: "tmux 3.3a" }), claude, { running: "" });
  await checkTmux(host({}), claude, { running: "3.3a" });
});

Deno.test("without a terminal the error names --detach [wr-no-terminal]", () => {
  checkTerminal(host({}), claude);
  assert.throws(() => checkTerminal(host({ terminal: false }), claude), /not a terminal.*svc --detach cc/);
});

Deno.test("3.2 and later are accepted, however tmux prints its version [wr-no-tmux]", () => {
  for (const version of ["tmux 3.2", "tmux 3.3a", "tmux 4.0", "tmux next-3.5", "tmux 3.10", "tmux master"]) {
    assert.equal(isTmuxTooOld(version), false, version);
  }
  assert.equal(isTmuxTooOld("tmux openbsd-7.4"), false);
  for (const version of ["tmux 3.1c", "tmux 2.9", "tmux 1.8"]) {
    assert.equal(isTmuxTooOld(version), true, version);
  }
});
