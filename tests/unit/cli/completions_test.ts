/** Completion scripts: what they offer, and that they execute nothing from the command line. */
import assert from "node:assert/strict";
import {
  bashScript,
  FILE_OPTIONS,
  fishScript,
  FOLDER_OPTIONS,
  zshScript,
} from "../../../src/cli/completions.ts";
import { listedCommands } from "../../../src/cli/main.ts";
import { AGENT_LABELS } from "../../../src/protocol/names.ts";

const commands = listedCommands();

interface Shell {
  sessions?: string;
  cwd?: string;
}

/** Completes a line in a real bash, with an `svc` that prints `sessions`. */
async function completeInBash(
  line: readonly string[],
  { sessions = "svc-app\nsvc-app-2\n", cwd = "/" }: Shell = {},
): Promise<string[]> {
  const script = `
    svc() { printf '%s' "$SESSIONS"; }
    ${bashScript(commands)}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await new Deno.Command("bash", {
    args: ["--norc", "-c", script, "bash", ...line],
    env: { SESSIONS: sessions },
    cwd,
  }).output();
  assert.equal(new TextDecoder().decode(stderr), "");
  return new TextDecoder().decode(stdout).split("\n").filter((word) => word !== "");
}

Deno.test("bash completes commands, agents, sessions and shells [cli-completions]", async () => {
  assert.deepEqual(
    await completeInBash(["svc", "se"]),
    ["server", "sessions", "send", "setup", "service"].filter((name) =>
      commands.some((command) => command.name === name)
    ),
  );
  assert.deepEqual(await completeInBash(["svc", "co"]), ["codex", "copilot", "completions"]);
  assert.deepEqual(await completeInBash(["svc", "send", "svc-app-"]), ["svc-app-2"]);
  assert.deepEqual(await completeInBash(["svc", "completions", "z"]), ["zsh"]);
  assert.deepEqual(await completeInBash(["svc", "send", "two"], { sessions: "two words;$(x)\n" }), [
    "two\\ words\\;\\$\\(x\\)",
  ]);
});

Deno.test("bash completes only an agent after --detach, and the arguments of keep, setup and agents [cli-completions]", async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-completion-" });
  // Files are completed only among an agent's own arguments.
  for (const name of ["server.txt", "svc-app-file", "codex.txt"]) {
    await Deno.writeTextFile(`${folder}/${name}`, "");
  }
  const complete = (...line: string[]): Promise<string[]> =>
    completeInBash(["svc", ...line], { cwd: folder });
  assert.deepEqual(await complete("--detach", "co"), ["codex", "copilot"]);
  assert.deepEqual(await complete("--detach", "se"), []);
  assert.deepEqual(await complete("--detach", "codex", "se"), ["server.txt"]);
  assert.deepEqual(await complete("setup", "--agent", "co"), ["codex", "copilot"]);
  assert.deepEqual(await complete("setup", "--agent", "ec"), []);
  assert.deepEqual(await complete("agents", "check", "codex", "ec"), ["echo"]);
  assert.deepEqual(await complete("agents", "record", "svc-app-"), ["svc-app-2"]);
  assert.deepEqual(await complete("keep", "svc-app-"), ["svc-app-2"]);
  assert.deepEqual(await complete("keep", "--off", "svc-app-"), ["svc-app-2"]);
  assert.deepEqual(await complete("keep", "svc-app", "--", "se"), ["server.txt"]);
  assert.deepEqual(await complete("help", "mu"), ["mute"]);
  assert.deepEqual(await complete("send", "svc-app", "--as", "se"), ["server.txt"]);
  assert.deepEqual(await complete("send", "svc-app", "se"), []);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("text on the command line or in a session's name is never executed [cli-completions]", async () => {
  const directory = await Deno.makeTempDir({ prefix: "svc-completion-" });
  const trap = `$(touch ${directory}/ran)`;
  await completeInBash(["svc", "cc", trap, trap]);
  await completeInBash(["svc", "send", trap]);
  await completeInBash(["svc", "--detach", trap]);
  await completeInBash(["svc", "keep", "--off", trap]);
  await completeInBash(["svc", "setup", "--agent", trap]);
  await completeInBash(["svc", trap]);
  await completeInBash(["svc", "send", ""], { sessions: `${trap}\n\`touch ${directory}/ran\`\n` });
  assert.deepEqual([...Deno.readDirSync(directory)], []);
  await Deno.remove(directory, { recursive: true });
  for (const script of [bashScript, zshScript, fishScript]) assert.doesNotMatch(script(commands), /\beval\b/);
});

Deno.test("zsh and fish offer every first word with its summary", () => {
  for (const name of [...Object.keys(AGENT_LABELS), ...commands.map((command) => command.name)]) {
    assert.ok(zshScript(commands).includes(`'${name}:`), name);
    assert.ok(fishScript(commands).includes(`-a ${name} `), name);
  }
});

Deno.test("every option whose value is a file or a folder by the help is completed as one [cli-completions]", async () => {
  const page = (await Deno.readTextFile(new URL("../../../docs/svc.1", import.meta.url))).replaceAll(
    "\\",
    "",
  );
  const optionsWith = (value: RegExp): string[] =>
    [...new Set([...page.matchAll(value)].map(([, option = ""]) => option))].sort();
  assert.deepEqual(optionsWith(/(--[a-z-]+) <file>/g), [...FILE_OPTIONS].sort());
  assert.deepEqual(optionsWith(/(--[a-z-]+) <(?:dir|folder)>/g), [...FOLDER_OPTIONS].sort());
});
