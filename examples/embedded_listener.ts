/**
 * A listener embedded in your own program: it types messages into this machine's tmux sessions, and prints its log.
 *
 * SVC_WS_URL=ws://localhost:7420/ws SVC_API_KEY=svc_… deno run -A examples/embedded_listener.ts
 *
 * The key needs the scopes push:read and push:send. A second listener with the same ~/.svc is refused.
 */
import process from "node:process";
import { startListener } from "../mod.ts";

const { SVC_WS_URL: wsUrl = "ws://localhost:7420/ws", SVC_API_KEY: apiKey } = process.env;
if (apiKey === undefined) {
  process.stderr.write("Cannot start: set SVC_API_KEY to a key with the scopes push:read and push:send\n");
  process.exit(2);
}

try {
  const listener = await startListener({ wsUrl, apiKey, log: (line) => process.stdout.write(`${line}\n`) });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void listener.stop());
  await listener.ended;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
