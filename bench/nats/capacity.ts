/** `deno task bench:capacity`: the capacity model of docs/scaling.md, from the costs that `bench:nodes` measured. */
import { say } from "../../scripts/say.ts";

/** Measured by `bench:nodes` on one machine; cores and seconds are those of that machine. */
const COST = {
  /** Memory of a relay node for each connected client. */
  socketKib: 64,
  /** Pushes per second per core, with one node, three NATS servers, the senders and the listeners on it. */
  pushesPerCore: 237,
  /** The most core time that a mirrored frame adds when it crosses nodes, in milliseconds. */
  frameMs: 0.1,
  frameBytes: 1_024,
  busMessagesPerPush: 32,
  busBytesPerPush: 9_658,
  busMessagesPerFrame: 2,
  busBytesPerFrame: 2_344,
  /**
   * For a listener's unchanged report, of which one in ten is stored. Measured with 10,000 listeners, 50 in an account.
   */
  busMessagesPerReport: 1.05,
  busBytesPerReport: 2_735,
  /** Each node's heartbeats and checks, per minute. */
  busMessagesPerIdleNodeMinute: 429,
};

/** What users do, in the busiest hour. */
const USE = {
  /** Connected hosts and phones per user. */
  clients: 1.5,
  /** How many of these are listeners, and how often each reports unchanged sessions per minute. */
  listeners: 1,
  reportsPerMinute: 2,
  /** Pushes per user in that hour: prompts, turns that end, questions, and their answers. */
  pushesPerHour: 20,
  /** The share of users with an open mirror, and the frames per second of each. */
  mirrored: 0.02,
  framesPerSecond: 5,
};

/** What one cluster carries. */
const LIMIT = {
  /** Sockets of one node: LimitNOFILE in the unit of docs/operating.md, less what the node needs itself. */
  socketsPerNode: 60_000,
  /** A process runs on one core. */
  coresPerNode: 1,
  /**
   * Pushes per second, as measured with three servers. All writes of a stream pass through its leader, so more nodes do
   * not help.
   */
  pushesPerCluster: 474,
};

interface Row {
  users: number;
  sockets: number;
  pushes: number;
  frames: number;
  memoryGib: number;
  cores: number;
  nodes: number;
  busMessages: number;
  busMibps: number;
  clusters: number;
  over: string;
}

/** Computes the load of this many users. A share `1 - 1 / nodes` of clients meets a partner on another node. */
function model(users: number): Row {
  const sockets = users * USE.clients;
  const pushes = users * USE.pushesPerHour / 3_600;
  const frames = users * USE.mirrored * USE.framesPerSecond;
  const cores = pushes / COST.pushesPerCore + frames * COST.frameMs / 1_000;
  const bySockets = Math.ceil(sockets / LIMIT.socketsPerNode);
  const byCores = Math.ceil(cores / LIMIT.coresPerNode);
  const nodes = Math.max(bySockets, byCores, 1);
  const crossing = 1 - 1 / nodes;
  const reports = users * USE.listeners * USE.reportsPerMinute / 60;
  const busMessages = pushes * COST.busMessagesPerPush + reports * COST.busMessagesPerReport +
    crossing * frames * COST.busMessagesPerFrame +
    nodes * COST.busMessagesPerIdleNodeMinute / 60;
  const busBytes = pushes * COST.busBytesPerPush + reports * COST.busBytesPerReport +
    crossing * frames * COST.busBytesPerFrame;
  const loads: [string, number][] = [
    ["pushes of one cluster", pushes / LIMIT.pushesPerCluster],
    ["sockets of one node", sockets / LIMIT.socketsPerNode],
    ["one core", cores / LIMIT.coresPerNode],
  ];
  const over = loads.filter(([, load]) => load > 1).map(([name]) => name);
  return {
    ...{ users, sockets, pushes, frames, cores, nodes, busMessages },
    memoryGib: sockets * COST.socketKib / 1_048_576,
    busMibps: busBytes / 1_048_576,
    clusters: Math.max(1, Math.ceil(pushes / LIMIT.pushesPerCluster)),
    over: over.length === 0 ? "none" : over.join(", "),
  };
}

const whole = (value: number): string => Math.round(value).toLocaleString("en-US");

function print({ users, sockets, pushes, frames, memoryGib, cores, nodes, ...bus }: Row): void {
  say(
    `| ${whole(users)} | ${whole(sockets)} | ${memoryGib.toFixed(1)} GiB | ${whole(pushes)} | ${
      whole(frames)
    } | ` +
      `${cores.toFixed(1)} | ${nodes} | ${whole(bus.busMessages)} | ${
        bus.busMibps.toFixed(1)
      } | ${bus.clusters} | ${bus.over} |`,
  );
}

say(
  "| users | sockets | memory | pushes/s | frames/s | cores | nodes | NATS messages/s | NATS MiB/s | clusters | limits passed |",
);
say("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
for (const users of [1_000, 100_000, 1_000_000, 10_000_000]) print(model(users));
