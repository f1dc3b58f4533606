/** Where messages wait, in their session's queue or until later, and the relay's time on this host's clock. */
import { type Clock, ClockJumps, systemClock } from "../async/clock.ts";
import { Mutex } from "../async/mutex.ts";
import { SKEW_MS } from "../protocol/limits.ts";
import type { Reason } from "../protocol/receipt.ts";
import type { SessionEntry } from "../protocol/session.ts";
import type { Later, Push } from "../protocol/push.ts";
import { type Asker, type Progress, TakenOver, type Turn } from "./inject/context.ts";
import type { OpenedPush } from "./sealing.ts";

/** Messages that may wait on one host; more are refused. */
export const LATER_MAX = 200;
/** The clocks of the provider and this host may differ by this much. */
export const RESET_MARGIN_MS = 30_000;
/** After a message, its session does not count as idle for this long: the agent may only be about to work. */
export const NEXT_IDLE_MS = 3_000;

const REASONS = {
  at: "not_before",
  idle: "until_idle",
  reset: "until_reset",
} as const satisfies Record<Later["kind"], Reason>;

export function waitingProgress({ kind }: Later): Progress {
  return { state: "held", reason: REASONS[kind] };
}

export interface LaterPush {
  session: string;
  later: Later;
  /**
   * When `at` is reached, and when the message expires, in this host's epoch milliseconds. Both change when this host's
   * clock is set. A relay that lies about its time moves `at` of a sealed message by `SKEW_MS` at most.
   */
  readonly atMs: number;
  readonly expiresAt: number;
  /** Types it now; resolves when it has ended. `meant`: the agent for which it waited. */
  release(meant?: Asker): Promise<void>;
}

/** Where agents are by the last inventory. Nothing that a relay sends changes it. */
export interface Agents {
  /** The agent of the only session with this name; undefined if svc did not start it. */
  agentOf(session: string): Asker | undefined;
  /** The name that its session has; undefined once the agent has ended. */
  sessionOf(agent: Asker): string | undefined;
}

export interface RelayTime {
  /** Converts the relay's epoch milliseconds to this host's. */
  toLocalTime(relayMs: number): number;
}

/**
 * Returns when a push expires, in this host's epoch milliseconds: at the relay's time, but never after the sealed one.
 */
export function expiryOf({ expiresAt, notAfter = Infinity }: OpenedPush, { toLocalTime }: RelayTime): number {
  return Math.min(toLocalTime(expiresAt), notAfter);
}

/** A message that waits for `later`. Its times are converted each time they are read. */
export function laterPush(
  push: OpenedPush,
  { later, time, release }: Pick<LaterPush, "later" | "release"> & { time: RelayTime },
): LaterPush {
  return {
    session: push.agentSessionName ?? "",
    later,
    get atMs() {
      if (later.kind !== "at") return 0;
      const atMs = time.toLocalTime(later.at);
      if (push.notAfter === undefined) return atMs;
      return Math.min(later.at + SKEW_MS, Math.max(later.at - SKEW_MS, atMs));
    },
    get expiresAt() {
      return expiryOf(push, time);
    },
    release,
  };
}

interface SessionTurn {
  isRunning: boolean;
  /** By the clock's `elapsed`. */
  endedAt: number;
}

export class LaterPushes {
  readonly #clock: Pick<Clock, "now" | "elapsed">;
  readonly #agents: Agents | undefined;
  /** By push id, in the order of arrival. */
  readonly #waiting = new Map<string, LaterPush>();
  /** The agents for which they wait, by push id. */
  readonly #meant = new Map<string, Asker>();
  /** The last message that was released for each session. */
  readonly #turns = new Map<string, SessionTurn>();

  constructor(clock: Pick<Clock, "now" | "elapsed">, agents?: Agents) {
    this.#clock = clock;
    this.#agents = agents;
  }

  /** False if too many wait. */
  add(id: string, push: LaterPush): boolean {
    if (this.#waiting.size >= LATER_MAX) return false;
    this.#waiting.set(id, push);
    this.#meet(id, push);
    return true;
  }

  remove(id: string): void {
    this.#waiting.delete(id);
    this.#meant.delete(id);
  }

  clear(): void {
    this.#waiting.clear();
    this.#meant.clear();
  }

  /** The agent for which the message waits, once an inventory has shown it. */
  #meet(id: string, { session }: LaterPush): Asker | undefined {
    const meant = this.#meant.get(id) ?? this.#agents?.agentOf(session);
    if (meant !== undefined) this.#meant.set(id, meant);
    return meant;
  }

  /** Takes a new inventory, and releases the messages that are due. */
  observe(entries: readonly SessionEntry[]): void {
    const [now, elapsed] = [this.#clock.now(), this.#clock.elapsed()];
    const sessions = new Map(entries.map((entry) => [entry.name, entry]));
    for (const [id, push] of this.#waiting) {
      const meant = this.#meet(id, push);
      const session = meant && this.#agents?.sessionOf(meant) || push.session;
      const turn = this.#turns.get(session);
      if (!isDue(push, { entry: sessions.get(session), turn, now, elapsed })) continue;
      this.remove(id);
      void this.#release(session, () => push.release(meant));
    }
    for (const [session, { isRunning, endedAt }] of this.#turns) {
      if (!isRunning && elapsed - endedAt > NEXT_IDLE_MS) this.#turns.delete(session);
    }
  }

  async #release(session: string, release: () => Promise<void>): Promise<void> {
    const turn = { isRunning: true, endedAt: 0 };
    this.#turns.set(session, turn);
    await release();
    turn.isRunning = false;
    turn.endedAt = this.#clock.elapsed();
  }
}

/** What is known about the session. */
interface Standing {
  entry: Pick<SessionEntry, "state" | "addressable" | "limit"> | undefined;
  turn: SessionTurn | undefined;
  /** Epoch milliseconds. */
  now: number;
  /** By the clock's `elapsed`. */
  elapsed: number;
}

/** True if the message may be released now. One that has expired is due too, and ends as expired. */
export function isDue(
  { later, atMs, expiresAt }: Omit<LaterPush, "release" | "session">,
  { entry, turn, now, elapsed }: Standing,
): boolean {
  if (now >= expiresAt) return true;
  if (later.kind === "at") return now >= atMs;
  const isFree = turn === undefined || (!turn.isRunning && elapsed - turn.endedAt >= NEXT_IDLE_MS);
  if (!isFree || entry?.state !== "idle" || !entry.addressable) return false;
  return later.kind === "idle" || entry.limit === undefined;
}

export interface RelayClockOptions {
  /** Called once for each jump of this host's clock. The relay's time is unknown until the next connection. */
  jumped(): void;
  clock?: Pick<Clock, "now" | "elapsed">;
}

/** Converts the relay's times to this host's, and notices when this host's clock was set or the host has slept. */
export class RelayClock {
  readonly #options: RelayClockOptions;
  /** Since the offset was measured or a jump was noticed. */
  readonly #jumps: ClockJumps;
  /** The relay's clock minus this one, in milliseconds. */
  #offsetMs = 0;
  #isKnown = false;

  constructor(options: RelayClockOptions) {
    this.#options = options;
    this.#jumps = new ClockJumps(options.clock ?? systemClock);
  }

  /** `offsetMs`: the relay's clock minus this one, from its welcome. */
  connected(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    this.#isKnown = true;
    this.#jumps.forget();
  }

  /** False from a jump to the next welcome: the relay's times may be hours off. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Epoch milliseconds of this host. */
  toLocalTime(relayMs: number): number {
    return relayMs - this.#offsetMs;
  }

  /** Checks for a jump. Call it often: until a jump is noticed, messages may expire at the wrong time. */
  check(): void {
    if (!this.#jumps.check()) return;
    this.#isKnown = false;
    this.#options.jumped();
  }
}

/** Messages that may wait for one session; more are refused. */
export const QUEUE_MAX = 100;
/**
 * Messages for one session that may wait to be opened; more than the relay has in flight, so that forgeries crowd no
 * message out.
 */
export const ARRIVALS_MAX = 1_000;
/** Retry-After, in seconds, when a session's queue is full. */
export const QUEUE_FULL_WAIT_SECONDS = 60;

/** The queue of agent starts. No session has this name. */
const START_TURN = "agent.start of this host";

/** The queue of a push: that of its session, or of agent starts. */
export function turnOf({ type, agentSessionName = START_TURN }: Push): string {
  return type === "agent.start" ? START_TURN : agentSessionName;
}

/** Messages of one session run one at a time, in order; sessions do not wait for one another. */
export class SessionQueues {
  readonly #queues = new Map<string, Mutex>();
  readonly #max: number;

  constructor({ max = QUEUE_MAX }: { max?: number } = {}) {
    this.#max = max;
  }

  /** Resolves when the work is done; undefined if the session's queue is full. `work` must not throw. */
  add(session: string, work: () => Promise<void>): Promise<void> | undefined {
    const queue = this.#queues.get(session) ?? new Mutex();
    if (queue.size >= this.#max) return undefined;
    this.#queues.set(session, queue);
    return queue.run(work).then(() => {
      if (queue.size === 0 && this.#queues.get(session) === queue) this.#queues.delete(session);
    });
  }

  /** Resolves when all accepted work is done. */
  async idle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.idle()));
  }
}

export const DELIVERED: Progress = { state: "delivered" };
/** Reported at once, `delivered` would keep the listener and the relay busy while the message is being typed. */
export const DELIVERED_WITHIN_MS = 5;

/** A push that has not ended. */
export interface InHand {
  push: Push;
  progress: Progress;
  turn: Turn;
  /** Reports `delivered`; gone once that is done. */
  delivered?: () => void;
  /** Set while a cancellation of it is being opened: it is not typed before that has ended. */
  cancelling?: Promise<void> | undefined;
}

export interface EraOptions {
  now(): number;
  clock?: Pick<Clock, "after"> | undefined;
  agents?: Agents | undefined;
}

/** The time from the start or a hand-over to the next hand-over or the stop. */
export class Era {
  readonly inHand = new Map<string, InHand>();
  readonly later: LaterPushes;
  /** Aborted with Stopping or TakenOver at the end: work that waits does nothing then. */
  readonly end = new AbortController();
  readonly #clock: Pick<Clock, "after">;

  constructor({ now, clock = systemClock, agents }: EraOptions) {
    this.later = new LaterPushes({ now, elapsed: systemClock.elapsed }, agents);
    this.#clock = clock;
  }

  /** Calls `report` before anything else is reported about this push, and after DELIVERED_WITHIN_MS at the latest. */
  reportSoon(id: string, report: () => void): void {
    const inHand = this.inHand.get(id);
    if (inHand === undefined) return;
    inHand.progress = DELIVERED;
    let cancel = (): void => {};
    inHand.delivered = () => {
      cancel();
      delete inHand.delivered;
      if (!(this.end.signal.reason instanceof TakenOver)) report();
    };
    cancel = this.#clock.after(DELIVERED_WITHIN_MS, () => inHand.delivered?.());
  }

  cancelling(push: Push, ended: Promise<void> | undefined): void {
    const cancelled = this.inHand.get(push.inReplyTo ?? "");
    if (cancelled !== undefined && turnOf(cancelled.push) === turnOf(push)) cancelled.cancelling = ended;
  }
}
