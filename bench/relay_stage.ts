/** A relay in a separate process, with a listener that acknowledges at once and as many senders as needed. */
import { createRelayApi, type RelayApi } from "../src/client/api.ts";
import { createKey } from "../src/relay/api_keys.ts";
import { openRelayStore } from "../src/store/open.ts";
import { Peer } from "../tests/contract/relay_peer.ts";
import { type Started, startSvc } from "../tests/helpers/program.ts";
import { makeSandbox, type Sandbox } from "../tests/helpers/sandbox.ts";
import { RELAY_READY } from "../tests/helpers/stack.ts";

export const LISTENER = "dev_listener_0a1b2c3d";

export interface RelayStage extends AsyncDisposable {
  sandbox: Sandbox;
  relay: Started;
  wsUrl: string;
  /** Each has its own key, since requests are limited per key. */
  senders: RelayApi[];
  /** A phone's key. */
  key: string;
  listener: Peer;
}

export interface RelayStageOptions {
  senders: number;
  /** argv of the relay's program in place of `svc server`. */
  program?: readonly string[];
  /** Called with the data folder before the relay starts. */
  prepare?(dataDir: string): Promise<void>;
}

export async function makeRelayStage({ senders, program, prepare }: RelayStageOptions): Promise<RelayStage> {
  const sandbox = await makeSandbox();
  const data = `${sandbox.svcHome}/server`;
  const keys: string[] = [];
  const store = await openRelayStore(data, {});
  for (let count = 0; count < senders + 2; count++) {
    keys.push((await createKey(store, { name: `${count}`, scopes: ["push:read", "push:send"] })).key);
  }
  await store.close();
  await prepare?.(data);
  const args = ["server", "--listen", "127.0.0.1:0", "--data", data];
  const relay = program === undefined
    ? startSvc(sandbox, args)
    : startSvc(sandbox, [data], { launch: program });
  const [, url = "", , wsUrl = ""] = await relay.line(RELAY_READY);
  const [key = "", ofListener = "", ...ofSenders] = keys;
  const listener = await Peer.listener(wsUrl, ofListener, LISTENER);
  return {
    ...{ sandbox, relay, wsUrl, key, listener },
    senders: ofSenders.map((apiKey) => createRelayApi({ baseUrl: url, apiKey })),
    async [Symbol.asyncDispose]() {
      await listener.leave();
      await sandbox[Symbol.asyncDispose]();
    },
  };
}
