/** The cost of an idle connected phone for the relay, compared with a plain WebSocket server. */
import { WebSocket } from "ws";
import { createKey } from "../../src/relay/api_keys.ts";
import { openRelayStore } from "../../src/store/open.ts";
import { Peer } from "../../tests/contract/relay_peer.ts";
import { startSvc } from "../../tests/helpers/program.ts";
import { until } from "../../tests/helpers/until.ts";
import { denoCommand } from "../bare.ts";
import type { Row, Sample, Stage } from "../measure.ts";
import { residentBytes } from "../process_figures.ts";
import { makeRelayStage } from "../relay_stage.ts";

/** Accounts per sample, each with its own connections. */
const ACCOUNTS = 10;
const PER_ACCOUNT = 200;
const SAMPLES = 3;
/** Time for the process to settle. */
const REST_MS = 10_000;
const ECHO_SERVER = denoCommand("../plain_server.ts", import.meta.url);

/** Measures growth per connection since the first measurement, since single steps depend on the garbage collector. */
async function growth(pid: number, open: () => Promise<unknown>): Promise<Sample> {
  const rest = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, REST_MS));
  // The first connections also pay for code that is compiled once.
  await open();
  await rest();
  const before = await residentBytes(pid);
  let opened = 0;
  return async () => {
    await open();
    opened += ACCOUNTS * PER_ACCOUNT;
    await rest();
    return (await residentBytes(pid) - before) / opened / 1_024;
  };
}

async function openConnections(): Promise<Stage> {
  const keys: string[] = [];
  const stage = await makeRelayStage({
    senders: 0,
    async prepare(data) {
      const store = await openRelayStore(data, {});
      for (let number = 0; number < ACCOUNTS * (SAMPLES + 1); number++) {
        const name = `idle-${number}`;
        keys.push((await createKey(store, { name, account: name, scopes: ["push:read"] })).key);
      }
      await store.close();
    },
  });
  const plain = startSvc(stage.sandbox, [], { launch: ECHO_SERVER });
  const [, url = ""] = await plain.line(/^listening on (\S+)$/);
  const sockets: WebSocket[] = [];
  const phones = async (): Promise<void> => {
    for (const key of keys.splice(0, ACCOUNTS)) {
      const peers = await Promise.all(Array.from({ length: PER_ACCOUNT }, async (_, number) => {
        const hello = { deviceId: `dev_phone_${number.toString(16).padStart(8, "0")}` };
        return await Peer.greeted(stage.wsUrl, { key, hello });
      }));
      sockets.push(...peers.map(({ socket }) => socket));
    }
  };
  const others = async (): Promise<void> => {
    for (let account = 0; account < ACCOUNTS; account++) {
      const opened = Array.from({ length: PER_ACCOUNT }, () => new WebSocket(url));
      await until("open sockets", () => opened.every(({ readyState }) => readyState === WebSocket.OPEN));
      sockets.push(...opened);
    }
  };
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.terminate();
    plain.kill("SIGTERM");
    await plain.exited;
    await stage[Symbol.asyncDispose]();
  };
  const [ours, theirs] = [await growth(stage.relay.pid, phones), await growth(plain.pid, others)];
  return { ours, theirs, close };
}

export const connectionsRow: Row = {
  name: "relay: memory for each idle phone that is connected",
  beside: "a plain WebSocket server",
  aim: "< 1.3",
  unit: "KiB",
  samples: SAMPLES,
  open: openConnections,
};
