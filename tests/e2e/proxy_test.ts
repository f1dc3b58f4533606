/** A listener that can reach the relay only through the proxy in its environment. */
import assert from "node:assert/strict";
import { startProxy } from "../helpers/http_proxy.ts";
import { makeStack } from "../helpers/stack.ts";
import { runSvc, startSvc } from "../helpers/program.ts";
import { until } from "../helpers/until.ts";

Deno.test("a listener reaches its relay through the proxy in its environment, as the rest of svc does [wrap-env]", async () => {
  await using stack = await makeStack({ listener: false });
  const { sandbox, url } = stack;
  using proxy = startProxy(Number(new URL(url).port));
  const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.addr.port}` };
  const args = ["listener", "--ws-url", "ws://relay.invalid/ws"];
  await startSvc(sandbox, args, { env }).line(/connected to ws:\/\/relay\.invalid/);
});

Deno.test("a relay on this machine is reached without the proxy, which would get its key, and agents get the variables as they were [wrap-env]", async () => {
  await using stack = await makeStack({ listener: false });
  const { sandbox } = stack;
  using proxy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let asked = 0;
  (async () => {
    for await (const connection of proxy) {
      asked += 1;
      connection.close();
    }
  })();
  const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.addr.port}`, NO_PROXY: "elsewhere.invalid" };
  await startSvc(sandbox, ["listener"], { env }).line(/connected to ws:/);
  const listed = await runSvc(sandbox, ["sessions"], { env });
  assert.equal(listed.code, 0, listed.stderr);
  const [bin, seen] = [`${sandbox.root}/agents`, `${sandbox.root}/environment`];
  await Deno.mkdir(bin);
  const agent = `#!/bin/sh\nenv > ${seen}.part; mv ${seen}.part ${seen}; exec sleep 1000\n`;
  await Deno.writeTextFile(`${bin}/claude`, agent, { mode: 0o755 });
  const PATH = `${bin}:${sandbox.env.PATH}`;
  const started = await runSvc(sandbox, ["--detach", "cc"], { env: { ...env, PATH } });
  assert.equal(started.code, 0, started.stderr);
  const environment = await until("the agent's environment", () => Deno.readTextFile(seen).catch(() => ""));
  const about = environment.split("\n").filter((one) => /^(no_proxy|http_proxy|SVC_OWN_PROXIES)=/i.test(one));
  assert.deepEqual(about.sort(), [`HTTP_PROXY=${env.HTTP_PROXY}`, `NO_PROXY=${env.NO_PROXY}`]);
  assert.equal(asked, 0);
});
