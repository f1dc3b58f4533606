/** Which requests are worked on, and when: those of a key over its limit are refused unread; while the relay is overloaded, those of keys that send much wait for turns that leave most of its time to others, and more of them are refused unread, late. */
import { type Clock, delay } from "../async/clock.ts";
import { encodeHex } from "../async/encodings.ts";
import type { TokenBuckets } from "../async/token_bucket.ts";
import { problem, type WireErrorCode } from "../protocol/errors.ts";
import { sha256 } from "../runtime/digest.ts";
import type { Admitted, EarlyAnswer } from "../runtime/http_server.ts";
import { type Budgets, OVER_BUDGET } from "./budgets.ts";
import { counter, type RelayMetrics } from "./metrics.ts";

export const REQUESTS = counter("svc_http_requests_total", "HTTP requests by status.");

/** Of every answer that is not the page. */
export const ANSWER_HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

interface AdmissionOptions {
  budgets: Pick<Budgets, "requests" | "refusals" | "overload">;
  clock: Clock;
  metrics: RelayMetrics;
}

/** The relay is overloaded while a turn of its event loop takes longer than this on average, in milliseconds. */
export const OVERLOAD_MS = 100;
/** It is also overloaded while it has so many requests in hand, and each waits longer than OVERLOAD_MS on average. */
export const OVERLOAD_IN_HAND = 32;
/**
 * How long it stays so, in milliseconds: what it refuses meanwhile no longer makes anything wait, so that nothing but a
 * try shows whether the load is over. Each try lets the clients that send little wait, too.
 */
export const OVERLOAD_HOLD_MS = 3_000;
/** What a refused request costs its key, in requests: a key that sends four times its limit in spite of 429 gets nothing. */
export const REFUSAL_COST = 0.25;
/** A key owes no more than it earns in this time, so that one that waits as Retry-After says is served. */
const DEBT_SECONDS = 1;
interface LateRefusal {
  /** For how long a refusal is held back. */
  ms: number;
  /** How many are held back at a time: each one keeps a connection. */
  most: number;
}

/** Of a key that goes on in spite of many. */
const LIMIT_REFUSAL: LateRefusal = { ms: 1_000, most: 64 };
/** While the relay is overloaded: a refusal costs a fifth of a request, so that thousands a second would fill it, too. */
const OVERLOAD_REFUSAL: LateRefusal = { ms: 1_000, most: 1_000 };
/** Keys that are remembered. */
const KEYS_MAX = 10_000;

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #turns: Average;
  readonly #waits: Average;
  readonly #turnsOfMany: RestingTurns;
  #isMeasuring = false;
  #inHand = 0;
  #overloadedUntil = -Infinity;
  /** Ids of keys that were authenticated, by the digest of the key, the oldest first. */
  readonly #ids = new Map<string, string>();
  /** Refusals that are held back. */
  #held = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#turns = new Average(options.clock, TURN_WEIGHT);
    this.#waits = new Average(options.clock, WAIT_WEIGHT);
    this.#turnsOfMany = new RestingTurns(options.clock);
  }

  /** A key was found valid: from now on its requests can be refused unread. */
  know(key: string, id: string): void {
    const digest = digestOf(key);
    if (this.#ids.has(digest)) return;
    const [oldest] = this.#ids.keys();
    if (this.#ids.size >= KEYS_MAX && oldest !== undefined) this.#ids.delete(oldest);
    this.#ids.set(digest, id);
  }

  /** Decides about a request whose headers have come. */
  admit(key: string | undefined): EarlyAnswer | Promise<EarlyAnswer> | Admitted {
    this.#measureTurn();
    const id = key === undefined ? undefined : this.#ids.get(digestOf(key));
    if (id === undefined) return { begin: () => this.#begin() };
    const { budgets, clock } = this.#options;
    const now = clock.elapsed();
    const wait = budgets.requests.secondsUntil(id, now);
    if (wait > 0) {
      owe(budgets.requests, { id, now, wait });
      return this.#paced(id, this.#refusal("rate_limited", wait));
    }
    // Counted at any time, so that who has sent much is known when the relay gets overloaded.
    const overloadWait = budgets.overload.take(id, now);
    if (!this.#isOverloaded(now) || overloadWait === 0) return { begin: () => this.#begin() };
    const refuse = (): EarlyAnswer | Promise<EarlyAnswer> => {
      owe(budgets.overload, { id, now: clock.elapsed(), wait: overloadWait });
      return this.#late(this.#refusal("overloaded", overloadWait), OVERLOAD_REFUSAL);
    };
    const hasRoom = (): boolean => this.#turnsOfMany.hasRoom(id);
    // Looked at again once the request is here: others may have come meanwhile.
    return hasRoom() ? { begin: () => hasRoom() ? this.#beginInTurn(id) : refuse() } : refuse();
  }

  /** Work on a request begins. The result is called when its answer may be sent; more calls change nothing. */
  #begin(): () => void {
    const { clock } = this.#options;
    const since = clock.elapsed();
    this.#inHand++;
    return once(() => {
      this.#inHand--;
      this.#waits.add(clock.elapsed() - since);
    });
  }

  async #beginInTurn(id: string): Promise<() => void> {
    const leave = await this.#turnsOfMany.enter(id);
    const answered = this.#begin();
    return once(() => {
      answered();
      leave();
    });
  }

  #isOverloaded(now: number): boolean {
    const manyWait = this.#inHand >= OVERLOAD_IN_HAND && this.#waits.value() > OVERLOAD_MS;
    if (manyWait || this.#turns.value() > OVERLOAD_MS) this.#overloadedUntil = now + OVERLOAD_HOLD_MS;
    return now < this.#overloadedUntil;
  }

  /** How long a turn of the event loop takes while requests come. */
  #measureTurn(): void {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    const { clock } = this.#options;
    const since = clock.elapsed();
    clock.after(0, () => {
      this.#isMeasuring = false;
      this.#turns.add(clock.elapsed() - since);
    });
  }

  /** Who sends the next request right after a refusal waits for it. */
  #paced(id: string, refusal: EarlyAnswer): EarlyAnswer | Promise<EarlyAnswer> {
    const { budgets, clock } = this.#options;
    if (budgets.refusals.take(id, clock.elapsed()) === 0) return refusal;
    return this.#late(refusal, LIMIT_REFUSAL);
  }

  /** Holds a refusal back, unless so many are held back already. */
  #late(refusal: EarlyAnswer, { ms, most }: LateRefusal): EarlyAnswer | Promise<EarlyAnswer> {
    if (this.#held >= most) return refusal;
    this.#held++;
    return delay(ms, this.#options).then(() => {
      this.#held--;
      return refusal;
    });
  }

  #refusal(code: WireErrorCode, wait: number): EarlyAnswer {
    const { metrics } = this.#options;
    const found = problem(code, `Cannot take the request now: try again in ${wait} s`);
    metrics.of(OVER_BUDGET).add({ budget: code === "overloaded" ? "overload" : "requests" });
    metrics.of(REQUESTS).add({ status: String(found.status) });
    const headers = {
      "content-type": "application/problem+json",
      ...ANSWER_HEADERS,
      "retry-after": String(wait),
    };
    return { status: found.status, headers, body: JSON.stringify(found) };
  }
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}

interface Refused {
  /** Of the key. */
  id: string;
  now: number;
  /** Seconds until it has a request again. */
  wait: number;
}

function owe(budget: TokenBuckets, { id, now, wait }: Refused): void {
  if (wait <= DEBT_SECONDS) budget.charge(id, now, REFUSAL_COST);
}

const digestOf = (key: string): string => encodeHex(sha256(key));

/** Requests that are worked on in one turn, and share what they write to the disk. */
export const TURN_REQUESTS = 4;
/** Requests that wait for a turn, in all and of one key: more are refused. */
export const TURN_WAITING_MAX = 64;
export const TURN_WAITING_PER_KEY_MAX = 4;
/** The rest after a turn, in lengths of that turn. */
export const REST_TIMES = 3;
/** The longest rest after a turn, in milliseconds. */
const REST_MAX_MS = 1_000;

/**
 * Turns of a few requests, one key after the other, each followed by a rest of three times its length: what else comes finds
 * the relay idle for three quarters of the time, and waits for one short turn at most, however much these keys send.
 */
export class RestingTurns {
  readonly #clock: Pick<Clock, "elapsed" | "after">;
  /** By key, in the order in which they are served. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #size = 0;
  #inWork = 0;
  #since = 0;
  #isResting = false;

  constructor(clock: Pick<Clock, "elapsed" | "after">) {
    this.#clock = clock;
  }

  hasRoom(id: string): boolean {
    return this.#size < TURN_WAITING_MAX &&
      (this.#waiting.get(id)?.length ?? 0) < TURN_WAITING_PER_KEY_MAX;
  }

  /** Resolves when the request may be worked on; the result is to be called at its end. */
  enter(id: string): Promise<() => void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? [];
      waiting.push(() => resolve(() => this.#leave()));
      this.#waiting.set(id, waiting);
      this.#size++;
      this.#start();
    });
  }

  #start(): void {
    if (this.#inWork > 0 || this.#isResting) return;
    this.#since = this.#clock.elapsed();
    for (const [id, waiting] of this.#waiting) {
      const begin = waiting.shift();
      this.#waiting.delete(id);
      // Behind the other keys; this loop reaches it again.
      if (waiting.length > 0) this.#waiting.set(id, waiting);
      if (begin === undefined) continue;
      this.#size--;
      this.#inWork++;
      begin();
      if (this.#inWork === TURN_REQUESTS) return;
    }
  }

  #leave(): void {
    if (--this.#inWork > 0) return;
    this.#isResting = true;
    const worked = this.#clock.elapsed() - this.#since;
    this.#clock.after(Math.min(REST_TIMES * worked, REST_MAX_MS), () => {
      this.#isResting = false;
      this.#start();
    });
  }
}

/** How much a new turn, and a new wait, count in their averages: waits are as many as requests. */
const TURN_WEIGHT = 0.2;
const WAIT_WEIGHT = 0.02;
/** Without anything new the average halves in this time, in milliseconds. */
const HALF_LIFE_MS = 500;

/** A moving average of times, in milliseconds. */
class Average {
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #weight: number;
  #value = 0;
  #at = 0;

  constructor(clock: Pick<Clock, "elapsed">, weight: number) {
    this.#clock = clock;
    this.#weight = weight;
  }

  add(ms: number): void {
    this.#value = this.value() * (1 - this.#weight) + ms * this.#weight;
    this.#at = this.#clock.elapsed();
  }

  value(): number {
    return this.#value * 0.5 ** ((this.#clock.elapsed() - this.#at) / HALF_LIFE_MS);
  }
}
