/** `svc upgrade` of an installation in npm's global folder, with a stand-in for npm. */
import assert from "node:assert/strict";
import { encodeUtf8 } from "../../src/async/encodings.ts";
import { SERVICE_MARK } from "../../src/cli/service/manager.ts";
import { splitLines } from "../../src/runtime/input.ts";
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

Deno.test("svc upgrade prints the commands that rebuild a package, and --run says why it cannot run them [upg-command, upg-run]", async () => {
  await using sandbox = await makeSandbox();
  const folder = `${sandbox.root}/lib/node_modules/@svc/svc`;
  const launch = await buildForNode(`${CHECKOUT}cli.ts`, { folder });
  await Deno.writeTextFile(`${folder}/package.json`, '{"type":"module","svcBuild":"checkout"}');
  const shown = await runSvc(sandbox, ["upgrade"], { launch });
  assert.deepEqual([shown.code, shown.stderr], [0, ""]);
  assert.match(
    shown.stdout,
    /run in the checkout that it was built in:\n {2}git pull --ff-only\n {2}npx -y deno@[\d.]+ task package\n.*\n {2}svc listener --restart\n$/,
  );
  const ran = await runSvc(sandbox, ["upgrade", "--run"], { launch });
  assert.deepEqual([ran.code, ran.stdout], [1, shown.stdout]);
  assert.equal(
    ran.stderr,
    "svc: Cannot run that: a built package does not record where its checkout is. Nothing was run.\n",
  );
});

/** Stands in for a listener: reports its status, and refuses to stop. */
function standIn(socket: string): AsyncDisposable {
  const server = Deno.listen({ transport: "unix", path: socket });
  const status = {
    pid: Deno.pid,
    version: "0.0.1",
    startedAt: 0,
    wsUrl: "ws://x",
    connected: true,
    sessions: 0,
  };
  const answer = async (connection: Deno.Conn): Promise<void> => {
    for await (const line of splitLines(connection.readable)) {
      const reply = JSON.parse(line).op === "status" ? { ok: true, status } : { ok: false, error: "no" };
      await connection.write(encodeUtf8(`${JSON.stringify(reply)}\n`));
    }
  };
  const serve = async (): Promise<void> => {
    const answers: Promise<void>[] = [];
    for await (const connection of server) answers.push(answer(connection));
    await Promise.all(answers);
  };
  const served = serve();
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      server.close();
      await served;
    },
  };
}

Deno.test("svc upgrade --run restarts the relay's service even if the listener cannot be restarted, and says what failed [upg-run]", async () => {
  await using sandbox = await makeSandbox();
  const launch = await buildForNode(`${CHECKOUT}cli.ts`, {
    folder: `${sandbox.root}/lib/node_modules/@svc/svc`,
  });
  const [bin, record] = [`${sandbox.root}/bin`, `${sandbox.root}/systemctl.args`];
  await Deno.mkdir(bin);
  await Deno.writeTextFile(`${bin}/npm`, "#!/bin/sh\n", { mode: 0o755 });
  await Deno.writeTextFile(`${bin}/systemctl`, `#!/bin/sh\necho "$@" >> "${record}"\n`, { mode: 0o755 });
  const units = `${sandbox.home}/.config/systemd/user`;
  await Deno.mkdir(units, { recursive: true });
  const unit = `# ${SERVICE_MARK}\n[Service]\nExecStart=${launch.join(" ")} server --data /d\n`;
  await Deno.writeTextFile(`${units}/svc-relay.service`, unit);
  await Deno.mkdir(sandbox.svcHome, { mode: 0o700 });
  await using _listener = standIn(`${sandbox.svcHome}/listener.sock`);
  const env = { PATH: `${bin}:${sandbox.env.PATH}` };
  const { code, stderr } = await runSvc(sandbox, ["upgrade", "--run"], { launch, env });
  assert.equal(code, 1);
  assert.match(stderr, /cli\.js listener --restart" ended with 1: the old version may still run/);
  assert.match(await Deno.readTextFile(record), /^--user restart svc-relay\.service$/m);
});
