/** Relay nodes as real processes for measuring, on SQLite or on NATS, with the counters of NATS's own monitoring. */
import { createKey } from "../../src/relay/api_keys.ts";
import { openRelayStore } from "../../src/store/open.ts";
import { startNats, startNatsCluster } from "../../tests/helpers/nats_server.ts";
import { type Started, startSvc } from "../../tests/helpers/program.ts";
import { makeSandbox } from "../../tests/helpers/sandbox.ts";
import { RELAY_READY } from "../../tests/helpers/stack.ts";

export interface RelayNode {
  /** `host:port`. */
  host: string;
  process: Started;
}

export interface BenchStage extends AsyncDisposable {
  nodes: readonly RelayNode[];
  /** Creates a key of the account with this name. */
  key(account: string): Promise<string>;
  /** Total traffic between NATS and its clients so far; zero unless there is exactly one NATS server. */
  traffic(): Promise<Traffic>;
}

export interface Traffic {
  messages: number;
  bytes: number;
}

interface StageOptions {
  /** Nodes on NATS; 0 is one relay on SQLite. */
  nodes: number;
  /** Number of NATS servers. */
  servers?: 1 | 3;
}

/** The port of one server's monitoring endpoint. */
const MONITOR = 20_000 + Math.floor(Math.random() * 10_000);

export async function makeBenchStage({ nodes: count, servers = 3 }: StageOptions): Promise<BenchStage> {
  const sandbox = await makeSandbox();
  const nats = count === 0
    ? []
    : servers === 3
    ? await startNatsCluster(`${sandbox.root}/nats`)
    : [await startNats(`${sandbox.root}/nats`, [`http: "127.0.0.1:${MONITOR}"`])];
  const data = `${sandbox.svcHome}/server`;
  const onNats = nats.length === 0 ? [] : ["--nats", nats.map(({ url }) => url).join(",")];
  const nodes = await Promise.all(Array.from({ length: Math.max(1, count) }, async () => {
    const process = startSvc(sandbox, ["server", "--listen", "127.0.0.1:0", "--data", data, ...onNats]);
    const [, , host = ""] = await process.line(RELAY_READY);
    return { host, process };
  }));
  return {
    nodes,
    async key(account) {
      const store = await openRelayStore(data);
      try {
        return (await createKey(store, { name: "bench", scopes: ["push:read", "push:send"], account })).key;
      } finally {
        await store.close();
      }
    },
    async traffic() {
      if (nats.length !== 1) return { messages: 0, bytes: 0 };
      const answer = await fetch(`http://127.0.0.1:${MONITOR}/varz`);
      const { in_msgs, out_msgs, in_bytes, out_bytes } = await answer.json();
      return { messages: in_msgs + out_msgs, bytes: in_bytes + out_bytes };
    },
    async [Symbol.asyncDispose]() {
      for (const { process } of nodes) process.kill("SIGTERM");
      await Promise.all(nodes.map(({ process }) => process.exited));
      for (const server of nats) await server.stop("SIGKILL");
      await sandbox[Symbol.asyncDispose]();
    },
  };
}
