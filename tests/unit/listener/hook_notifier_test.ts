/** Hooks' reports reach the phones: in order, once, with retries up to a limit, and never from a muted project. */
import assert from "node:assert/strict";
import { RelayError } from "../../../src/client/relay_error.ts";
import type { HookReport } from "../../../src/home/control_socket.ts";
import {
  DIALOG_CLOSING_MS,
  DIALOG_COVERS_MS,
  DIALOG_SHOWN_MS,
  HookNotifier,
  type HookNotifierOptions,
  NOTIFICATION_LIFE_MS,
  NOTIFICATIONS_MAX,
  TRANSCRIPT_LIMIT_MS,
} from "../../../src/listener/hook_notifier.ts";
import { TITLE_MAX_CHARS } from "../../../src/protocol/limits.ts";
import { PushRequest, type PushRequestInput } from "../../../src/protocol/push.ts";
import { ringKindOf } from "../../../src/protocol/web_push.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

interface Bench {
  notifier: HookNotifier;
  clock: FakeClock;
  sent: PushRequestInput[];
  log: string[];
}

function makeBench(change: Partial<HookNotifierOptions> = {}): Bench {
  const clock = new FakeClock();
  const sent: PushRequestInput[] = [];
  const log: string[] = [];
  const notifier = new HookNotifier({
    clock,
    send: (push) => Promise.resolve(void sent.push(push)),
    seal: (push) => Promise.resolve(push),
    hookId: () => Promise.resolve("hook_1"),
    isMuted: () => Promise.resolve(false),
    isCovered: () => Promise.resolve(false),
    lastWords: () => Promise.resolve(undefined),
    log: (line) => void log.push(line),
    ...change,
  });
  return { notifier, clock, sent, log };
}

function report(body: string, more: Partial<HookReport> = {}): HookReport {
  const news = { type: "agent.stop", title: "app · Claude has finished", body } as const;
  return { event: "Stop", agent: "cc", cwd: "/work/app", session: "svc-app", news, ...more };
}

const APP = {
  name: "svc-app",
  pane: "/s $1 %1 42",
  label: "app · Claude",
  cwd: "/work/app",
  directories: ["/work/app"],
};

const unreachable = (): RelayError => new RelayError("no relay answers", { code: "unreachable" });

Deno.test("a stop becomes a push with the session, the last message and the hook's id [rm-hook-id, type-stop]", async () => {
  const { notifier, sent } = makeBench();
  notifier.take(report("Done."));
  await until("the push", () => sent.length === 1);
  const { id, ttlSeconds: _, ...push } = PushRequest.parse(sent[0]);
  assert.match(id ?? "", /^[0-9a-f-]{36}$/);
  assert.deepEqual(push, {
    type: "agent.stop",
    title: "app · Claude has finished",
    body: "Done.",
    agentSessionName: "svc-app",
    data: { hookId: "hook_1", agent: "cc", event: "Stop", cwd: "/work/app" },
  });
  await notifier.stop();
});

Deno.test("the title names the session as the picker does; without it the hook's own is kept [wrap-label]", async () => {
  const { notifier, clock, sent } = makeBench();
  const waits = { type: "agent.attention", title: "sub · Claude waits for you" } as const;
  notifier.take(report("Done."), { ...APP, label: "shop · Echo #2" });
  notifier.take(report("Done."), { ...APP, label: undefined });
  notifier.take(report("Done."));
  notifier.take(report("", { news: waits }), { ...APP, label: "shop · Echo #2" });
  await until("the stops", () => sent.length === 3);
  clock.advance(DIALOG_SHOWN_MS);
  await until("the notice", () => sent.length === 4);
  const dialog = { id: crypto.randomUUID(), session: "svc-app", agent: "cc", text: "Run rm?" };
  notifier.dialog({ ...APP, ...dialog, label: "x".repeat(256) });
  await until("the dialog", () => sent.length === 5);
  assert.deepEqual(sent.map(({ title }) => title), [
    "shop · Echo #2 has finished",
    "app · Claude has finished",
    "app · Claude has finished",
    "shop · Echo #2 waits for you",
    "x".repeat(TITLE_MAX_CHARS),
  ]);
  await notifier.stop();
});

Deno.test("an agent outside a session, a path that is too long, and a report without a notification", async () => {
  const { notifier, sent } = makeBench();
  notifier.take(report("", { news: undefined }));
  notifier.take(report("x", { session: undefined, cwd: `/${"x".repeat(4_000)}` }));
  notifier.take(report("y", { session: "not a name" }));
  await until("both pushes", () => sent.length === 2);
  for (const push of sent) assert.ok(PushRequest.safeParse(push).success);
  assert.deepEqual(sent.map(({ agentSessionName }) => agentSessionName), [undefined, undefined]);
  await notifier.stop();
});

Deno.test("the last message is awaited if the agent writes it after its hook, but not forever", async () => {
  const asked: string[] = [];
  const lastWords = (agent: string, transcript: string): Promise<string | undefined> => {
    asked.push(`${agent} ${transcript}`);
    return Promise.resolve(asked.length < 3 ? undefined : "Done.");
  };
  const { notifier, clock, sent } = makeBench({ lastWords });
  const news = { type: "agent.stop", title: "app", transcript: "/t" } as const;
  notifier.take(report("", { news, agent: "copilot" }));
  await until("the push", () => {
    clock.advance(100);
    return sent.length === 1;
  });
  assert.deepEqual([sent[0]?.body, asked], ["Done.", Array(3).fill("copilot /t")]);
  await notifier.stop();
  const silent = makeBench();
  silent.notifier.take(report("", { news }));
  await until("the push without words", () => {
    silent.clock.advance(1_000);
    return silent.sent.length === 1;
  });
  assert.equal(silent.sent[0]?.body, undefined);
  await silent.notifier.stop();
});

Deno.test("a clock that is set back does not lengthen the wait for the last message [fault-clock]", async () => {
  const { notifier, clock, sent } = makeBench();
  notifier.take(report("", { news: { type: "agent.stop", title: "app", transcript: "/t" } }));
  clock.jump(-3_600_000);
  await until("the push, or a long time", () => {
    clock.advance(TRANSCRIPT_LIMIT_MS);
    return sent.length === 1 || clock.elapsed() > 100 * TRANSCRIPT_LIMIT_MS;
  });
  await notifier.stop();
  assert.equal(sent.length, 1);
});

Deno.test("a dialog's text replaces a hook's notice no longer than usual if the clock was set back [fault-clock]", async () => {
  const { notifier, clock, sent } = makeBench();
  const news = { type: "agent.attention", title: "app · Claude waits for you", body: "Later." } as const;
  const dialog = { agent: "cc", ...APP, text: "Run rm?" };
  notifier.dialog({ ...dialog, id: crypto.randomUUID(), session: "svc-app" });
  await until("the dialog", () => sent.length === 1);
  clock.advance(60_000);
  clock.jump(-3_600_000);
  notifier.take(report("", { news }));
  clock.advance(DIALOG_SHOWN_MS);
  notifier.take(report("Done."));
  // The notice is queued right after it.
  await until("a later push", () => sent.length > 1);
  await notifier.stop();
  assert.deepEqual(sent.map(({ body }) => body), ["Run rm?", "Done.", "Later."]);
});

interface NoticeCase {
  name: string;
  /** When the notice comes and the dialog is closed, counted from the dialog's opening. */
  noticeAt: number;
  closedAt: number;
  rings: boolean;
}

Deno.test("a dialog's text replaces its notice, and no notice of what the agent waits for later [dlg-card]", async () => {
  const cases: NoticeCase[] = [
    { name: "Claude's notice of an open dialog", noticeAt: 6_000, closedAt: Infinity, rings: false },
    {
      name: "of one that is closed a moment later",
      noticeAt: 6_000,
      closedAt: 6_001 + DIALOG_CLOSING_MS,
      rings: false,
    },
    { name: "of something else", noticeAt: 30_000, closedAt: 10_000, rings: true },
    { name: "before it is seen that the dialog is closed", noticeAt: 6_000, closedAt: 6_200, rings: true },
    { name: "long after it opened", noticeAt: DIALOG_COVERS_MS, closedAt: Infinity, rings: true },
    { name: "before the dialog is on the screen", noticeAt: -1_000, closedAt: Infinity, rings: false },
    { name: "before a dialog that is closed at once", noticeAt: -1_000, closedAt: 100, rings: false },
  ];
  for (const { name, noticeAt, closedAt, rings } of cases) {
    const { notifier, clock, sent } = makeBench();
    const dialog = { agent: "cc", ...APP, text: "Run rm?" };
    const news = { type: "agent.attention", title: "app · Claude waits for you", body: "Waits." } as const;
    const steps = [
      { at: 0, take: () => notifier.dialog({ ...dialog, id: crypto.randomUUID(), session: "svc-app" }) },
      { at: noticeAt, take: () => notifier.take(report("", { news }), APP) },
      { at: closedAt, take: () => notifier.dialogClosed(APP.pane, clock.elapsed()) },
    ];
    const start = clock.elapsed() + 1_000;
    for (const { at, take } of steps.filter(({ at }) => at < Infinity).sort((a, b) => a.at - b.at)) {
      clock.advance(start + at - clock.elapsed());
      take();
    }
    clock.advance(start + noticeAt + DIALOG_SHOWN_MS - clock.elapsed());
    await Promise.resolve();
    notifier.take(report("Done."));
    await until("the last push", () => sent.at(-1)?.body === "Done.");
    await notifier.stop();
    assert.deepEqual(sent.map(({ body }) => body), ["Run rm?", ...(rings ? ["Waits."] : []), "Done."], name);
  }
});

Deno.test("a dialog's text replaces its notice even if its session is renamed, but not another session's that takes its name [dlg-card]", async () => {
  const { notifier, clock, sent } = makeBench();
  const news = { type: "agent.attention", title: "app · Claude waits for you", body: "Waits." } as const;
  notifier.dialog({ agent: "cc", ...APP, text: "Run rm?", id: crypto.randomUUID(), session: "svc-app" });
  clock.advance(6_000);
  notifier.take(report("", { news, session: "svc-till" }), { ...APP, name: "svc-till" });
  const other = { ...news, body: "Waits in another session." };
  notifier.take(report("", { news: other }), { ...APP, pane: "/s $2 %2 43" });
  clock.advance(DIALOG_SHOWN_MS);
  await until("the other session's notice", () => sent.some(({ body }) => body === other.body));
  await notifier.stop();
  assert.deepEqual(sent.map(({ body }) => body), ["Run rm?", other.body]);
});

Deno.test("a card's dialog does not notify the phones a second time, and its text is kept for when the card closes [card-rings]", async () => {
  const covered = new Set(["svc-app"]);
  const { notifier, sent } = makeBench({ isCovered: (session) => Promise.resolve(covered.has(session)) });
  const dialog = { agent: "cc", ...APP, text: "Run rm?" };
  notifier.dialog({ ...dialog, id: crypto.randomUUID(), session: "svc-app" });
  notifier.dialog({ ...dialog, id: crypto.randomUUID(), session: "svc-other" });
  notifier.take(report("Done."));
  await until("the pushes", () => sent.length === 3);
  assert.deepEqual(sent.map(({ type, data }) => [type, data?.quiet]), [
    ["agent.attention", true],
    ["agent.attention", undefined],
    ["agent.stop", undefined],
  ]);
  assert.deepEqual(sent.map((push) => ringKindOf(PushRequest.parse(push))), [
    undefined,
    "agent.attention",
    "agent.stop",
  ]);
  await notifier.stop();
});

Deno.test("a muted project sends nothing, even while its agent works elsewhere, and others do [cli-mute]", async () => {
  const isMuted = (...directories: string[]): Promise<boolean> =>
    Promise.resolve(directories.includes("/work/app"));
  const { notifier, sent } = makeBench({ isMuted });
  notifier.take(report("in the project"));
  notifier.take(report("elsewhere", { cwd: "/tmp" }), APP);
  const dialog = { id: crypto.randomUUID(), session: "svc-app", agent: "cc", text: "Run rm?" };
  notifier.dialog({ ...APP, ...dialog, cwd: "/tmp" });
  notifier.take(report("of another", { cwd: "/tmp" }), {
    ...APP,
    label: undefined,
    directories: ["/work/shop"],
  });
  await until("the other one", () => sent.length > 0);
  await notifier.stop();
  assert.deepEqual(sent.map(({ body }) => body), ["of another"]);
});

Deno.test("sending to an unreachable relay is retried with the same id, and the order is kept", async () => {
  let fails = 2;
  const tried: PushRequestInput[] = [];
  const send = (push: PushRequestInput): Promise<void> => {
    tried.push(push);
    return fails-- > 0 ? Promise.reject(unreachable()) : Promise.resolve();
  };
  const { notifier, clock, log } = makeBench({ send });
  notifier.take(report("first"));
  notifier.take(report("second"));
  await until("both told", () => {
    clock.advance(1_000);
    return tried.length === 4;
  });
  assert.deepEqual(tried.map(({ body }) => body), ["first", "first", "first", "second"]);
  assert.equal(new Set(tried.map(({ id }) => id)).size, 2);
  await notifier.stop();
  assert.deepEqual(log, []);
});

const limited = (retryAfterSeconds: number): RelayError =>
  new RelayError("too many pushes", { code: "rate_limited", status: 429, retryAfterSeconds });

Deno.test("nothing is sent before the relay's Retry-After has passed", async () => {
  let fails = 1;
  let tries = 0;
  const send = (): Promise<void> => {
    tries++;
    return fails-- > 0 ? Promise.reject(limited(90)) : Promise.resolve();
  };
  const { notifier, clock, log } = makeBench({ send });
  notifier.take(report("Done."));
  await until("the first try", () => clock.pending === 1);
  clock.advance(89_999);
  assert.deepEqual([tries, clock.pending], [1, 1]);
  clock.advance(1);
  await until("the second try", () => tries === 2);
  await notifier.stop();
  assert.deepEqual(log, []);
});

Deno.test("a notification that would be too old after Retry-After is dropped at once, so that it does not delay later ones", async () => {
  const tried: (string | undefined)[] = [];
  const send = ({ body }: PushRequestInput): Promise<void> => {
    tried.push(body);
    return body === "first" ? Promise.reject(limited(NOTIFICATION_LIFE_MS / 1_000 + 1)) : Promise.resolve();
  };
  const { notifier, log } = makeBench({ send });
  notifier.take(report("first"));
  notifier.take(report("second"));
  await until("the second one", () => tried.length === 2);
  await notifier.stop();
  assert.deepEqual(tried, ["first", "second"]);
  assert.match(log[0] ?? "", /^hook Stop cc: too many pushes$/);
});

Deno.test("old or refused notifications are dropped with a line in the log", async () => {
  const { notifier, clock, log } = makeBench({ send: () => Promise.reject(unreachable()) });
  notifier.take(report("old"));
  await until("the end of it", () => {
    clock.advance(NOTIFICATION_LIFE_MS / 10);
    return log.length === 1;
  });
  assert.match(log[0] ?? "", /^hook Stop cc: no relay answers$/);
  await notifier.stop();
  const refusing = makeBench({
    send: () =>
      Promise.reject(new RelayError("the key lacks push:send", { code: "missing_scope", status: 403 })),
  });
  refusing.notifier.take(report("x"));
  await until("the line", () => refusing.log.length === 1);
  await refusing.notifier.stop();
});

Deno.test("a notification is dropped at its age limit, however the clock was set in the meantime [fault-clock]", async () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    let tries = 0;
    const { notifier, clock, log } = makeBench({ send: () => Promise.reject((tries++, limited(60))) });
    notifier.take(report("old"));
    clock.jump(jumpMs);
    await until("the end of it, or two lives", () => {
      clock.advance(60_000);
      return log.length === 1 || clock.elapsed() > 2 * NOTIFICATION_LIFE_MS;
    });
    await notifier.stop();
    assert.equal(log.length, 1, `${jumpMs}`);
    assert.ok(tries > 1, `${jumpMs}`);
  }
});

Deno.test("a full queue drops the oldest notification, and stopping waits for none", async () => {
  const tried: string[] = [];
  const { notifier } = makeBench({
    send: (push, { signal }) => {
      tried.push(push.body ?? "");
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  });
  notifier.take(report("0"));
  await until("the first try", () => tried.length === 1);
  for (let at = 1; at <= NOTIFICATIONS_MAX + 5; at++) notifier.take(report(String(at)));
  await notifier.stop();
  assert.deepEqual(tried, ["0"]);
});
