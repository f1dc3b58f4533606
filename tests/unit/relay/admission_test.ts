/** Refusals of requests that are not read: of keys over their limit, and of those that send most while the relay is overloaded. */
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
} from "../../../src/relay/admission.ts";
import { type Budgets, makeBudgets } from "../../../src/relay/budgets.ts";
import { RelayMetrics } from "../../../src/relay/metrics.ts";
import type { EarlyAnswer } from "../../../src/runtime/http_server.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

interface Bench {
  admission: Admission;
  clock: FakeClock;
  metrics: RelayMetrics;
  budgets: Budgets;
  /** The status of the next request's refusal; undefined when it is read. */
  request(key: string): number | undefined;
  /** Every turn of the event loop takes this long. */
  turns(ms: number): void;
}

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
    ...{ admission, clock, metrics, budgets },
    request: (key) => (admission.refuse(key) as EarlyAnswer | undefined)?.status,
    turns(ms): void {
      for (let n = 0; n < 20; n++) {
        admission.refuse(undefined);
        clock.advance(ms);
        for (const action of due.splice(0)) action();
      }
    },
  };
}

Deno.test("while the relay is overloaded, a key that sends much is 503 with Retry-After, and one that sends little is served [http-overloaded]", () => {
  const { admission, clock, request, turns, metrics } = makeBench();
  for (let n = 0; n < OVERLOAD_REQUESTS_BURST; n++) assert.equal(request("svc_greedy"), undefined);
  assert.equal(request("svc_greedy"), undefined, "nothing is refused while turns are short");
  turns(4 * OVERLOAD_MS);
  for (let n = 0; n < OVERLOAD_REQUESTS_BURST; n++) request("svc_greedy");
  const refused = admission.refuse("svc_greedy") as EarlyAnswer;
  assert.deepEqual([refused.status, refused.headers["retry-after"]], [503, "1"]);
  assert.equal(JSON.parse(refused.body).code, "overloaded");
  assert.equal(request("svc_modest"), undefined);
  assert.equal(
    request("svc_unknown"),
    undefined,
    "whether a key is valid is found out by reading the request",
  );
  assert.match(metrics.overBudget.render().join(), /budget="overload"/);
  turns(1);
  for (let n = 0; n < OVERLOAD_REQUESTS_BURST; n++) request("svc_greedy");
  assert.equal(request("svc_greedy"), 503, "what is refused makes nothing wait: its turns tell nothing");
  clock.advance(OVERLOAD_HOLD_MS);
  for (let n = 0; n < 2 * OVERLOAD_REQUESTS_BURST; n++) assert.equal(request("svc_greedy"), undefined);
});

Deno.test("the relay is overloaded while many requests are in hand that wait long, however short its turns are [http-overloaded]", () => {
  const { admission, clock, request } = makeBench();
  for (let n = 0; n <= OVERLOAD_REQUESTS_BURST; n++) request("svc_greedy");
  /** Answers come in the order of the requests, each after all others that are in hand. */
  const serve = (inHand: number, waitMs: number): void => {
    const begun = Array.from({ length: inHand }, () => admission.begin());
    for (let n = 0; n < 200; n++) {
      clock.advance(waitMs / inHand);
      begun.push(admission.begin());
      begun.shift()?.();
    }
    open.push(...begun);
  };
  const open: (() => void)[] = [];
  /** The last answer, by when the key has used up what it got back meanwhile. */
  const greedy = (requests: number): number | undefined =>
    Array.from({ length: requests }, () => request("svc_greedy")).at(-1);
  serve(OVERLOAD_IN_HAND / 2, 2 * OVERLOAD_MS);
  assert.equal(greedy(40), undefined, "few that wait long: the store is slow");
  for (const answered of open.splice(0)) answered();
  serve(OVERLOAD_IN_HAND, OVERLOAD_MS / 2);
  assert.equal(greedy(10), undefined, "many that wait for a short time");
  for (const answered of open.splice(0)) answered();
  serve(OVERLOAD_IN_HAND, 2 * OVERLOAD_MS);
  assert.equal(greedy(40), 503);
  assert.equal(request("svc_modest"), undefined);
  for (const answered of open.splice(0)) {
    answered();
    answered();
  }
  clock.advance(OVERLOAD_HOLD_MS);
  assert.equal(greedy(40), undefined, "the relay has recovered");
});

/** How many of the key's requests are read while it sends so many a second, whatever the answers. */
function readOf(
  { admission, clock, budgets }: Bench,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): number {
  let read = 0;
  for (let n = 0; n < seconds * perSecond; n++) {
    clock.advance(1_000 / perSecond);
    if (admission.refuse("svc_greedy") !== undefined) continue;
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

Deno.test("nor is one that sends four times what it has left while the relay is overloaded [http-overloaded]", () => {
  const bench = makeBench();
  bench.turns(4 * OVERLOAD_MS);
  bench.request("svc_greedy");
  bench.budgets.overload.charge("key_greedy", bench.clock.elapsed(), OVERLOAD_REQUESTS_BURST);
  const perSecond = OVERLOAD_REQUESTS_PER_SECOND / REFUSAL_COST;
  assert.ok(readOf(bench, { perSecond, seconds: OVERLOAD_HOLD_MS / 1_000 - 1 }) <= 1);
});

Deno.test("a key that waits as it was told is served, however often it was refused [http-429]", () => {
  const { admission, clock, budgets, request } = makeBench();
  budgets.requests.charge("key_greedy", clock.elapsed(), HTTP_REQUESTS_BURST);
  for (let n = 0; n < 1_000; n++) request("svc_greedy");
  const refused = admission.refuse("svc_greedy") as EarlyAnswer;
  clock.advance(Number(refused.headers["retry-after"]) * 1_000);
  assert.equal(request("svc_greedy"), undefined);
});

Deno.test("a key that goes on in spite of refusals gets them late, and another key is answered at once [http-429]", async () => {
  const { admission, clock, budgets, request } = makeBench();
  budgets.requests.charge("key_greedy", clock.elapsed(), 2 * HTTP_REQUESTS_BURST);
  const answers = Array.from({ length: 51 }, () => admission.refuse("svc_greedy"));
  assert.ok(answers.slice(0, 50).every((answer) => answer !== undefined && "status" in answer));
  const late = answers[50];
  assert.ok(late instanceof Promise);
  assert.equal(request("svc_modest"), undefined);
  clock.advance(1_000);
  assert.equal((await late).status, 429);
});

Deno.test("few refusals are held back at a time, since each one keeps a connection [http-429]", async () => {
  const { admission, clock, budgets } = makeBench();
  budgets.requests.charge("key_greedy", clock.elapsed(), 100 * HTTP_REQUESTS_BURST);
  const answers = Array.from({ length: 1_000 }, () => admission.refuse("svc_greedy"));
  const held = answers.filter((answer) => answer instanceof Promise);
  assert.ok(held.length > 0 && held.length < 100, `${held.length} held back`);
  clock.advance(1_000);
  for (const answer of await Promise.all(held)) assert.equal(answer.status, 429);
});
