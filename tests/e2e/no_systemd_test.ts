/** `svc service` if systemd cannot be reached: nothing is written, the running listener stays, and no installation is suggested. */
import assert from "node:assert/strict";
import { exists } from "../../scripts/machine.ts";
import { runSvc } from "../helpers/program.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { makeStack } from "../helpers/stack.ts";

/** Puts a systemctl that finds no systemd first in PATH; returns the variables. */
async function withoutSystemd({ root, env }: Sandbox): Promise<Record<string, string>> {
  const programs = `${root}/bin`;
  await Deno.mkdir(programs);
  await Deno.writeTextFile(
    `${programs}/systemctl`,
    "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n",
    { mode: 0o755 },
  );
  return { PATH: `${programs}:${env.PATH}` };
}

for (const service of ["listener", "relay"]) {
  Deno.test({
    name: `svc service install ${service} changes nothing if systemd does not answer [srv-install]`,
    ignore: Deno.build.os !== "linux",
    async fn() {
      await using stack = await makeStack();
      const { sandbox, listener } = stack;
      const env = await withoutSystemd(sandbox);
      const { code, stdout, stderr } = await runSvc(sandbox, ["service", "install", service], { env });
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, /nothing was changed: .*(Log in again|svc server runs the relay)/s);
      assert.equal(await exists(`${sandbox.home}/.config/systemd`), false);
      const status = JSON.parse((await runSvc(sandbox, ["status", "--json"])).stdout);
      assert.deepEqual([status.listener.pid, status.listener.connected], [listener.pid, true]);
    },
  });
}

Deno.test({
  name: "svc service status suggests no installation if systemd does not answer [srv-install]",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using sandbox = await makeSandbox();
    const env = await withoutSystemd(sandbox);
    const { code, stdout } = await runSvc(sandbox, ["service", "status"], { env });
    assert.equal(code, 0);
    assert.match(stdout, /^No service is installed, and none can be: systemd does not (run|answer)[^\n]*\n$/);
    assert.match(stdout, /Log in again|svc server runs the relay/);
    assert.doesNotMatch(stdout, /svc service install/);
    const listed = await runSvc(sandbox, ["service", "status", "--json"], { env });
    assert.deepEqual([listed.code, JSON.parse(listed.stdout)], [0, []]);
    const file = `${sandbox.home}/.config/systemd/user/svc-listener.service`;
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(file, "# Written by svc service install\n");
    const found = (await runSvc(sandbox, ["service", "status"], { env })).stdout;
    assert.match(
      found,
      /^listener: .*\n.*\n(.*\n)*Whether this account's services run is not known: systemd /,
    );
  },
});
