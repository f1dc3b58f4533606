/** `deno task prove:unread`: how long /healthz takes with 1,000 connections that read nothing, on the relay and on a bare HTTP server in turn. */
import { loadavg } from "node:os";
import { startAttack } from "../../tests/helpers/attack.ts";
import { SCRIPT, startFloodedRelay } from "../../tests/helpers/flooded_relay.ts";
import { say } from "../say.ts";

const ROUNDS = 5;
const CONNECTIONS = 1_000;
const REQUESTS = 31;
const KINDS = ["bare", "relay"] as const;
type Kind = (typeof KINDS)[number];

interface Round {
  /** How long each /healthz took while connections were opened and left unread, in milliseconds, shortest first. */
  healthMs: number[];
  blockedMs: number;
}

async function measure(kind: Kind): Promise<Round> {
  await using server = await startFloodedRelay(kind);
  const ask = async (): Promise<number> => {
    const began = performance.now();
    await (await fetch(`${server.url}/healthz`)).text();
    return performance.now() - began;
  };
  // The first answers also include compiling the code.
  for (let n = 0; n < 200; n++) await ask();
  const before = await server.blockedMs();
  const target = { url: server.url, wsUrl: server.wsUrl, port: server.port, apiKey: "" };
  const options = { path: SCRIPT, connections: CONNECTIONS, requests: REQUESTS };
  await using attack = startAttack("pipeline", { target, options });
  let isDone = false;
  const done = attack.result.finally(() => isDone = true);
  const healthMs: number[] = [];
  while (!isDone) healthMs.push(await ask().catch(() => 0));
  await done;
  for (let n = 0; n < 50; n++) healthMs.push(await ask().catch(() => 0));
  const blockedMs = await server.blockedMs();
  return {
    healthMs: healthMs.filter((ms) => ms > 0).sort((a, b) => a - b),
    blockedMs: Math.max(before, blockedMs),
  };
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
const range = (values: readonly number[]): string =>
  `${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)} ms`;

const rounds: Record<Kind, Round[]> = { bare: [], relay: [] };
for (let n = 0; n < ROUNDS; n++) for (const kind of KINDS) rounds[kind].push(await measure(kind));
for (const kind of KINDS) {
  const figures = rounds[kind];
  const of = (share: number): string => range(figures.map(({ healthMs }) => at(healthMs, share)));
  say(
    `unread ${kind}: /healthz in ${of(0.5)}, 95 % within ${of(0.95)}, at most ${
      of(1)
    }; event loop blocked at most ${range(figures.map(({ blockedMs }) => blockedMs))}`,
  );
}
say(
  `unread: ${ROUNDS} rounds of ${CONNECTIONS} connections with ${REQUESTS} requests, load ${
    loadavg()[0]?.toFixed(1)
  }`,
);
