/** Questions and answers at the relay: the first answer counts, and reaches the asker or the session once. */
import assert from "node:assert/strict";
import { lateAnswerId } from "../../../src/protocol/late_answer.ts";
import { ASK_RETURN_MS } from "../../../src/protocol/limits.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { answeredBy, type Question, questionOf, routeAnswer } from "../../../src/relay/asks.ts";
import { withdrawnAt } from "../../../src/relay/receipts.ts";
import { type NewPush, type Store, StoreUnavailable } from "../../../src/store/store.ts";
import { aDevice, aPush } from "../../contract/store_samples.ts";
import { type FakeClient, Fixture, sessionNamed, uuid } from "./fixture.ts";

const ASKER = "dev_script_1";
const LISTENER = "dev_listener_0a1b2c3d";
const PHONE = "dev_phone_1";
const RUN = "1790000000 %3 4242";
const ASK = uuid(1);
const ANSWER = uuid(2);

class Bench {
  readonly relay: Fixture;
  readonly key: string;
  readonly phone: FakeClient;
  readonly listener: FakeClient;
  asker: FakeClient;

  constructor(
    relay: Fixture,
    parts: { key: string; phone: FakeClient; listener: FakeClient; asker: FakeClient },
  ) {
    this.relay = relay;
    this.key = parts.key;
    this.phone = parts.phone;
    this.listener = parts.listener;
    this.asker = parts.asker;
  }

  async post(
    body: Record<string, unknown>,
    key = this.key,
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    const response = await this.relay.request("POST", "/pushes/send", { key, body });
    await this.relay.settle();
    return { status: response.status, json: await response.json() };
  }

  async ask(data: Record<string, unknown> = {}, fields: Record<string, unknown> = {}): Promise<number> {
    const ask = { kind: "prompt", timeoutSeconds: 120, replyTo: ASKER, listener: LISTENER, ...data };
    const push = { id: ASK, type: "ask", body: "Which one?", agentSessionName: "svc-p", ttlSeconds: 600 };
    const { status, json } = await this.post({ ...push, data: ask, ...fields });
    assert.equal(status, 202, JSON.stringify(json));
    return status;
  }

  /** Asks a question sealed for the phone with this id. */
  async askSealed(phone = PHONE): Promise<void> {
    const keys = { [phone]: { enc: "AA", ciphertext: "AA" } };
    await this.ask({ kind: "sealed", run: RUN }, { body: undefined, sealedFor: { ...sealedFor, keys } });
  }

  answer(
    fields: Record<string, unknown> = { body: "the first" },
    key = this.key,
  ): ReturnType<Bench["post"]> {
    return this.post({ id: ANSWER, type: "ask.answer", inReplyTo: ASK, ...fields }, key);
  }

  /** Answers as the paired phone. */
  async answerSealed(): ReturnType<Bench["post"]> {
    return this.answer({ sealed }, await this.relay.key(["push:send"], { deviceId: PHONE }));
  }

  async receipt(id: string): Promise<Record<string, unknown>> {
    const response = await this.relay.request("GET", `/pushes/${id}`, { key: this.key });
    return (await response.json()).receipt;
  }

  /** Returns the texts sent to the session. */
  typed(): (string | undefined)[] {
    return this.listener.received("push.new").map(({ data }) => data.body);
  }

  async pass(ms: number): Promise<void> {
    this.relay.clock.advance(ms);
    await this.relay.upkeep.endDue();
    await this.relay.settle();
  }

  async acknowledge(id: string, outcome: "delivered" | "ignored" | "withdrawn"): Promise<void> {
    await this.asker.send("push.ack", { id, outcome, final: true });
  }
}

async function withBench(act: (bench: Bench) => Promise<void>): Promise<void> {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const listener = await relay.listener(LISTENER);
  await listener.send("listener.sessions", { sequence: 1, sessions: [sessionNamed("svc-p")] });
  const phone = await relay.connect(key);
  const asker = await relay.connect(key, { role: "script", deviceId: ASKER });
  await act(new Bench(relay, { key, phone, listener, asker }));
}

Deno.test("an answer in time reaches the asker and not the session [type-ask, type-answer]", () =>
  withBench(async (bench) => {
    await bench.ask({ kind: "ask", options: ["the first", "the second"] });
    const [asked] = bench.phone.received("push.new");
    assert.deepEqual([asked?.data.body, asked?.data.data?.["options"]], ["Which one?", [
      "the first",
      "the second",
    ]]);
    assert.deepEqual([(await bench.receipt(ASK)).state, (await bench.receipt(ASK)).final], [
      "delivered",
      false,
    ]);

    assert.equal((await bench.answer({ data: { choices: ["the second"] } })).status, 202);
    const received = bench.asker.received("push.new").find(({ data }) => data.type === "ask.answer");
    assert.deepEqual([received?.data.inReplyTo, received?.data.data], [ASK, { choices: ["the second"] }]);
    const closed = bench.phone.received("push.updated").find(({ data }) => data.id === ASK);
    assert.deepEqual([closed?.data.receipt.state, closed?.data.receipt.answer], ["answered", ANSWER]);

    await bench.acknowledge(ANSWER, "delivered");
    assert.equal(bench.asker.received("push.updated").at(-1)?.data.receipt.state, "delivered");
    await bench.acknowledge(ANSWER, "ignored");
    await bench.pass(ASK_RETURN_MS * 2);
    assert.deepEqual(bench.typed(), []);
    assert.equal((await bench.receipt(ANSWER)).state, "delivered");
  }));

Deno.test("an answer after the asker's time is typed into the session, once [mcp-late, flow-3]", () =>
  withBench(async (bench) => {
    await bench.ask({ kind: "ask", options: ["a", "b", "c"], multiple: true, run: RUN });
    await bench.pass(120_000);
    assert.equal((await bench.answer({ data: { choices: ["c", "a"] } })).status, 202);
    assert.deepEqual(bench.typed(), ["c, a"]);
    assert.deepEqual(
      await bench.answer({ data: { choices: ["c", "a"] } }),
      await bench.answer({ data: { choices: ["c", "a"] } }),
    );
    await bench.acknowledge(ANSWER, "delivered");
    await bench.pass(ASK_RETURN_MS);
    assert.deepEqual(bench.typed(), ["c, a"]);
    const { state, reason, final } = await bench.receipt(ANSWER);
    assert.deepEqual([state, reason, final], ["expired", "too_late", true]);
    const { inReplyTo, targetDeviceId, data } = bench.listener.received("push.new")[0]?.data ?? {};
    assert.deepEqual([inReplyTo, targetDeviceId, data], [ASK, LISTENER, { run: RUN }]);
  }));

Deno.test("an answer that the asker ignores or does not acknowledge is typed once [mcp-late]", async (t) => {
  const endings: Record<string, (bench: Bench) => Promise<void>> = {
    "the asker ignores it": (bench) => bench.acknowledge(ANSWER, "ignored"),
    "the asker stays silent": (bench) => bench.pass(ASK_RETURN_MS),
    "the asker ignores it and time passes": async (bench) => {
      await bench.acknowledge(ANSWER, "ignored");
      await bench.pass(ASK_RETURN_MS);
      await bench.acknowledge(ANSWER, "delivered");
    },
  };
  for (const [name, end] of Object.entries(endings)) {
    await t.step(name, () =>
      withBench(async (bench) => {
        await bench.ask();
        await bench.answer();
        assert.deepEqual(bench.typed(), []);
        await end(bench);
        assert.deepEqual(bench.typed(), ["the first"]);
      }));
  }
});

Deno.test("a late answer is typed once even if the relay crashes before or after typing it [mcp-late]", () =>
  withBench(async (bench) => {
    await bench.ask();
    await bench.answer();
    const { store } = bench.relay.services;
    const dieInBetween = () =>
      store.changeReceipt({ account: "default", id: ANSWER }, ({ receipt }) => ({
        ...receipt,
        state: "expired",
        final: false,
      }));
    await dieInBetween();
    await bench.acknowledge(ANSWER, "delivered");
    await bench.pass(ASK_RETURN_MS);
    assert.deepEqual([bench.typed(), (await bench.receipt(ANSWER)).final], [["the first"], true]);
    await dieInBetween();
    await bench.pass(ASK_RETURN_MS);
    assert.deepEqual([bench.typed(), (await bench.receipt(ANSWER)).final], [["the first"], true]);
  }));

Deno.test("no client can take the id of the message that will carry an answer, which would keep the answer from the session [mcp-late]", () =>
  withBench(async (bench) => {
    await bench.ask();
    await bench.answer();
    const id = await lateAnswerId(ANSWER);
    const { status, json } = await bench.post({ id, type: "note", body: "mine" });
    assert.deepEqual([status, json["code"], (json["errors"] as { pointer: string }[])[0]?.pointer], [
      400,
      "invalid_push",
      "/id",
    ]);
    const phone = await bench.relay.key(["push:send"], { role: "phone", deviceId: PHONE });
    const cancel = { type: "agent.cancel", targetDeviceId: LISTENER, agentSessionName: "svc-p" };
    for (const key of [bench.key, phone]) {
      const refused = await bench.post({ ...cancel, inReplyTo: id }, key);
      assert.deepEqual([refused.status, refused.json["code"]], [404, "unknown_push"]);
    }
    await bench.pass(ASK_RETURN_MS);
    assert.deepEqual(bench.typed(), ["the first"]);
    assert.deepEqual([(await bench.receipt(ANSWER)).state, (await bench.receipt(id)).state], [
      "expired",
      "queued",
    ]);
    assert.equal((await bench.post({ ...cancel, inReplyTo: id }, phone)).status, 202, "it exists now");
  }));

Deno.test("an asker that lost its connection may reconnect for the answer; one that does not return is not waited for [mcp-survives]", () =>
  withBench(async (bench) => {
    await bench.ask();
    bench.asker.leave();
    await bench.relay.settle();
    await bench.pass(ASK_RETURN_MS - 1);
    await bench.answer();
    bench.asker = await bench.relay.connect(bench.key, { role: "script", deviceId: ASKER });
    await bench.acknowledge(ANSWER, "delivered");
    await bench.pass(ASK_RETURN_MS);
    assert.deepEqual([bench.typed(), (await bench.receipt(ANSWER)).state], [[], "delivered"]);

    await bench.ask({}, { id: uuid(3) });
    bench.asker.leave();
    await bench.relay.settle();
    await bench.pass(ASK_RETURN_MS);
    await bench.answer({ id: uuid(4), inReplyTo: uuid(3), body: "typed" });
    assert.deepEqual(bench.typed(), ["typed"]);
  }));

Deno.test("the first answer counts; a second one is refused and not stored", () =>
  withBench(async (bench) => {
    await bench.ask();
    const [one, other] = await Promise.all([
      bench.answer(),
      bench.answer({ id: uuid(5), body: "the second" }),
    ]);
    assert.deepEqual([one.status, other.status, other.json["code"]], [202, 409, "ask_closed"]);
    assert.match(String(other.json["detail"]), /answered/);
    assert.equal((await bench.receipt(ASK)).answer, ANSWER);
    assert.equal((await bench.relay.request("GET", `/pushes/${uuid(5)}`, { key: bench.key })).status, 404);
    assert.deepEqual(await bench.answer(), one);
  }));

/** Makes the store act as on NATS: it closes the question, then fails to store the answer the first time. */
function failBetween(store: Store): void {
  let carried: NewPush | undefined;
  store.insertAnswer = async (answer, { id, close }) => {
    const closed = await store.changeReceipt({ account: answer.account, id }, close);
    if (closed?.changed === true) {
      carried = answer;
      throw new StoreUnavailable("Cannot store in NATS: no answer");
    }
    if (closed === undefined || carried?.push.id !== answer.push.id) return { kind: "closed" };
    const { stored } = await store.insertPush(carried);
    return { kind: "stored", answer: stored, question: closed.stored };
  };
}

Deno.test("an answer that has closed its question and could not be stored is accepted when it is sent again [type-answer]", async (t) => {
  const failing = (act: (bench: Bench) => Promise<void>) =>
    withBench(async (bench) => {
      failBetween(bench.relay.services.store);
      await bench.ask();
      assert.equal((await bench.answer()).status, 503);
      assert.equal((await bench.receipt(ASK)).answer, ANSWER);
      await act(bench);
      const received = bench.asker.received("push.new").filter(({ data }) => data.type === "ask.answer");
      assert.deepEqual(received.map(({ data }) => data.body), ["the first"]);
    });
  await t.step("unchanged", () =>
    failing(async (bench) => {
      const other = await bench.answer({ id: uuid(5), body: "the second" });
      assert.equal(other.json["code"], "ask_closed");
      assert.equal((await bench.answer()).status, 202);
      assert.equal((await bench.answer()).status, 202);
    }));
  await t.step("the first one counts if the second has other content", () =>
    failing(async (bench) => {
      const { status, json } = await bench.answer({ body: "the second" });
      assert.deepEqual([status, json["code"]], [409, "id_reused"]);
    }));
});

Deno.test("only its asker can withdraw a question, which then accepts no answer", () =>
  withBench(async (bench) => {
    await bench.ask();
    const stranger = await bench.relay.connect(bench.key, { role: "script", deviceId: "dev_script_2" });
    await stranger.send("push.ack", { id: ASK, outcome: "withdrawn", final: true });
    assert.equal((await bench.receipt(ASK)).state, "delivered");
    await bench.acknowledge(ASK, "withdrawn");
    assert.equal(bench.phone.received("push.updated").at(-1)?.data.receipt.state, "withdrawn");
    const { status, json } = await bench.answer();
    assert.deepEqual([status, json["code"]], [409, "ask_closed"]);
  }));

Deno.test("an answer that does not fit is refused with the invalid field, and the question stays open", () =>
  withBench(async (bench) => {
    const fields = [{ name: "port", type: "number" }, { name: "on", type: "boolean", optional: true }];
    await bench.ask({ kind: "input", fields });
    const wrong: [Record<string, unknown>, string][] = [
      [{ body: "8080" }, "/data/values"],
      [{ data: { choices: ["port"] } }, "/data/choices"],
      [{ data: { values: { port: "8080" } } }, "/data/values/port"],
      [{ data: { values: { on: true } } }, "/data/values/port"],
      [{ data: { values: { port: 1, other: 2 } } }, "/data/values/other"],
      [{ data: { values: { port: "a\u0007" } } }, "/data/values/port"],
      [{ body: "both", data: { choices: ["x"] } }, ""],
      [{}, ""],
    ];
    for (const [given, pointer] of wrong) {
      const { status, json } = await bench.answer(given);
      assert.deepEqual([status, json["code"]], [400, "invalid_push"]);
      assert.equal((json["errors"] as { pointer: string }[])[0]?.pointer, pointer, JSON.stringify(given));
    }
    assert.equal((await bench.answer({ inReplyTo: uuid(9), body: "x" })).json["code"], "unknown_push");
    assert.equal((await bench.answer({ inReplyTo: undefined, body: "x" })).json["code"], "invalid_push");
    assert.equal((await bench.answer({ data: { values: { port: 8080, on: false } } })).status, 202);
    await bench.acknowledge(ANSWER, "ignored");
    assert.deepEqual(bench.typed(), ["port: 8080\non: false"]);
  }));

Deno.test("a question that phones could not display is refused", () =>
  withBench(async (bench) => {
    const data = { kind: "ask", timeoutSeconds: 120 };
    const wrong: [Record<string, unknown>, string][] = [
      [{ data }, "/body"],
      [{ body: "?", data: { ...data, kind: "poll" } }, "/data/kind"],
      [{ body: "?", data: { ...data, options: ["a", "a"] } }, "/data/options"],
      [{ body: "?", data: { ...data, options: ["a\nb"] } }, "/data/options/0"],
      [{ body: "?", data: { ...data, timeoutSeconds: 601 } }, "/data/timeoutSeconds"],
      [
        { body: "?", data: { ...data, kind: "input", fields: [{ name: "x", type: "choice" }] } },
        "/data/fields/0/options",
      ],
      [{ body: "?", data, targetDeviceId: LISTENER }, "/targetDeviceId"],
    ];
    for (const [given, pointer] of wrong) {
      const { status, json } = await bench.post({ type: "ask", ...given });
      assert.deepEqual([status, json["code"]], [400, "invalid_push"]);
      assert.equal((json["errors"] as { pointer: string }[])[0]?.pointer, pointer, JSON.stringify(given));
    }
  }));

const sealedFor = { host: LISTENER, nonce: "AA", ciphertext: "AA", keys: {} };
const sealed = { mode: "psk", enc: "AA", ciphertext: "AA" };

Deno.test("a sealed question accepts only sealed answers, and a plain one only plain answers [seal-answers]", () =>
  withBench(async (bench) => {
    await bench.askSealed();
    const key = await bench.relay.key(["push:send"], { deviceId: PHONE });
    for (const plain of [{ body: "yes" }, { sealed, body: "yes" }]) {
      assert.equal((await bench.answer(plain, key)).status, 400, JSON.stringify(plain));
    }
    assert.equal((await bench.answerSealed()).status, 202);
    const received = bench.asker.received("push.new").find(({ data }) => data.type === "ask.answer");
    assert.deepEqual([received?.data.sealed, received?.data.body], [sealed, undefined]);
    await withBench(async (other) => {
      await other.ask();
      assert.equal((await other.answer({ sealed })).status, 400);
    });
  }));

Deno.test("a sealed question is answered, and so closed, only by a phone that it is sealed for [seal-answers]", () =>
  withBench(async (bench) => {
    await bench.askSealed("dev_phone_other");
    const { status, json } = await bench.answer({ sealed });
    assert.deepEqual([status, json["code"]], [403, "wrong_role"]);
    assert.equal((await bench.receipt(ASK)).final, false);
    await bench.pass(120_000);
    assert.equal((await bench.answer({ sealed })).status, 403);
    assert.deepEqual(bench.typed(), []);
  }));

Deno.test("a late sealed answer is sent unchanged to the session's listener, with the answer's id [seal-answers, mcp-late]", () =>
  withBench(async (bench) => {
    await bench.askSealed();
    await bench.pass(120_000);
    assert.equal((await bench.answerSealed()).status, 202);
    const [command] = bench.listener.received("push.new");
    assert.deepEqual([command?.data.type, command?.data.sealed, command?.data.data], [
      "agent.command",
      sealed,
      { answer: ANSWER, run: RUN },
    ]);
    assert.equal(command?.data.id, await lateAnswerId(ANSWER));
  }));

Deno.test("a sealed question shows the relay only its timeout, and a plain question cannot claim to be sealed [seal-answers]", () =>
  withBench(async (bench) => {
    const data = { kind: "sealed", timeoutSeconds: 120, replyTo: ASKER, listener: LISTENER };
    const push = { type: "ask", agentSessionName: "svc-p" };
    const wrong = [
      { ...push, data, body: "Which one?" },
      { ...push, data: { ...data, kind: "prompt" }, sealedFor },
      { ...push, data, body: "Which one?", sealedFor },
    ];
    for (const one of wrong) assert.equal((await bench.post(one)).status, 400, JSON.stringify(one));
  }));

Deno.test("a late answer whose session cannot be found is refused, and the question stays open", () =>
  withBench(async (bench) => {
    await bench.ask({ listener: "dev_listener_none" });
    await bench.pass(120_000);
    const { status, json } = await bench.answer();
    assert.deepEqual([status, json["code"]], [404, "unknown_device"]);
    assert.equal((await bench.receipt(ASK)).final, false);
  }));

Deno.test("a question without a session accepts no late answer, and expires", () =>
  withBench(async (bench) => {
    await bench.ask({}, { agentSessionName: undefined });
    await bench.pass(120_000);
    const { status, json } = await bench.answer();
    assert.deepEqual([status, json["code"]], [409, "ask_closed"]);
    assert.match(String(json["detail"]), /runs in no session/);
    await bench.pass(480_000);
    assert.equal((await bench.receipt(ASK)).state, "expired");
  }));

const { push } = aPush(1);
const { createdAt, expiresAt } = push;
const open: Receipt = { state: "delivered", final: false, at: {} };

function question(fields: Partial<Question["push"]> = {}, receipt = open): Question {
  const data = { kind: "prompt", timeoutSeconds: 30, replyTo: "dev_script_1" };
  const found = questionOf({
    push: { ...push, type: "ask", agentSessionName: "svc-p", data, ...fields },
    receipt,
  });
  return found ?? assert.fail("not a question");
}

const here = aDevice("dev_script_1", { kind: "script", online: true });
const gone = (since: number) => aDevice("dev_script_1", { kind: "script", lastSeen: since });
const inTime = createdAt + 29_999;
const late = createdAt + 30_000;

Deno.test("an answer in time goes to an asker that is connected or disconnected a moment ago [type-answer]", () => {
  const toAsker = { kind: "asker", device: "dev_script_1" };
  assert.deepEqual(routeAnswer(question(), { asker: here, now: inTime }), toAsker);
  const left = gone(inTime - ASK_RETURN_MS + 1);
  assert.deepEqual(routeAnswer(question(), { asker: left, now: inTime }), toAsker);
});

Deno.test("an answer goes to the session when the time is over or the asker is disconnected [mcp-late]", () => {
  const askers = {
    late: { asker: here, now: late },
    gone: { asker: gone(inTime - ASK_RETURN_MS), now: inTime },
    unknown: { asker: undefined, now: inTime },
    revoked: { asker: { ...here, revokedAt: 1 }, now: inTime },
    "no asker": { asker: aDevice("dev_script_1", { kind: "listener", online: true }), now: inTime },
  };
  for (const [name, when] of Object.entries(askers)) {
    assert.deepEqual(routeAnswer(question(), when), { kind: "session" }, name);
  }
});

Deno.test("an answer to an agent's own dialog goes to the listener that asked, and is never typed [card-late]", () => {
  const asked = question({
    data: { kind: "prompt", timeoutSeconds: 30, replyTo: "dev_listener_1", listener: "dev_listener_1" },
  });
  const listener = aDevice("dev_listener_1", { kind: "listener", online: true });
  const route = (asker: Parameters<typeof routeAnswer>[1]["asker"], now: number): unknown =>
    routeAnswer(asked, { asker, now });
  assert.deepEqual(route(listener, inTime), { kind: "asker", device: "dev_listener_1" });
  const closed = { kind: "closed", why: "not_waiting" };
  assert.deepEqual(route(listener, late), closed);
  assert.deepEqual(route(undefined, inTime), closed);
  assert.deepEqual(route({ ...listener, kind: "script" }, inTime), closed);
});

Deno.test("an answer that cannot be delivered is refused", () => {
  const why = (asked: Question, now: number): unknown => {
    const route = routeAnswer(asked, { asker: here, now });
    return route.kind === "closed" ? route.why : route;
  };
  assert.equal(why(question({ agentSessionName: undefined }), late), "no_session");
  assert.equal(why(question({}, { state: "answered", final: true, at: {} }), inTime), "answered");
  assert.equal(why(question({}, { state: "withdrawn", final: true, at: {} }), inTime), "withdrawn");
  assert.equal(why(question({}, { state: "expired", final: true, at: {} }), inTime), "expired");
  assert.equal(why(question(), expiresAt), "expired");
});

Deno.test("a question is closed once, and its receipt says how", () => {
  const answered = answeredBy(open, { id: push.id, now: 5 });
  assert.deepEqual(answered, { state: "answered", final: true, at: { answered: 5 }, answer: push.id });
  assert.equal(withdrawnAt(open, 5)?.state, "withdrawn");
  for (const closed of [answered, withdrawnAt(open, 5)]) {
    assert.ok(closed !== undefined);
    assert.equal(answeredBy(closed, { id: push.id, now: 6 }), undefined);
    assert.equal(withdrawnAt(closed, 6), undefined);
  }
});
