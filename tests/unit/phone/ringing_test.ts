/** Notifications on the phone: on and off, which ones are shown, the test, and browsers that cannot show them. */
import assert from "node:assert/strict";
import { RelayError } from "../../../src/client/relay_error.ts";
import type { RingPreferences, WebPushSubscription } from "../../../src/protocol/web_push.ts";
import {
  type PushBrowser,
  type PushFacts,
  pushSupport,
  Ringing,
  subscribe,
} from "../../../src/phone/ringing.ts";
import { SUBSCRIPTION } from "../../helpers/push_vendor.ts";
import { until } from "../../helpers/until.ts";

const FACTS: PushFacts = {
  isSecureContext: true,
  hasPushManager: true,
  permission: "default",
  userAgent: "Mozilla/5.0 (Linux; Android 15) Chrome/140",
  touchPoints: 5,
  isInstalled: false,
};

Deno.test("a browser without push says why: no https, not on the home screen, not able, or blocked [push-why-not]", () => {
  const iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1";
  const without = { ...FACTS, hasPushManager: false };
  assert.equal(pushSupport(FACTS), "ready");
  assert.equal(pushSupport({ ...without, isSecureContext: false }), "insecure");
  assert.equal(pushSupport({ ...without, userAgent: iPhone }), "install");
  assert.equal(pushSupport({ ...without, userAgent: "Macintosh; Safari" }), "install");
  assert.equal(pushSupport({ ...without, userAgent: iPhone, isInstalled: true }), "unsupported");
  assert.equal(pushSupport(without), "unsupported");
  assert.equal(pushSupport({ ...FACTS, permission: "denied" }), "denied");
});

class Stage {
  readonly saved: WebPushSubscription[] = [];
  stored: RingPreferences | undefined;
  isAllowed = true;
  removed = 0;
  unsubscribed = 0;
  relayProblem: string | undefined;
  relayCode = "unreachable";
  /** If set, the relay answers only when this resolves. */
  answering: Promise<void> | undefined;
  /** The error of the browser's storage. */
  storageProblem: string | undefined;
  /** The requests to the relay, in order. */
  readonly asked: string[] = [];
  vendorStatus = 201;
  now = 0;
  isSubscribed = false;
  /** The number of notifications shown. */
  shown = 2;
  readonly ringing: Ringing;

  constructor() {
    const browser: PushBrowser = {
      support: () => "ready",
      allow: () => Promise.resolve(this.isAllowed),
      subscribe: () => {
        this.isSubscribed = true;
        return Promise.resolve(SUBSCRIPTION);
      },
      unsubscribe: () => {
        this.unsubscribed++;
        return Promise.resolve(void (this.isSubscribed = false));
      },
      isSubscribed: () => Promise.resolve(this.isSubscribed),
      closeAll: () => Promise.resolve(void (this.shown = 0)),
      timeZone: () => "Europe/Berlin",
    };
    this.ringing = new Ringing({
      browser,
      storage: {
        readPreferences: () => Promise.resolve(this.stored),
        writePreferences: (preferences) => {
          if (this.storageProblem !== undefined) return Promise.reject(new Error(this.storageProblem));
          return Promise.resolve(void (this.stored = preferences));
        },
        clear: () => Promise.resolve(void (this.stored = undefined)),
      },
      relay: () => Promise.resolve({ deviceId: "dev_phone_1", api: this.#api() }),
      seal: () => Promise.resolve(undefined),
      newId: () => "test-1",
      now: () => this.now,
    });
  }

  #api() {
    return {
      webPushKey: async () => {
        await this.answering;
        return "key";
      },
      saveWebPush: (_device: string, subscription: WebPushSubscription) => {
        this.asked.push("save");
        if (this.relayProblem !== undefined) return Promise.reject(new Error(this.relayProblem));
        return Promise.resolve(void this.saved.push(subscription));
      },
      removeWebPush: () => {
        this.asked.push("remove");
        return Promise.resolve(void this.removed++);
      },
      testWebPush: () => {
        this.now += 300;
        if (this.relayProblem !== undefined) {
          return Promise.reject(new RelayError(this.relayProblem, { code: this.relayCode }));
        }
        return Promise.resolve({ status: this.vendorStatus, milliseconds: 200, detail: "gone" });
      },
      reportShown: () => Promise.resolve(),
    };
  }
}

Deno.test("a tap switches notifications on, a later start keeps the relay's copy fresh, and off removes it [push-switch]", async () => {
  const stage = new Stage();
  await stage.ringing.load();
  assert.deepEqual([stage.ringing.state.isOn, stage.saved.length], [false, 0]);
  await stage.ringing.switchOn();
  assert.deepEqual([stage.ringing.state.isOn, stage.ringing.state.busy], [true, false]);
  assert.deepEqual(stage.saved, [{ ...SUBSCRIPTION, preferences: { off: [], sessions: {} } }]);
  await stage.ringing.load();
  assert.equal(stage.saved.length, 2);
  await stage.ringing.switchOff();
  assert.deepEqual([stage.ringing.state.isOn, stage.removed, stage.stored], [false, 1, undefined]);
  await stage.ringing.leave();
  assert.equal(stage.shown, 0);
  assert.equal(stage.removed, 1);
});

Deno.test("a change that is still being saved does not switch notifications on again after they were switched off [push-switch]", async () => {
  const stage = new Stage();
  await stage.ringing.switchOn();
  const answer = Promise.withResolvers<void>();
  stage.answering = answer.promise;
  stage.ringing.setKind("note", false);
  const off = stage.ringing.switchOff();
  answer.resolve();
  await off;
  await until("all requests", () => stage.asked.length === 3);
  assert.deepEqual(stage.asked, ["save", "save", "remove"]);
  assert.deepEqual([stage.isSubscribed, stage.stored, stage.ringing.state.isOn], [false, undefined, false]);
});

Deno.test("a change that could not be stored is reported, and the next one is saved [push-switch]", async () => {
  const stage = new Stage();
  await stage.ringing.switchOn();
  stage.storageProblem = "the disk is full";
  stage.ringing.setKind("note", false);
  await until("the problem", () => stage.ringing.state.problem === "the disk is full");
  stage.storageProblem = undefined;
  stage.ringing.setKind("note", true);
  await until("the next change", () => stage.saved.length === 2);
  assert.equal(stage.ringing.state.problem, undefined);
});

Deno.test("notifications stay off if the user does not allow them, or the relay does not answer [push-switch]", async () => {
  const stage = new Stage();
  stage.isAllowed = false;
  await stage.ringing.switchOn();
  assert.deepEqual([stage.ringing.state.isOn, stage.ringing.state.problem], [false, undefined]);
  stage.isAllowed = true;
  stage.relayProblem = "no relay answers";
  await stage.ringing.switchOn();
  assert.deepEqual([stage.ringing.state.isOn, stage.ringing.state.problem], [false, "no relay answers"]);
  assert.equal(stage.stored, undefined);
});

Deno.test("kinds, one session's kinds and quiet hours reach the relay [push-preferences, push-quiet]", async () => {
  const stage = new Stage();
  await stage.ringing.switchOn();
  stage.ringing.setKind("note", false);
  stage.ringing.setSession("dev_listener_1/svc-a", "agent.stop", false);
  stage.ringing.setSession("dev_listener_1/svc-b", "ask", false);
  stage.ringing.setSession("dev_listener_1/svc-b", "ask", true);
  stage.ringing.startQuiet();
  await until("the last change", () => stage.saved.at(-1)?.preferences?.quiet);
  const preferences = {
    off: ["note"],
    sessions: { "dev_listener_1/svc-a": ["agent.stop"] },
    quiet: { from: "22:00", to: "07:00", timeZone: "Europe/Berlin" },
  };
  assert.deepEqual(stage.saved.at(-1)?.preferences, preferences);
  assert.deepEqual(stage.stored, preferences);
  stage.ringing.setQuiet(undefined);
  await until(
    "the end of the quiet hours",
    () => !("quiet" in (stage.saved.at(-1)?.preferences ?? { quiet: 1 })),
  );
});

Deno.test("the test shows the time of each part, and where it failed [push-test]", async () => {
  const stage = new Stage();
  await stage.ringing.test();
  stage.ringing.tested({ kind: "svc-tested", id: "test-1", openedAt: 450, shownAt: 470, sealed: true });
  stage.ringing.tested({ kind: "svc-tested", id: "another", openedAt: 1, shownAt: 1, sealed: false });
  assert.deepEqual(stage.ringing.state.test, {
    id: "test-1",
    startedAt: 0,
    relay: { milliseconds: 100 },
    vendor: { milliseconds: 200 },
    phone: { opened: 450, shown: 470, sealed: true },
  });
  stage.vendorStatus = 410;
  await stage.ringing.test();
  assert.deepEqual(stage.ringing.state.test?.vendor, { problem: "gone" });
  stage.relayProblem = "no relay answers";
  await stage.ringing.test();
  assert.deepEqual(stage.ringing.state.test?.relay, { problem: "no relay answers" });
});

Deno.test("a subscription that the push service has ended is replaced after a failed test [push-test]", async () => {
  const stage = new Stage();
  await stage.ringing.switchOn();
  stage.vendorStatus = 410;
  await stage.ringing.test();
  assert.deepEqual([stage.unsubscribed, stage.saved.length, stage.isSubscribed], [1, 2, true]);
  stage.relayProblem = "no subscription";
  stage.relayCode = "not_found";
  await stage.ringing.test();
  assert.equal(stage.unsubscribed, 2);
  assert.equal(stage.ringing.state.isOn, false, "it could not subscribe again");
  stage.relayCode = "overloaded";
  await stage.ringing.test();
  assert.equal(stage.unsubscribed, 2);
  stage.relayProblem = undefined;
  await stage.ringing.switchOn();
  const testing = stage.ringing.test();
  await Promise.all([stage.ringing.switchOff(), testing]);
  assert.equal(stage.isSubscribed, false, "a test that ends later does not switch them on");
});

Deno.test("a subscription for an earlier relay's key is replaced [push-switch]", async () => {
  const steps: string[] = [];
  const made = (key: number): PushSubscription =>
    ({
      options: { applicationServerKey: new Uint8Array([key]).buffer },
      unsubscribe: () => Promise.resolve(steps.push("unsubscribe") > 0),
      toJSON: () => SUBSCRIPTION,
    }) as unknown as PushSubscription;
  const manager = {
    getSubscription: () => Promise.resolve(made(1)),
    subscribe: () => {
      steps.push("subscribe");
      return Promise.resolve(made(2));
    },
  };
  assert.deepEqual(await subscribe(manager, "AQ"), SUBSCRIPTION);
  assert.deepEqual(steps, []);
  await subscribe(manager, "Ag");
  assert.deepEqual(steps, ["unsubscribe", "subscribe"]);
});
