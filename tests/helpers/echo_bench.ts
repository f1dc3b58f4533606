/** The real injection into the real echo agent, without a relay: a test can act between any two steps. */
import assert from "node:assert/strict";
import type { InjectHost } from "../../src/listener/inject/inject_host.ts";
import type { Outcome } from "../../src/listener/inject/outcome.ts";
import { isTaken, withdrawMarker, writeMarker } from "../../src/home/markers.ts";
import { runtime } from "../../src/runtime/deno.ts";
import { CLOCK, makeInjectBench } from "./inject_bench.ts";
import { runSvc } from "./program.ts";
import { makeSandbox, type Sandbox } from "./sandbox.ts";
import { until } from "./until.ts";

export interface EchoBench extends AsyncDisposable {
  sandbox: Sandbox;
  session: string;
  events: string[];
  /** Gives the injection's clock this speed from now on; CLOCK.slow at first. */
  setClock(speed: number): void;
  /** The injection's clock, and when the message that was sent last expires by it. */
  now(): number;
  expiresAt: number;
  /** Called after each journal step. */
  onRecord: (step: string) => Promise<void>;
  send(body: string, options?: { sendAnyway?: boolean; expiresInMs?: number }): Promise<Outcome>;
  /** Speaks to the agent's control socket, and waits until its screen shows what was asked. */
  control(request: { op: "permit" } | { op: "deny" }): Promise<void>;
  prompts(): Promise<string[]>;
  /** The agent writes its transcript a moment after its screen. Throws when it holds something else in the end. */
  untilPrompts(expected: string[]): Promise<void>;
  entriesWith(field: string): Promise<Record<string, unknown>[]>;
  screen(): Promise<string>;
  /** A person's client at the session. */
  attachPerson(): Promise<{ press(keys: string): Promise<void> }>;
}

export interface EchoBenchOptions {
  policy?: InjectHost["policy"];
  realMarkers?: boolean;
  /** The clock runs at its own speed, where tmux's seconds matter. */
  realTime?: boolean;
}

export async function makeEchoBench(options: EchoBenchOptions = {}): Promise<EchoBench> {
  const sandbox = await makeSandbox();
  const transcript = `${sandbox.root}/transcript.jsonl`;
  const control = `${sandbox.root}/echo.sock`;
  const started = await runSvc(sandbox, [
    "--detach",
    "echo",
    "--transcript",
    transcript,
    "--control",
    control,
  ]);
  if (started.code !== 0) throw new Error(`svc --detach echo failed: ${started.stderr}`);
  const session = started.stdout.trim();
  const target = `=${session}:`;
  const screen = (): Promise<string> => sandbox.tmux("capture-pane", "-p", "-t", target);
  await until("the input line", async () => /^❯/mu.test(await screen()));
  const change: Partial<InjectHost> = {
    record: async (_id, step) => {
      inner.events.push(step);
      await bench.onRecord(step);
    },
    ...(options.policy && { policy: options.policy }),
    ...(options.realTime && { now: Date.now }),
    ...(options.realMarkers && { writeMarker: realMarkers(sandbox) }),
  };
  const inner = makeInjectBench(sandbox, change);
  inner.setClock(CLOCK.slow);
  const entries = async (): Promise<Record<string, unknown>[]> => {
    const text = await runtime.files.readText(transcript) ?? "";
    return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  };
  const entriesWith = async (field: string): Promise<Record<string, unknown>[]> =>
    (await entries()).filter((entry) => field in entry);
  const bench: EchoBench = {
    sandbox,
    session,
    events: inner.events,
    setClock: (speed) => inner.setClock(speed),
    now: () => inner.host.now(),
    expiresAt: Infinity,
    onRecord: () => Promise.resolve(),
    send: (body, { sendAnyway = false, expiresInMs = 3_600_000 } = {}) => {
      bench.expiresAt = inner.host.now() + expiresInMs;
      return inner.send(session, body, { sendAnyway, expiresAt: bench.expiresAt });
    },
    async control(request): Promise<void> {
      const connection = await Deno.connect({ transport: "unix", path: control });
      await connection.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`));
      const opens = request.op === "permit";
      await until(
        `${request.op} on the screen`,
        async () => (await screen()).includes("Enter to confirm") === opens,
      );
      connection.close();
    },
    prompts: async () => (await entriesWith("prompt")).map((entry) => String(entry.prompt)),
    untilPrompts: async (expected) => {
      await until("the prompts", async () => (await bench.prompts()).length >= expected.length);
      assert.deepEqual(await bench.prompts(), expected);
    },
    entriesWith,
    screen,
    attachPerson: () => attachPerson(sandbox, session),
    async [Symbol.asyncDispose](): Promise<void> {
      await inner[Symbol.asyncDispose]();
      await sandbox[Symbol.asyncDispose]();
    },
  };
  return bench;
}

function realMarkers(sandbox: Sandbox): InjectHost["writeMarker"] {
  const home = { files: runtime.files, markers: `${sandbox.svcHome}/markers` };
  return async (dir, text) => {
    const handle = await writeMarker(home, { dir, text, now: Date.now() });
    return { withdraw: () => withdrawMarker(home, handle), taken: () => isTaken(home, handle) };
  };
}

/** `script` gives the client a terminal; its keys come from stdin. */
async function attachPerson(
  sandbox: Sandbox,
  session: string,
): Promise<{ press(keys: string): Promise<void> }> {
  const attach = `tmux -S ${sandbox.tmuxSocket} attach -t =${session}`;
  const child = new Deno.Command("script", {
    args: ["-qfc", attach, "/dev/null"],
    env: sandbox.env,
    clearEnv: true,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  sandbox.killAtEnd(child.pid);
  const writer = child.stdin.getWriter();
  sandbox.awaitAtEnd(child.status.then(() => writer.abort().catch(() => {})));
  await until(
    "the client",
    async () => (await sandbox.tmux("list-clients", "-F", "#{client_control_mode}")).includes("0"),
  );
  return { press: (keys) => writer.write(new TextEncoder().encode(keys)) };
}
