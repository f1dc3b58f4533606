/** No shell ever gets a message: after an agent's exit, in login shells, in shells under an agent, and at an exit between guard and typing. */
import assert from "node:assert/strict";
import { EarlyPanes, findPane } from "../../src/listener/inject/find_pane.ts";
import { inject } from "../../src/listener/inject/inject.ts";
import { makeInjectBench } from "../helpers/inject_bench.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";
import { DEFAULT_POLICY } from "../helpers/fake_pane.ts";

/** Without this the listener's own check would refuse the unknown agent. */
const UNKNOWN_ALLOWED = { ...DEFAULT_POLICY, allowUnknownScreens: true };
const RACES = 200;
const ANNOUNCED_RACES = 20;
const RETYPE_LOOKS = 100;
const CLEAR_PROMPT = /^ready>\s*$/;

interface ShellPane {
  /** Types a command at the shell's empty prompt, as a person would, until the pane runs it. */
  start(line: string, isRunning: (command: string) => boolean): Promise<void>;
  /** Runs a program that reads in raw mode; resolves with its pid once it reads. */
  startAgent(): Promise<number>;
  command(): Promise<string>;
  /** Resolves with the line of the shell's last prompt. */
  promptLine(): Promise<string>;
  /** Removes unread input of the agent. */
  clearPrompt(): Promise<void>;
}

/** Makes a pane with an interactive shell, which runs the agent as its child. */
async function makeShellPane(sandbox: Sandbox, argv: string[]): Promise<ShellPane> {
  await Deno.writeTextFile(
    `${sandbox.root}/agent`,
    `stty raw -echo; echo $$ > ${sandbox.root}/pid; exec cat > /dev/null\n`,
  );
  await sandbox.newSession("svc-a", argv);
  const print = async (format: string): Promise<string> =>
    (await sandbox.tmux("display-message", "-p", "-t", "=svc-a:", format)).trim();
  const command = (): Promise<string> => print("#{pane_current_command}");
  const promptLine = async (): Promise<string> =>
    (await sandbox.screen("svc-a")).split("\n").findLast((line) => line.startsWith("ready>")) ?? "";
  await until("the prompt", promptLine);
  const start = async (line: string, isRunning: (command: string) => boolean): Promise<void> => {
    let looks = 0;
    await until(`${line} in the pane`, async () => {
      if (isRunning(await command())) return true;
      // A shell that takes back its terminal may lose a key, so the line is typed again.
      if (looks++ % RETYPE_LOOKS > 0 || !CLEAR_PROMPT.test(await promptLine())) return false;
      await sandbox.tmux("send-keys", "-t", "=svc-a:", line, "Enter");
      return false;
    });
  };
  return {
    command,
    promptLine,
    start,
    async clearPrompt(): Promise<void> {
      await until("the prompt after the agent", async () => (await command()) === "bash");
      let looks = 0;
      await until("a clear prompt", async () => {
        // Sent at least once: the prompt may be drawn before the shell reads what was left for it. A shell that takes
        // back its terminal may also lose this key and everything before it.
        if (looks++ % RETYPE_LOOKS === 0) await sandbox.tmux("send-keys", "-t", "=svc-a:", "C-c");
        return CLEAR_PROMPT.test(await promptLine());
      });
    },
    async startAgent(): Promise<number> {
      await start(`sh ${sandbox.root}/agent`, (command) => command === "cat");
      return Number(await Deno.readTextFile(`${sandbox.root}/pid`));
    },
  };
}

const BASH = ["env", "PS1=ready> ", "bash", "--norc", "--noprofile", "-i"];

Deno.test("guard: an agent that exits between guard and typing leaves nothing to its shell, 200 times [show-race, sec-no-shell, sec-guard-atomic, inj-guard-atomic]", async () => {
  await using sandbox = await makeSandbox();
  const pane = await makeShellPane(sandbox, BASH);
  const canary = `${sandbox.root}/canary`;
  let agent = 0;
  let waits = false;
  await using bench = makeInjectBench(sandbox, {
    // The listener's check of the pane has passed, so only tmux's guard remains.
    record: async (_id, step) => {
      if (step !== "typing") return;
      Deno.kill(agent, "SIGKILL");
      if (waits) await until("the shell", async () => (await pane.command()) === "bash");
    },
    rateLimit: { take: () => 0 },
    policy: UNKNOWN_ALLOWED,
  });
  for (let race = 0; race < RACES; race++) {
    waits = race % 2 === 0;
    agent = await pane.startAgent();
    const outcome = await bench.send("svc-a", `touch ${canary}\ntouch ${canary}\n`);
    assert.equal(outcome.reason, "shell_in_pane", `race ${race}`);
    // A dying process keeps the terminal for a moment: its unread input appears at the prompt, and must not run.
    if (waits) assert.equal(outcome.state, "refused", `race ${race}`);
    await pane.clearPrompt();
    // Checked before the test types a command itself.
    await assert.rejects(Deno.stat(canary), Deno.errors.NotFound, `race ${race}`);
  }
});

Deno.test("guard: an agent that exits after a message was announced leaves nothing to its shell, 20 times [sec-no-shell, sec-guard-atomic, inj-early]", async () => {
  await using sandbox = await makeSandbox();
  const pane = await makeShellPane(sandbox, BASH);
  const canary = `${sandbox.root}/canary`;
  let checks = 0;
  await using bench = makeInjectBench(sandbox, {
    isMuted: () => Promise.resolve(++checks < 0),
    rateLimit: { take: () => 0 },
    policy: UNKNOWN_ALLOWED,
    // The early check never expires.
    elapsed: () => 0,
  });
  const early = new EarlyPanes(bench.context);
  for (let race = 0; race < ANNOUNCED_RACES; race++) {
    const agent = await pane.startAgent();
    await findPane("svc-a", bench.context);
    const before = checks;
    const id = crypto.randomUUID();
    early.expect({ id, agentSessionName: "svc-a" });
    await until("the check", () => checks > before);
    Deno.kill(agent, "SIGKILL");
    await until("the shell", async () => (await pane.command()) === "bash");
    const body = `touch ${canary}\ntouch ${canary}\n`;
    const message = { id, session: "svc-a", body, expiresAt: Infinity, sendAnyway: false };
    const { state, reason } = await inject({ ...message, turn: { step: "waiting" } }, bench.context, early);
    assert.deepEqual([state, reason], ["refused", "shell_in_pane"], `race ${race}`);
    await pane.clearPrompt();
    await assert.rejects(Deno.stat(canary), Deno.errors.NotFound, `race ${race}`);
  }
});

/** Runs `cat` in the foreground, as a shell does, but never reaps it. Writes its pid into `$ARGV[0]`. */
const SLOW_SHELL = `
  $SIG{TTOU} = "IGNORE";
  my $agent = fork // die;
  if (!$agent) { setpgid(0, 0); tcsetpgrp(0, $$); exec "cat" }
  open my $file, ">", $ARGV[0]; print $file $agent; close $file;
  sleep 1 while 1;
`;

Deno.test("guard: a dead agent, not yet reaped by its shell, gets neither text nor Enter [sec-no-shell, sec-guard-atomic]", async () => {
  for (const step of ["typing", "typed"]) {
    await using sandbox = await makeSandbox();
    const [shell, pidFile] = [`${sandbox.root}/bash`, `${sandbox.root}/pid`];
    await Deno.copyFile("/usr/bin/perl", shell);
    const argv = ["env", shell, "-MPOSIX", "-e", SLOW_SHELL, pidFile];
    await sandbox.newSession("svc-a", argv);
    const foreground = (): Promise<string> =>
      sandbox.tmux("display-message", "-p", "-t", "=svc-a:", "#{pane_current_command}");
    await until("the agent", async () => (await foreground()).trim() === "cat");
    const agent = await until("its pid", () => Deno.readTextFile(pidFile).catch(() => ""));
    await using bench = makeInjectBench(sandbox, {
      record: async (_id, reached) => {
        if (reached !== step) return;
        Deno.kill(Number(agent), "SIGKILL");
        await until("its death", async () => / Z /.test(await Deno.readTextFile(`/proc/${agent}/stat`)));
      },
      policy: UNKNOWN_ALLOWED,
    });
    const { state, reason } = await bench.send("svc-a", "echo reached");
    const expected = step === "typing" ? "refused" : "typed";
    assert.deepEqual([state, reason], [expected, "shell_in_pane"], `dead at ${step}`);
  }
});

Deno.test("guard: no message goes to an exited agent's shell, a login shell, or a shell that the agent started [show-shell, err-shell, inj-2-guard]", async () => {
  const login = ["bash", "-c", "export PS1='ready> '; exec -a -bash bash --norc --noprofile -i"];
  const fromAgent = ["env", "PS1=ready> ", "perl", "-e", 'system("bash", "--norc", "--noprofile", "-i")'];
  const disguised = ["bash", "-c", "export PS1='ready> '; exec -a claude bash --norc --noprofile -i"];
  for (const argv of [BASH, login, fromAgent, disguised]) {
    await using sandbox = await makeSandbox();
    await using bench = makeInjectBench(sandbox);
    const pane = await makeShellPane(sandbox, argv);
    const outcome = await bench.send("svc-a", "echo reached");
    assert.deepEqual([outcome.state, outcome.reason], ["refused", "shell_in_pane"], argv.join(" "));
    assert.match(await pane.promptLine(), CLEAR_PROMPT);
  }
});

Deno.test("guard: a program that does not read what is typed leaves nothing to the shell below it [sec-no-shell]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox, { rateLimit: { take: () => 0 } });
  const canary = `${sandbox.root}/canary`;
  const [build, go] = [`${sandbox.root}/build`, `${sandbox.root}/go`];
  await Deno.writeTextFile(build, `until [ -e ${go} ]; do sleep 0.05; done\n`);
  const pane = await makeShellPane(sandbox, BASH);
  for (const program of ["timeout 60", "perl -e 'system @ARGV'", "setsid -w", "env -i timeout 60"]) {
    await pane.start(`${program} sh ${build}`, (command) => command !== "bash");
    for (const body of [`touch ${canary}`, `touch ${canary}\ntouch ${canary}\n`, `/tmp ; touch ${canary}`]) {
      const { state, reason } = await bench.send("svc-a", body);
      assert.deepEqual([state, reason], ["refused", "shell_in_pane"], `${program}: ${body}`);
    }
    await Deno.writeTextFile(go, "");
    await pane.clearPrompt();
    await Deno.remove(go);
    await assert.rejects(Deno.stat(canary), Deno.errors.NotFound, program);
  }
});

Deno.test("guard: a respawned pane is no longer the recorded agent [inj-guard-tree]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  await sandbox.newSession("svc-a", ["cat"]);
  const facts = (await sandbox.tmux("display-message", "-p", "-t", "=svc-a:", "#{pane_id} #{pane_pid}"))
    .trim().split(" ");
  await sandbox.tmux("set-option", "-t", "=svc-a:", "@svc_pane", facts[0] ?? "");
  await sandbox.tmux("set-option", "-t", "=svc-a:", "@svc_pid", facts[1] ?? "");
  await sandbox.tmux("respawn-pane", "-k", "-t", "=svc-a:", "--", "cat");
  assert.equal((await bench.send("svc-a", "hello")).reason, "shell_in_pane");
});

Deno.test("guard: a pane that shares its keys with a shell gets nothing, even if the sharing begins after the check [sec-no-shell, inj-guard-more]", async () => {
  await using sandbox = await makeSandbox();
  const canary = `${sandbox.root}/canary`;
  await sandbox.newSession("svc-a", ["cat", "-"]);
  const synchronize = (value: string): Promise<string> =>
    sandbox.tmux("set-option", "-w", "-t", "=svc-a:", "synchronize-panes", value);
  let onceSeen = (): Promise<unknown> => Promise.resolve();
  await using bench = makeInjectBench(sandbox, { record: async () => void await onceSeen() });
  await synchronize("on");
  assert.equal((await bench.send("svc-a", "alone")).state, "typed");
  await sandbox.tmux("split-window", "-d", "-t", "=svc-a:", "--", ...BASH);
  const message = `/tmp ; touch ${canary}`;
  const refused = { state: "refused", reason: "panes_synchronized", pane: "%0" };
  assert.deepEqual(await bench.send("svc-a", message), refused);
  await synchronize("off");
  onceSeen = () => synchronize("on");
  assert.deepEqual(await bench.send("svc-a", message), refused);
  const shell = await sandbox.tmux("capture-pane", "-p", "-t", "%1");
  assert.ok(!shell.includes("touch"), shell);
  await assert.rejects(Deno.stat(canary), Deno.errors.NotFound);
});
