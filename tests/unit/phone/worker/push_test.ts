/** The service worker's notifications: their text, where a tap leads, what takes them away, and what the relay is informed of. */
import assert from "node:assert/strict";
import { exportPublicKey, generateKeyPair } from "../../../../src/crypto/keys.ts";
import { openHostPush, sealHostPush } from "../../../../src/crypto/host_push.ts";
import { importSecret, newSecret } from "../../../../src/crypto/paired_secret.ts";
import { SKEW_MS } from "../../../../src/protocol/limits.ts";
import type { Push } from "../../../../src/protocol/push.ts";
import type { WebPushPayload } from "../../../../src/protocol/web_push.ts";
import { type PushParts, showPushes, type WorkerMessage } from "../../../../src/phone/worker/push.ts";
import { NOTIFICATION_STRINGS } from "../../../../src/phone/strings_notifications.ts";
import { NOTIFICATION_STRINGS_DE } from "../../../../src/phone/strings_manage_de.ts";
import type { WorkerEvents, WorkerScope } from "../../../../src/phone/worker/scope.ts";

const SCOPE = "https://relay.example/";
const HOST = "dev_listener_0a1b2c3d";
const PHONE = "dev_phone_1";
const SESSION = "svc-shop";
const ID = "6f1c2d3e-0000-4000-8000-000000000001";

interface FakeNotification {
  title: string;
  body?: string;
  tag?: string;
  silent?: boolean;
  timestamp?: number;
  data?: unknown;
  actions?: { action: string; title: string }[];
  close(): void;
}

/** A browser with a worker, its notifications, and pages that record their messages. */
class FakeWorker {
  readonly shown: FakeNotification[] = [];
  readonly everShown: string[] = [];
  readonly pages: { messages: WorkerMessage[]; focused: boolean }[] = [];
  readonly opened: string[] = [];
  readonly reports: [string, string][] = [];
  readonly stored = new Map<string, Push>();
  isReachable = true;
  now = 1_000;
  texts: Awaited<ReturnType<PushParts["texts"]>> = NOTIFICATION_STRINGS.notification;
  /** How many buttons a notification shows; undefined in a browser without them. */
  maxActions: number | undefined;
  open: PushParts["open"] = () => Promise.resolve(undefined);
  readonly #listeners: Partial<Record<string, (event: never) => void>> = {};

  constructor() {
    const parts: PushParts = {
      open: (push) => this.open(push),
      load: (id) => {
        const push = this.stored.get(id);
        return push && this.isReachable ? Promise.resolve(push) : Promise.reject(new Error("unreachable"));
      },
      report: (id, how) => {
        if (!this.isReachable) return Promise.reject(new Error("unreachable"));
        this.reports.push([id, how]);
        return Promise.resolve();
      },
      texts: () => Promise.resolve(this.texts),
      resubscribe: () => Promise.resolve(),
      now: () => this.now,
    };
    showPushes(this.#scope(), parts);
  }

  push(payload: WebPushPayload | string): Promise<void> {
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    return this.#fire("push", { data: { text: () => text } });
  }

  tap(notification: FakeNotification, action = ""): Promise<void> {
    return this.#fire("notificationclick", { notification, action });
  }

  async #fire(name: keyof WorkerEvents, event: object): Promise<void> {
    let done: Promise<unknown> = Promise.resolve();
    this.#listeners[name]?.({ ...event, waitUntil: (one: Promise<unknown>) => done = one } as never);
    await done;
  }

  #scope(): WorkerScope {
    const remove = (one: FakeNotification): void => void this.shown.splice(this.shown.indexOf(one), 1);
    const maxActions = (): number | undefined => this.maxActions;
    const scope = {
      Notification: {
        get maxActions() {
          return maxActions();
        },
      },
      registration: {
        scope: SCOPE,
        showNotification: (title: string, options: Omit<FakeNotification, "title" | "close"> = {}) => {
          const same = this.shown.find(({ tag }) => tag !== undefined && tag === options.tag);
          if (same !== undefined) remove(same);
          const one: FakeNotification = { title, ...options, close: () => remove(one) };
          this.shown.push(one);
          this.everShown.push(title);
          return Promise.resolve();
        },
        getNotifications: ({ tag }: { tag: string }) =>
          Promise.resolve(this.shown.filter((one) => one.tag === tag)),
      },
      clients: {
        matchAll: () =>
          Promise.resolve(this.pages.map((page) => ({
            postMessage: (message: WorkerMessage) => void page.messages.push(message),
            focus: () => Promise.resolve(void (page.focused = true)),
          }))),
        openWindow: (url: string) => Promise.resolve(void this.opened.push(url)),
      },
      addEventListener: (name: string, listener: (event: never) => void) => this.#listeners[name] = listener,
    };
    return scope as unknown as WorkerScope;
  }
}

type Ring = Extract<WebPushPayload, { kind: "ring" }>;

const ring = (fields: Partial<Ring> = {}): Ring => ({
  kind: "ring",
  id: ID,
  type: "ask",
  host: HOST,
  session: SESSION,
  createdAt: 5,
  ...fields,
});

/** Returns a paired phone's function to open texts, and a host's to seal them at a given time. */
async function pairing(): Promise<{
  open: PushParts["open"];
  seal(push: Partial<Push> & { ttlSeconds?: number }, now?: number): Promise<Push>;
}> {
  const [keyPair, secret] = [await generateKeyPair(), await importSecret(newSecret())];
  assert.ok(secret);
  const publicKey = await exportPublicKey(keyPair.publicKey);
  const options = { host: HOST, phones: [{ deviceId: PHONE, publicKey, secret }] };
  return {
    open: (push) => openHostPush(push, { phone: PHONE, keyPair, secret }),
    seal: async (push, now = Date.now()) => {
      const whole = { id: ID, type: "ask", agentSessionName: SESSION, ...push };
      return { ...await sealHostPush(whole, { ...options, now }), from: HOST, createdAt: 5, expiresAt: 9 };
    },
  };
}

Deno.test("a sealed question is opened in the worker and shown with its text, and the relay is informed [push-opened, push-receipt, seal-web-push]", async () => {
  const worker = new FakeWorker();
  const { open, seal } = await pairing();
  worker.open = open;
  const { sealedFor } = await seal({ body: "Deploy to production?" });
  await worker.push(ring(sealedFor ? { sealedFor } : {}));
  const [shown] = worker.shown;
  assert.deepEqual([shown?.title, shown?.body, shown?.tag], [`${SESSION} asks`, "Deploy to production?", ID]);
  assert.deepEqual(worker.reports, [[ID, "notification"]]);
});

Deno.test("a text that is not for this phone, or was moved to another push, leaves a notification without it [push-textless, push-opened]", async () => {
  const worker = new FakeWorker();
  await worker.push(ring());
  const { open, seal } = await pairing();
  worker.open = open;
  const { sealedFor } = await seal({ body: "Deploy?" });
  await worker.push(ring({ id: ID.replace("6f", "7f"), ...(sealedFor ? { sealedFor } : {}) }));
  assert.deepEqual(worker.shown.map(({ title, body }) => [title, body]), [
    ["A question for you", SESSION],
    ["A question for you", SESSION],
  ]);
});

Deno.test("a text that was too long for Web Push is fetched; without the relay the notification comes without it [push-opened]", async () => {
  const worker = new FakeWorker();
  const { open, seal } = await pairing();
  worker.open = open;
  worker.stored.set(
    ID,
    await seal({ type: "agent.stop", title: "shop · Claude has finished", body: "x".repeat(9_000) }),
  );
  await worker.push(ring({ type: "agent.stop", load: true }));
  assert.equal(worker.shown[0]?.title, "shop · Claude has finished");
  assert.equal(worker.shown[0]?.body?.length, 500);
  worker.isReachable = false;
  await worker.push(ring({ type: "agent.stop", load: true }));
  assert.deepEqual(worker.shown.map(({ title }) => title), ["An agent has finished"]);
});

const HOUR_MS = 3_600_000;

Deno.test("an old text that a relay sends again is no newer than its host says, and is left out once no relay would still deliver it [hostile-relay, push-opened]", async () => {
  const worker = new FakeWorker();
  const { open, seal } = await pairing();
  worker.open = open;
  worker.now = 1_000 * HOUR_MS;
  const show = async (push: Parameters<typeof seal>[0], age: number): Promise<unknown[]> => {
    const { sealedFor } = await seal({ title: "shop · Claude has finished", ...push }, worker.now - age);
    const type = push.type === "ask" ? "ask" : "agent.stop";
    await worker.push(ring({ type, createdAt: worker.now, ...(sealedFor ? { sealedFor } : {}) }));
    const { title, body, timestamp = 0 } = worker.shown.at(-1) ?? assert.fail("nothing is shown");
    return [title, body, worker.now - timestamp];
  };
  const stop = { type: "agent.stop", body: "All tests pass." };
  const title = "shop · Claude has finished";
  assert.deepEqual(await show(stop, 0), [title, "All tests pass.", 0]);
  assert.deepEqual(await show(stop, HOUR_MS), [title, "All tests pass.", HOUR_MS - SKEW_MS]);
  const oldest = HOUR_MS + 2 * SKEW_MS;
  assert.deepEqual(await show(stop, oldest), [title, "All tests pass.", oldest - SKEW_MS]);
  assert.deepEqual(await show(stop, oldest + 1), ["An agent has finished", SESSION, 0]);
  assert.deepEqual(await show(stop, 7 * 24 * HOUR_MS), ["An agent has finished", SESSION, 0]);
  const question = { type: "ask", body: "Deploy?", ttlSeconds: 24 * 3_600 };
  assert.equal((await show(question, 24 * HOUR_MS))[1], "Deploy?", "its host says how long it stands");
  assert.equal((await show(question, 25 * HOUR_MS))[1], SESSION);
});

Deno.test("a text that a relay sends in the name of another host, session or kind leads to its own host, or is left out [hostile-relay, push-tap]", async () => {
  const worker = new FakeWorker();
  const { open, seal } = await pairing();
  worker.open = open;
  const stop = await seal({ type: "agent.stop", body: "All tests pass." });
  const sealedFor = stop.sealedFor ?? assert.fail();
  await worker.push(ring({ type: "agent.stop", host: "dev_listener_ffffffff", sealedFor }));
  const [shown] = worker.shown;
  assert.deepEqual([shown?.body, shown?.tag], ["All tests pass.", `${HOST}/${SESSION}`]);
  await worker.tap(shown ?? assert.fail());
  assert.deepEqual(worker.opened, [`${SCOPE}#/s/${HOST}/${SESSION}/messages/${ID}`]);
  worker.stored.set(ID, stop);
  for (const lie of [{ session: "svc-bank" }, { type: "note" as const }]) {
    await worker.push(ring({ type: "agent.stop", load: true, ...lie }));
    assert.notEqual(worker.shown.at(-1)?.body, "All tests pass.", JSON.stringify(lie));
  }
});

Deno.test("a withdrawal takes the question's notification away, and shows something in the meantime [push-withdrawn]", async () => {
  const worker = new FakeWorker();
  await worker.push(ring());
  await worker.push(ring({ id: ID.replace("6f", "7f") }));
  await worker.push({ kind: "withdraw", id: ID, type: "ask", host: HOST, session: SESSION });
  assert.deepEqual(worker.shown.map(({ tag }) => tag), [ID.replace("6f", "7f")]);
  assert.equal(worker.everShown.length, 3);
});

Deno.test("a session's later turn replaces the earlier one, and questions stay [push-opened]", async () => {
  const worker = new FakeWorker();
  for (const [n, type] of (["ask", "agent.stop", "agent.attention", "agent.stop"] as const).entries()) {
    await worker.push(ring({ id: ID.replace("6f", `${n}f`), type }));
  }
  assert.deepEqual(worker.shown.map(({ title }) => title), ["A question for you", "An agent has finished"]);
});

Deno.test("a tap opens the page at the session and the question, in the open page if there is one [push-tap]", async () => {
  const worker = new FakeWorker();
  await worker.push(ring());
  await worker.push(ring({ id: ID.replace("6f", "7f"), type: "agent.attention" }));
  await worker.push(ring({ id: ID.replace("6f", "8f"), type: "note", host: "" }));
  const [ask, attention, note] = worker.shown;
  assert.ok(ask && attention && note);
  for (const one of [ask, attention, note]) await worker.tap(one);
  const session = `${SCOPE}#/s/${HOST}/${SESSION}`;
  assert.deepEqual(worker.opened, [
    `${session}/messages/${ID}`,
    session,
    `${SCOPE}#/inbox/${ID.replace("6f", "8f")}`,
  ]);
  assert.deepEqual(worker.reports.filter(([, how]) => how === "tap").length, 3);
  const page = { messages: [], focused: false };
  worker.pages.push(page);
  await worker.tap(ask);
  assert.deepEqual(page, {
    messages: [{ kind: "svc-open", hash: `#/s/${HOST}/${SESSION}/messages/${ID}` }],
    focused: true,
  });
  assert.equal(worker.opened.length, 3);
});

Deno.test("a test is shown and answered to the page with its times; a push that the worker does not know is shown too [push-test]", async () => {
  const worker = new FakeWorker();
  const { open, seal } = await pairing();
  worker.open = open;
  const page: { messages: WorkerMessage[]; focused: boolean } = { messages: [], focused: false };
  worker.pages.push(page);
  const { sealedFor } = await seal({ type: "note", body: "test", agentSessionName: undefined });
  await worker.push({ kind: "test", id: ID, ...(sealedFor ? { sealedFor } : {}) });
  await worker.push({ kind: "test", id: ID });
  assert.deepEqual(page.messages.map((message) => message.kind === "svc-tested" && message.sealed), [
    true,
    false,
  ]);
  assert.deepEqual(worker.reports, []);
  await worker.push("{}");
  assert.equal(worker.shown.at(-1)?.title, "Something is new");
});

const QUESTION = {
  text: "Which database?",
  options: [{ label: "SQLite" }, { label: "x".repeat(90) }, { label: "c" }],
};
const APPROVAL = {
  kind: "approval",
  tool: "Bash",
  directory: "/src",
  digest: "ab".repeat(32),
  decisions: ["once", "reject"],
  unusual: [],
};

Deno.test("a question's first two options come with its notification; a tap on one leads to the card with it, and answers nothing [card-notified]", async () => {
  const worker = new FakeWorker();
  const { open, seal } = await pairing();
  worker.open = open;
  const show = async (data: Record<string, unknown>): Promise<FakeNotification> => {
    const { sealedFor } = await seal({ body: "Which database?", data: { ...data, timeoutSeconds: 60 } });
    await worker.push(ring(sealedFor ? { sealedFor } : {}));
    return worker.shown.at(-1) ?? assert.fail("nothing is shown");
  };
  const card = { kind: "questions", questions: [QUESTION] };
  assert.equal((await show(card)).actions, undefined, "a browser without buttons");
  worker.maxActions = 2;
  const shown = await show(card);
  assert.deepEqual(shown.actions?.map(({ action, title }) => [action, title.length]), [["0", 6], ["1", 60]]);
  await worker.tap(shown, "1");
  assert.deepEqual(worker.opened, [`${SCOPE}#/s/${HOST}/${SESSION}/messages/${ID}/1`]);
  assert.deepEqual(worker.reports.map(([, how]) => how), ["notification", "notification", "tap"]);
  for (const questions of [[QUESTION, QUESTION], [{ ...QUESTION, multiple: true }]]) {
    assert.equal((await show({ kind: "questions", questions })).actions, undefined);
  }
  const request = await show(APPROVAL);
  assert.deepEqual([request.title, request.body], [
    `${SESSION} asks for permission`,
    "Bash: Which database?",
  ]);
  assert.equal(request.actions, undefined);
});

Deno.test("notifications are in the page's language [ux-languages]", async () => {
  const worker = new FakeWorker();
  worker.texts = NOTIFICATION_STRINGS_DE.notification;
  await worker.push(ring());
  await worker.push({ kind: "withdraw", id: ID, type: "ask", host: HOST, session: SESSION });
  assert.deepEqual(worker.everShown, ["Eine Frage an dich", "Beantwortet"]);
});
