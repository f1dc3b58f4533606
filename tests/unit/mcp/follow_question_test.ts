/** Following a question: the relay's stored receipt decides, whatever notifications are lost. */
import assert from "node:assert/strict";
import { Wakeup } from "../../../src/async/wakeup.ts";
import type { RelayApi } from "../../../src/client/api.ts";
import { RelayError } from "../../../src/client/relay_error.ts";
import { ASK_REPORT_MS } from "../../../src/home/notify_daemon.ts";
import {
  followQuestion,
  LeftQuestions,
  type Outcome,
  reportWhileWaiting,
  type WaitingReport,
} from "../../../src/mcp/follow_question.ts";
import { type Answer, answerOf } from "../../../src/protocol/ask.ts";
import type { Push } from "../../../src/protocol/push.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";
import { idOf, NOW } from "../phone/samples.ts";

/** Less than the time after which an unreceived answer is typed into the session. */
const POLL_MS = 5_000;
const [ASK, ANSWER] = [idOf(1), idOf(2)];
const open: Receipt = { state: "delivered", final: false, at: {} };
const answered: Receipt = { state: "answered", final: true, at: {}, answer: ANSWER };

/** A relay with two pushes. */
class Bench {
  readonly clock = new FakeClock();
  readonly wakeup = new Wakeup(this.clock);
  readonly taken: string[] = [];
  readonly abort = new AbortController();
  asked: Receipt | RelayError = open;
  answer: Receipt | RelayError = { state: "queued", final: false, at: {} };
  /** Opens the answer with the host's keys. */
  read = (push: Push): Promise<Answer | undefined> => Promise.resolve(answerOf(push));
  looks = 0;
  outcome: Outcome | Error | undefined;

  constructor() {
    const getPush = (id: string): ReturnType<RelayApi["getPush"]> => {
      this.looks += Number(id === ASK);
      const receipt = id === ASK ? this.asked : this.answer;
      if (receipt instanceof RelayError) return Promise.reject(receipt);
      const push = { id, type: "ask.answer", body: "yes", from: "key_1", createdAt: NOW, expiresAt: NOW };
      return Promise.resolve({ push, receipt });
    };
    const { clock, wakeup } = this;
    const parts = {
      api: { getPush } as RelayApi,
      clock,
      wakeup,
      read: (push: Push) => this.read(push),
      take: (id: string) => void this.taken.push(id),
    };
    followQuestion(parts, { id: ASK, timeoutMs: 120_000, signal: this.abort.signal }).then(
      (outcome) => this.outcome = outcome,
      (error) => this.outcome = error,
    );
  }

  /** Advances the time, or sends a notification, and waits until the question was read again. */
  async look(ms?: number): Promise<void> {
    const before = this.looks;
    await until("the wait", () => this.clock.pending > 0);
    if (ms === undefined) this.wakeup.wake();
    else this.clock.advance(ms);
    await until("a look", () => this.looks > before);
  }

  ended(): Promise<Outcome | Error> {
    return until("the outcome", () => this.outcome);
  }
}

Deno.test("an accepted answer is waited for beyond the end of the time, even while the relay is unreachable [type-answer]", async () => {
  const bench = new Bench();
  bench.asked = answered;
  await bench.look();
  await until("the answer taken", () => bench.taken.length > 0);
  while (bench.clock.elapsed() < 120_000 - POLL_MS) await bench.look(POLL_MS);
  bench.asked = new RelayError("restarting", { code: "unavailable", status: 503 });
  await bench.look(POLL_MS);
  await until("another wait", () => bench.clock.pending > 0);
  bench.asked = answered;
  bench.answer = { state: "delivered", final: true, at: {} };
  await bench.look();
  assert.deepEqual(await bench.ended(), { kind: "answered", answer: { kind: "text", text: "yes" } });
});

Deno.test("an answer counts once the relay confirms that it was received [type-answer]", async () => {
  const bench = new Bench();
  bench.asked = answered;
  await bench.look();
  await until("the answer taken", () => bench.taken.length > 0);
  assert.equal(bench.outcome, undefined);
  bench.answer = { state: "delivered", final: true, at: {} };
  await bench.look();
  assert.deepEqual(await bench.ended(), { kind: "answered", answer: { kind: "text", text: "yes" } });
});

Deno.test("polling compensates for lost notifications; an unreachable relay is asked again [mcp-survives]", async () => {
  const bench = new Bench();
  bench.asked = new RelayError("away", { code: "unreachable" });
  await bench.look(POLL_MS);
  bench.asked = answered;
  await bench.look(POLL_MS);
  bench.answer = { state: "delivered", final: true, at: {} };
  await bench.look(POLL_MS);
  assert.equal((await bench.ended() as Outcome).kind, "answered");
});

/** A relay on NATS first closes the question and then stores the answer. */
const missing = new RelayError("no push with this id", { code: "unknown_push", status: 404 });

Deno.test("an answer that is not stored yet is waited for, but not forever [type-answer]", async () => {
  const bench = new Bench();
  bench.asked = answered;
  bench.answer = missing;
  await bench.look();
  await bench.look(POLL_MS);
  bench.answer = { state: "delivered", final: true, at: {} };
  await bench.look(POLL_MS);
  assert.equal((await bench.ended() as Outcome).kind, "answered");

  const lost = new Bench();
  lost.asked = answered;
  lost.answer = missing;
  await lost.look();
  while (lost.clock.elapsed() < 60_000) await lost.look(POLL_MS);
  assert.equal(await lost.ended(), missing);

  const atTheEnd = new Bench();
  while (atTheEnd.clock.elapsed() < 120_000 - POLL_MS) await atTheEnd.look(POLL_MS);
  atTheEnd.asked = answered;
  atTheEnd.answer = missing;
  await atTheEnd.look(POLL_MS);
  await atTheEnd.look(POLL_MS);
  atTheEnd.answer = { state: "delivered", final: true, at: {} };
  await atTheEnd.look(POLL_MS);
  assert.equal((await atTheEnd.ended() as Outcome).kind, "answered");
});

Deno.test("an answer that went to the session has a separate outcome [mcp-late]", async () => {
  const bench = new Bench();
  bench.asked = answered;
  bench.answer = { state: "expired", reason: "too_late", final: true, at: {} };
  await bench.look();
  assert.deepEqual(await bench.ended(), { kind: "typed" });
});

Deno.test("an answer that could reach no session is not reported as typed [mcp-late]", async () => {
  const bench = new Bench();
  bench.asked = answered;
  bench.answer = { state: "expired", reason: "too_late", final: false, at: {} };
  await bench.look();
  await until("another wait", () => bench.clock.pending > 0 || bench.outcome !== undefined);
  assert.equal(bench.outcome, undefined);
  bench.answer = { state: "refused", reason: "no_such_session", final: true, at: {} };
  await bench.look();
  assert.deepEqual(await bench.ended(), { kind: "lost" });
});

Deno.test("an accepted answer is read again while this host's files cannot be used [mcp-ask]", async () => {
  const bench = new Bench();
  bench.asked = answered;
  bench.answer = { state: "delivered", final: true, at: {} };
  bench.read = () => Promise.reject(new Error("no space left on device"));
  await bench.look();
  await bench.look(POLL_MS);
  bench.read = (push) => Promise.resolve(answerOf(push));
  await bench.look(POLL_MS);
  assert.deepEqual(await bench.ended(), { kind: "answered", answer: { kind: "text", text: "yes" } });

  const full = new Bench();
  full.asked = answered;
  full.answer = { state: "delivered", final: true, at: {} };
  full.read = () => Promise.reject(new Error("no space left on device"));
  while (full.clock.elapsed() < 150_000) await full.look(POLL_MS);
  assert.match(String(await full.ended()), /no space left/);
});

Deno.test("if the relay is gone after an answer was taken, the result does not report that none came [mcp-timeout]", async () => {
  const bench = new Bench();
  bench.asked = answered;
  await bench.look();
  assert.deepEqual(bench.taken, [ANSWER]);
  bench.asked = new RelayError("Cannot reach the relay", { code: "unreachable" });
  while (bench.clock.elapsed() < 150_000) await bench.look(POLL_MS);
  assert.deepEqual(await bench.ended(), { kind: "unconfirmed" });
});

Deno.test("a question ends with its time, unless an answer is being accepted [mcp-timeout]", async () => {
  const alone = new Bench();
  for (let n = 0; n < 24; n++) await alone.look(POLL_MS);
  assert.deepEqual(await alone.ended(), { kind: "timed_out" });

  const taking = new Bench();
  for (let n = 0; n < 23; n++) await taking.look(POLL_MS);
  taking.asked = answered;
  await taking.look(POLL_MS);
  await taking.look(POLL_MS);
  taking.answer = { state: "delivered", final: true, at: {} };
  await taking.look(POLL_MS);
  assert.equal((await taking.ended() as Outcome).kind, "answered");
});

Deno.test("a closed question, a refusal and an abort end the wait", async () => {
  const closed = new Bench();
  closed.asked = { state: "withdrawn", final: true, at: {} };
  await closed.look();
  assert.deepEqual(await closed.ended(), { kind: "closed" });

  const refused = new Bench();
  refused.asked = new RelayError("the key was revoked", { code: "unauthenticated", status: 401 });
  await refused.look();
  assert.match(String(await refused.ended()), /revoked/);

  const aborted = new Bench();
  aborted.abort.abort(new Error("taken back"));
  assert.match(String(await aborted.ended()), /taken back/);
});

Deno.test("each waiting question is reported at once and repeatedly, and its end once, even if it fails [ls-state-ask]", async () => {
  const clock = new FakeClock();
  const reports: WaitingReport[] = [];
  const options = { report: (report: WaitingReport): void => void reports.push(report), clock };
  const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  const one = reportWhileWaiting(first.promise, { ...options, ask: "first" });
  clock.advance(ASK_REPORT_MS);
  assert.deepEqual(reports.map(({ state }) => state), ["waiting", "waiting"]);
  const other = reportWhileWaiting(second.promise, { ...options, ask: "second" });
  assert.deepEqual(reports.map(({ ask }) => ask), ["first", "first", "second"]);
  first.resolve(7);
  assert.equal(await one, 7);
  assert.deepEqual(
    reports.slice(3),
    [{ state: "working", ask: reports[0]?.ask }],
    "the other one still waits",
  );
  clock.advance(ASK_REPORT_MS);
  assert.deepEqual(reports[4], { state: "waiting", ask: reports[2]?.ask });
  second.reject(new Error("taken back"));
  await assert.rejects(other, /taken back/);
  assert.deepEqual(reports.slice(5), [{ state: "working", ask: reports[2]?.ask }]);
  assert.equal(clock.pending, 0);
});

const receipt = (state: Receipt["state"], answer?: string): Receipt => ({
  state,
  final: state !== "delivered",
  at: {},
  ...(answer === undefined ? {} : { answer }),
});

function bench(): { left: LeftQuestions; sent: string[] } {
  const sent: string[] = [];
  const left = new LeftQuestions(({ id, outcome }) => {
    sent.push(`${outcome} ${id}`);
    return true;
  });
  return { left, sent };
}

Deno.test("a withdrawal is repeated after every reconnect until the relay confirms it", () => {
  const { left, sent } = bench();
  left.withdraw("q");
  left.connected();
  left.updated({ id: "q", receipt: receipt("delivered") });
  assert.deepEqual([sent, left.withdrawing], [["withdrawn q", "withdrawn q"], 1]);
  left.updated({ id: "q", receipt: receipt("withdrawn") });
  left.connected();
  assert.deepEqual([sent.length, left.withdrawing], [2, 0]);
});

Deno.test("an answer that no call waits for is returned at once, and only once [mcp-late]", () => {
  const { left, sent } = bench();
  left.leave("q");
  left.connected();
  left.updated({ id: "other", receipt: receipt("answered", "b") });
  left.updated({ id: "q", receipt: receipt("answered", "a") });
  left.updated({ id: "q", receipt: receipt("answered", "a") });
  left.withdraw("p");
  left.updated({ id: "p", receipt: receipt("answered", "c") });
  assert.deepEqual(sent, ["ignored a", "withdrawn p", "ignored c"]);
});

Deno.test("the list is bounded: the oldest entry is dropped", () => {
  const { left, sent } = bench();
  for (let n = 0; n < 101; n++) left.leave(`q${n}`);
  left.updated({ id: "q0", receipt: receipt("answered", "a0") });
  left.updated({ id: "q1", receipt: receipt("answered", "a1") });
  assert.deepEqual(sent, ["ignored a1"]);
});
