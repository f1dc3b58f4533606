/** NATS servers for tests, on free ports, with their data in a temporary folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import process from "node:process";
import { until } from "./until.ts";

export interface NatsServer {
  url: string;
  /** Sends a signal, such as SIGSTOP. */
  signal(name: NodeJS.Signals): void;
  /** Ends the server; `SIGKILL` is like a crash. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Ends the server if it is running, and starts it again with its data, on the same port. */
  restart(signal?: NodeJS.Signals): Promise<void>;
}

/** Debian installs it outside the usual PATH of users. */
const PROGRAMS = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];

async function program(): Promise<string> {
  for (const path of PROGRAMS) {
    if (await access(path).then(() => true, () => false)) return path;
  }
  throw new Error(`Cannot find nats-server at ${PROGRAMS.join(", ")}: install Debian's package nats-server`);
}

/** Starts one server with JetStream and its data in `directory`. `lines` are added to its configuration. */
export async function startNats(directory: string, lines: readonly string[] = []): Promise<NatsServer> {
  const [port = 0] = await freePorts(1);
  return await start({ directory, port, lines });
}

/** Starts servers that form one cluster. */
export async function startNatsCluster(directory: string, size = 3): Promise<NatsServer[]> {
  const ports = await freePorts(2 * size);
  const routes = ports.slice(size).map((port) => `"nats://127.0.0.1:${port}"`).join(", ");
  return await Promise.all(Array.from({ length: size }, (_, n) =>
    start({
      directory: `${directory}/nats-${n}`,
      port: ports[n] ?? 0,
      lines: [
        `server_name: n${n}`,
        // Does not announce the servers' addresses, since a client behind a proxy would connect to them directly.
        `cluster: { name: test, listen: "127.0.0.1:${
          ports[size + n]
        }", routes: [${routes}], no_advertise: true }`,
      ],
    })));
}

/** Below the range that the system uses for connections, so that a restarted server finds its port free. */
const PORT_MIN = 20_000;
const PORT_COUNT = 12_000;

/** Returns ports on which no program listens. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = PORT_MIN + Math.floor(Math.random() * PORT_COUNT);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}

async function start(
  { directory, port, lines }: { directory: string; port: number; lines: readonly string[] },
): Promise<NatsServer> {
  await mkdir(directory, { recursive: true });
  const config = `${directory}/nats.conf`;
  const own = [
    `host: "127.0.0.1"`,
    `port: ${port}`,
    `jetstream: { store_dir: "${directory}/jetstream", max_mem: 64M, max_file: 4G }`,
  ];
  await writeFile(config, [...own, ...lines].join("\n"));
  let running = await run(config, port);
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    const { child, exited } = running;
    if (child.exitCode === null && child.signalCode === null) {
      send(child, signal);
      // A process stopped by a signal ends only after it continues.
      if (signal !== "SIGKILL") send(child, "SIGCONT");
    }
    await exited;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    signal: (name) => send(running.child, name),
    stop,
    async restart(signal = "SIGKILL") {
      await stop(signal);
      running = await run(config, port);
    },
  };
}

/** On Deno, `child.kill` sends nothing after its first signal. */
function send({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(pid, signal);
}

async function run(config: string, port: number): Promise<{ child: ChildProcess; exited: Promise<unknown> }> {
  const child = spawn(await program(), ["-c", config], { stdio: "ignore" });
  const exited = once(child, "exit");
  await until("the NATS server listens", async () => {
    if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`);
    return await accepts(port);
  });
  return { child, exited };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
