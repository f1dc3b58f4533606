/** `svc service install` where systemd cannot be reached: nothing is written, and the listener that runs stays. */
import assert from "node:assert/strict";
import { exists } from "../../scripts/machine.ts";
import { runSvc } from "../helpers/program.ts";
import { makeStack } from "../helpers/stack.ts";

for (const service of ["listener", "relay"]) {
  Deno.test({
    name: `svc service install ${service} changes nothing where systemd does not answer [srv-install]`,
    ignore: Deno.build.os !== "linux",
    async fn() {
      await using stack = await makeStack();
      const { sandbox, listener } = stack;
      const programs = `${sandbox.root}/bin`;
      await Deno.mkdir(programs);
      await Deno.writeTextFile(
        `${programs}/systemctl`,
        "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n",
        { mode: 0o755 },
      );
      const env = { PATH: `${programs}:${sandbox.env.PATH}` };
      const { code, stdout, stderr } = await runSvc(sandbox, ["service", "install", service], { env });
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, /nothing was changed: .*(Log in again|svc server runs the relay)/s);
      assert.equal(await exists(`${sandbox.home}/.config/systemd`), false);
      const status = JSON.parse((await runSvc(sandbox, ["status", "--json"])).stdout);
      assert.deepEqual([status.listener.pid, status.listener.connected], [listener.pid, true]);
    },
  });
}
