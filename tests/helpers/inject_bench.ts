/** The real injection into a real tmux server, with a journal and markers that a test can inspect. */
import {
  type InjectContext,
  type Outcome,
  type Progress,
  SessionRateLimit,
  Stopping,
  type TypingEffects,
} from "../../src/listener/inject/context.ts";
import type { Command } from "../../src/listener/inject/context.ts";
import { inject } from "../../src/listener/inject/inject.ts";
import { PaneInputs } from "../../src/listener/inject/pane_inputs.ts";
import { isPaneBusy, readProcessFacts } from "../../src/listener/process_facts.ts";
import { Targets } from "../../src/listener/targets.ts";
import { runtime } from "../../src/runtime/deno.ts";
import type { Sandbox } from "./sandbox.ts";
import { DEFAULT_POLICY } from "./fake_pane.ts";

/** The speed of an injection's clock relative to real time. */
export const CLOCK = {
  /** For tests in which a limit is reached. */
  quick: 4,
  /** For tests in which no limit may be reached, even on a machine that stalls. */
  slow: 0.1,
} as const;

class Clock {
  #speed: number = CLOCK.quick;
  #since = Date.now();
  #base = Date.now();

  now(): number {
    return this.#base + (Date.now() - this.#since) * this.#speed;
  }

  set speed(speed: number) {
    this.#base = this.now();
    this.#since = Date.now();
    this.#speed = speed;
  }
}

export interface InjectBench extends AsyncDisposable {
  targets: Targets;
  context: InjectContext;
  /** Steps, markers and progress in the order in which they happened. */
  events: string[];
  /** Sets the speed of the injection's clock; initially CLOCK.quick. */
  setClock(speed: number): void;
  /** Makes every later pause throw Stopping. */
  stop(): void;
  /** Reports, as an agent in this session, that a tool call is about to begin; resolves once it may. */
  toolBegins(session: string): Promise<void>;
  send(session: string, body: string, options?: Partial<Command>): Promise<Outcome>;
}

/** Parts of an injection's context that a test replaces, to kill, delay or observe at a step. */
export type InjectChanges = Partial<Omit<InjectContext, "effects"> & TypingEffects>;

export function makeInjectBench(sandbox: Sandbox, changes: InjectChanges = {}): InjectBench {
  const { processFacts, isBusy, isMuted, writeMarker, ...change } = changes;
  const { files, commands, uid, platform } = runtime;
  const env = { get: (name: string): string | undefined => sandbox.env[name] };
  const clock = new Clock();
  const now = (): number => clock.now();
  const targets = new Targets({ uid, env, files, commands, platform, now });
  const rateLimit = new SessionRateLimit(now);
  const events: string[] = [];
  const inputs = new PaneInputs({ now, elapsed: now, after: () => () => {} });
  const stopping = new AbortController();
  const effects: TypingEffects = {
    processFacts: processFacts ??
      ((pid, options) => readProcessFacts(pid, { platform, files, commands }, options)),
    isBusy: isBusy ?? ((pid) => isPaneBusy(pid, { platform, files })),
    isMuted: isMuted ?? (() => Promise.resolve(false)),
    writeMarker: writeMarker ?? (() => {
      events.push("marker written");
      const withdraw = (): Promise<boolean> => {
        events.push("marker withdrawn");
        return Promise.resolve(true);
      };
      return Promise.resolve({ withdraw, taken: () => Promise.resolve(false) });
    }),
  };
  const context: InjectContext = {
    targets,
    inputs,
    rateLimit,
    effects,
    now,
    elapsed: now,
    signal: stopping.signal,
    pause: async (ms) => {
      await new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20)));
    },
    record: (_id, step) => Promise.resolve(void events.push(step)),
    report: (_id, progress: Progress) =>
      void events.push(`${progress.state} ${progress.reason ?? ""}`.trim()),
    typed: () => {},
    policy: DEFAULT_POLICY,
    ...change,
  };
  return {
    targets,
    context,
    events,
    setClock: (speed) => {
      clock.speed = speed;
    },
    stop: () => stopping.abort(new Stopping()),
    toolBegins: (session) =>
      inputs.toolBegins({
        event: "PreToolUse",
        agent: "echo",
        cwd: sandbox.project,
        session,
        gates: true,
        tool: { step: "before" },
      }),
    send: (session, body, options = {}) => {
      const command = {
        id: crypto.randomUUID(),
        session,
        body,
        expiresAt: now() + 3_600_000,
        sendAnyway: false,
        turn: { step: "waiting" as const },
      };
      return inject({ ...command, ...options }, context);
    },
    [Symbol.asyncDispose]: () => targets.close(),
  };
}
