/** The store's contract over NATS, with one server for each case. */
import type { Case } from "../helpers/on_node.ts";
import { startNats } from "../helpers/nats_server.ts";
import { openNatsStore } from "../../src/store/nats.ts";
import type { Runtime } from "../../src/runtime/types.ts";
import { storeCases } from "./store_contract.ts";

/** Server addresses by the case's folder. */
const urls = new Map<string, string>();

function open(_runtime: Runtime, directory: string) {
  return openNatsStore({ servers: [urls.get(directory) ?? ""], prefix: "test" }, {
    node: crypto.randomUUID(),
  });
}

export const cases: readonly Case[] = storeCases(open).map(({ name, run }) => ({
  name,
  async run(runtime, directory) {
    const server = await startNats(directory);
    urls.set(directory, server.url);
    try {
      await run(runtime, directory);
    } finally {
      await server.stop();
    }
  },
}));
