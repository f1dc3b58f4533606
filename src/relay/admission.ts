/** Refuses requests unread: of a key over its limit, and, while the relay is overloaded, of keys that send much. */
import { type Clock, delay } from "../async/clock.ts";
import { encodeHex } from "../async/encodings.ts";
import type { TokenBuckets } from "../async/token_bucket.ts";
import { setNewest } from "../async/newest.ts";
import { problem, type WireErrorCode } from "../protocol/errors.ts";
import { sha256 } from "../runtime/digest.ts";
import type { Admitted, EarlyAnswer } from "../runtime/http_server.ts";
import { type Budgets, OVER_BUDGET } from "./budgets.ts";
import { counter, type RelayMetrics } from "./metrics.ts";

export const REQUESTS = counter("svc_http_requests_total", "HTTP requests by status.");

/** Headers of every answer except those of the page. */
export const ANSWER_HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

interface AdmissionOptions {
  budgets: Pick<Budgets, "requests" | "refusals" | "overload">;
  clock: Clock;
  metrics: RelayMetrics;
}

/** The relay is overloaded while a turn of its event loop takes longer than this on average, in milliseconds. */
export const OVERLOAD_MS = 100;
/**
 * It is also overloaded while it handles at least this many requests at a time and they take longer than OVERLOAD_MS on
 * average.
 */
export const OVERLOAD_IN_HAND = 32;
/**
 * How long the overload is assumed to last, in milliseconds. The refusals take the load away, so only admitting
 * requests again shows whether it is over; each attempt makes the clients that send little wait, too.
 */
export const OVERLOAD_HOLD_MS = 3_000;
/**
 * What a refused request costs its key, in requests: a key that keeps sending four times its limit despite 429 is never
 * served.
 */
export const REFUSAL_COST = 0.25;
/** The most that a key may owe, in seconds of its rate, so that a key that waits as Retry-After says is served. */
const DEBT_SECONDS = 1;
interface DelayedRefusal {
  /** How long a refusal is delayed. */
  ms: number;
  /** How many are delayed at a time: each one keeps a connection open. */
  most: number;
}

/** For a key that keeps sending despite many refusals. */
const LIMIT_REFUSAL: DelayedRefusal = { ms: 1_000, most: 64 };
/** While the relay is overloaded: a refusal costs a fifth of a request, so thousands per second overload it, too. */
const OVERLOAD_REFUSAL: DelayedRefusal = { ms: 1_000, most: 1_000 };
/** Keys whose ids are kept. */
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
  /** Number of refusals that are being delayed. */
  #held = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#turns = new Average(options.clock, TURN_WEIGHT);
    this.#waits = new Average(options.clock, WAIT_WEIGHT);
    this.#turnsOfMany = new RestingTurns(options.clock);
  }

  /** Records the id of a valid key: from now on its requests can be refused unread. */
  know(key: string, id: string): void {
    const digest = digestOf(key);
    if (!this.#ids.has(digest)) setNewest(this.#ids, [digest, id], { max: KEYS_MAX });
  }

  /** Decides about a request whose headers have arrived. */
  admit(key: string | undefined): EarlyAnswer | Promise<EarlyAnswer> | Admitted {
    this.#measureTurn();
    const id = key === undefined ? undefined : this.#ids.get(digestOf(key));
    if (id === undefined) return { begin: () => this.#begin() };
    const { budgets, clock } = this.#options;
    const now = clock.elapsed();
    const wait = budgets.requests.secondsUntil(id, now);
    if (wait > 0) {
      addDebt(budgets.requests, { id, now, wait });
      return this.#paced(id, this.#refusal("rate_limited", wait));
    }
    // Counted at all times, so that it is known which keys have sent much when the relay becomes overloaded.
    const overloadWait = budgets.overload.take(id, now);
    if (!this.#isOverloaded(now) || overloadWait === 0) return { begin: () => this.#begin() };
    const refuse = (): EarlyAnswer | Promise<EarlyAnswer> => {
      addDebt(budgets.overload, { id, now: clock.elapsed(), wait: overloadWait });
      return this.#delayed(this.#refusal("overloaded", overloadWait), OVERLOAD_REFUSAL);
    };
    const hasRoom = (): boolean => this.#turnsOfMany.hasRoom(id);
    // Checked again once the whole request has arrived: others may have come meanwhile.
    return hasRoom() ? { begin: () => hasRoom() ? this.#beginInTurn(id) : refuse() } : refuse();
  }

  /** Counts a request as being handled. The result is called when its answer may be sent; later calls do nothing. */
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

  /** Measures how long a turn of the event loop takes, while requests arrive. */
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

  /** Delays the refusal for a key that has had many, to slow down a client that sends again after each answer. */
  #paced(id: string, refusal: EarlyAnswer): EarlyAnswer | Promise<EarlyAnswer> {
    const { budgets, clock } = this.#options;
    if (budgets.refusals.take(id, clock.elapsed()) === 0) return refusal;
    return this.#delayed(refusal, LIMIT_REFUSAL);
  }

  /** Delays a refusal, unless too many are being delayed already. */
  #delayed(refusal: EarlyAnswer, { ms, most }: DelayedRefusal): EarlyAnswer | Promise<EarlyAnswer> {
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
  /** The id of the key. */
  id: string;
  now: number;
  /** Seconds until the key may send a request again. */
  wait: number;
}

function addDebt(budget: TokenBuckets, { id, now, wait }: Refused): void {
  if (wait <= DEBT_SECONDS) budget.charge(id, now, REFUSAL_COST);
}

const digestOf = (key: string): string => encodeHex(sha256(key));

/** Requests that are handled in one turn, and share their writes to the disk. */
export const TURN_REQUESTS = 4;
/** Requests that may wait for a turn, in total and per key; more are refused. */
export const TURN_WAITING_MAX = 64;
export const TURN_WAITING_PER_KEY_MAX = 4;
/** The rest after a turn, as a multiple of the length of that turn. */
export const REST_TIMES = 3;
/** The longest rest after a turn, in milliseconds. */
const REST_MAX_MS = 1_000;

/**
 * Turns of a few requests, taken from one key after the other, each followed by a rest of three times its length: other
 * requests find the relay idle for three quarters of the time, and wait for one short turn at most, however much these
 * keys send.
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

  /** Resolves when the request may be handled; the result must be called when that ends. */
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

/** The weights of a new turn and of a new wait in their averages: there are as many waits as requests. */
const TURN_WEIGHT = 0.2;
const WAIT_WEIGHT = 0.02;
/** Without new values the average halves in this time, in milliseconds. */
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
