/** Debian's nginx, as docs/operating.md configures it, in front of three relays that restart one after the other. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { makeNodeStage } from "../helpers/node_stage.ts";
import { nginxProgram, NO_NGINX, startNginx } from "../helpers/nginx.ts";
import { checkAll, progress, report } from "./progress.ts";

Deno.test("nodes: behind nginx a rolling restart and killed relays lose, duplicate and reorder nothing [nodes-nginx]", async () => {
  const program = await nginxProgram();
  if (program === undefined) return say(NO_NGINX);
  await using stage = await makeNodeStage({
    sessions: 6,
    balance: (ports) => startNginx(program, ports),
    server: ["--trusted-proxy", "127.0.0.1"],
  });
  await progress(stage);
  report(stage, "calm behind nginx");
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    for (const [n, relay] of stage.relays.entries()) {
      relay.started().kill(signal);
      await progress(stage);
      await relay.restart();
      await progress(stage);
      report(stage, `relay ${n} behind nginx ended by ${signal}`);
    }
  }
  const metrics = await fetch(`http://${stage.host}/metrics`);
  await metrics.body?.cancel();
  assert.equal(metrics.status, 401, "nginx shows that the caller is another machine");
  await checkAll(stage);
});
