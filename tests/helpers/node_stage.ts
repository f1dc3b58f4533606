/** Three relay nodes on three NATS servers behind a balancer, as real processes, with senders and listeners for many sessions. */
import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { createRelayApi } from "../../src/client/api.ts";
import { RelayError } from "../../src/client/relay_error.ts";
import { RelayLink } from "../../src/client/relay_link.ts";
import { FaultProxy } from "./fault_proxy.ts";
import { type NatsServer, startNatsCluster } from "./nats_server.ts";
import { newKey } from "./new_key.ts";
import { type Launch, type Started, startSvc, SVC } from "./program.ts";
import { makeSandbox, type Sandbox } from "./sandbox.ts";
import { RELAY_READY } from "./stack.ts";
import { until } from "./until.ts";

/** Passes each connection to the next node that accepts it, as any load balancer does. */
class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #ports: readonly number[];
  #next = 0;

  constructor(ports: readonly number[]) {
    this.#ports = ports;
    this.#server = createServer((client) => {
      this.#keep(client);
      void this.#serve(client);
    });
  }

  async listen(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #serve(client: Socket): Promise<void> {
    for (let tries = 0; tries < this.#ports.length; tries++) {
      const port = this.#ports[this.#next++ % this.#ports.length] ?? 0;
      const node = connect(port, "127.0.0.1");
      this.#keep(node);
      if (!await once(node, "connect").then(() => true, () => false)) continue;
      client.pipe(node).pipe(client);
      node.on("close", () => client.destroy());
      client.on("close", () => node.destroy());
      return;
    }
    client.destroy();
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }
}

/** The messages that a listener has received for one session: their numbers, in the order of first arrival. */
export class Session {
  readonly name: string;
  readonly arrived: number[] = [];
  /** How often a push arrived again, which means that an acknowledgement was lost. */
  again = 0;
  readonly #ids = new Set<string>();

  constructor(name: string) {
    this.name = name;
  }

  take(id: string, body: string): void {
    if (this.#ids.has(id)) this.again += 1;
    else this.arrived.push(Number(body));
    this.#ids.add(id);
  }
}

export interface NodeStage extends AsyncDisposable {
  nats: readonly NatsServer[];
  relays: readonly { port: number; started(): Started; restart(launch?: Launch): Promise<void> }[];
  /** The first relay's proxies to each NATS server. */
  links: readonly FaultProxy[];
  apiKey: string;
  /** The balancer's `host:port`. */
  host: string;
  sessions: readonly Session[];
  /** How many numbers were accepted for each session so far. */
  accepted: number[];
  /** The longest time that a sender waited for its next accepted push since the last call, in milliseconds. */
  longestPause(): number;
  /** Ends the senders; resolves when the last push was accepted. */
  settle(): Promise<void>;
}

interface NodeStageOptions {
  sessions: number;
  launch?: Launch;
  /** Starts the balancer that clients connect to, in front of the relays on these ports. */
  balance?: (ports: readonly number[]) => Promise<{ port: number; close(): Promise<void> }>;
  /** Additional arguments for `svc server`. */
  server?: readonly string[];
}

async function balanceSimply(ports: readonly number[]): Promise<{ port: number; close(): Promise<void> }> {
  const balancer = new Balancer(ports);
  return { port: await balancer.listen(), close: () => balancer.close() };
}

export async function makeNodeStage(
  { sessions: count, launch = SVC, balance = balanceSimply, server = [] }: NodeStageOptions,
): Promise<NodeStage> {
  const sandbox = await makeSandbox();
  const nats = await startNatsCluster(`${sandbox.root}/nats`);
  const links = await Promise.all(nats.map(({ url }) => FaultProxy.start(url)));
  const relays = await startRelays(sandbox, { nats, links, launch, server });
  const balancer = await balance(relays.map(({ port }) => port));
  const host = `127.0.0.1:${balancer.port}`;
  const apiKey = await newKey(`${sandbox.svcHome}/server`, ["push:read", "push:send"]);
  const sessions = Array.from({ length: count }, (_, n) => new Session(`svc-p-${n}`));
  const listeners = sessions.map((session, n) =>
    listen(session, { host, apiKey, deviceId: `dev_listener_${n}` })
  );
  await until("every listener is connected", () => listeners.every(({ connected }) => connected));
  const keys = await Promise.all(sessions.map(() => newKey(`${sandbox.svcHome}/server`, ["push:send"])));
  const load = new Load({ host, keys, sessions });
  return {
    nats,
    relays,
    links,
    apiKey,
    host,
    sessions,
    accepted: load.accepted,
    longestPause: () => load.longestPause(),
    settle: () => load.settle(),
    async [Symbol.asyncDispose]() {
      await load.settle();
      for (const listener of listeners) listener.close();
      await balancer.close();
      for (const link of links) await link[Symbol.asyncDispose]();
      for (const one of nats) await one.stop("SIGKILL");
      await sandbox[Symbol.asyncDispose]();
    },
  };
}

async function startRelays(
  sandbox: Sandbox,
  { nats, links, launch: first, server }: {
    nats: readonly NatsServer[];
    links: readonly FaultProxy[];
    launch: Launch;
    server: readonly string[];
  },
) {
  const data = `${sandbox.svcHome}/server`;
  return await Promise.all(nats.map(async (_, n) => {
    const servers = n === 0 ? links.map(({ host }) => `nats://${host}`) : nats.map(({ url }) => url);
    const more = ["--data", data, "--nats", servers.join(","), ...server];
    const serve = (listen: string, launch: Launch): Started =>
      startSvc(sandbox, ["server", "--listen", listen, ...more], { launch });
    let relay = serve("127.0.0.1:0", first);
    const [, , address = ""] = await relay.line(RELAY_READY);
    return {
      port: Number(address.split(":")[1]),
      started: () => relay,
      async restart(launch = SVC): Promise<void> {
        await relay.exited;
        relay = serve(address, launch);
        await relay.line(RELAY_READY);
      },
    };
  }));
}

/** Connects a listener that records and acknowledges what arrives. */
export function listen(
  session: Session,
  { host, apiKey, deviceId }: { host: string; apiKey: string; deviceId: string },
): RelayLink {
  const link = new RelayLink({
    wsUrl: `ws://${host}/ws`,
    apiKey,
    hello: () => ({ role: "listener", deviceId, name: deviceId, version: "0.0.0", capabilities: [] }),
    onFrame(frame) {
      if (frame.event !== "push.new") return;
      const { id, body = "" } = frame.data;
      session.take(id, body);
      link.send("push.ack", { id, outcome: "submitted", final: true });
    },
    onState: () => undefined,
  });
  link.start();
  return link;
}

interface LoadOptions {
  host: string;
  /** One key per sender, so that the limit on one key's requests does not affect the result. */
  keys: readonly string[];
  sessions: readonly Session[];
}

/** Runs one sender per session, which sends the next number once the previous one was accepted. */
export class Load {
  readonly accepted: number[];
  readonly #options: LoadOptions;
  readonly #senders: Promise<void>[];
  #longest = 0;
  #ended = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.accepted = options.sessions.map(() => 0);
    this.#senders = options.sessions.map((_, n) => this.#send(n));
  }

  longestPause(): number {
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  async settle(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#senders);
  }

  async #send(sender: number): Promise<void> {
    const { host, keys, sessions } = this.#options;
    const apiKey = keys[sender] ?? "";
    const api = createRelayApi({ baseUrl: `http://${host}`, apiKey });
    for (let n = 0; !this.#ended; n++) {
      const id = crypto.randomUUID();
      const began = performance.now();
      await until(`number ${n} of ${sessions[sender]?.name} is accepted`, async () => {
        try {
          return await api.sendPush({
            id,
            type: "agent.command",
            targetDeviceId: `dev_listener_${sender}`,
            agentSessionName: sessions[sender]?.name,
            body: `${n}`,
          }, { signal: AbortSignal.timeout(ANSWER_MS) });
        } catch (error) {
          if (error instanceof RelayError && !error.transient) throw error;
          return undefined;
        }
      });
      this.#longest = Math.max(this.#longest, performance.now() - began);
      this.accepted[sender] = n + 1;
    }
  }
}

/** After this time without an answer, a sender tries another node. */
const ANSWER_MS = 3_000;
