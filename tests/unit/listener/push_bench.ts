/** An intake of pushes with a journal, steps and acknowledgements that tests can inspect. */
import { type Clock, systemClock } from "../../../src/async/clock.ts";
import type { JournalEntry } from "../../../src/home/journal.ts";
import type { Command, Outcome } from "../../../src/listener/inject/context.ts";
import type { Acknowledgement } from "../../../src/listener/acknowledger.ts";
import type { PushSteps } from "../../../src/listener/push_steps.ts";
import { PushIntake, type PushOptions } from "../../../src/listener/pushes.ts";
import { DELIVERED_WITHIN_MS, SessionQueues } from "../../../src/listener/waiting_pushes.ts";
import { isAtOnce, type Push, PUSH_TYPES } from "../../../src/protocol/push.ts";

export const ID = "00000000-0000-4000-8000-000000000001";
export const push: Push = {
  id: ID,
  type: "agent.command",
  agentSessionName: "svc-a",
  body: "hello",
  from: "dev_phone_1",
  createdAt: 1,
  expiresAt: 100_000,
};

export const sealed = { mode: "psk" as const, enc: "AA", ciphertext: "AA" };

export interface Bench {
  intake: PushIntake;
  acks: Acknowledgement[];
  injected: Command[];
  steps: Map<string, JournalEntry>;
  queues: SessionQueues;
  log: string[];
  /** Pushes that the journal keeps separately. */
  kept: string[];
  left: string[];
  /** Pushes whose end the journal must not drop. */
  promised: string[];
}

/** The same step for every type that is carried out at once. */
export function stepsAtOnce(step: (push: Push) => Promise<Outcome>): PushSteps["atOnce"] {
  const types = Object.keys(PUSH_TYPES).filter(isAtOnce);
  return Object.fromEntries(types.map((type) => [type, step])) as PushSteps["atOnce"];
}

/** Steps that do nothing and succeed. */
export const PLAIN_STEPS: Omit<PushSteps, "unseal" | "inject" | "inTurn"> = {
  expect: () => {},
  prepare: () => {},
  atOnce: stepsAtOnce(() => Promise.resolve({ state: "submitted" })),
  askerOf: () => undefined,
  leftBehind: () => Promise.resolve(),
  ended: () => Promise.resolve(),
};

/** A clock on which the time limit of `delivered` passes at once. */
export const bareClock: Pick<Clock, "after"> = {
  after(ms, action) {
    if (ms !== DELIVERED_WITHIN_MS) return systemClock.after(ms, action);
    action();
    return () => {};
  },
};

export function makeBench(
  inject: PushOptions["inject"] = () => Promise.resolve({ state: "submitted" }),
  change: Partial<PushOptions> = {},
): Bench {
  const acks: Acknowledgement[] = [];
  const injected: Command[] = [];
  const steps = new Map<string, JournalEntry>();
  const queues = new SessionQueues();
  const log: string[] = [];
  const kept: string[] = [];
  const left: string[] = [];
  const promised: string[] = [];
  const intake = new PushIntake({
    journal: {
      state: (id) => steps.get(id),
      record: (id, step) => Promise.resolve(void steps.set(id, { id, at: 0, ...step })),
      take: (id, seal) => {
        kept.push(id);
        steps.set(id, { id, at: 0, step: "accepted", sealed: seal });
        return Promise.resolve("taken");
      },
      promise: (id) => promised.push(id) > 0,
    },
    queues,
    clock: bareClock,
    ...PLAIN_STEPS,
    inject: (command, signal) => {
      injected.push(command);
      return inject(command, signal);
    },
    inTurn: { "agent.start": () => Promise.resolve({ state: "submitted", agentSessionName: "svc-b" }) },
    leftBehind: (push) => Promise.resolve(void left.push(push.body ?? "")),
    acknowledge: (ack) => void acks.push(ack),
    log: (line) => void log.push(line),
    now: () => 0,
    toLocalTime: (ms) => ms - 500,
    unseal: () => Promise.resolve({ found: { state: "refused", reason: "unsealable" } }),
    floor: () => Promise.resolve("off"),
    ...change,
  });
  return { intake, acks, injected, steps, queues, log, kept, left, promised };
}

export const outcomes = (acks: Acknowledgement[]): string[] =>
  acks.map((ack) => [ack.outcome, ack.reason, ack.final ? "final" : ""].filter(Boolean).join(" "));
