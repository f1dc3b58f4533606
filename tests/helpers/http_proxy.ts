/** An HTTP proxy that sends requests for every host to one port of this machine. */

/** Forwards the first request of each connection to `port`, whichever host it names, and then all bytes. */
export function startProxy(port: number): Deno.TcpListener {
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
