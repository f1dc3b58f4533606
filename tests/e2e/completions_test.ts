/** Completion in real shells on a terminal: loads the script as its help says, and presses Tab. */
import assert from "node:assert/strict";
import { FROM_CHECKOUT, runSvc } from "../helpers/program.ts";
import { run } from "../helpers/run.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

interface Shell {
  name: string;
  argv: string[];
  /** Returns the command that loads the script from a file. */
  load(file: string): string;
}

const SHELLS: Shell[] = [
  { name: "bash", argv: ["bash", "--norc", "--noprofile"], load: (file) => `source ${file}` },
  {
    name: "zsh",
    argv: ["zsh", "-f"],
    load: (file) => `autoload -Uz compinit && compinit -u -D && source ${file}`,
  },
  {
    name: "fish",
    argv: ["fish", "--no-config"],
    // A suggestion after the cursor would look like a completion.
    load: (file) => `set -g fish_autosuggestion_enabled 0 && source ${file}`,
  },
];

/** What is typed before Tab, and the line that it becomes. */
const TYPED: [typed: string, completed: string][] = [
  // A folder with that name exists.
  ["svc log", "svc logs"],
  ["svc upg", "svc upgrade"],
  ["svc codex /et", "svc codex /etc/"],
  ["svc keys cr", "svc keys create"],
  ["svc logs --foll", "svc logs --follow"],
  ["svc keys create --acc", "svc keys create --account"],
  ["svc send svc-pr", "svc send svc-proj"],
  ["svc keep svc-pr", "svc keep svc-proj"],
  ["svc keep --off svc-pr", "svc keep --off svc-proj"],
  ["svc --detach cop", "svc --detach copilot"],
  ["svc --detach codex /et", "svc --detach codex /etc/"],
  ["svc setup --agent gem", "svc setup --agent gemini"],
  ["svc setup --agent gemini --agent cop", "svc setup --agent gemini --agent copilot"],
  ["svc agents check gem", "svc agents check gemini"],
  ["svc agents record svc-pr", "svc agents record svc-proj"],
  ["svc service inst", "svc service install"],
  ["svc service install re", "svc service install relay"],
  ["svc completions zs", "svc completions zsh"],
  ["svc help mu", "svc help mute"],
  ["svc send svc-proj --as /et", "svc send svc-proj --as /etc/"],
  ["svc keep svc-proj -- /et", "svc keep svc-proj -- /etc/"],
  ["svc server backup /et", "svc server backup /etc/"],
  ["svc server --tls-cert /et", "svc server --tls-cert /etc/"],
  ["svc keys list --data /et", "svc keys list --data /etc/"],
];

/** What Tab leaves as it is, although a file of that name exists. */
const UNCHANGED: string[] = [
  "svc status /et",
  "svc pair --json /et",
  "svc logs -n /et",
  "svc devices revoke /et",
];

const isInstalled = await Promise.all(
  SHELLS.map(async ({ name }) => (await run(["sh", "-c", `command -v ${name}`])).code === 0),
);

for (const [at, shell] of SHELLS.entries()) {
  const missing = isInstalled[at] ? "" : ` (left out: ${shell.name} is not installed)`;
  Deno.test({
    name:
      `${shell.name} completes agents, commands, subcommands, options and sessions${missing} [cli-completions]`,
    ignore: !isInstalled[at],
    fn: () => completeIn(shell),
  });
}

async function completeIn({ name, argv, load }: Shell): Promise<void> {
  await using sandbox = await makeSandbox();
  const { code, stdout, stderr } = await runSvc(sandbox, ["completions", name]);
  assert.deepEqual([code, stderr], [0, ""]);
  await Deno.writeTextFile(`${sandbox.root}/completion`, stdout);
  await Deno.mkdir(`${sandbox.root}/bin`);
  await Deno.mkdir(`${sandbox.project}/logs`);
  const program = FROM_CHECKOUT.map((word) => `'${word}'`).join(" ");
  const svc = `#!/bin/sh\n[ "$1" = sessions ] && exec echo svc-proj\nexec ${program} "$@"\n`;
  await Deno.writeTextFile(`${sandbox.root}/bin/svc`, svc, { mode: 0o755 });
  const env = Object.entries({ ...sandbox.env, PATH: `${sandbox.root}/bin:${sandbox.env.PATH}`, PS1: "$ " });
  await sandbox.newSession("shell", [
    "env",
    "-C",
    sandbox.project,
    ...env.map(([key, value]) => `${key}=${value}`),
    ...argv,
  ]);
  const type = (...keys: string[]): Promise<string> => sandbox.tmux("send-keys", "-t", "=shell:", ...keys);
  await type("-l", `${load(`${sandbox.root}/completion`)} && clear && echo lo''aded`);
  await type("Enter");
  await until("a loaded script", async () => /^loaded$/m.test(await sandbox.screen("shell")));
  for (const [typed, completed] of TYPED) {
    await type("-l", typed);
    await until(typed, async () => (await sandbox.screen("shell")).includes(typed));
    await type("Tab");
    await until(`"${typed}" to become "${completed}"`, async () => {
      return (await sandbox.screen("shell")).split("\n").some((line) => line.trimEnd().endsWith(completed));
    });
    await type("C-u");
    await until("an empty line", async () => !(await sandbox.screen("shell")).includes(completed));
  }
  for (const typed of UNCHANGED) {
    await type("-l", typed);
    await until(typed, async () => (await sandbox.screen("shell")).includes(typed));
    // The mark is typed after the completion.
    await type("Tab");
    await type("-l", ".");
    await until(`"${typed}" to stay`, async () => {
      const line = (await sandbox.screen("shell")).split("\n").find((one) => one.includes(typed)) ?? "";
      assert.doesNotMatch(line, /\/etc/);
      return line.includes(`${typed}.`);
    });
    await type("C-u");
    await until("an empty line", async () => !(await sandbox.screen("shell")).includes(typed));
  }
}
