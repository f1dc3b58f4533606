/** `svc <agent>` on real terminals, with real tmux. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { until } from "../helpers/until.ts";
import {
  type AgentStart,
  makeWrapperBench,
  type Terminal,
  type WrapperBench,
} from "../helpers/wrapper_bench.ts";

async function attached(bench: WrapperBench, name: string): Promise<void> {
  await until(`a client of ${name}`, async () => (await bench.sessions())[name]);
}

async function shows(terminal: Terminal, text: string): Promise<void> {
  await until(`"${text}" on the terminal`, async () => (await terminal.screen()).includes(text));
}

/** Presses tmux's keys for "detach". */
async function leave(terminal: Terminal): Promise<void> {
  await terminal.keys("C-b", "d");
  assert.equal(await terminal.exitCode(), 0);
}

Deno.test("the agent runs in svc-<project> with its arguments unchanged, as the pane's own process [wrap-name, spec-agent-kinds, spec-args, cmd-agent, cli-agent-help, cli-options-first, cli-detach, con-detach, wr-own-process, wr-session-env, wr-options]", async () => {
  await using bench = await makeWrapperBench();
  const args = ["--help", "--version", "--", "a;", "", "two words", "$HOME", "#{pane_id}", "-x=~", "é\n2"];
  const { code, stdout } = await bench.svc(["--detach", "cc", ...args]);
  assert.deepEqual([code, stdout], [0, "svc-proj\n"]);
  const [start] = await until("the agent's start", async () => {
    const starts = await bench.starts();
    return starts.length > 0 && starts;
  });
  assert.deepEqual(start?.args, args);
  assert.equal(start?.env.SVC_SESSION, "svc-proj");
  const others = await bench.sandbox.tmux("show-environment", "-t", "=svc-proj:");
  assert.doesNotMatch(others, /SVC_SESSION/, "another window is not the agent");
  const { tmux, project } = bench.sandbox;
  const format =
    "#{pane_pid} #{@svc_agent} #{@svc_project} #{@svc_dir} #{@svc_pid} #{@svc_version} #{pane_id}=#{@svc_pane}";
  const [pid, agent, name, directory, recordedPid, version, panes] = (await tmux(
    ...["display-message", "-p", "-t", "=svc-proj:", format],
  )).trim().split(" ");
  assert.deepEqual([pid, recordedPid], [String(start?.pid), String(start?.pid)]);
  assert.deepEqual([agent, name, directory], ["cc", "proj", await Deno.realPath(project)]);
  assert.match(version ?? "", /^\d+\.\d+\.\d+/);
  assert.equal(...(panes?.split("=") as [string, string]));
});

Deno.test("a user's hook that opens panes, fails or prints does not change which pane is recorded as the agent's [wr-user-hooks]", async (t) => {
  await using bench = await makeWrapperBench();
  const { tmux, newSession } = bench.sandbox;
  await newSession("keep", ["sleep", "1000"]);
  const hooks = [
    ...["split-window", "split-window -b", "new-window", "display-message -p noise"],
    ...["select-pane -t nosuch:", "new-window ; select-pane -t nosuch:"],
  ];
  for (const hook of hooks) {
    await t.step(hook, async () => {
      await tmux("set-hook", "-g", "after-new-session", hook);
      const before = (await bench.starts()).map(({ pid }) => pid);
      const { code, stdout, stderr } = await bench.svc(["--detach", "cc"]);
      assert.deepEqual([code, stdout], [0, "svc-proj\n"], stderr);
      const start = await until("the agent's start", async () => {
        return (await bench.starts()).find(({ pid }) => !before.includes(pid));
      });
      const format = "#{?#{==:#{pane_pid},#{@svc_pid}},#{pane_pid} #{pane_id} #{@svc_pane} #{@svc_agent},}";
      const found = (await tmux("list-panes", "-s", "-t", "=svc-proj", "-F", format)).trim().split(" ");
      const [pid, pane, recorded, agent] = found;
      assert.deepEqual([pid, pane, agent], [String(start.pid), recorded, "cc"]);
      const kept = await tmux("show-options", "-p", "-v", "-t", pane ?? "", "remain-on-exit");
      assert.equal(kept.trim(), "off");
    });
    await tmux("kill-session", "-t", "=svc-proj");
  }
});

Deno.test("a user's hook that renames the new session is followed: the name that is printed exists [wr-user-hooks]", async () => {
  await using bench = await makeWrapperBench();
  const { tmux, newSession } = bench.sandbox;
  await newSession("keep", ["sleep", "1000"]);
  for (const event of ["after-new-session", "session-created"]) {
    await tmux("set-hook", "-g", event, `rename-session ${event}`);
    const { code, stdout, stderr } = await bench.svc(["--detach", "cc"]);
    await tmux("set-hook", "-gu", event);
    assert.deepEqual([code, stdout], [0, `${event}\n`], stderr);
    const agent = await tmux("display-message", "-p", "-t", `=${event}:`, "#{@svc_agent}");
    assert.equal(agent.trim(), "cc");
  }
});

Deno.test("an agent gets what it needs to wait for the phone in its environment or its arguments [wr-wait-env]", async () => {
  await using bench = await makeWrapperBench();
  const started = async (kind: string): Promise<AgentStart> => {
    const before = (await bench.starts()).map(({ pid }) => pid);
    assert.equal((await bench.svc(["--detach", kind, "--word"])).code, 0);
    return await until("the agent's start", async () => {
      return (await bench.starts()).find(({ pid }) => !before.includes(pid));
    });
  };
  // Otherwise Claude puts a question into the background after two minutes.
  assert.equal((await started("cc")).env.CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS, "0");
  // Otherwise hooks and tools would run in a server that other sessions share.
  assert.deepEqual((await started("codex")).args, ["--disable", "daemon_auto_start", "--word"]);
});

Deno.test("an agent in a folder with = in its name is the pane's own process, with its arguments [wr-own-process, spec-args]", async () => {
  await using bench = await makeWrapperBench();
  const bin = `${bench.sandbox.root}/a=b`;
  await Deno.rename(bench.bin, bin);
  const args = ["--x", "", "two words", "$HOME"];
  const env = { PATH: `${bin}:${bench.sandbox.env.PATH}` };
  assert.equal((await bench.svc(["--detach", "cc", ...args], { env })).stdout, "svc-proj\n");
  const [start] = await until("the agent's start", async () => {
    const starts = await bench.starts();
    return starts.length > 0 && starts;
  });
  assert.deepEqual([start?.args, start?.env.SVC_SESSION], [args, "svc-proj"]);
  const pid = await bench.sandbox.tmux("display-message", "-p", "-t", "=svc-proj:", "#{pane_pid}");
  assert.equal(pid.trim(), String(start?.pid));
});

Deno.test("an attached session leads to the next number, and a detached one is attached again [wrap-next, wrap-reattach, state-none, state-attached, state-detached]", async () => {
  await using bench = await makeWrapperBench();
  const first = await bench.terminal(["cc"]);
  await attached(bench, "svc-proj");
  const second = await bench.terminal(["cc"]);
  await attached(bench, "svc-proj-2");
  const third = await bench.terminal(["cc"]);
  await attached(bench, "svc-proj-3");
  await leave(second);
  const again = await bench.terminal(["cc", "new", "words"]);
  await attached(bench, "svc-proj-2");
  assert.equal(Object.keys(await bench.sessions()).length, 3);
  const starts = await until("three agents", async () => {
    const found = await bench.starts();
    return found.length >= 3 && found;
  });
  assert.equal(starts.length, 3);
  for (const terminal of [first, third, again]) await leave(terminal);
  assert.match(
    await again.screen(),
    /detached[^]*Reattached to svc-proj-2, which was already running: the arguments .* were not used/,
  );
});

Deno.test("a control-mode client does not count as attached [wr-control-client]", async () => {
  await using bench = await makeWrapperBench();
  await bench.svc(["--detach", "cc"]);
  const control = new Deno.Command("tmux", {
    args: ["-S", bench.sandbox.tmuxSocket, "-C", "attach-session", "-t", "=svc-proj"],
    stdin: "piped",
    stdout: "piped",
    env: bench.sandbox.env,
    clearEnv: true,
  }).spawn();
  await attached(bench, "svc-proj");
  assert.equal((await bench.svc(["--detach", "cc"])).stdout, "svc-proj\n");
  await control.stdin.close();
  // tmux 3.3a may never end a client whose output is closed before it has been written.
  await control.output();
});

Deno.test("each kind of agent has separate sessions; names match exactly [wr-lowest, wr-exact]", async () => {
  await using bench = await makeWrapperBench();
  assert.equal((await bench.svc(["--detach", "cc"])).stdout, "svc-proj\n");
  assert.equal((await bench.svc(["--detach", "codex"])).stdout, "svc-proj-2\n");
  await bench.sandbox.tmux("kill-session", "-t", "=svc-proj");
  assert.equal((await bench.svc(["--detach", "cc"])).stdout, "svc-proj\n");
  assert.deepEqual(Object.keys(await bench.sessions()).sort(), ["svc-proj", "svc-proj-2"]);
});

Deno.test("a directory with dots and spaces gives a name that tmux keeps [wr-underscore]", async () => {
  await using bench = await makeWrapperBench();
  const cwd = `${bench.sandbox.root}/my.pro #{x} ü`;
  await Deno.mkdir(cwd);
  const { stdout } = await bench.svc(["--detach", "cc"], { cwd });
  assert.match(stdout, /^svc-my_pro___x___\n$/);
  await until("the agent's start in its directory", async () => (await bench.starts())[0]?.cwd === cwd);
  assert.deepEqual(Object.keys(await bench.sessions()), [stdout.trim()]);
});

Deno.test("an agent starts in its folder, whatever the folder's name means in a format of tmux [wr-own-process]", async () => {
  await using bench = await makeWrapperBench();
  for (const [index, name] of ["a#[b", "a##[b]", "#[", "a###,#}b", "#(x)#{y}%Y"].entries()) {
    const cwd = `${bench.sandbox.root}/${name}`;
    await Deno.mkdir(cwd);
    assert.equal((await bench.svc(["--detach", "cc"], { cwd })).code, 0);
    await until("the agent's start", async () => (await bench.starts()).length === index + 1);
    assert.ok((await bench.starts()).some((start) => start.cwd === cwd), name);
  }
});

Deno.test("the output of an agent that exits at once stays on the terminal; if tmux lost it, the terminal says how to see it", async () => {
  await using bench = await makeWrapperBench();
  /** Returns whether the output is shown. tmux loses about one in a hundred. */
  const run = async (): Promise<boolean> => {
    const terminal = await bench.terminal(["cc", "--say", "claude 9.9.9", "7"]);
    await terminal.exitCode();
    const screen = async (): Promise<string> => (await terminal.screen()).replaceAll("\n", " ");
    const advice = /To see what it prints: claude --say 'claude 9\.9\.9' 7/;
    const shown = await until("the output, or how to see it", async () => {
      const now = await screen();
      return advice.test(now) ? "advice" : now.includes("claude 9.9.9") && "output";
    });
    assert.doesNotMatch(await screen(), /can't find session/);
    assert.deepEqual(await bench.sessions(), {});
    return shown === "output";
  };
  let runs = 1;
  while (!await run()) assert.ok(++runs <= 5, "five outputs were lost");
});

Deno.test("an agent that prints nothing and exits at once is reported", async () => {
  await using bench = await makeWrapperBench();
  const terminal = await bench.terminal(["cc", "--say", "", "7"]);
  await shows(terminal, "Claude ended at once, and nothing that it printed came through tmux.");
});

Deno.test("an agent without a terminal that ends at once is reported by the exit code and on stderr [cli-detach]", async () => {
  await using bench = await makeWrapperBench();
  await Deno.remove(`${bench.bin}/claude`);
  await Deno.symlink("/bin/false", `${bench.bin}/claude`);
  const run = async (): Promise<boolean> => {
    const { code, stdout, stderr } = await bench.svc(["--detach", "cc", "--effort", "two words"]);
    assert.equal(stdout, code === 0 ? "svc-proj\n" : "");
    if (code === 0) return false;
    assert.equal(code, 1);
    assert.match(stderr, /^svc: Claude ended at once\.$/m);
    assert.match(stderr, /^svc: To see what it prints: claude --effort 'two words'$/m);
    return true;
  };
  // On a busy machine the agent may end later than svc waits.
  let runs = 1;
  while (!await run()) {
    assert.ok(++runs <= 20, "twenty ends were missed");
    await until("the session's end", async () => Object.keys(await bench.sessions()).length === 0);
  }
});

Deno.test("an agent keeps running without a terminal, whatever the user's tmux.conf sets for servers and sessions without one [wr-own-process, cli-detach]", async () => {
  await using bench = await makeWrapperBench();
  const { tmux, home } = bench.sandbox;
  await Deno.writeTextFile(
    `${home}/.tmux.conf`,
    "set -s exit-unattached on\nset -g destroy-unattached on\nset -g remain-on-exit on\n",
  );
  const { code, stdout, stderr } = await bench.svc(["--detach", "cc"]);
  assert.deepEqual([code, stdout], [0, "svc-proj\n"], stderr);
  await until("the agent's start", async () => (await bench.starts()).length > 0);
  assert.deepEqual(await bench.sessions(), { "svc-proj": 0 });
  const terminal = await bench.terminal(["cc"]);
  await attached(bench, "svc-proj");
  await leave(terminal);
  assert.deepEqual(await bench.sessions(), { "svc-proj": 0 });
  await tmux("send-keys", "-t", "=svc-proj:", "leave", "Enter");
  await until("the session's end", async () => Object.keys(await bench.sessions()).length === 0);
});

Deno.test("a pipe that the user has opened on the agent's pane stays open when the terminal detaches", async () => {
  await using bench = await makeWrapperBench();
  const { tmux, root, svcHome } = bench.sandbox;
  const terminal = await bench.terminal(["cc"]);
  await shows(terminal, "agent is ready");
  await tmux("pipe-pane", "-t", "=svc-proj:", `cat > ${root}/log`);
  await leave(terminal);
  assert.equal((await tmux("display-message", "-p", "-t", "=svc-proj:", "#{pane_pipe}")).trim(), "1");
  await tmux("send-keys", "-t", "=svc-proj:", "still logged", "Enter");
  await until(
    "a line in the user's log",
    // The pipe's shell may not have made the file yet.
    async () => (await Deno.readTextFile(`${root}/log`).catch(() => "")).includes("still logged"),
  );
  assert.deepEqual([...Deno.readDirSync(`${svcHome}/last-words`)], []);
});

Deno.test("an agent starts even if svc cannot write, as on a full or read-only disk", async () => {
  await using bench = await makeWrapperBench();
  const { svcHome } = bench.sandbox;
  await Deno.mkdir(svcHome, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(`${svcHome}/last-words`, "in the way of the folder");
  const terminal = await bench.terminal(["cc", "7"]);
  await attached(bench, "svc-proj");
  await leave(terminal);
  assert.deepEqual(await bench.sessions(), { "svc-proj": 0 });
});

Deno.test("on a terminal that tmux cannot use, the wrapper says that the session continues, and how to attach it", async () => {
  await using bench = await makeWrapperBench();
  // The first run starts the session, the second would attach it.
  for (const _ of ["new", "there already"]) {
    const terminal = await bench.terminal(["codex"], { env: { TERM: "dumb" } });
    assert.equal(await terminal.exitCode(), 1);
    const shown = (await terminal.screen()).replaceAll("\n", "");
    assert.match(shown, /open terminal failed/);
    assert.match(
      shown,
      /svc: Cannot attach: tmux cannot use the terminal "dumb" \(TERM\)\. svc-proj goes on without it/,
    );
    assert.ok(shown.includes(`run: tmux -S ${bench.sandbox.tmuxSocket} attach -t svc-proj`), shown);
    assert.deepEqual(await bench.sessions(), { "svc-proj": 0 });
  }
});

Deno.test("exiting the agent ends the session and the wrapper [wr-own-process]", async () => {
  await using bench = await makeWrapperBench();
  const terminal = await bench.terminal(["cc"]);
  await shows(terminal, "agent is ready");
  await terminal.keys("leave", "Enter");
  assert.equal(await terminal.exitCode(), 0);
  assert.deepEqual(await bench.sessions(), {});
});

Deno.test("an agent that ignores SIGHUP is killed with its session [wr-leftovers]", async () => {
  await using bench = await makeWrapperBench();
  const terminal = await bench.terminal(["gemini", "--deaf"]);
  await shows(terminal, "agent is ready");
  const [start] = await bench.starts();
  await bench.sandbox.tmux("kill-session", "-t", "=svc-proj");
  await terminal.exitCode();
  assert.ok(start);
  await until("the agent's end", () => !runtime.commands.kill(start.pid, 0));
});

Deno.test("inside tmux the agent runs in the current pane, without a separate session [wrap-inside-tmux, wrap-inside-untargeted]", async () => {
  await using bench = await makeWrapperBench();
  const terminal = await bench.terminal(["cc", "--", "x"], {
    env: { TMUX: "/elsewhere,1,0", SVC_SESSION: "svc-another" },
  });
  await shows(terminal, "agent is ready");
  const screen = await terminal.screen();
  assert.match(screen, /Already inside tmux: Claude runs in this pane, where the phone cannot reach it/);
  assert.match(screen, /a session that the phone can reach: svc --detach cc$/m);
  const [start] = await bench.starts();
  assert.deepEqual(start?.args, ["--", "x"]);
  assert.equal(start?.env.SVC_SESSION, undefined);
  assert.deepEqual(await bench.sessions(), {});
  await terminal.keys("leave", "Enter");
  assert.equal(await terminal.exitCode(), 0);
});

Deno.test("an old tmux server does not hand its stale environment to the agent", async () => {
  await using bench = await makeWrapperBench();
  const { env, tmuxSocket } = bench.sandbox;
  await new Deno.Command("tmux", {
    args: ["-S", tmuxSocket, "new-session", "-d", "-s", "old", "cat"],
    env: { ...env, STALE: "1", CHANGED: "old", PATH: `/nowhere:${env.PATH}` },
    clearEnv: true,
  }).output();
  const fresh = { CHANGED: "new", LONG: "x".repeat(40_000), ODD: 'two\nlines; "quoted" #{x} ~' };
  const { code } = await bench.svc(["--detach", "cc"], { env: fresh });
  assert.equal(code, 0);
  const [start] = await until("the agent's start", async () => {
    const starts = await bench.starts();
    return starts.length > 0 && starts;
  });
  assert.equal(start?.env.STALE, undefined);
  assert.deepEqual({ ...fresh, PATH: env.PATH }, {
    CHANGED: start?.env.CHANGED,
    LONG: start?.env.LONG,
    ODD: start?.env.ODD,
    PATH: start?.env.PATH,
  });
  assert.match(start?.env.TERM ?? "", /^(screen|tmux)/);
});

Deno.test("a relative SVC_HOME is absolute in the agent's environment, because its hooks run in other folders [cli-home]", async () => {
  await using bench = await makeWrapperBench();
  const { code } = await bench.svc(["--detach", "cc"], { env: { SVC_HOME: "../home/.svc" } });
  assert.equal(code, 0);
  const [start] = await until("the agent's start", async () => {
    const starts = await bench.starts();
    return starts.length > 0 && starts;
  });
  assert.match(start?.env.SVC_HOME ?? "", /^\/.*\/home\/\.svc$/);
});

interface Obstacle {
  name: string;
  args: string[];
  /** Whether PATH lacks tmux. */
  bare?: boolean;
  env?: Record<string, string>;
  says: RegExp;
}

const OBSTACLES: Obstacle[] = [
  { name: "no terminal [wr-no-terminal]", args: ["cc"], says: /this is not a terminal.*svc --detach cc/ },
  {
    name: "no agent [wr-no-agent]",
    args: ["--detach", "copilot"],
    says: /"copilot" is not on PATH\. Install it with: npm/,
  },
  {
    name: "no tmux [wrap-tmux, wr-no-tmux]",
    args: ["--detach", "cc"],
    bare: true,
    says: /Cannot start Claude: tmux is not installed\. Install it as described at https:\S+/,
  },
  {
    name: "no folder for the socket",
    args: ["--detach", "cc"],
    env: { SVC_TMUX_SOCKET: "/tmp/absent/svc.sock" },
    says: /Cannot start Claude: tmux: error creating \/tmp\/absent\/svc\.sock \(No such file or directory\)/,
  },
];

for (const { name, args, bare, env, says } of OBSTACLES) {
  Deno.test(`one sentence, exit 1 and nothing left behind: ${name}`, async () => {
    await using bench = await makeWrapperBench();
    const { code, stdout, stderr } = await bench.svc(args, {
      env: { ...env, ...(bare && { PATH: bench.bin }) },
    });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, says);
    assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
    assert.deepEqual(await bench.sessions(), {});
    assert.deepEqual(await bench.starts(), []);
  });
}

Deno.test("a start that fails in tmux reports to the listener by its exit code that the agent may exist [keep-once]", async () => {
  await using bench = await makeWrapperBench();
  const env = { SVC_TMUX_SOCKET: "/tmp/absent/svc.sock" };
  const codes: number[] = [];
  for (const args of [["cc"], ["--by-listener", "cc"], ["--by-listener", "copilot"]]) {
    codes.push((await bench.svc(["--detach", ...args], { env })).code);
  }
  assert.deepEqual(codes, [1, 128, 1], "the last agent is not installed");
});

Deno.test("without a paired phone one line says so, and the agent starts", async () => {
  await using bench = await makeWrapperBench();
  const { code, stderr } = await bench.svc(["--detach", "cc"]);
  assert.deepEqual([code, stderr], [0, "svc: The phone is not set up on this machine: run svc up.\n"]);
});

Deno.test("a file that SVC_TMUX_SOCKET names by mistake is kept, and the error says what to set [sock-no-file]", async () => {
  await using bench = await makeWrapperBench();
  const file = `${bench.bin}/notes.txt`;
  await Deno.writeTextFile(file, "my notes\n");
  const { code, stderr } = await bench.svc(["--detach", "cc"], { env: { SVC_TMUX_SOCKET: file } });
  assert.equal(await Deno.readTextFile(file), "my notes\n");
  assert.equal(code, 1);
  assert.match(stderr, /Cannot use ".*notes\.txt" as the tmux socket: .*Set SVC_TMUX_SOCKET/);
});
