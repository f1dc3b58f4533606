/** A listener that can reach the relay only through the proxy in its environment. */
import { makeStack } from "../helpers/stack.ts";
import { startSvc } from "../helpers/program.ts";

/** Forwards the first request of each connection to `port`, whatever host it names, and then all bytes. */
function startProxy(port: number): Deno.TcpListener {
  const proxy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  (async () => {
    for await (const near of proxy) pass(near, port).catch(() => near.close());
  })();
  return proxy;
}

async function pass(near: Deno.Conn, port: number): Promise<void> {
  const first = new Uint8Array(16_384);
  const length = await near.read(first) ?? 0;
  const far = await Deno.connect({ hostname: "127.0.0.1", port });
  const request = new TextDecoder().decode(first.subarray(0, length));
  const isTunnel = request.startsWith("CONNECT ");
  if (isTunnel) await near.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n\r\n"));
  else await far.write(new TextEncoder().encode(request.replace(/ http:\/\/[^/]+/, " ")));
  const ends = [near.readable.pipeTo(far.writable), far.readable.pipeTo(near.writable)];
  await Promise.allSettled(ends);
}

Deno.test("a listener reaches its relay through the proxy of its environment, as the rest of svc does [wrap-env]", async () => {
  await using stack = await makeStack({ listener: false });
  const { sandbox, url } = stack;
  using proxy = startProxy(Number(new URL(url).port));
  const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.addr.port}` };
  const args = ["listener", "--ws-url", "ws://relay.invalid/ws"];
  await startSvc(sandbox, args, { env }).line(/connected to ws:\/\/relay\.invalid/);
});
