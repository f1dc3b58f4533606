/** Which installation a command belongs to, and what upgrades it. */
import assert from "node:assert/strict";
import config from "../../../deno.json" with { type: "json" };
import { judgeCommand } from "../../../src/cli/checks/agents/agents.ts";
import {
  installationOf,
  manualUpgrade,
  npxAdvice,
  PACKAGE,
  stepLine,
  upgradeSteps,
} from "../../../src/cli/installation.ts";
import { commandOf, launcherText } from "../../../src/hooks/setup/home_files.ts";

const NODE = "/usr/bin/node";
const DENO = "/home/ann/.deno/bin/deno";
const IN_CACHE = "/home/ann/.cache/deno/npm/registry.npmjs.org";

const CASES: [what: string, command: string[], program: string, kind: string, steps: string[]][] = [
  [
    "a checkout",
    [DENO, "run", "-A", "--config", "/src/my svc/deno.json", "/src/my svc/cli.ts"],
    "/src/my svc/cli.ts",
    "checkout",
    [
      "cd '/src/my svc' && git pull --ff-only",
      `cd '/src/my svc' && ${DENO} install --frozen`,
      `cd '/src/my svc' && ${DENO} run -A scripts/build_phone.ts`,
    ],
  ],
  [
    "npm install -g",
    [NODE, "/usr/local/bin/svc"],
    `/usr/local/lib/node_modules/${PACKAGE}/cli.js`,
    "npm-global",
    [`npm install --global ${PACKAGE}@latest`],
  ],
  [
    "a project's dependency",
    [NODE, "/home/ann/app/node_modules/.bin/svc"],
    `/home/ann/app/node_modules/${PACKAGE}/cli.js`,
    "npm-project",
    [`cd /home/ann/app && npm install ${PACKAGE}@latest`],
  ],
  [
    "npx",
    [NODE, "/home/ann/.npm/_npx/1a2b/node_modules/.bin/svc"],
    `/home/ann/.npm/_npx/1a2b/node_modules/${PACKAGE}/cli.js`,
    "npx",
    [`npx --yes ${PACKAGE}@latest --version`],
  ],
  [
    "deno install -g of the package",
    [DENO, `${IN_CACHE}/${PACKAGE}/0.1.0/cli.js`],
    `${IN_CACHE}/${PACKAGE}/0.1.0/cli.js`,
    "deno",
    [`${DENO} install --global --force -A --name svc npm:${PACKAGE}@latest`],
  ],
  [
    "Deno's cache of another registry",
    [DENO, `/cache/npm/127.0.0.1_4873/${PACKAGE}/0.1.0/cli.js`],
    `/cache/npm/127.0.0.1_4873/${PACKAGE}/0.1.0/cli.js`,
    "deno",
    [`${DENO} install --global --force -A --name svc npm:${PACKAGE}@latest`],
  ],
  [
    "pnpm add -g",
    [NODE, "/home/ann/.local/share/pnpm/svc"],
    `/home/ann/.local/share/pnpm/global/5/.pnpm/@svc+svc@0.1.0/node_modules/${PACKAGE}/cli.js`,
    "pnpm-global",
    [`pnpm add --global ${PACKAGE}@latest`],
  ],
  [
    "a project's dependency by pnpm",
    [NODE, "/home/ann/app/node_modules/.bin/svc"],
    `/home/ann/app/node_modules/.pnpm/@svc+svc@0.1.0/node_modules/${PACKAGE}/cli.js`,
    "pnpm-project",
    [`cd /home/ann/app && pnpm add ${PACKAGE}@latest`],
  ],
  ["a single program", ["/opt/svc"], "/opt/svc", "binary", []],
];

for (const [what, command, program, kind, steps] of CASES) {
  Deno.test(`${what} is recognized, and upgraded in its own way [upg-command]`, () => {
    const installation = installationOf(command, { program, isBuilt: false });
    assert.equal(installation.kind, kind);
    assert.deepEqual(upgradeSteps(installation, DENO).map(stepLine), steps);
  });
}

Deno.test("a package that was built in a checkout, or is linked to one, is rebuilt, because no registry has it [upg-command]", () => {
  for (const program of [`/usr/lib/node_modules/${PACKAGE}/cli.js`, "/src/svc/dist/npm/cli.js"]) {
    const installation = installationOf([NODE, "/usr/bin/svc"], { program, isBuilt: true });
    assert.deepEqual(installation, { kind: "built", folder: program.replace("/cli.js", "") });
    assert.deepEqual(upgradeSteps(installation, DENO), []);
  }
});

Deno.test("a package is rebuilt with the Deno that the README runs, because Node's users may have none [upg-command]", async () => {
  const { lines } = manualUpgrade({ kind: "built", folder: "/usr/lib/node_modules/@svc/svc" });
  const readme = await Deno.readTextFile(new URL("../../../README.md", import.meta.url));
  const [command = ""] = /npx -y deno@[\d.]+ task package/.exec(readme) ?? [];
  assert.notEqual(command, "");
  assert.deepEqual(lines.slice(0, 3), [
    "To upgrade it, run in the checkout that it was built in:",
    "  git pull --ff-only",
    `  ${command}`,
  ]);
});

Deno.test("the package's name is the published one", () => {
  assert.equal(PACKAGE, config.name);
});

Deno.test("a launcher names the command that it runs, and whether that is this svc [set-verify-path]", () => {
  const command = [DENO, "run", "/it's here/cli.ts"];
  const text = launcherText(command, { root: "/home/ann/.svc", backgroundEvents: ["Stop"] });
  assert.deepEqual(commandOf(text), command);
  assert.equal(commandOf("#!/bin/sh\nexec sleep 600\n"), undefined);
  assert.equal(judgeCommand(command, command).mark, "ok");
  const other = judgeCommand(command, [NODE, "/opt/svc/cli.js"]);
  assert.equal(other.mark, "warning");
  assert.match(other.finding, /agents run another svc, .*this one is "\/usr\/bin\/node \/opt\/svc\/cli\.js"/);
});

Deno.test("a program in npx's cache is reported, with the command to use instead", () => {
  assert.equal(npxAdvice([NODE, "/usr/local/bin/svc"]), undefined);
  const cached = "/home/ann/.npm/_npx/1a2b/node_modules/.bin/svc";
  assert.match(
    npxAdvice([NODE, cached]) ?? "",
    new RegExp(`^It starts "${cached}", which is in npx's cache`),
  );
  assert.match(npxAdvice([NODE, cached], "The launcher") ?? "", /^The launcher starts /);
});
