/**
 * Sends a message into a session and waits until its receipt is final.
 *
 * SVC_BASE_URL=http://localhost:7420 SVC_API_KEY=svc_… deno run -A examples/send.ts svc-demo "run the tests"
 *
 * The key needs the scope push:send. A host with paired phones refuses it (sealed_required): there, pair the script with
 * svc pair --script FILE and send with svc send --as FILE.
 */
import process from "node:process";
import { createRelayApi, RelayError, waitForReceipt } from "../mod.ts";

/** How long the message may wait for its turn. */
const TTL_SECONDS = 60;
/** The relay may report up to 5 seconds late that a message has expired. */
const WAIT_MS = TTL_SECONDS * 1_000 + 5_000;

const { SVC_BASE_URL: baseUrl = "http://localhost:7420", SVC_API_KEY: apiKey } = process.env;

async function send(session: string, body: string): Promise<number> {
  if (apiKey === undefined) throw new Error("Cannot send: set SVC_API_KEY to a key with the scope push:send");
  const api = createRelayApi({ baseUrl, apiKey });
  // With an id from its sender, a push can be sent again after a lost connection and is still typed only once.
  const id = crypto.randomUUID();
  await api.sendPush({ id, type: "agent.command", agentSessionName: session, body, ttlSeconds: TTL_SECONDS });
  const { receipt } = await waitForReceipt(api, id, { timeoutMs: WAIT_MS });
  const reason = receipt.reason === undefined ? "" : ` (${receipt.reason})`;
  process.stdout.write(`${receipt.state}${reason}\n`);
  return receipt.state === "submitted" || receipt.state === "typed" ? 0 : 1;
}

const [session, body] = process.argv.slice(2);
if (session === undefined || body === undefined) {
  process.stderr.write("Usage: send.ts <session> <text>\n");
  process.exit(2);
}
try {
  process.exitCode = await send(session, body);
} catch (error) {
  if (!(error instanceof Error)) throw error;
  const hint = error instanceof RelayError ? ` (${error.code})` : "";
  process.stderr.write(`${error.message}${hint}\n`);
  process.exitCode = 1;
}
