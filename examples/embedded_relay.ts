/**
 * A relay inside a program of your own: it starts on a free port, makes a key, and prints every push to phones.
 *
 * deno run -A examples/embedded_relay.ts ./relay-data
 *
 * The relay is not a part of mod.ts, whose files also run in a browser: import it from src/relay.
 */
import process from "node:process";
import { RelayLink, VERSION } from "../mod.ts";
import { createKey } from "../src/relay/api_keys.ts";
import { startRelay } from "../src/relay/server.ts";
import { openStore } from "../src/store/sqlite.ts";

const [dataDir = "./relay-data"] = process.argv.slice(2);

const relay = await startRelay({
  listen: "127.0.0.1:0",
  dataDir,
  log: (line) => process.stderr.write(`${line}\n`),
});

// The store can be opened beside the running relay, as `svc keys` does.
const store = await openStore(dataDir);
const { key } = await createKey(store, { name: "embedded", scopes: ["push:read", "push:send"] });
await store.close();
process.stdout.write(`SVC_BASE_URL=${relay.url} SVC_API_KEY=${key}\n`);

const link = new RelayLink({
  wsUrl: relay.wsUrl,
  apiKey: key,
  hello: () => ({ role: "phone", name: "embedded", version: VERSION, capabilities: [] }),
  onFrame: (frame) => {
    if (frame.event !== "push.new") return;
    const { type, title = "", body = "" } = frame.data;
    process.stdout.write(`${type}: ${[title, body].filter((text) => text !== "").join(" – ")}\n`);
  },
  onState: ({ state }) => void process.stdout.write(`${state}\n`),
});

async function stop(): Promise<void> {
  link.close();
  await relay.stop();
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
link.start();
