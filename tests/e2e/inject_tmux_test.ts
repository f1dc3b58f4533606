/** The injection in a real tmux, into programs that record every byte they read. */
import assert from "node:assert/strict";
import { ownPane } from "../../src/home/notify_daemon.ts";
import { inject } from "../../src/listener/inject/inject.ts";
import { runtime } from "../../src/runtime/deno.ts";
import { CLOCK, makeInjectBench } from "../helpers/inject_bench.ts";
import { NAUGHTY_BODIES } from "../helpers/naughty.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

/** Starts a program, unknown to svc, that records its raw terminal input in a file. */
async function startRecorder(sandbox: Sandbox, session: string): Promise<() => Promise<string>> {
  const file = `${sandbox.root}/${session}.bytes`;
  const ready = `${sandbox.root}/${session}.ready`;
  const script = `stty raw -echo; : > "$1"; : > "$2"; exec cat >> "$1"`;
  await sandbox.newSession(session, ["sh", "-c", script, "sh", file, ready]);
  await until("the recorder in the pane", async () => {
    const command = await sandbox.tmux(
      "display-message",
      "-p",
      "-t",
      `=${session}:`,
      "#{pane_current_command}",
    );
    return command.trim() === "cat";
  });
  return () => Deno.readTextFile(file);
}

const COMMAND = {
  id: "x",
  session: "",
  body: "hello",
  expiresAt: Infinity,
  sendAnyway: false,
  turn: { step: "waiting" as const },
};

Deno.test("inject: bodies arrive byte for byte, and Enter after them [inj-4-type, inj-5-enter, inj-semicolon, sec-body-literal, err-literal, spec-type-enter]", async (t) => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const received = await startRecorder(sandbox, "svc-rec");
  let before = 0;
  for (const [name, body] of Object.entries(NAUGHTY_BODIES)) {
    await t.step(name, async () => {
      const outcome = await bench.send("svc-rec", body, { sendAnyway: true });
      assert.equal(outcome.state, "typed");
      const text = await until("Enter in the pane", async () => {
        const all = (await received()).slice(before);
        return all.endsWith("\r") && all;
      });
      assert.equal(text, `${body}\r`);
      before += text.length;
    });
  }
});

Deno.test("inject: a prefix of another session's name is not a target [wr-exact, inj-exact, sec-name-prefix, show-prefix]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const received = await startRecorder(sandbox, "svc-foo-2");
  assert.deepEqual(await bench.send("svc-foo", "hello"), { state: "refused", reason: "no_such_session" });
  assert.deepEqual(await bench.send("svc-foo ; x", "hello"), {
    state: "refused",
    reason: "invalid_session_name",
  });
  assert.equal(await received(), "");
});

Deno.test("inject: a split and a second window do not change where the text goes [inj-split]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const received = await startRecorder(sandbox, "svc-a");
  const pane = (await sandbox.tmux("display-message", "-p", "-t", "=svc-a:", "#{pane_id}")).trim();
  await sandbox.tmux("set-option", "-t", "=svc-a:", "@svc_pane", pane);
  await sandbox.tmux("split-window", "-t", pane, "cat");
  await sandbox.tmux("new-window", "-t", "=svc-a:", "cat");
  const outcome = await bench.send("svc-a", "to the agent");
  assert.equal(outcome.pane, pane);
  await until("the text in the recorded pane", async () => (await received()) === "to the agent\r");
});

Deno.test("inject: messages for two sessions that show one pane are typed one after the other [inj-split]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const received = await startRecorder(sandbox, "svc-a");
  const format = "#{pane_id} #{pane_pid}";
  const printed = await sandbox.tmux("display-message", "-p", "-t", "=svc-a:", format);
  const [pane = "", pid = ""] = printed.trim().split(" ");
  const recorded = { "@svc_agent": "other", "@svc_pane": pane, "@svc_pid": pid };
  for (const [option, value] of Object.entries(recorded)) {
    await sandbox.tmux("set-option", "-t", "=svc-a:", option, value);
  }
  await sandbox.tmux("new-session", "-d", "-t", "=svc-a:", "-s", "svc-b");
  const sent = ["svc-a", "svc-b", "svc-a", "svc-b"].map((session) => bench.send(session, session));
  assert.deepEqual((await Promise.all(sent)).map(({ state }) => state), Array(4).fill("typed"));
  const lines = await until("the messages", async () => {
    const text = await received();
    return text.endsWith("\r") && text.split("\r").length === 5 && text.split("\r");
  });
  assert.deepEqual(lines.sort(), ["", "svc-a", "svc-a", "svc-b", "svc-b"]);
});

Deno.test("inject: copy mode is left first [inj-copy-mode]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const received = await startRecorder(sandbox, "svc-a");
  await sandbox.tmux("copy-mode", "-t", "=svc-a:");
  await bench.send("svc-a", "hello");
  await until("the text", async () => (await received()) === "hello\r");
});

/** The commands of an injection after which tmux runs a hook. */
const HOOKED = ["display-message", "list-clients", "capture-pane", "send-keys", "set-buffer", "paste-buffer"];

Deno.test("inject: the user's tmux hooks that fail or print change neither what is typed nor its receipt [inj-user-hooks]", async (t) => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const received = await startRecorder(sandbox, "svc-rec");
  let expected = "";
  for (const hook of ["select-pane -t nosuch:", "display-message -p noise"]) {
    for (const command of HOOKED) {
      await t.step(`after-${command}: ${hook}`, async () => {
        await sandbox.tmux("set-hook", "-g", `after-${command}`, hook);
        for (const body of ["hello", "two\nlines"]) {
          const { state, reason } = await bench.send("svc-rec", body, { sendAnyway: true });
          assert.deepEqual([state, reason], ["typed", undefined]);
          expected += `${body}\r`;
          await until("the text", async () => (await received()) === expected);
        }
      });
      await sandbox.tmux("set-hook", "-gu", `after-${command}`);
    }
  }
});

Deno.test("inject: a pane in no mode runs no hook of copy-mode, and one in copy mode gets the text although that hook fails [inj-user-hooks, inj-copy-mode]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const received = await startRecorder(sandbox, "svc-a");
  const runs = async (): Promise<string> => (await sandbox.tmux("show-options", "-gqv", "@runs")).trim();
  await sandbox.tmux("set-hook", "-g", "after-copy-mode", "set-option -ga @runs x ; select-pane -t nosuch:");
  await bench.send("svc-a", "one");
  await bench.send("svc-a", "two\nlines", { sendAnyway: true });
  await until("the text", async () => (await received()) === "one\rtwo\nlines\r");
  assert.equal(await runs(), "");
  await assert.rejects(sandbox.tmux("copy-mode", "-t", "=svc-a:"), /nosuch/);
  assert.equal((await bench.send("svc-a", "three", { sendAnyway: true })).state, "typed");
  await until("the text", async () => (await received()) === "one\rtwo\nlines\rthree\r");
  assert.equal(await runs(), "xx");
});

Deno.test("inject: dead, stopped and input-less panes are refused, and tmux survives [inj-dead, inj-no-paste-dead]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const received = await startRecorder(sandbox, "svc-a");
  const pid = Number(await sandbox.tmux("display-message", "-p", "-t", "=svc-a:", "#{pane_pid}"));

  const stopped = {
    ...bench.context,
    effects: {
      ...bench.context.effects,
      processFacts: () =>
        Promise.resolve({
          stopped: true,
          foreground: "cat",
          argv: ["cat"],
          hasAgent: false,
          shellBelow: false,
        }),
    },
  };
  assert.equal((await inject({ ...COMMAND, session: "svc-a" }, stopped)).reason, "pane_dead");

  await sandbox.tmux("select-pane", "-d", "-t", "=svc-a:");
  assert.equal((await bench.send("svc-a", "hello")).reason, "pane_dead");
  await sandbox.tmux("select-pane", "-e", "-t", "=svc-a:");
  assert.equal(await received(), "");

  await sandbox.tmux("set-option", "-t", "=svc-a:", "remain-on-exit", "on");
  Deno.kill(pid, "SIGKILL");
  await until("the death", async () => {
    return (await sandbox.tmux("display-message", "-p", "-t", "=svc-a:", "#{pane_dead}")).trim() === "1";
  });
  assert.equal((await bench.send("svc-a", "hello")).reason, "pane_dead");
  assert.match(await sandbox.tmux("list-sessions"), /^svc-a:/);
});

Deno.test("inject: a message whose session ends while it is typed is refused as pane_dead, and leaves no text in tmux [inj-dead]", async (t) => {
  for (const other of ["svc-z", "svc-b"]) {
    await t.step(`the client is in ${other === "svc-b" ? "another session" : "the same one"}`, async () => {
      await using sandbox = await makeSandbox();
      for (const name of [other, "svc-a"]) await sandbox.newSession(name, ["cat"]);
      await using bench = makeInjectBench(sandbox, {
        record: async (id, step) => {
          if (step === "typing" && id === "long") await sandbox.tmux("kill-session", "-t", "=svc-a");
        },
      });
      if (other === "svc-b") await bench.send("svc-b", "hello");
      assert.equal((await bench.send("svc-a", "x".repeat(5_000), { id: "long" })).reason, "pane_dead");
      assert.equal(await sandbox.tmux("list-buffers"), "");
    });
  }
});

Deno.test("inject: a muted project's session gets nothing [inj-muted]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox, {
    isMuted: (directory) => Promise.resolve(directory === Deno.cwd()),
  });
  const received = await startRecorder(sandbox, "svc-a");
  assert.deepEqual(await bench.send("svc-a", "hello"), { state: "refused", reason: "muted", pane: "%0" });
  assert.equal(await received(), "");
});

Deno.test("inject: the same name on two servers is ambiguous [ls-ambiguous, ls-every-server]", async () => {
  await using sandbox = await makeSandbox();
  // Every tmux server of this user is searched, including those of other tests.
  const name = `svc-${crypto.randomUUID()}`;
  const other = `${sandbox.root}/tmux-${Deno.uid()}`;
  await Deno.mkdir(other, { mode: 0o700 });
  const env = { ...sandbox.env, SVC_TMUX_SOCKET: "", TMUX_TMPDIR: sandbox.root };
  await using bench = makeInjectBench({ ...sandbox, env });
  const run = async (server: string, ...args: string[]): Promise<string> => {
    const { stdout } = await new Deno.Command("tmux", { args: ["-S", `${other}/${server}`, ...args], env })
      .output();
    return new TextDecoder().decode(stdout).trim();
  };
  const start = async (server: string): Promise<void> => {
    await run(server, "new-session", "-d", "-s", name, "--", "cat", "-");
    const program = ["display-message", "-p", "-t", `=${name}:`, "#{pane_current_command}"];
    await until("the program", async () => await run(server, ...program) === "cat");
  };
  try {
    await start("one");
    assert.deepEqual(await bench.send(name, "x", { expiresAt: 0 }), { state: "expired", pane: "%0" });
    await start("two");
    assert.equal((await bench.send(name, "x")).reason, "ambiguous_session");
  } finally {
    for (const server of ["one", "two"]) {
      await new Deno.Command("tmux", { args: ["-S", `${other}/${server}`, "kill-server"] }).output();
    }
  }
});

Deno.test("inject: the pane named in a program's environment is the one that the listener uses [inj-gate]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const file = `${sandbox.root}/environment`;
  const script = `printf '%s\\n%s' "$TMUX" "$TMUX_PANE" > "$1.new"; mv "$1.new" "$1"; exec cat`;
  await sandbox.newSession("svc-a", ["sh", "-c", script, "sh", file]);
  const text = await until("the environment", () => Deno.readTextFile(file).catch(() => undefined));
  const [TMUX = "", TMUX_PANE = ""] = text.split("\n");
  const env = { get: (name: string): string | undefined => ({ TMUX, TMUX_PANE })[name] };
  const resolved = await bench.targets.resolve("svc-a");
  assert.ok(resolved.kind === "found");
  const { pane, socket } = resolved.target;
  assert.deepEqual(await ownPane({ env, files: runtime.files }), { pane, socket });
});

Deno.test("inject: a directory name that looks like a pane's record does not divert a message to another session [inj-exact]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const meant = await startRecorder(sandbox, "svc-meant");
  const other = await startRecorder(sandbox, "svc-other");
  const record = [
    "pane",
    "svc-meant",
    "$0",
    "1",
    "1",
    "0",
    "",
    "p",
    "%1",
    "",
    "d",
    "%1",
    "1",
    "0",
    "1",
    "cat",
  ];
  const directory = `${sandbox.root}/x\n${[...record, "80", "24", "t", "p"].join("\t")}`;
  await Deno.mkdir(directory);
  // It sorts before the others.
  await sandbox.tmux("new-session", "-d", "-s", "a", "-c", directory, "--", "cat", "-");
  await until("its directory", async () => (await sandbox.tmux("list-panes", "-a")).includes("%2"));
  const outcome = await bench.send("svc-meant", "hello");
  assert.deepEqual([outcome.state, outcome.pane], ["typed", "%0"]);
  await until("the message", async () => (await meant()) === "hello\r");
  assert.equal(await other(), "");
});

Deno.test("inject: a program with a name like a pane's record does not fake a session, and its own pane gets messages [inj-exact]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  await sandbox.newSession("svc-a", ["cat"]);
  const made = ["pane", "svc-a", "$9", "1", "1", "0", "", "p", "%1", "", "d", "%1", "1", "0", "1", "cat"];
  const name = `cat\n${[...made, "80", "24", "t", "/"].join("\t")}\n`;
  await sandbox.newSession("svc-b", ["bash", "-c", 'exec -a "$1" cat', "bash", name]);
  await until("the program in place of the shell", async () => {
    const pid = (await sandbox.tmux("display-message", "-p", "-t", "=svc-b:", "#{pane_pid}")).trim();
    return !(await Deno.readLink(`/proc/${pid}/exe`)).endsWith("/bash");
  });
  for (const session of ["svc-a", "svc-b"]) {
    const { state, reason } = await bench.send(session, "hello");
    assert.deepEqual([state, reason], ["typed", undefined], session);
    await until("the text", async () => (await sandbox.screen(session)).includes("hello"));
  }
});

Deno.test("inject: a session that is hidden from phones gets nothing, because its program may run whatever is typed [sec-no-shell]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const own = await startRecorder(sandbox, "work");
  assert.deepEqual(await bench.send("work", "hello"), { state: "refused", reason: "no_such_session" });
  await sandbox.tmux("rename-session", "-t", "=work:", "svc-work");
  assert.equal((await bench.send("svc-work", "hello")).state, "typed");
  await until("the second message alone", async () => (await own()) === "hello\r");
});

/** Imitates Cursor's terminal agent: the empty composer, the composer with `hello`, and the screen after Enter. */
const CURSOR_SCREEN = String.raw`
  system "stty raw -echo"; $| = 1;
  my ($top, $rule) = ("▄" x 60, "▀" x 60);
  sub show { print "\e[2J\e[H", join("\r\n", @_[1 .. $#_], $rule, "  stand-in"), "\e[$_[0]H" }
  show("4;1", $top, " → Plan, search, build anything"); read STDIN, $_, 5;
  my ($go, $seen) = @ARGV;
  while (defined $go && !-e $go) { select undef, undef, undef, 0.02 }
  if (defined $seen) {
    my $input = ""; vec($input, fileno(STDIN), 1) = 1;
    open my $file, ">", $seen; print $file select($input, undef, undef, 0) ? "early" : "waited"; close $file;
  }
  show("4;1", $top, " → $_"); read STDIN, my $enter, 1;
  show("5;1", " $_", $top, " → Add a follow-up"); sleep 1 while 1;
`;

async function startCursor(sandbox: Sandbox, ...args: string[]): Promise<void> {
  await sandbox.newSession("svc-a", ["perl", "-e", CURSOR_SCREEN, ...args]);
  await sandbox.tmux("set-option", "-t", "=svc-a:", "@svc_agent", "cursor");
  await until("the composer", async () => (await sandbox.screen("svc-a")).includes("Plan"));
}

Deno.test("inject: an agent without a prompt hook leaves no marker for a text typed into another agent [remote-exact]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  bench.setClock(CLOCK.slow);
  await startCursor(sandbox);
  const outcome = await bench.send("svc-a", "hello");
  assert.deepEqual([outcome, bench.events.at(-1)], [{ state: "submitted", pane: "%0" }, "marker withdrawn"]);
});

Deno.test("inject: Enter waits for an agent that draws the text late [inj-settle, inj-composer-shows]", async () => {
  await using sandbox = await makeSandbox();
  await using bench = makeInjectBench(sandbox);
  const [go, seen] = [`${sandbox.root}/go`, `${sandbox.root}/seen`];
  await startCursor(sandbox, go, seen);
  const sent = bench.send("svc-a", "hello");
  await until("the hold", () => bench.events.includes("held screen_stale"));
  bench.setClock(CLOCK.slow);
  await Deno.writeTextFile(go, "");
  assert.equal((await sent).state, "submitted");
  assert.equal(await Deno.readTextFile(seen), "waited");
});
