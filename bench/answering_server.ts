/** An HTTP server that reads a push and answers at once, without keys, store or listener: the upper bound on pushes per second. */
import { say } from "../scripts/say.ts";

async function answer(request: Request): Promise<Response> {
  await request.json();
  return Response.json({ id: crypto.randomUUID(), state: "queued", expiresAt: Date.now() });
}

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => say(`listening on http://127.0.0.1:${port}`),
}, answer);
