/** A listener that can reach the relay only through the proxy in its environment. */
import { startProxy } from "../helpers/http_proxy.ts";
import { makeStack } from "../helpers/stack.ts";
import { startSvc } from "../helpers/program.ts";

Deno.test("a listener reaches its relay through the proxy in its environment, as the rest of svc does [wrap-env]", async () => {
  await using stack = await makeStack({ listener: false });
  const { sandbox, url } = stack;
  using proxy = startProxy(Number(new URL(url).port));
  const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.addr.port}` };
  const args = ["listener", "--ws-url", "ws://relay.invalid/ws"];
  await startSvc(sandbox, args, { env }).line(/connected to ws:\/\/relay\.invalid/);
});
