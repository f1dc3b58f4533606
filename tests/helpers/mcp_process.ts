/** Runs `svc mcp` as a process, with the protocol's own client on its pipes. */
import {
  Client,
  deserializeMessage,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import { type Launch, SVC } from "./program.ts";
import type { Sandbox } from "./sandbox.ts";

/** The library's own transport leaves a timer behind when it closes. */
class ProcessTransport implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  #reading: Promise<void> | undefined;

  constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#input = child.stdin.getWriter();
  }

  start(): Promise<void> {
    this.#reading = this.#read();
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  }

  /** Ends the input; resolves when the process has ended. */
  async close(): Promise<void> {
    await this.#input.close().catch(() => undefined);
    await this.#reading;
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const part of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.onmessage?.(deserializeMessage(line));
    }
    await this.#child.status;
    this.onclose?.();
  }
}

export interface McpProcess {
  pid: number;
  client: Client;
  /** Kills the process, as when its agent is killed; resolves when it has ended. */
  kill(): Promise<void>;
}

export async function startMcp(
  sandbox: Sandbox,
  { launch = SVC, env = {}, cwd = sandbox.project }: {
    launch?: Launch;
    env?: Record<string, string>;
    cwd?: string;
  } = {},
): Promise<McpProcess> {
  const [program = "", ...args] = [...launch, "mcp"];
  const child = new Deno.Command(program, {
    args,
    cwd,
    env: { ...sandbox.env, ...env },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  sandbox.killAtEnd(child.pid);
  const transport = new ProcessTransport(child);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  return {
    pid: child.pid,
    client,
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await transport.close();
    },
  };
}
