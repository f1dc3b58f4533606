/** The launcher: a shell script that runs svc wherever it is, and never fails a hook. */
import assert from "node:assert/strict";
import { launcherText, writeLauncher } from "../../../../src/hooks/setup/home_files.ts";
import { makeTempHome, type TempHome } from "../../../helpers/temp_home.ts";

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

async function run(home: TempHome, words: string[], env: Record<string, string> = {}): Promise<Ran> {
  const options = { args: words, env: { PATH: "/usr/bin:/bin", ...env }, clearEnv: true };
  const { code, stdout, stderr } = await new Deno.Command(home.paths.launcher, options).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

const AFTER_TOOL = ["PostToolUse", "AfterTool", "postToolUse"];
const at = (root: string) => ({ root, backgroundEvents: AFTER_TOOL });

const WORDS = ["sh", "-c", 'printf "%s|" "$SVC_HOME" "$@"', "it's $HOME"];

Deno.test("the launcher runs svc with unchanged arguments and with its home", async () => {
  await using home = await makeTempHome();
  await writeLauncher(home.files, home.paths, launcherText(WORDS, at('/a "$b')));
  assert.equal((await run(home, ["mcp", "a b", ""])).stdout, '/a "$b|mcp|a b||');
  const other = await run(home, ["hook", "Stop"], { SVC_HOME: "/other" });
  assert.equal(other.stdout, "/other|hook|Stop|");
  assert.equal((await Deno.stat(home.paths.launcher)).mode! & 0o777, 0o700);
});

Deno.test("in a folder that was deleted, or recreated, it runs svc in / instead", async () => {
  await using home = await makeTempHome();
  await writeLauncher(home.files, home.paths, launcherText(["sh", "-c", "pwd -P"], at("/h")));
  const folder = `${await Deno.realPath(home.directory)}/its folder`;
  const places: [change: string, cwd: string][] = [
    ["true", folder],
    ['ln -sfn "$2" "$2.link" && cd "$2.link"', folder],
    ['rmdir "$2"', "/"],
    ['rmdir "$2" && mkdir "$2"', "/"],
  ];
  for (const shell of ["sh", "bash"]) {
    for (const [change, cwd] of places) {
      await Deno.mkdir(folder, { recursive: true });
      const args = ["-c", `${change} && exec "$0" "$1" mcp`, shell, home.paths.launcher, folder];
      const { stdout } = await new Deno.Command("sh", { args, cwd: folder }).output();
      assert.equal(new TextDecoder().decode(stdout), `${cwd}\n`, `${shell}: ${change}`);
    }
  }
});

Deno.test("without background events every hook runs in the foreground", async () => {
  await using home = await makeTempHome();
  await writeLauncher(home.files, home.paths, launcherText(WORDS, { root: "/h", backgroundEvents: [] }));
  for (const words of [["hook", "PostToolUse"], ["mcp"]]) {
    assert.deepEqual(await run(home, words), { code: 0, stdout: `/h|${words.join("|")}|`, stderr: "" });
  }
});

Deno.test("a hook whose svc is gone exits 0 and prints nothing; other commands fail normally [rm-never-breaks]", async () => {
  await using home = await makeTempHome();
  await writeLauncher(home.files, home.paths, launcherText(["/nowhere/deno"], at("/h")));
  for (const hook of ["remote-hook", "hook"]) {
    assert.deepEqual(await run(home, [hook, "x"]), { code: 0, stdout: "", stderr: "" });
  }
  assert.equal((await run(home, ["mcp"])).code, 127);
  await writeLauncher(
    home.files,
    home.paths,
    launcherText(["sh", "-c", "echo broken >&2; exit 2"], at("/h")),
  );
  assert.deepEqual(await run(home, ["remote-hook", "codex"]), { code: 0, stdout: "", stderr: "" });
});

Deno.test("the report of a tool call's end does not delay the agent and loses no byte of its input [hook-after-background]", async () => {
  await using home = await makeTempHome();
  const [gate, report] = [`${home.paths.root}/gate`, `${home.paths.root}/report`];
  await new Deno.Command("mkfifo", { args: [gate, report] }).output();
  const program = `read -r _ <"${gate}"; { printf "%s|" "$@"; cat; } >"${report}"`;
  await writeLauncher(home.files, home.paths, launcherText(["sh", "-c", program, "svc"], at("/h")));
  const input = JSON.stringify({ tool_response: "ä\\n%s".repeat(50_000) });
  for (const event of AFTER_TOOL) {
    const child = new Deno.Command(home.paths.launcher, {
      args: ["hook", event, "cc"],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
    // The gate is still closed.
    assert.equal((await child.output()).code, 0);
    await Deno.writeTextFile(gate, "go\n");
    assert.equal(await Deno.readTextFile(report), `hook|${event}|cc|${input}\n`);
  }
});

Deno.test("a hook that waits for a phone is svc itself, so that a signal of the agent ends it [card-hook-ends]", async () => {
  await using home = await makeTempHome();
  const program = `${home.paths.root}/svc`;
  await Deno.writeTextFile(program, "#!/bin/sh\necho $$\n", { mode: 0o700 });
  await writeLauncher(home.files, home.paths, launcherText([program], at("/h")));
  const pids = async (words: string[]): Promise<[launcher: number, svc: number]> => {
    const child = new Deno.Command(home.paths.launcher, { args: words, stdout: "piped" }).spawn();
    return [child.pid, Number(new TextDecoder().decode((await child.output()).stdout))];
  };
  const [launcher, svc] = await pids(["hook", "PermissionRequest", "cc", "cards"]);
  assert.equal(svc, launcher);
  const [other, child] = await pids(["hook", "PreToolUse", "cc", "gates"]);
  assert.notEqual(child, other);
  await Deno.remove(program);
  const words = ["hook", "PermissionRequest", "cc", "cards"];
  assert.deepEqual(await run(home, words), { code: 0, stdout: "", stderr: "" });
});

Deno.test("a Copilot hook that is killed while it waits for a phone refuses nothing [card-local, card-hook-ends]", async () => {
  await using home = await makeTempHome();
  const program = `${home.paths.root}/svc`;
  await Deno.writeTextFile(program, "#!/bin/sh\nkill -9 $$\n", { mode: 0o700 });
  await writeLauncher(home.files, home.paths, launcherText([program], at("/h")));
  const words = ["hook", "permissionRequest", "copilot", "cards"];
  assert.deepEqual(await run(home, words), { code: 0, stdout: "", stderr: "" });
});

Deno.test("the launcher is written only when it changed", async () => {
  await using home = await makeTempHome();
  const write = (words: string[]): Promise<boolean> =>
    writeLauncher(home.files, home.paths, launcherText(words, at("/h")));
  assert.deepEqual([await write(["a"]), await write(["a"]), await write(["b"])], [true, false, true]);
});
