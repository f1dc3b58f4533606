/** `svc agents`: check and record, with the built-in agent in a real tmux. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { startEcho } from "../helpers/agents_echo.ts";
import { runSvc, startSvc } from "../helpers/program.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

interface Result {
  kind: string;
  name: string;
  recognized: boolean;
}

Deno.test("svc agents check names each screen that it recognized, and exits 0 [agents-check]", async () => {
  await using sandbox = await makeSandbox();
  const { code, stdout, stderr } = await runSvc(sandbox, ["agents", "check", "echo", "--json"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const results: Result[] = JSON.parse(stdout);
  assert.deepEqual(results.map(({ kind, name, recognized }) => [kind, name, recognized]), [
    ["echo", "start", true],
    ["echo", "draft", true],
    ["echo", "long paste", true],
  ]);
});

Deno.test("svc agents check says ✗ and exits 1 when an agent's screen is not recognized [agents-check]", async () => {
  await using sandbox = await makeSandbox();
  const program = `${sandbox.root}/bin/codex`;
  await Deno.mkdir(`${sandbox.root}/bin`);
  // The screen looks like no agent, so the check must not type anything.
  await Deno.writeTextFile(program, "#!/bin/sh\nprintf 'one line\\n'\nexec sleep 600\n", { mode: 0o755 });
  const env = { PATH: `${sandbox.root}/bin:${sandbox.env.PATH}` };
  const { code, stdout } = await runSvc(sandbox, ["agents", "check", "codex", "--wait", "2"], { env });
  assert.equal(code, 1);
  assert.match(stdout, /✗ start: unknown/);
});

/** Makes a folder for PATH with a program of this name. */
async function programFolder(root: string, name: string, script: string): Promise<string> {
  await Deno.mkdir(`${root}/bin`);
  await Deno.writeTextFile(`${root}/bin/${name}`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return `${root}/bin`;
}

Deno.test("svc agents check prints that an agent ended, and what it printed last [agents-check]", async () => {
  await using sandbox = await makeSandbox();
  const temporary = `${sandbox.root}/tmp`;
  await Deno.mkdir(temporary);
  const script = "echo 'cannot read settings.json'\necho 'repair it first' >&2\nexit 1";
  const bin = await programFolder(sandbox.root, "claude", script);
  const env = { PATH: `${bin}:${sandbox.env.PATH}`, TMPDIR: temporary };
  const { code, stdout, stderr } = await runSvc(sandbox, ["agents", "check", "cc"], { env });
  assert.equal(stderr, "");
  assert.match(
    stdout,
    /✗ start: the agent ended\. It printed:\n {4}cannot read settings\.json\n {4}repair it first\n$/,
  );
  assert.equal(code, 1);
  const asJson = await runSvc(sandbox, ["agents", "check", "cc", "--json"], { env });
  const [result] = JSON.parse(asJson.stdout);
  assert.equal(result.printed, "cannot read settings.json\nrepair it first");
  assert.deepEqual([...Deno.readDirSync(temporary)], []);
});

Deno.test("svc agents check goes on with the next agent after one that ended [agents-check]", async () => {
  await using sandbox = await makeSandbox();
  const bin = await programFolder(sandbox.root, "codex", "exit 3");
  const env = { PATH: `${bin}:${sandbox.env.PATH}` };
  const { code, stdout } = await runSvc(sandbox, ["agents", "check", "codex", "echo"], { env });
  assert.match(stdout, /✗ start: the agent ended\n(?:.*\n)*.*✓ start: composer/);
  assert.equal(code, 1);
});

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  Deno.test(`svc agents check that ${signal} ends leaves no agent, tmux server or folder behind, and exits ${code} [agents-check]`, async () => {
    await using sandbox = await makeSandbox();
    const [bin, temporary, pidFile] = ["bin", "tmp", "pid"].map((name) => `${sandbox.root}/${name}`);
    for (const folder of [bin, temporary]) await Deno.mkdir(folder!);
    await Deno.writeTextFile(`${bin}/codex`, `#!/bin/sh\necho $$ >"${pidFile}"\nexec sleep 600\n`, {
      mode: 0o755,
    });
    const env = { PATH: `${bin}:${sandbox.env.PATH}`, TMPDIR: temporary! };
    const check = startSvc(sandbox, ["agents", "check", "codex"], { env });
    const pid = await until(
      "the agent",
      async () => Number(await Deno.readTextFile(pidFile!).catch(() => "")),
    );
    sandbox.killAtEnd(pid);
    check.kill(signal);
    assert.equal((await check.exited).code, code);
    assert.deepEqual([...Deno.readDirSync(temporary!)], []);
    await until("the agent's end", () => !runtime.commands.kill(pid, 0));
  });
}

Deno.test("svc agents check says when no agent is installed [agents-check]", async () => {
  await using sandbox = await makeSandbox();
  const env = { PATH: "/usr/bin:/bin" };
  const { code, stdout } = await runSvc(sandbox, ["agents", "check"], { env });
  assert.deepEqual([code, stdout], [0, "No agent is installed here.\n"]);
  assert.equal((await runSvc(sandbox, ["agents", "check", "--json"], { env })).stdout, "[]\n");
});

Deno.test("svc agents check reports an unknown agent, and one that is not installed [agents-check]", async () => {
  await using sandbox = await makeSandbox();
  const wrong = await runSvc(sandbox, ["agents", "check", "clod"]);
  assert.deepEqual([wrong.code, /Cannot check "clod"/.test(wrong.stderr)], [2, true]);
  const absent = await runSvc(sandbox, ["agents", "check", "cursor"]);
  assert.deepEqual([absent.code, /Cannot check "cursor": it is not installed/.test(absent.stderr)], [
    2,
    true,
  ]);
});

Deno.test("svc agents record saves a screen without the user's text [agents-record]", async () => {
  await using sandbox = await makeSandbox();
  const { pane } = await startEcho(sandbox);
  await sandbox.tmux("set-option", "-t", "=svc-proj:", "@svc_agent", "echo");
  await pane.type("secret 42");
  await until("the draft", async () => (await pane.screen()).lines.includes("❯ secret 42"));
  const out = `${sandbox.root}/report`;
  const { code, stdout, stderr } = await runSvc(sandbox, ["agents", "record", "svc-proj", "--out", out]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /svc reads composer, idle/);
  const screen = await Deno.readTextFile(`${out}/screen.txt`);
  assert.match(screen, /^❯ xxxxxx 00$/m);
  assert.doesNotMatch(screen, /secret/);
  const meta = JSON.parse(await Deno.readTextFile(`${out}/meta.json`));
  assert.deepEqual(meta.expect, { state: "idle", focus: "composer", draft: "xxxxxx 00" });
});

Deno.test("svc agents record says when there is no such session [agents-record]", async () => {
  await using sandbox = await makeSandbox();
  const { code, stderr } = await runSvc(sandbox, ["agents", "record", "svc-none"]);
  assert.equal(code, 1);
  assert.match(stderr, /Cannot record "svc-none": no such session is running here/);
});
