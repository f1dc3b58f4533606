/** The echo agent in a real pane, with its transcript and its control socket. */
import { type EchoControl, TranscriptEntry } from "../../src/echo/program.ts";
import { Pane } from "./agents_pane.ts";
import { FROM_CHECKOUT, SVC } from "./program.ts";
import type { Sandbox } from "./sandbox.ts";
import { until } from "./until.ts";

export interface EchoAgent {
  pane: Pane;
  /** Resolves with what the agent has recorded so far, in order. */
  transcript(): Promise<TranscriptEntry[]>;
  /** Resolves with the prompts that it has received so far, byte for byte. */
  prompts(): Promise<string[]>;
  /** Resolves once the agent has drawn the effect. */
  control(request: EchoControl): Promise<void>;
}

export interface EchoOptions {
  session?: string;
  /** The program, with `echo-agent` as its first argument; default: `svc echo-agent`. */
  argv?: string[];
  env?: Record<string, string>;
}

/** `svc echo-agent` on Deno. */
export const ECHO_ON_DENO = [...FROM_CHECKOUT, "echo-agent"];

/** Resolves once the agent shows its input line. */
export async function startEcho(sandbox: Sandbox, options: EchoOptions = {}): Promise<EchoAgent> {
  const agent = await launchEcho(sandbox, options);
  await until("the echo agent's input line", async () => {
    return (await agent.pane.screen()).lines.includes("echo · idle");
  });
  return agent;
}

/** Resolves as soon as the process has started. */
export async function launchEcho(sandbox: Sandbox, options: EchoOptions = {}): Promise<EchoAgent> {
  const { session = "svc-proj", argv = [...SVC, "echo-agent"], env } = options;
  const file = `${sandbox.root}/${session}.jsonl`;
  const socket = `${sandbox.root}/${session}.sock`;
  const command = [...argv, "--transcript", file, "--control", socket];
  const pane = await Pane.open(sandbox, { session, argv: command, ...(env ? { env } : {}) });
  const transcript = (): Promise<TranscriptEntry[]> => readTranscript(file);
  return {
    pane,
    transcript,
    prompts: async () => promptsIn(await transcript()),
    control: (request) => controlEcho(socket, request),
  };
}

export function promptsIn(transcript: readonly TranscriptEntry[]): string[] {
  return transcript.flatMap((entry) => "prompt" in entry ? [entry.prompt] : []);
}

/** Reads the transcript; empty if the file does not exist. */
export async function readTranscript(file: string): Promise<TranscriptEntry[]> {
  const text = await Deno.readTextFile(file).catch(() => "");
  return text.split("\n").filter(Boolean).map((line) => TranscriptEntry.parse(JSON.parse(line)));
}

/** Resolves once the agent has drawn the effect; tmux may not have read it yet. */
export async function controlEcho(socket: string, request: EchoControl): Promise<void> {
  using connection = await Deno.connect({ transport: "unix", path: socket });
  await connection.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`));
  const answer = new Uint8Array(1_024);
  const length = await connection.read(answer) ?? 0;
  const { ok } = JSON.parse(new TextDecoder().decode(answer.subarray(0, length)));
  if (!ok) throw new Error(`the echo agent refused ${JSON.stringify(request)}`);
}
