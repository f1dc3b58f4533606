/** Tests of the gate: what it counts, when it fails, what it requires of the machine. */

import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { faultsTable, rowsIn } from "../scripts/prove/faults_table.ts";
import { type Tool, toolHint } from "../scripts/machine.ts";
import { isSupported } from "../scripts/node22.ts";
import { countStarts, type Reach, reachOf, suiteTable } from "../scripts/node_suites.ts";
import { fitPaper } from "../scripts/npm_paper.ts";
import { webAddress } from "../scripts/npm_registry.ts";
import {
  countLines,
  countTests,
  countText,
  memoryFolder,
  runStep,
  runSteps,
  type Step,
  sum,
  type TemporaryFolder,
  withoutSlowNotes,
} from "../scripts/steps.ts";
import { makeSandbox } from "./helpers/sandbox.ts";
import { CHECKOUT } from "./helpers/sources.ts";
import { until } from "./helpers/until.ts";

const SCRIPTS = fileURLToPath(new URL("../scripts/", import.meta.url));

Deno.test("tests are counted over all summaries of a run", () => {
  const output = [
    "running 2 tests from ./a_test.ts",
    "  ok | 9 passed | 9 failed",
    "ok | 12 passed (3 steps) | 0 failed (1s)",
    "FAILED | 2 passed (1 step) | 1 failed | 4 ignored (70ms)",
  ].join("\n");
  assert.deepEqual(countTests(output), { passed: 14, failed: 1 });
});

Deno.test("without a summary the lines of the tests are counted, not those of their steps", () => {
  const output = [
    "./tests/a_test.ts => holds ... one ... ok (1ms)",
    "./tests/a_test.ts => holds ... ok (2s)",
    "by itself ...",
    "  one ... ok (1ms)",
    "by itself ... ok (3m4s)",
    "./tests/b_test.ts => breaks ... FAILED (12ms)",
    "./tests/b_test.ts => left out ... ignored (0ms)",
    "listening ... ok",
  ].join("\n");
  assert.deepEqual(countLines(output), { passed: 2, failed: 1 });
});

Deno.test("a slow test is counted by its line like any other", () => {
  const output = [
    "cc: slow ...'cc: slow' has been running for over (1m0s)",
    " ok (1m14s)",
    "codex: one of them ...",
    "  a step ...'codex: one of them' has been running for over (1m0s)",
    " ok (21s)",
    "codex: one of them ... ok (1m21s)",
  ].join("\n");
  assert.deepEqual(withoutSlowNotes(output).match(/^\w+: .* \.\.\. ok/gm), [
    "cc: slow ... ok",
    "codex: one of them ... ok",
  ]);
});

Deno.test("a step passes by its exit code, and one that fails without a test counts as one", async () => {
  const good = await runStep({ name: "good", args: ["eval", "Deno.exit(0)"], limitMinutes: 10 }, Deno.cwd());
  const bad = await runStep(
    { name: "bad", args: ["eval", "console.error('why'); Deno.exit(1)"], limitMinutes: 10 },
    Deno.cwd(),
  );
  assert.deepEqual([good.isOk, bad.isOk], [true, false]);
  assert.match(bad.output, /why/);
  assert.deepEqual(sum([good, bad]), { passed: 0, failed: 1 });
});

/**
 * Two tests of which only one ends: the other leaves tmux and another program running, and writes their pids to `file`.
 */
const ENDLESS = (file: string): string =>
  `import { makeSandbox } from "${CHECKOUT}tests/helpers/sandbox.ts";
Deno.test("ends", () => {});
Deno.test("does not end", async () => {
  const sandbox = await makeSandbox();
  await sandbox.newSession("left", ["cat"]);
  const child = new Deno.Command("cat", { env: sandbox.env, clearEnv: true, stdin: "piped" }).spawn();
  const ids = await sandbox.tmux("display-message", "-p", "-t", "=left:", "#{pid} #{pane_pid}");
  await Deno.writeTextFile("${file}.part", sandbox.root + " " + child.pid + " " + ids.trim());
  await Deno.rename("${file}.part", "${file}");
  await new Promise(() => setInterval(() => {}, 1e6));
});
`;

Deno.test("a step that is cut off reports what had passed and what had not ended, and leaves no process behind", async () => {
  await using sandbox = await makeSandbox();
  const [file, started] = [`${sandbox.root}/endless_test.ts`, `${sandbox.root}/started`];
  await Deno.writeTextFile(file, ENDLESS(started));
  const cutOff = new AbortController();
  const step: Step = {
    name: "endless",
    args: ["test", "-A", "--no-check", "--parallel", file],
    limitMinutes: 20,
  };
  const ended = runStep(step, CHECKOUT, { cutOff: cutOff.signal });
  const report = await until("the processes", () => Deno.readTextFile(started).catch(() => ""));
  const [root = "", ...pids] = report.split(" ");
  try {
    assert.equal(pids.length, 3, report);
    cutOff.abort();
    const outcome = await ended;
    assert.deepEqual([outcome.isOk, outcome.passed, outcome.failed], [false, 1, 0]);
    assert.equal(
      countText(outcome),
      "1 passed, 0 failed, cut off at its limit of 20 minutes, before the other tests had ended",
    );
    assert.match(outcome.output, /tests were pending:\s+does not end /);
    for (const pid of pids) assert.ok(!await isRunning(Number(pid)), `${pid} of ${report}`);
  } finally {
    for (const pid of pids.map(Number)) if (await isRunning(pid)) Deno.kill(pid, "SIGKILL");
    await Deno.remove(root, { recursive: true });
  }
});

/** Creates the first file and ends once both exist; exits with `code`. */
function meeting([own, other]: readonly [string, string], code = 0): Step {
  const script = `await Deno.writeTextFile("${own}", "");
    while (!await Deno.stat("${other}").catch(() => undefined)) await new Promise((done) => setTimeout(done, 5));
    Deno.exit(${code});`;
  return { name: own, args: ["eval", script], limitMinutes: 10 };
}

Deno.test("two steps run at a time, and after a failure no further one starts unless that is wanted", async () => {
  for (const keepGoing of [false, true]) {
    const cwd = await Deno.makeTempDir({ prefix: "svc-steps-" });
    const reported: string[] = [];
    const steps = [meeting(["one", "two"], 1), meeting(["two", "one"], 1), meeting(["three", "one"])];
    const outcomes = await runSteps(steps, {
      cwd,
      keepGoing,
      onOutcome: ({ step }) => void reported.push(step.name),
    });
    assert.deepEqual(reported.sort(), keepGoing ? ["one", "three", "two"] : ["one", "two"]);
    assert.equal(outcomes.length, reported.length);
    await Deno.remove(cwd, { recursive: true });
  }
});

Deno.test("when the gate is stopped, the steps that run are ended and no further one starts", async () => {
  const cwd = await Deno.makeTempDir({ prefix: "svc-steps-" });
  const stop = new AbortController();
  const meetAndStay = ([own, other]: readonly [string, string]): Step => {
    const { args: [, script = ""], ...step } = meeting([own, other]);
    const staying = script.replace(
      "Deno.exit(0)",
      `await Deno.writeTextFile("${own} stays", "");
      await new Promise(() => setInterval(() => {}, 1e6))`,
    );
    return { ...step, args: ["eval", staying] };
  };
  const steps = [meetAndStay(["one", "two"]), meetAndStay(["two", "one"]), meeting(["three", "one"])];
  const running = runSteps(steps, { cwd, keepGoing: true, onOutcome: () => undefined, stop: stop.signal });
  const has = (name: string) => Deno.stat(`${cwd}/${name}`).then(() => true, () => false);
  await until("two steps", async () => await has("one stays") && await has("two stays"));
  stop.abort();
  const outcomes = await running;
  assert.deepEqual(outcomes.map(({ step, isCutOff }) => [step.name, isCutOff]).sort(), [["one", true], [
    "two",
    true,
  ]]);
  assert.ok(!await has("three"));
  await Deno.remove(cwd, { recursive: true });
});

Deno.test("a developer's own session and svc settings do not reach the tests", async () => {
  const args = ["eval", "console.log(Object.keys(Deno.env.toObject()).filter((n) => /^(SVC|TMUX)/.test(n)))"];
  Deno.env.set("SVC_API_KEY", "secret");
  try {
    assert.equal((await runStep({ name: "env", args, limitMinutes: 10 }, Deno.cwd())).output, "[]\n");
  } finally {
    Deno.env.delete("SVC_API_KEY");
  }
});

Deno.test("temporary files are kept in memory only where programs may run from there, in a folder that is removed", async () => {
  const mounts = await Deno.makeTempFile({ prefix: "svc-mounts-" });
  const folderWith = async (line: string): Promise<TemporaryFolder | undefined> => {
    await Deno.writeTextFile(mounts, `proc /proc proc rw 0 0\n${line}\n`);
    return await memoryFolder(mounts);
  };
  try {
    assert.equal(await folderWith(""), undefined);
    assert.equal(await folderWith("tmpfs /dev/shm tmpfs rw,nosuid,nodev,noexec 0 0"), undefined);
    assert.equal(await memoryFolder(`${mounts}-missing`), undefined);
    const folder = await folderWith("tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0");
    if (folder === undefined) return;
    await Deno.writeTextFile(`${folder.path}/file`, "");
    await folder[Symbol.asyncDispose]();
    await assert.rejects(Deno.stat(folder.path), Deno.errors.NotFound);
  } finally {
    await Deno.remove(mounts);
  }
});

Deno.test("an invalid count ends the gate before it begins, with exit code 2 and a message", async () => {
  const script = fileURLToPath(new URL("../scripts/ok.ts", import.meta.url));
  const wrong = {
    "--times 0": /^Cannot use "--times 0": it takes a whole number from 1 to 9999\.$/m,
    "--times x": /^Cannot use "--times x": it takes/m,
    "--times 1.5": /^Cannot use "--times 1\.5": it takes/m,
    "--busy four": /^Cannot use "--busy four": it takes a whole number from 0 to 9999\.$/m,
    "--busy=-1": /^Cannot use "--busy -1": it takes/m,
    "--bogus": /^Unknown option '--bogus'/m,
  };
  for (const [words, sentence] of Object.entries(wrong)) {
    const args = ["run", "-A", "--quiet", "--no-check", script, ...words.split(" "), "--only", "nothing"];
    const { code, stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
    assert.match(new TextDecoder().decode(stdout), sentence);
    assert.equal(code, 2, words);
  }
});

/** Returns the pids of a process's children that have not ended. */
async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await new Deno.Command("ps", { args: ["-A", "-o", "pid=,ppid=,stat="] }).output();
  return new TextDecoder().decode(stdout).trim().split("\n").flatMap((line) => {
    const [child, parent, state = "Z"] = line.trim().split(/\s+/);
    return Number(parent) === pid && !state.startsWith("Z") ? [Number(child)] : [];
  });
}

async function isRunning(pid: number): Promise<boolean> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "stat=", "-p", String(pid)] }).output();
  return /^[^Z\s]/.test(new TextDecoder().decode(stdout).trim());
}

Deno.test("busy loops end with the process that started them, even when it is killed", async () => {
  const busy = new URL("../scripts/busy.ts", import.meta.url).href;
  const program =
    `const { startBusy } = await import("${busy}"); startBusy(2); await new Promise(() => setInterval(() => {}, 1e6));`;
  const parent = new Deno.Command(Deno.execPath(), { args: ["eval", program] }).spawn();
  let loops: number[] = [];
  try {
    await until("both loops", async () => (loops = await childrenOf(parent.pid)).length === 2);
  } finally {
    parent.kill("SIGKILL");
    await parent.status;
  }
  try {
    await until(
      "the end of the loops",
      async () => !(await Promise.all(loops.map(isRunning))).includes(true),
    );
  } finally {
    for (const pid of loops) if (await isRunning(pid)) Deno.kill(pid, "SIGKILL");
  }
});

Deno.test("Node 22 and later are supported", () => {
  assert.deepEqual(["v22.16.0", "v26.10.0"].map(isSupported), [true, true]);
  assert.deepEqual(["v20.20.2", "v22.15.1", "v2.2.0", "22", undefined].map(isSupported), [
    false,
    false,
    false,
    false,
    false,
  ]);
});

Deno.test("a missing tool is named with the command that brings it", () => {
  const tool = {
    name: "tmux",
    programs: ["tmux"],
    debian: "tmux",
    brew: "tmux",
    purposes: ["demo"],
  } as const;
  assert.equal(
    toolHint(tool),
    '✗ tmux is missing: on Debian and Ubuntu run "sudo apt-get install tmux", or on macOS: brew install tmux',
  );
});

const PREPARE_DEMO = ["run", "-A", "--quiet", "--no-check", `${SCRIPTS}prepare.ts`, "--for", "demo"];

/**
 * Runs prepare, or another program, on a machine whose PATH contains only `env` and the given shell scripts; `BIN` is
 * that folder.
 */
async function prepareOn(
  scripts: Record<string, string>,
  args: readonly string[] = PREPARE_DEMO,
): Promise<{ code: number; stdout: string }> {
  const bin = await Deno.makeTempDir({ prefix: "svc-machine-" });
  try {
    await Deno.symlink("/usr/bin/env", `${bin}/env`);
    for (const [name, text] of Object.entries(scripts)) {
      await Deno.writeTextFile(`${bin}/${name}`, `#!/bin/sh\nBIN=${bin}\n${text}\n`, { mode: 0o755 });
    }
    const program = new Deno.Command(Deno.execPath(), { args: [...args], env: { PATH: bin } });
    const { code, stdout } = await program.output();
    return { code, stdout: new TextDecoder().decode(stdout) };
  } finally {
    await Deno.remove(bin, { recursive: true });
  }
}

const ROOT_BY_SUDO = { sudo: 'shift; case "$1" in env) exec "$@";; esac' };

Deno.test("a fresh Debian machine gets what is missing from apt-get", async () => {
  const install = 'case "$word" in tmux) : > "$BIN/tmux";; procps) : > "$BIN/ps";; esac';
  const aptGet = `for word in "$@"; do ${install}; done`;
  const { code, stdout } = await prepareOn({ ...ROOT_BY_SUDO, "apt-get": aptGet });
  assert.equal(stdout, "missing: tmux, ps\ninstalling with apt-get: tmux procps\n");
  assert.equal(code, 0);
});

Deno.test("what cannot be installed is named with its command, and the exit code is 1", async () => {
  const { code, stdout } = await prepareOn({});
  assert.match(stdout, /✗ tmux is missing: .*apt-get install tmux/);
  assert.match(stdout, /✗ ps is missing: .*apt-get install procps/);
  assert.equal(code, 1);
});

Deno.test("an optional tool is installed if the release has it, and not requested otherwise", async () => {
  const tool = (name: string): Tool => ({ name, programs: [name], debian: name, purposes: [] });
  const required = tool("needed");
  const optional = { ...tool("quicker"), isOptional: true };
  const installing = (tools: readonly Tool[]): string[] => [
    "eval",
    `const { install } = await import("file://${SCRIPTS}machine.ts");
     await install(${JSON.stringify(tools)}, console.log);`,
  ];
  const release = (has: boolean) => ({
    ...ROOT_BY_SUDO,
    "apt-get": "exit 0",
    "apt-cache": `exit ${has ? 0 : 100}`,
  });
  const said = async (has: boolean, tools: readonly Tool[]): Promise<string> =>
    (await prepareOn(release(has), installing(tools))).stdout;
  assert.equal(await said(true, [required, optional]), "installing with apt-get: needed quicker\n");
  assert.equal(await said(false, [required, optional]), "installing with apt-get: needed\n");
  assert.equal(await said(true, [optional]), "installing with apt-get: quicker\n");
  assert.equal(await said(false, [optional]), "");
});

Deno.test("the package names the repository as a web address, and none for a folder [pkg-repository]", () => {
  const address = "https://code.example/owner/svc";
  for (
    const remote of [
      "https://code.example/owner/svc.git",
      "https://user@code.example/owner/svc",
      "git+https://code.example/owner/svc.git",
      "ssh://git@code.example/owner/svc.git",
      "git@code.example:owner/svc.git",
    ]
  ) assert.equal(webAddress(remote), address, remote);
  for (const folder of ["/srv/svc.git", "../svc", ""]) assert.equal(webAddress(folder), undefined, folder);
});

Deno.test("a document in the package leads to the repository for what is not packed, or names it without a link [pkg-links]", () => {
  const text = [
    "[why](docs/a.md#b), [here](SECURITY.md#c),",
    "[web](https://x.example), [below](#d)",
    '<img src="docs/e.webp" alt="f">',
  ].join("\n");
  const packed = ["SECURITY.md"];
  const repository = "https://code.example/owner/svc";
  assert.deepEqual(fitPaper(text, { repository, packed }).split("\n"), [
    `[why](${repository}/blob/HEAD/docs/a.md#b), [here](SECURITY.md#c),`,
    "[web](https://x.example), [below](#d)",
    `<img src="${repository}/raw/HEAD/docs/e.webp" alt="f">`,
  ]);
  assert.deepEqual(fitPaper(text, { repository: undefined, packed }).split("\n"), [
    "why, [here](SECURITY.md#c),",
    "[web](https://x.example), [below](#d)",
    "",
  ]);
});

Deno.test("a test file on Node either starts the package, runs on both by itself, or has a reason", () => {
  const root = "/checkout/";
  const starts = countStarts(
    "file:///checkout/tests/e2e/a_test.ts\nfile:///checkout/tests/e2e/a_test.ts\n",
    root,
  );
  const reach = (path: string, text = ""): Reach => reachOf({ path, text }, starts);
  assert.deepEqual(reach("tests/e2e/a_test.ts"), { kind: "starts", times: 2 });
  assert.deepEqual(reach("tests/contract/b_test.ts", "await testOnBothRuntimes("), { kind: "both" });
  assert.deepEqual(reach("tests/contract/c_test.ts"), { kind: "deno", why: undefined });
  const why = reach("tests/contract/wire_samples_test.ts");
  assert.ok(why.kind === "deno" && why.why !== undefined);
  const row = {
    suite: "e2e",
    passed: 3,
    failed: 0,
    isCutOff: false,
    reaches: [reach("tests/e2e/a_test.ts"), why],
  };
  assert.match(suiteTable([row], "Node 22").at(-1) ?? "", /^e2e +3 +0 +2 +1 +0 +1 +2$/);
  const cutOff = suiteTable([{ ...row, isCutOff: true }], "Node 22").at(-1) ?? "";
  assert.match(cutOff, /^e2e +3, cut off +0 +2 +1 +0 +1 +2$/);
});

Deno.test("the fault rows that tests print become one table with their sums", () => {
  const counts = {
    injected: 2,
    submitted: 8,
    refused: 1,
    unknown: 1,
    inHand: 1,
    died: 0,
    lost: 0,
    duplicated: 0,
    outOfOrder: 0,
  };
  const row = { fault: "relay killed", sent: 10, ...counts, shell: 0, approved: 0 };
  const output = `other\nfault row: ${JSON.stringify(row)}\nfault row: ${JSON.stringify(row)}\n`;
  const [head = "", , , all = "", sum = ""] = faultsTable(rowsIn(output));
  assert.match(
    head,
    /^fault +injected +sent +submitted +refused +unknown +in hand at a kill +died with its agent +lost +duplicated +out of/,
  );
  assert.match(all, /^all +4 +20 +16 +2 +2 +2 +0 +0 +0 +0 +0 +0$/);
  assert.match(
    sum,
    /^The accounting closes: 20 sent = 16 submitted \+ 2 refused \+ 2 unknown; 2 were in hand/,
  );
  const [, , , missing = ""] = faultsTable([{ ...row, submitted: 7 }]);
  assert.match(missing, /DOES NOT CLOSE/);
  assert.deepEqual(faultsTable([]), []);
});
