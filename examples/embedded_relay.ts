/**
 * A relay embedded in your own program: it starts on a free port, makes a key, and prints every push to phones.
 *
 * deno run -A examples/embedded_relay.ts ./relay-data
 *
 * mod.ts loads the relay's code only when a relay is started.
 */
import process from "node:process";
import { RelayLink, startRelay, VERSION } from "../mod.ts";

const [dataDir = "./relay-data"] = process.argv.slice(2);

const relay = await startRelay({
  listen: "127.0.0.1:0",
  dataDir,
  log: (line) => process.stderr.write(`${line}\n`),
});

const key = await relay.createKey({ name: "embedded", scopes: ["push:read", "push:send"] });
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
