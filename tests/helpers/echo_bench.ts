/** Runs the real injection into the real echo agent, without a relay; a test can act between any two steps. */
import assert from "node:assert/strict";
import type { Outcome, TypingEffects } from "../../src/listener/inject/context.ts";
import type { Policy } from "../../src/listener/inject/policy.ts";
import { isTaken, withdrawMarker, writeMarker } from "../../src/home/markers.ts";
import { runtime } from "../../src/runtime/deno.ts";
import { controlEcho, promptsIn, readTranscript } from "./agents_echo.ts";
import { CLOCK, type InjectChanges, makeInjectBench } from "./inject_bench.ts";
import { runSvc } from "./program.ts";
import { makeSandbox, type Sandbox } from "./sandbox.ts";
import { until } from "./until.ts";

export interface EchoBench extends AsyncDisposable {
  sandbox: Sandbox;
  session: string;
  events: string[];
  /** Sets the speed of the injection's clock; initially CLOCK.slow. */
  setClock(speed: number): void;
  /** The injection's clock. */
  now(): number;
  /** When the last message expires, by that clock. */
  expiresAt: number;
  /** Called after each journal step. */
  onRecord: (step: string) => Promise<void>;
  send(body: string, options?: { sendAnyway?: boolean; expiresInMs?: number }): Promise<Outcome>;
  /** Sends the request to the agent's control socket, and waits until the screen shows its effect. */
  control(request: { op: "permit" } | { op: "deny" }): Promise<void>;
  /** With the option `holdEnter`: sends the delayed Enter. */
  releaseEnter(): Promise<void>;
  /** With the option `holdEnter`: called before each Ctrl-U. */
  onRemoval: () => Promise<void>;
  /** Reports, as the agent, that a tool call is about to begin; resolves once it may. */
  toolBegins(): Promise<void>;
  prompts(): Promise<string[]>;
  /** Waits for this many prompts, and asserts that they are equal: the agent writes its transcript after its screen. */
  untilPrompts(expected: string[]): Promise<void>;
  entriesWith(field: string): Promise<Record<string, unknown>[]>;
  screen(): Promise<string>;
}

export interface EchoBenchOptions {
  policy?: Policy;
  realMarkers?: boolean;
  /** The injection's wall clock, for tests that depend on tmux's times. */
  now?: () => number;
  /** The agent gets Enter only on `releaseEnter`, as on a machine that is too busy to run it. */
  holdEnter?: boolean;
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
  const screen = (): Promise<string> => sandbox.screen(session);
  await until("the input line", async () => /^❯/mu.test(await screen()));
  let heldEnter = (): Promise<string> => Promise.reject(new Error("no Enter is held back"));
  const change: InjectChanges = {
    record: async (_id, step) => {
      inner.events.push(step);
      await bench.onRecord(step);
    },
    ...(options.policy && { policy: options.policy }),
    ...(options.now && { now: options.now }),
    ...(options.holdEnter && {
      targets: {
        resolve: (name) => inner.targets.resolve(name),
        known: (name) => inner.targets.known(name),
        follow: (place) => inner.targets.follow(place),
        server: (target) => {
          const { socket, run } = inner.targets.server(target);
          return {
            socket,
            run: async (...commands) => {
              const [, key] = /send-keys [^;]*\b(Enter|C-u)\b/.exec(JSON.stringify(commands)) ?? [];
              if (key === "C-u") await bench.onRemoval();
              if (key !== "Enter") return await run(...commands);
              heldEnter = () => run(...commands);
              return "";
            },
          };
        },
      },
    }),
    ...(options.realMarkers && { writeMarker: realMarkers(sandbox) }),
  };
  const inner = makeInjectBench(sandbox, change);
  inner.setClock(CLOCK.slow);
  const entriesWith = async (field: string): Promise<Record<string, unknown>[]> =>
    (await readTranscript(transcript)).filter((entry) => field in entry);
  const bench: EchoBench = {
    sandbox,
    session,
    events: inner.events,
    setClock: (speed) => inner.setClock(speed),
    now: () => inner.context.now(),
    expiresAt: Infinity,
    onRecord: () => Promise.resolve(),
    onRemoval: () => Promise.resolve(),
    send: (body, { sendAnyway = false, expiresInMs = 3_600_000 } = {}) => {
      bench.expiresAt = inner.context.now() + expiresInMs;
      return inner.send(session, body, { sendAnyway, expiresAt: bench.expiresAt });
    },
    async control(request): Promise<void> {
      await controlEcho(control, request);
      const opens = request.op === "permit";
      await until(
        `${request.op} on the screen`,
        async () => (await screen()).includes("Enter to confirm") === opens,
      );
    },
    releaseEnter: async () => void await heldEnter(),
    toolBegins: () => inner.toolBegins(session),
    prompts: async () => promptsIn(await readTranscript(transcript)),
    untilPrompts: async (expected) => {
      await until("the prompts", async () => (await bench.prompts()).length >= expected.length);
      assert.deepEqual(await bench.prompts(), expected);
    },
    entriesWith,
    screen,
    async [Symbol.asyncDispose](): Promise<void> {
      await inner[Symbol.asyncDispose]();
      await sandbox[Symbol.asyncDispose]();
    },
  };
  return bench;
}

function realMarkers(sandbox: Sandbox): TypingEffects["writeMarker"] {
  const home = { files: runtime.files, markers: `${sandbox.svcHome}/markers` };
  return async (dir, { body: text, pane }) => {
    const handle = await writeMarker(home, { dir, text, pane, now: Date.now() });
    return { withdraw: () => withdrawMarker(home, handle), taken: () => isTaken(home, handle) };
  };
}
