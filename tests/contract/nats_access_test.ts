/** TLS and users of NATS, on both runtimes. [nats-access] */
import assert from "node:assert/strict";
import { nkeyUser } from "../helpers/nats_access.ts";
import { startNats } from "../helpers/nats_server.ts";
import { runSvc, startSvc } from "../helpers/program.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { RELAY_READY } from "../helpers/stack.ts";
import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("access to NATS", import.meta.resolve("./nats_access_cases.ts"));

Deno.test("svc server without access to NATS says in one sentence what to do, and exits with 1 [nats-access]", async () => {
  await using sandbox = await makeSandbox();
  const { lines, seed } = nkeyUser();
  const nats = await startNats(`${sandbox.root}/nats`, lines);
  try {
    const [right, wrong] = [`${sandbox.root}/right`, `${sandbox.root}/wrong`];
    await Deno.writeTextFile(right, seed);
    await Deno.writeTextFile(wrong, nkeyUser().seed);
    const args = ["server", "--listen", "127.0.0.1:0", "--nats", nats.url];
    const refused = await runSvc(sandbox, [...args, "--nats-creds", wrong]);
    assert.equal(refused.code, 1);
    assert.equal(
      refused.stderr,
      `svc: Cannot connect to NATS at ${nats.url}: it refused the credentials: ` +
        "name the file of a user that it knows with --nats-creds\n",
    );
    const relay = startSvc(sandbox, [...args, "--nats-creds", right]);
    await relay.line(RELAY_READY);
    const tool = await runSvc(sandbox, ["keys", "list"]);
    assert.equal(tool.code, 0, tool.stderr);
  } finally {
    await nats.stop("SIGKILL");
  }
});
