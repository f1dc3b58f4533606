/** `svc upgrade` of an installation in npm's global folder, with a program in place of npm. */
import assert from "node:assert/strict";
import { buildForNode } from "../helpers/node_build.ts";
import { runSvc } from "../helpers/program.ts";
import type { Ran } from "../helpers/run.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { CHECKOUT } from "../helpers/sources.ts";

Deno.test("svc upgrade prints npm's command, and --run runs it and reports its failure [upg-command, upg-run]", async () => {
  await using sandbox = await makeSandbox();
  const folder = `${sandbox.root}/lib/node_modules/@svc/svc`;
  const launch = await buildForNode(`${CHECKOUT}cli.ts`, { folder });
  const record = `${sandbox.root}/npm.args`;
  await Deno.mkdir(`${sandbox.root}/bin`);
  const npm = `#!/bin/sh\necho "$@" >> "${record}"\nexit "\${NPM_CODE:-0}"\n`;
  await Deno.writeTextFile(`${sandbox.root}/bin/npm`, npm, { mode: 0o755 });
  const PATH = `${sandbox.root}/bin:${sandbox.env.PATH}`;
  const upgrade = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
    runSvc(sandbox, ["upgrade", ...args], { launch, env: { PATH, ...env } });
  const shown = await upgrade([]);
  assert.match(
    shown.stdout,
    /installed by npm install -g\nTo upgrade it, run:\n {2}npm install --global @svc\/svc@latest\n/,
  );
  assert.equal(await Deno.stat(record).catch(() => "nothing was run"), "nothing was run");
  const ran = await upgrade(["--run"]);
  assert.equal(ran.code, 0, ran.stderr);
  assert.equal(await Deno.readTextFile(record), "install --global @svc/svc@latest\n");
  const failed = await upgrade(["--run"], { NPM_CODE: "7" });
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /@latest" ended with 7: nothing after it was run/);
});
