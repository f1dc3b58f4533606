/** Which panes may get a message: never a shell, never another program than the agent. */
import assert from "node:assert/strict";
import { guardFormat, judgePane, type ProcessFacts } from "../../../../src/listener/inject/guard.ts";
import { isGuardedProgram } from "../../../../src/listener/inject/programs.ts";

const pane = { dead: false, inputOff: false, synchronized: false, pid: 10, command: "claude" };
const running: ProcessFacts = {
  stopped: false,
  foreground: "claude",
  argv: ["claude"],
  hasAgent: true,
  shellBelow: false,
};
const judge = (
  change: Partial<typeof pane>,
  process: Partial<ProcessFacts> = {},
  { recordedPid = 10, isProfiled = true, allowUnknownScreens = false } = {},
) =>
  judgePane({ ...pane, ...change }, {
    process: { ...running, ...process },
    recordedPid,
    isProfiled,
    policy: { allowUnknownScreens },
  });

Deno.test("guard: no shell gets a message, not even as a login shell or by its path [err-shell, inj-2-guard]", () => {
  for (const shell of ["bash", "zsh", "fish", "sh", "dash", "ksh", "tcsh", "csh", "pwsh"]) {
    for (const command of [shell, `-${shell}`, `/usr/bin/${shell}`]) {
      assert.equal(judge({ command }), "shell_in_pane", command);
    }
  }
});

Deno.test("guard: other shells and programs that lead to one are refused too [inj-guard-more]", () => {
  for (
    const program of ["nu", "elvish", "xonsh", "ash", "mksh", "tmux", "screen", "ssh", "sudo", "su", "login"]
  ) {
    assert.equal(judge({ command: program }), "shell_in_pane", program);
  }
  for (const program of ["claude", "node", "bashful", "fishing", "sshd-agent"]) {
    assert.equal(isGuardedProgram(program), false, program);
  }
});

Deno.test("guard: rarer shells are shells too, by the names of their programs, and one below a build gets nothing that the build leaves [inj-guard-more, sec-no-shell]", () => {
  const shells = ["yash", "posh", "oksh", "loksh", "lksh", "rksh93", "sash", "osh", "ysh", "oils-for-unix"];
  const others = ["es", "rc", "ion", "murex", "bsd-csh", "bash-static", "zsh-static", "mksh-static"];
  for (const program of [...shells, ...others]) {
    assert.equal(judge({ command: program }), "shell_in_pane", program);
    assert.equal(isGuardedProgram(program), true, program);
  }
  for (const program of ["rclone", "esbuild", "ionic", "bash-statics"]) {
    assert.equal(isGuardedProgram(program), false, program);
  }
});

Deno.test("guard: a shell with its version in its name is recognized [err-shell, inj-guard-more]", () => {
  for (const command of ["ksh93", "-ksh93", "zsh-5.9", "/opt/bash-5.2.37", "screen-4.9.1"]) {
    assert.equal(judge({ command }), "shell_in_pane", command);
  }
});

Deno.test("guard: a shell with the process name claude is recognized by its executable [err-shell]", () => {
  assert.equal(judge({ command: "claude" }, { foreground: "bash" }), "shell_in_pane");
});

Deno.test("guard: a shell run by an interpreter is a shell, even for a known agent and as a module [inj-guard-more]", () => {
  const shells: [executable: string, argv: string][] = [
    ["python3.11", "/usr/bin/python3 /usr/bin/xonsh"],
    ["python3.11", "python3 -X utf8 -u /home/me/.local/bin/xonsh --no-rc"],
    ["python3.11", "python3 -m xonsh"],
    ["python3.11", "python3 -m xonsh.main"],
    ["python3.11", "xonsh"],
    ["Python", "/opt/homebrew/bin/python3 /opt/homebrew/bin/xonsh"],
  ];
  for (const [foreground, argv] of shells) {
    assert.equal(judge({ command: "python3" }, { foreground, argv: argv.split(" ") }), "shell_in_pane", argv);
  }
  const agents = ["node /usr/bin/claude", "python3 agent.py xonsh", "python3 -m aider bash"];
  for (const words of agents) {
    const argv = words.split(" ");
    assert.equal(judge({}, { foreground: argv[0] ?? "", argv }), undefined, words);
  }
});

Deno.test("guard: nothing is typed over a shell while the reading process is unknown [sec-no-shell]", () => {
  assert.equal(judge({}, { foreground: "", shellBelow: true }), "shell_in_pane");
  assert.equal(judge({}, { foreground: "claude", shellBelow: true }), undefined);
  assert.equal(judge({}, { foreground: "" }), undefined);
});

Deno.test("guard: a pane whose process is not the recorded agent is refused [inj-guard-tree]", () => {
  assert.equal(judge({ pid: 11 }), "shell_in_pane");
  assert.equal(judge({ pid: 11 }, {}, { recordedPid: 0 }), undefined);
});

Deno.test("guard: panes that are dead, stopped or take no input are refused [inj-dead]", () => {
  assert.equal(judge({ dead: true }), "pane_dead");
  assert.equal(judge({ inputOff: true }), "pane_dead");
  assert.equal(judge({}, { stopped: true }), "pane_dead");
  assert.equal(judge({}), undefined);
});

Deno.test("guard: the tmux format checks every condition, and ignores dialogs if approval is allowed [inj-dialog-allowed]", () => {
  const dialog = { lines: ["Do you want, to {x}"], titles: ["*Action*"] };
  const format = guardFormat({ pid: 10, command: "a,b", isOverShell: true, dialog, dialogRow: 3 });
  for (
    const part of [
      "pane_dead",
      "pane_input_off",
      "pane_synchronized",
      "#{pane_pid},10",
      "#{==:#{pane_current_command},a#,b}",
      "Do you want#, to {x#}",
      ",3}",
      "*Action*",
    ]
  ) {
    assert.ok(format.includes(part), part);
  }
  const open = guardFormat({
    pid: 10,
    command: "claude",
    isOverShell: false,
    dialog: undefined,
    dialogRow: 0,
  });
  assert.ok(!open.includes("C/r:") && open.includes("pane_current_command"));
});

Deno.test("guard: an unknown program over a shell gets nothing, because the shell would run what it leaves unread [sec-no-shell]", () => {
  const over = (context: Parameters<typeof judge>[2]) =>
    judge({ command: "sleep" }, { foreground: "sleep", argv: ["sleep", "3"], shellBelow: true }, {
      recordedPid: 0,
      ...context,
    });
  assert.equal(over({ isProfiled: false }), "shell_in_pane");
  assert.equal(over({ isProfiled: false, allowUnknownScreens: true }), undefined, "as the host has chosen");
  assert.equal(over({ isProfiled: true }), undefined, "a known agent's screen decides");
});

Deno.test("guard: further prompts, editors and viewers that run what is typed are recognized [sec-command-program]", () => {
  const inFront = (foreground: string, argv: string[]) =>
    judge({ command: argv[0] ?? "" }, { foreground, argv }, { recordedPid: 0, isProfiled: false });
  const programs = ["nvi", "zile", "gvim", "tig", "lazygit", "ncdu", "mutt", "neomutt", "weechat", "irssi"];
  const prompts = ["ocaml", "utop", "swipl", "mit-scheme", "janet", "r2", "radare2", "cgdb", "usql"];
  for (const program of [...programs, ...prompts]) {
    assert.equal(inFront(program, [program]), "shell_in_pane", program);
  }
  for (const script of ["pgcli", "mycli", "litecli", "iredis"]) {
    assert.equal(inFront("python3.11", ["python3", `/usr/bin/${script}`, "x"]), "shell_in_pane", script);
  }
});

Deno.test("guard: a prompt is recognized by the program that runs it, as the system names it [sec-command-program]", () => {
  const inFront = (foreground: string, argv: string[]) =>
    judge({ command: argv[0] ?? "" }, { foreground, argv }, { recordedPid: 0, isProfiled: false });
  const prompts: [executable: string, argv: string][] = [
    ["python3.11", "/usr/bin/python3 /usr/bin/ipython3 --no-banner"],
    ["python3.11", "python3 -m IPython"],
    ["python3.11", "python3 -m pdb x.py"],
    ["python3.11", "/usr/bin/python3 -O /usr/bin/ranger"],
    ["Python", "python3"],
    ["ruby3.1", "ruby /usr/bin/irb"],
    ["beam.smp", "/usr/lib/erlang/erts-13/bin/beam.smp -- -root"],
    ["ghc-9.0.2", "/usr/lib/ghc/bin/ghc -B/usr/lib/ghc --interactive"],
    ["emacs-gtk", "emacs"],
    ["gnuplot-qt", "gnuplot"],
    ["octave-cli-7.3.0", "octave-cli"],
    ["nc.openbsd", "nc localhost 23"],
    ["vim.gtk3", "editor notes"],
    ["python3.11", "/usr/bin/python3 /usr/bin/asciinema rec"],
    ["python3.11", "/opt/venv/bin/python /opt/venv/bin/poetry shell"],
  ];
  for (const [executable, argv] of prompts) {
    assert.equal(inFront(executable, argv.split(" ")), "shell_in_pane", argv);
  }
  for (const argv of ["python3 -m aider", "python3 /opt/agent/main.py -m code", "ruby agent.rb"]) {
    const words = argv.split(" ");
    assert.equal(inFront(words[0] ?? "", words), words.includes("code") ? "shell_in_pane" : undefined, argv);
  }
});

Deno.test("guard: a session of an unknown agent gets nothing while an editor, a pager or a prompt is in the foreground [sec-command-program]", () => {
  const inFront = (argv: string[]) =>
    judge({ command: argv[0] ?? "" }, { foreground: argv[0] ?? "", argv }, {
      recordedPid: 0,
      isProfiled: false,
    });
  const commands = [
    ...[
      "vi",
      "vim.basic",
      "vim.tiny",
      "nano",
      "emacs-29.1",
      "less",
      "psql",
      "sqlite3",
      "irb",
      "mc",
      "docker",
    ],
    ...["node", "node -i", "node -i app.js", "python3.11", "python3 -q", "deno", "deno repl", "php -a"],
    // An option's value is not a script.
    ...["python3 -X dev", "python3 -W ignore -q", "python3 -uX dev", "python3 -qi agent.py", "python3 - x"],
    ...["node -r ./setup.js", "node --import tsx", "node --require a --loader b", "bun --preload a.ts"],
    ...["lua -l socket", "ruby -I lib -r json", "perl -I lib", "php -d a=b", "deno -c deno.json", "deno run"],
    // Scripts that start a prompt.
    ...["python3 manage.py shell", "python3 manage.py --settings=a shell_plus", "python3 -m django shell"],
    ...["python3 /opt/venv/bin/flask shell", "ruby bin/rails console", "ruby bin/rails c -s"],
    ...[
      "ruby bin/console",
      "php artisan tinker",
      "php /usr/bin/psysh",
      "python3 -W ignore manage.py dbshell",
    ],
  ];
  for (const words of commands) assert.equal(inFront(words.split(" ")), "shell_in_pane", words);
  const agents = [
    ...["node /usr/lib/agent.js", "python3 -u agent.py", "deno run agent.ts", "my-agent", "cat"],
    ...["python3 -X dev agent.py", "python3 -I agent.py", "node -r ./setup.js agent.js", "bun run agent.ts"],
    ...["python3 manage.py runserver", "ruby bin/rails server", "php artisan queue:work", "lua -l a b.lua"],
  ];
  for (const words of agents) assert.equal(inFront(words.split(" ")), undefined, words);
  assert.equal(
    judge({ command: "node" }, { foreground: "node", argv: ["node"] }),
    undefined,
    "a known agent",
  );
});
