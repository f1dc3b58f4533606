/** Which requests are refused unread, and which wait for a turn: those of keys over their limit, and of those that send most while the relay is overloaded. */
import assert from "node:assert/strict";
import type { Clock } from "../../../src/async/clock.ts";
import {
  HTTP_REQUESTS_BURST,
  HTTP_REQUESTS_PER_SECOND,
  OVERLOAD_REQUESTS_BURST,
  OVERLOAD_REQUESTS_PER_SECOND,
} from "../../../src/protocol/limits.ts";
import {
  Admission,
  OVERLOAD_HOLD_MS,
  OVERLOAD_IN_HAND,
  OVERLOAD_MS,
  REFUSAL_COST,
  REST_TIMES,
  RestingTurns,
  TURN_WAITING_MAX,
  TURN_WAITING_PER_KEY_MAX,
} from "../../../src/relay/admission.ts";
import { type Budgets, makeBudgets, OVER_BUDGET } from "../../../src/relay/budgets.ts";
import { RelayMetrics } from "../../../src/relay/metrics.ts";
import type { Admitted, Begun, EarlyAnswer } from "../../../src/runtime/http_server.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

interface Bench {
  admission: Admission;
  clock: FakeClock;
  metrics: RelayMetrics;
  budgets: Budgets;
  /** True if the next request is refused unread. */
  isRefused(key: string): boolean;
  /** Resolves with the refusal of the next request, however late it comes. */
  refusal(key: string): Promise<EarlyAnswer>;
  /** Makes every turn of the event loop take this long. */
  turns(ms: number): void;
}

const isRefusal = (decision: ReturnType<Admission["admit"]>): boolean => !("begin" in decision);

/** Starts a request whose work begins at once. */
function begin(admission: Admission): () => void {
  const answered = (admission.admit(undefined) as Admitted).begin();
  assert.ok(!(answered instanceof Promise));
  return endOf(answered);
}

function endOf(begun: Begun): () => void {
  assert.ok(typeof begun === "function", "it is worked on");
  return begun;
}

/** The longest delay of a refusal. */
const LATE_MS = 1_000;

function makeBench(): Bench {
  const [clock, metrics, budgets] = [new FakeClock(), new RelayMetrics(), makeBudgets()];
  /** Timers that are due as soon as a turn ends. */
  const due: (() => void)[] = [];
  const after: Clock["after"] = (ms, action) => {
    if (ms > 0) return clock.after(ms, action);
    due.push(action);
    return () => undefined;
  };
  const elapsed = (): number => clock.elapsed();
  const admission = new Admission({
    budgets,
    clock: { now: () => clock.now(), elapsed, after },
    metrics,
  });
  for (const id of ["greedy", "modest"]) admission.know(`svc_${id}`, `key_${id}`);
  return {
    admission,
    clock,
    metrics,
    budgets,
    isRefused: (key) => isRefusal(admission.admit(key)),
    refusal(key) {
      const decision = admission.admit(key);
      assert.ok(!("begin" in decision), "it is refused");
      clock.advance(LATE_MS);
      return Promise.resolve(decision);
    },
    turns(ms): void {
      for (let n = 0; n < 20; n++) {
        admission.admit(undefined);
        clock.advance(ms);
        for (const action of due.splice(0)) action();
      }
    },
  };
}

/** Fills the places in which the key's requests wait for a turn, behind a turn that does not end. */
function fillTurns({ admission }: Bench, key: string): Promise<Begun>[] {
  const begun: Promise<Begun>[] = [];
  for (let n = 0; n <= TURN_WAITING_PER_KEY_MAX; n++) {
    const decision = admission.admit(key);
    assert.ok("begin" in decision, `request ${n} is read`);
    const answered = decision.begin();
    assert.ok(answered instanceof Promise, `request ${n} waits for a turn`);
    begun.push(answered);
  }
  return begun;
}

Deno.test("while the relay is overloaded, a key that sends much waits for turns and is then 503 with Retry-After, and one that sends little is served [http-overloaded]", async () => {
  const bench = makeBench();
  const { admission, clock, isRefused, refusal, turns, metrics } = bench;
  for (let n = 0; n < OVERLOAD_REQUESTS_BURST; n++) assert.ok(!isRefused("svc_greedy"));
  const admitted = admission.admit("svc_greedy");
  assert.ok("begin" in admitted && !(admitted.begin() instanceof Promise), "turns are short: nothing waits");
  turns(4 * OVERLOAD_MS);
  while (bench.budgets.overload.take("key_greedy", clock.elapsed()) === 0);
  const begun = fillTurns(bench, "svc_greedy");
  const answer = await refusal("svc_greedy");
  assert.deepEqual([answer.status, answer.headers["retry-after"]], [503, "1"]);
  assert.equal(JSON.parse(answer.body).code, "overloaded");
  const modest = admission.admit("svc_modest");
  assert.ok("begin" in modest && !(modest.begin() instanceof Promise), "served at once");
  assert.ok(!isRefused("svc_unknown"), "whether a key is valid is found out by reading the request");
  assert.match(metrics.of(OVER_BUDGET).render().join(), /budget="overload"/);
  turns(1);
  while (bench.budgets.overload.take("key_greedy", clock.elapsed()) === 0);
  assert.ok(isRefused("svc_greedy"), "what is refused makes nothing wait: its turns tell nothing");
  for (const first of begun.slice(0, 1)) endOf(await first)();
  clock.advance(OVERLOAD_HOLD_MS);
  for (let n = 0; n < 2 * OVERLOAD_REQUESTS_BURST; n++) assert.ok(!isRefused("svc_greedy"));
});

Deno.test("requests that were admitted while there was room wait only while there is room, however late their bodies come [http-overloaded]", async () => {
  const bench = makeBench();
  bench.turns(4 * OVERLOAD_MS);
  while (bench.budgets.overload.take("key_greedy", bench.clock.elapsed()) === 0);
  const admitted = Array.from({ length: 100 }, () => bench.admission.admit("svc_greedy") as Admitted);
  const begun = admitted.map((one) => one.begin());
  bench.clock.advance(LATE_MS);
  const refused = await Promise.all(begun.slice(1 + TURN_WAITING_PER_KEY_MAX));
  for (const one of refused) assert.ok("status" in one && one.status === 503);
  endOf(await (begun[0] ?? assert.fail()))();
});

Deno.test("turns of a few requests are followed by a rest that is three times as long, one key after the other [http-overloaded]", async () => {
  const clock = new FakeClock();
  const turns = new RestingTurns(clock);
  const order: string[] = [];
  const leave: (() => void)[] = [];
  const enter = (id: string): void =>
    void turns.enter(id).then((left) => {
      order.push(id);
      leave.push(left);
    });
  const endTurn = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (const left of leave.splice(0)) left();
    await Promise.resolve();
  };
  enter("first");
  await Promise.resolve();
  for (let n = 0; n < TURN_WAITING_PER_KEY_MAX; n++) enter("greedy");
  assert.ok(!turns.hasRoom("greedy") && turns.hasRoom("other"));
  enter("other");
  await endTurn(6);
  assert.deepEqual(order.splice(0), ["first"]);
  await endTurn(6 * REST_TIMES - 1);
  assert.deepEqual(order, [], "it rests");
  await endTurn(1);
  assert.deepEqual(order.splice(0), ["greedy", "other", "greedy", "greedy"]);
  await endTurn(60_000);
  await endTurn(1_000);
  assert.deepEqual(order, ["greedy"], "the longest rest is a second");
  for (let n = 0; turns.hasRoom(`key ${n}`); n++) enter(`key ${n}`);
  assert.ok(!turns.hasRoom("one more"), `${TURN_WAITING_MAX} wait`);
});

/** True if a request of the key, which has just sent many, waits for a turn. */
function waitsForTurn({ admission, budgets, clock }: Bench, key: string): boolean {
  while (budgets.overload.take(key.replace("svc_", "key_"), clock.elapsed()) === 0);
  const answered = (admission.admit(key) as Admitted).begin();
  if (answered instanceof Promise) void answered.then((one) => endOf(one)());
  else endOf(answered)();
  return answered instanceof Promise;
}

Deno.test("the relay is overloaded while many requests wait for a long time, however short its turns are [http-overloaded]", () => {
  const bench = makeBench();
  const { admission, clock, isRefused } = bench;
  const waits = (): boolean => waitsForTurn(bench, "svc_greedy");
  /** Answers the requests in order, each after all others in progress. */
  const serve = (inHand: number, waitMs: number): void => {
    const begun = Array.from({ length: inHand }, () => begin(admission));
    for (let n = 0; n < 200; n++) {
      clock.advance(waitMs / inHand);
      begun.push(begin(admission));
      begun.shift()?.();
    }
    open.push(...begun);
  };
  const open: (() => void)[] = [];
  serve(OVERLOAD_IN_HAND / 2, 2 * OVERLOAD_MS);
  assert.ok(!waits(), "few that wait long: the store is slow");
  for (const answered of open.splice(0)) answered();
  serve(OVERLOAD_IN_HAND, OVERLOAD_MS / 2);
  assert.ok(!waits(), "many that wait for a short time");
  for (const answered of open.splice(0)) answered();
  serve(OVERLOAD_IN_HAND, 2 * OVERLOAD_MS);
  assert.ok(waits());
  assert.ok(!isRefused("svc_modest"));
  for (const answered of open.splice(0)) {
    answered();
    answered();
  }
  clock.advance(OVERLOAD_HOLD_MS);
  assert.ok(!waits(), "the relay has recovered");
});

/** Returns how many of the key's requests are read while it sends at this rate, whatever the answers. */
function readOf(
  { admission, clock, budgets }: Bench,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): number {
  let read = 0;
  for (let n = 0; n < seconds * perSecond; n++) {
    clock.advance(1_000 / perSecond);
    if (isRefusal(admission.admit("svc_greedy"))) continue;
    read++;
    budgets.requests.take("key_greedy", clock.elapsed());
  }
  return read;
}

Deno.test("a key that sends four times its limit in spite of refusals is not served, and one that sends a little more is [http-429]", () => {
  const read = (times: number): number => {
    const bench = makeBench();
    bench.budgets.requests.charge("key_greedy", bench.clock.elapsed(), HTTP_REQUESTS_BURST);
    return readOf(bench, { perSecond: times * HTTP_REQUESTS_PER_SECOND, seconds: 10 });
  };
  assert.ok(read(1 / REFUSAL_COST) <= 1, `${read(1 / REFUSAL_COST)} read`);
  assert.ok(read(1.2) > 9 * HTTP_REQUESTS_PER_SECOND, `${read(1.2)} read`);
});

Deno.test("a key that sends four times what it has left is not served while the relay is overloaded and no turn ends [http-overloaded]", () => {
  const bench = makeBench();
  bench.turns(4 * OVERLOAD_MS);
  while (bench.budgets.overload.take("key_greedy", bench.clock.elapsed()) === 0);
  fillTurns(bench, "svc_greedy");
  const perSecond = OVERLOAD_REQUESTS_PER_SECOND / REFUSAL_COST;
  assert.ok(readOf(bench, { perSecond, seconds: OVERLOAD_HOLD_MS / 1_000 - 1 }) <= 1);
});

Deno.test("a key that waits as Retry-After says is served, however often it was refused [http-429]", () => {
  const { admission, clock, budgets, isRefused } = makeBench();
  budgets.requests.charge("key_greedy", clock.elapsed(), HTTP_REQUESTS_BURST);
  for (let n = 0; n < 1_000; n++) isRefused("svc_greedy");
  const refused = admission.admit("svc_greedy") as EarlyAnswer;
  clock.advance(Number(refused.headers["retry-after"]) * 1_000);
  assert.ok(!isRefused("svc_greedy"));
});

Deno.test("a key that continues in spite of refusals gets them late, and another key is answered at once [http-429]", async () => {
  const { admission, clock, budgets, isRefused } = makeBench();
  budgets.requests.charge("key_greedy", clock.elapsed(), 2 * HTTP_REQUESTS_BURST);
  const answers = Array.from({ length: 51 }, () => admission.admit("svc_greedy"));
  assert.ok(answers.slice(0, 50).every((answer) => "status" in answer));
  const late = answers[50];
  assert.ok(late instanceof Promise);
  assert.ok(!isRefused("svc_modest"));
  clock.advance(1_000);
  assert.equal((await late).status, 429);
});

Deno.test("refusals of an overloaded relay come late, so that they do not fill it, and at once when very many are held back [http-overloaded]", async () => {
  const bench = makeBench();
  bench.turns(4 * OVERLOAD_MS);
  while (bench.budgets.overload.take("key_greedy", bench.clock.elapsed()) === 0);
  fillTurns(bench, "svc_greedy");
  const answers = Array.from({ length: 2_000 }, () => bench.admission.admit("svc_greedy"));
  assert.ok(answers.every(isRefusal));
  const held = answers.filter((answer) => answer instanceof Promise);
  assert.equal(held.length, 1_000);
  bench.clock.advance(LATE_MS);
  for (const answer of await Promise.all(held)) assert.equal((answer as EarlyAnswer).status, 503);
});

Deno.test("few refusals are held back at a time, since each one keeps a connection [http-429]", async () => {
  const { admission, clock, budgets } = makeBench();
  budgets.requests.charge("key_greedy", clock.elapsed(), 100 * HTTP_REQUESTS_BURST);
  const answers = Array.from({ length: 1_000 }, () => admission.admit("svc_greedy"));
  const held = answers.filter((answer) => answer instanceof Promise);
  assert.ok(held.length > 0 && held.length < 100, `${held.length} held back`);
  clock.advance(1_000);
  for (const answer of await Promise.all(held)) assert.equal(answer.status, 429);
});
