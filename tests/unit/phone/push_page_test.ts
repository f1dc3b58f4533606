/** What the page reports as seen, and which notifications it takes away. */
import assert from "node:assert/strict";
import type { PushRecord } from "../../../src/protocol/push.ts";
import { parseRoute } from "../../../src/phone/route.ts";
import { readyWorker, Seen } from "../../../src/phone/push_page.ts";
import { NOTIFICATION_TEXT } from "../../../src/phone/notification_text.ts";
import { INITIAL_STATE, type PhoneState, reduce } from "../../../src/phone/state.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

const HOST = "dev_listener_0a1b2c3d";
const NOW = 1_800_000_000_000;

function record(
  id: string,
  type: string,
  fields: { session?: string; final?: boolean; createdAt?: number } = {},
): PushRecord {
  const { session = "svc-a", final = type !== "ask", createdAt = NOW } = fields;
  const data = type === "ask" ? { data: { kind: "prompt", timeoutSeconds: 300, listener: HOST } } : {};
  return {
    push: {
      id,
      type,
      agentSessionName: session,
      body: "x",
      from: HOST,
      createdAt,
      expiresAt: NOW * 2,
      ...data,
    },
    receipt: { state: final && type === "ask" ? "answered" : "delivered", final, at: {} },
  };
}

class Stage {
  state: PhoneState = { ...INITIAL_STATE, signIn: { kind: "in" } };
  readonly reported: string[] = [];
  readonly notifications = new Map<string, { data: unknown; close(): void }>();
  readonly #seen = new Seen({
    report: (id) => Promise.resolve(void this.reported.push(id)),
    notifications: () => Promise.resolve([...this.notifications.values()]),
    now: () => NOW,
  });

  notify(id: string): void {
    this.notifications.set(id, { data: { id }, close: () => void this.notifications.delete(id) });
  }

  async show(address: string, records: readonly PushRecord[], visible = true): Promise<void> {
    this.state = reduce(reduce(this.state, { type: "history", records }), {
      type: "route",
      route: parseRoute(address),
    });
    this.#seen.update(this.state, visible);
    await Promise.resolve();
    await Promise.resolve();
  }
}

Deno.test("a visible session or inbox reports its items once; a hidden page reports nothing [push-in-view]", async () => {
  const stage = new Stage();
  const all = [record("1", "ask"), record("2", "agent.stop"), record("3", "ask", { session: "svc-b" })];
  await stage.show(`#/s/${HOST}/svc-a`, all, false);
  await stage.show("#/", all);
  await stage.show("#/s/dev_listener_other/svc-a", all);
  assert.deepEqual(stage.reported, []);
  await stage.show(`#/s/${HOST}/svc-a`, all);
  assert.deepEqual(stage.reported, ["1", "2"]);
  await stage.show("#/inbox", all);
  assert.deepEqual(stage.reported, ["1", "2", "3"]);
});

Deno.test("old turns and closed questions are not reported; an open question is, whatever its age [push-in-view]", async () => {
  const stage = new Stage();
  const createdAt = NOW - 3_600_000;
  await stage.show("#/inbox", [
    record("1", "agent.stop", { createdAt }),
    record("2", "ask", { createdAt }),
    record("3", "ask", { final: true }),
  ]);
  assert.deepEqual(stage.reported, ["2"]);
});

Deno.test("notifications of visible items, and of closed questions, are taken away [push-withdrawn]", async () => {
  const stage = new Stage();
  for (const id of ["1", "2", "3"]) stage.notify(id);
  await stage.show("#/", [record("1", "ask"), record("2", "ask"), record("3", "ask", { session: "svc-b" })]);
  assert.equal(stage.notifications.size, 3);
  await stage.show(`#/s/${HOST}/svc-b`, []);
  assert.deepEqual([...stage.notifications.keys()], ["1", "2"]);
  await stage.show("#/", [record("1", "ask", { final: true })]);
  assert.deepEqual([...stage.notifications.keys()], ["2"]);
});

const WORKER = {} as ServiceWorkerRegistration;
const NEVER = new Promise<never>(() => {});
const NO_WORKER = { message: NOTIFICATION_TEXT.notifications.noWorker };

Deno.test("a service worker that failed to load is registered once more, and the wait for it is limited [push-why-not]", async () => {
  const clock = new FakeClock();
  const container = { getRegistration: () => Promise.resolve(undefined), ready: NEVER };
  const registered = () => Promise.resolve(WORKER);
  await assert.rejects(
    readyWorker(container, { register: () => Promise.resolve(undefined), clock }),
    NO_WORKER,
  );
  assert.equal(clock.pending, 0);
  const ready = Promise.resolve(WORKER);
  assert.equal(await readyWorker({ ...container, ready }, { register: registered, clock }), WORKER);

  const waiting = readyWorker(container, { register: registered, clock }).catch((error) => error.message);
  await until("the wait", () => clock.pending === 1);
  clock.advance(10_000);
  assert.equal(await waiting, NO_WORKER.message);
});
