/** A dialog as a card: who is asked, whose answer counts, and when the agent asks at the computer after all. */
import assert from "node:assert/strict";
import { RelayError } from "../../../../src/client/relay_error.ts";
import type { HookReport } from "../../../../src/home/control_socket.ts";
import { ASK_EVENT } from "../../../../src/home/notify_daemon.ts";
import {
  APPLIED_LIMIT_MS,
  APPLIED_MS,
  CARD_SECONDS,
  type CardsOptions,
  LOCAL_ACTIVE_MS,
} from "../../../../src/listener/cards/cards.ts";
import { LINK_LOST_MS } from "../../../../src/listener/cards/watch.ts";
import type { Answer } from "../../../../src/protocol/ask.ts";
import type { PushPage, PushRecord } from "../../../../src/protocol/push.ts";
import { encodeAnswer } from "../../../../src/protocol/sealed_text.ts";
import { until } from "../../../helpers/until.ts";

import { answerOf, BLUE, HOST, PHONE, QUESTION, Scene, SESSION, SHELL } from "./card_bench.ts";

function busyFor(retryAfterSeconds: number): RelayError {
  return new RelayError("busy", { code: "overloaded", status: 503, retryAfterSeconds });
}

Deno.test("a phone's answer reaches the hook that waits, and its receipt follows the agent's own report [card-applied]", async () => {
  const scene = await Scene.make();
  const asked = scene.ask(QUESTION, { report: { tool: { step: "before", id: "call1" } } });
  const { id, card } = await scene.card();
  assert.equal(scene.sessionOf(id), SESSION);
  assert.ok(card.kind === "questions" && card.questions[0]?.options[1]?.label === "Blue");
  assert.equal(scene.reports.at(-1)?.state, "waiting");
  const outcome = scene.answer(id, BLUE);
  const reply = await asked;
  assert.deepEqual(answerOf(reply), { kind: "answers", answers: [{ options: [1] }] });
  reply?.handedOver(true);
  scene.hook({ tool: { step: "after", id: "call1" } });
  assert.deepEqual(await outcome, { state: "submitted" });
  assert.deepEqual(scene.withdrawn, []);
  assert.equal(scene.reports.at(-1)?.state, "working");
  assert.equal(scene.sessionOf(id), undefined);
});

Deno.test("a card that a busy relay briefly refuses is sent again with the same id", async () => {
  const tried: string[] = [];
  const scene: Scene = await Scene.make({
    send: (push) => {
      tried.push(push.id);
      if (tried.length < 3) return Promise.reject(busyFor(1));
      return Promise.resolve(scene.sent.push(push));
    },
  });
  const asked = scene.ask(SHELL);
  await until("the card", () => {
    scene.clock.advance(500);
    return scene.sent.length > 0;
  });
  assert.equal(new Set(tried).size, 1);
  assert.deepEqual(scene.withdrawn, []);
  scene.gone.abort();
  assert.equal(await asked, undefined);
});

Deno.test("a dialog opens at the computer when the relay stays busy, or asks for a longer wait", async () => {
  for (const seconds of [1, 60]) {
    const sentAt: number[] = [];
    const scene = await Scene.make({
      send: () => {
        sentAt.push(scene.clock.elapsed());
        return Promise.reject(busyFor(seconds));
      },
    });
    const asked = scene.ask(SHELL);
    assert.equal(await scene.ended(asked), undefined);
    const triedForMs = (sentAt.at(-1) ?? NaN) - (sentAt[0] ?? NaN);
    assert.ok(triedForMs < 2 * LINK_LOST_MS, `it tried for ${triedForMs} ms`);
    assert.match(scene.logged.join(), /opens at the computer: busy/);
  }
});

Deno.test("the first answer counts, and every later one is refused [card-first]", async () => {
  const scene = await Scene.make();
  const asked = scene.ask(QUESTION);
  const { id } = await scene.card();
  const answers = [0, 1, 1].map((place) =>
    scene.answer(id, { kind: "answers", answers: [{ options: [place] }] })
  );
  (await asked)?.handedOver(true);
  assert.deepEqual(answerOf(await asked), { kind: "answers", answers: [{ options: [0] }] });
  const outcomes = await Promise.all(answers.map((answer) => scene.ended(answer)));
  assert.deepEqual(outcomes.map(({ state }) => state), ["submitted", "refused", "refused"]);
  assert.deepEqual(await scene.answer(id, BLUE), { state: "refused", reason: "dialog_gone" });
});

Deno.test("an answer from anyone but a paired phone, or for another request, is refused [card-bound, card-phones]", async () => {
  const scene = await Scene.make();
  const asked = scene.ask(SHELL);
  const { id, card } = await scene.card();
  assert.ok(card.kind === "approval");
  const once: Answer = { kind: "decided", decision: "once", digest: card.digest };
  const reasons = [
    await scene.answer(id, once, { sealed: { mode: "base", enc: "", ciphertext: "" } }),
    await scene.answer(id, once, { from: "dev_script_1" }),
    await scene.answer(id, { ...once, digest: "0".repeat(64) }),
    await scene.answer(id, { ...once, decision: "always" }),
    await scene.answer(id, BLUE),
    await scene.answer(id, once, { body: encodeAnswer(crypto.randomUUID(), once) }),
    await scene.answer(crypto.randomUUID(), once),
  ].map(({ reason }) => reason);
  assert.deepEqual(reasons, [
    "sealed_required",
    "dialog_not_allowed",
    ...["invalid_body", "invalid_body", "invalid_body", "invalid_body"],
    "dialog_gone",
  ]);
  const outcome = scene.answer(id, once);
  (await asked)?.handedOver(true);
  assert.deepEqual(answerOf(await asked), { kind: "decided", decision: "once", reason: undefined });
  assert.ok(
    scene.audit.includes(`Bash ${card.digest} always of once|reject`),
    "the audit has refused ones too",
  );
  assert.deepEqual(await scene.ended(outcome), { state: "submitted" });
});

Deno.test("an answer that could not be used opens the dialog: the relay takes no second one [card-first]", async () => {
  const scene = await Scene.make();
  const asked = scene.ask(QUESTION);
  const { id } = await scene.card();
  assert.ok(await scene.cards.covers(SESSION));
  assert.ok(!await scene.cards.covers("svc-other"));
  const refused = { id: "", type: "ask.answer", from: PHONE, inReplyTo: id, createdAt: 0, expiresAt: 0 };
  scene.cards.refused({ ...refused, inReplyTo: crypto.randomUUID() }, { reason: "invalid_body" });
  assert.equal(scene.sessionOf(id), SESSION);
  scene.cards.refused(refused, { reason: "invalid_body" });
  assert.equal(await asked, undefined);
  assert.ok(!await scene.cards.covers(SESSION));
  assert.equal(scene.sent.length, 1);
});

Deno.test("by default no request for permission becomes a card [card-setting]", async () => {
  const scene = await Scene.make({ policy: { approval: "none" } });
  assert.equal(await scene.ask(SHELL), undefined);
  assert.deepEqual(scene.sent, []);
});

Deno.test("without a paired phone, a relay or a known session, and in a muted project, there is no card [card-sealed]", async () => {
  const scenes: [string, Partial<CardsOptions>, Partial<HookReport>?][] = [
    ["no phone", { keys: { deviceId: HOST, phones: () => Promise.resolve([]) } }],
    ["no relay", { isLinked: () => false }],
    ["unknown session", { look: () => Promise.resolve(undefined) }],
    ["muted", { isMuted: () => Promise.resolve(true) }],
    ["no session", {}, { session: undefined }],
    ["unusable pairings", { keys: { deviceId: HOST, phones: () => Promise.reject(new Error("broken")) } }],
    ["unreachable relay", { send: () => Promise.reject(new Error("away")) }],
  ];
  for (const [name, more, report = {}] of scenes) {
    const scene = await Scene.make(more);
    assert.equal(await scene.ask(QUESTION, { report }), undefined, name);
    assert.deepEqual(scene.sent, [], name);
    assert.equal(scene.clock.pending, 0, name);
  }
});

Deno.test("a dialog that its hook holds back opens at once while a user is at the computer [card-local]", async () => {
  const scene = await Scene.make();
  scene.localKeyAt = scene.clock.now() - LOCAL_ACTIVE_MS + 1;
  assert.equal(await scene.ask(QUESTION, { isShown: false }), undefined);
  assert.deepEqual(scene.sent, []);
  // Claude shows its dialog at the same time.
  const shown = scene.ask(QUESTION);
  await scene.card();
  scene.gone.abort();
  assert.equal(await shown, undefined);
});

Deno.test("a key at the computer that seems to be in the future, because the clock was set back, prevents no card [card-local, fault-clock]", async () => {
  const scene = await Scene.make();
  scene.localKeyAt = scene.clock.now() + 3_600_000;
  const asked = scene.ask(QUESTION, { isShown: false });
  await scene.card();
  scene.gone.abort();
  assert.equal(await asked, undefined);
});

Deno.test("a dialog that its hook holds back opens at the first key at the computer [card-local]", async () => {
  const scene = await Scene.make();
  scene.localKeyAt = scene.clock.now() - LOCAL_ACTIVE_MS;
  const asked = scene.ask(QUESTION, { isShown: false });
  const { id } = await scene.card();
  scene.clock.advance(5_000);
  assert.deepEqual(scene.withdrawn, []);
  scene.localKeyAt = scene.clock.now();
  assert.equal(await scene.ended(asked), undefined);
  assert.deepEqual(scene.withdrawn, [id]);
  assert.deepEqual(await scene.answer(id, BLUE), { state: "refused", reason: "dialog_gone" });
});

Deno.test("a dialog that is answered at the computer closes its card, however its agent reports that [card-first]", async () => {
  const scene = await Scene.make();
  scene.hasDialog = true;
  const asked = scene.ask(SHELL);
  const { id } = await scene.card();
  await until("the dialog on the screen", () => {
    scene.clock.advance(500);
    return scene.clock.elapsed() > 5_000;
  });
  assert.equal(scene.sessionOf(id), SESSION);
  scene.hasDialog = false;
  assert.equal(await scene.ended(asked, 100), undefined);
  assert.ok(scene.clock.elapsed() < CARD_SECONDS * 500);
  assert.deepEqual(scene.withdrawn, [id]);
});

Deno.test("an answer that comes just after the computer's is refused [card-first, card-applied]", async () => {
  const scene = await Scene.make();
  scene.hasDialog = true;
  const asked = scene.ask(SHELL);
  const { id, card } = await scene.card();
  assert.ok(card.kind === "approval");
  // The dialog is seen by an answer that is refused for another reason.
  const digest = "0".repeat(64);
  assert.equal(
    (await scene.answer(id, { kind: "decided", decision: "once", digest })).reason,
    "invalid_body",
  );
  scene.hasDialog = false;
  const outcome = scene.answer(id, { kind: "decided", decision: "once", digest: card.digest });
  assert.deepEqual(await scene.ended(outcome, 100), { state: "refused", reason: "dialog_gone" });
  assert.equal(await scene.ended(asked, 100), undefined);
});

Deno.test("an answer just after a key at the computer is refused: the dialog opens there [card-local, card-first]", async () => {
  const scene = await Scene.make();
  const asked = scene.ask(QUESTION, { isShown: false });
  const { id } = await scene.card();
  scene.localKeyAt = scene.clock.now();
  assert.deepEqual(await scene.answer(id, BLUE), { state: "refused", reason: "dialog_gone" });
  assert.equal(await scene.ended(asked), undefined);
});

Deno.test("a lost relay, the end of the time and the end of the listener open the dialog [card-local]", async () => {
  const ends: [(scene: Scene) => void, withinMs: number][] = [
    [(scene) => scene.linked = false, 60_000],
    [(scene) => scene.clock.advance(CARD_SECONDS * 1_000), CARD_SECONDS * 1_000 + 60_000],
    [(scene) => scene.cards.stop(), 60_000],
    [(scene) => scene.gone.abort(), 60_000],
  ];
  for (const [end, withinMs] of ends) {
    const scene = await Scene.make();
    const asked = scene.ask(QUESTION, { isShown: false });
    const { id } = await scene.card();
    end(scene);
    assert.equal(await scene.ended(asked), undefined);
    assert.ok(scene.clock.elapsed() < withinMs);
    assert.deepEqual(scene.withdrawn, [id]);
    scene.cards.connected();
    assert.deepEqual(scene.withdrawn, [id, id]);
  }
});

Deno.test("cards that a killed listener left open are withdrawn at the next one's first connection, and nothing else [card-shown]", async () => {
  const question = (id: string, replyTo: string): PushRecord => ({
    push: {
      id,
      type: "ask",
      from: replyTo,
      createdAt: 0,
      expiresAt: 1,
      data: { kind: "sealed", timeoutSeconds: CARD_SECONDS, replyTo, listener: HOST },
    },
    receipt: { state: "queued", final: false, at: {} },
  });
  const pages: Record<string, PushPage> = {
    end: { pushes: [question("a tool's", "dev_script_1"), question("left", HOST)], next: "older" },
    older: { pushes: [question("another host's", "dev_listener_b"), question("left too", HOST)] },
  };
  let isFailing = true;
  const scene = await Scene.make({
    openQuestions: (before) =>
      isFailing ? Promise.reject(new Error("the relay is away")) : Promise.resolve(pages[before]!),
  });
  const asked = scene.ask(QUESTION);
  const { id } = await scene.card();
  pages["end"]!.pushes.push(question(id, HOST));
  scene.cards.connected();
  await until("the failure", () => scene.logged.some((line) => /the relay is away/.test(line)));
  assert.deepEqual(scene.withdrawn, []);
  isFailing = false;
  scene.cards.connected();
  await until("both", () => scene.withdrawn.length === 2);
  assert.deepEqual(scene.withdrawn, ["left", "left too"]);
  scene.gone.abort();
  await asked;
});

Deno.test("the open questions of a relay that always names another page are not read forever [card-shown]", async () => {
  let asked = 0;
  const scene = await Scene.make({
    openQuestions: () => Promise.resolve({ pushes: [], next: `${asked++}` }),
  });
  scene.cards.connected();
  await until("the pages", () => asked >= 20);
  // Asking takes longer than another page would.
  const asking = scene.ask(QUESTION);
  await scene.card();
  assert.equal(asked, 20);
  scene.gone.abort();
  await asking;
});

Deno.test("a withdrawn card is withdrawn again after a reconnect even if the clock was set ahead [fault-clock]", async () => {
  const scene = await Scene.make();
  scene.gone.abort();
  assert.equal(await scene.ask(QUESTION), undefined);
  scene.clock.jump(3_600_000);
  assert.equal(await scene.ask(QUESTION), undefined);
  const ids = scene.sent.map(({ id }) => id);
  assert.deepEqual(scene.withdrawn, ids);
  scene.cards.connected();
  assert.deepEqual(scene.withdrawn, [...ids, ...ids]);
});

Deno.test("the agent's next action withdraws the card of a dialog answered at the computer [card-first]", async () => {
  const reports: Partial<HookReport>[] = [
    { tool: { step: "after", id: "call1" } },
    { event: "Stop", state: "idle" },
    { event: "UserPromptSubmit", state: "working" },
  ];
  for (const report of reports) {
    const scene = await Scene.make();
    const asked = scene.ask(SHELL, { report: { tool: { step: "before", id: "call1" } } });
    const { id } = await scene.card();
    for (
      const other of [
        { tool: { step: "before", id: "call2" } },
        { tool: { step: "after", id: "call2" } },
        { event: ASK_EVENT, state: "working" },
        { event: "Stop", state: "idle", session: "svc-other" },
        { event: "SessionStart", state: "idle", agent: "gemini" },
        { event: "PermissionRequest", state: "waiting" },
      ] satisfies Partial<HookReport>[]
    ) scene.hook(other);
    // A withdrawal takes a few microtasks.
    for (let turns = 0; turns < 100; turns++) await undefined;
    assert.deepEqual([scene.sessionOf(id), scene.withdrawn], [SESSION, []]);
    scene.hook(report);
    assert.equal(await asked, undefined);
    assert.deepEqual(scene.withdrawn, [id]);
  }
});

Deno.test("a dialog without a call id belongs to the only call in progress [card-first, card-applied]", async () => {
  const withCalls = async (...ids: string[]): Promise<Scene> => {
    const scene = await Scene.make();
    scene.hook({ tool: { step: "before", id: "call0" } });
    scene.hook({ tool: { step: "after", id: "call0" } });
    for (const id of ids) scene.hook({ tool: { step: "before", id } });
    return scene;
  };
  const one = await withCalls("call1");
  const asked = one.ask(SHELL);
  await one.card();
  one.hook({ tool: { step: "after", id: "call1" } });
  assert.equal(await asked, undefined);
  const interrupted = await withCalls("interrupted");
  interrupted.hook({ event: "UserPromptSubmit", state: "working" });
  interrupted.hook({ tool: { step: "before", id: "call1" } });
  const askedNext = interrupted.ask(SHELL);
  await interrupted.card();
  interrupted.hook({ tool: { step: "after", id: "call1" } });
  assert.equal(await askedNext, undefined);
  const two = await withCalls("call1", "call2");
  void two.ask(SHELL);
  const { id } = await two.card();
  two.hook({ tool: { step: "after", id: "call2" } });
  assert.equal(two.sessionOf(id), SESSION);
  two.cards.stop();
});

Deno.test("the receipt never claims more than the agent has shown [card-applied]", async () => {
  interface Then {
    decision?: "once" | "reject";
    /** The call's id; `null` for an agent without one. */
    call?: string | null;
    isTaken?: boolean;
    isShown?: boolean;
    /** Called between the phone's answer and the hook that receives it. */
    meanwhile?: (scene: Scene) => void;
    then?: (scene: Scene) => void;
  }
  const outcomeOf = async (
    {
      decision = "once",
      call = "call1",
      isTaken = true,
      isShown = true,
      meanwhile = () => {},
      then = () => {},
    }: Then,
  ): Promise<unknown> => {
    const scene = await Scene.make();
    scene.dialog = "dialog1";
    const tool = { step: "before", ...(call === null ? {} : { id: call }) } as const;
    const asked = scene.ask(SHELL, { isShown, report: { tool } });
    const { id, card } = await scene.card();
    assert.ok(card.kind === "approval");
    const outcome = scene.answer(id, { kind: "decided", decision, digest: card.digest });
    const reply = await asked;
    meanwhile(scene);
    reply?.handedOver(isTaken);
    then(scene);
    const { state, reason } = await scene.ended(outcome, 1_000);
    return reason ?? state;
  };
  const unclear = "answer_unconfirmed";
  assert.equal(await outcomeOf({ isTaken: false }), "dialog_gone");
  assert.equal(await outcomeOf({}), unclear, "the same dialog stays on the screen");
  assert.equal(await outcomeOf({ then: (scene) => scene.dialog = undefined }), "submitted", "it works on");
  assert.equal(await outcomeOf({ then: (scene) => scene.dialog = "dialog2" }), "submitted");
  for (const state of ["idle", undefined] as const) {
    const then = (scene: Scene): void => void ([scene.dialog, scene.state] = [undefined, state]);
    assert.equal(await outcomeOf({ then }), unclear, "it may have been interrupted");
  }
  const closing = (scene: Scene): void => void ([scene.dialog, scene.hasDialog] = [undefined, true]);
  assert.equal(await outcomeOf({ then: closing }), unclear, "a dialog is on the screen, not yet in the list");
  const ran = { tool: { step: "after", id: "call1" } } as const;
  assert.equal(await outcomeOf({ then: (scene) => scene.hook(ran) }), "submitted");
  assert.equal(
    await outcomeOf({ decision: "reject", then: (scene) => scene.hook(ran) }),
    "dialog_gone",
    "it ran",
  );
  const ranBefore = { decision: "reject", meanwhile: (scene: Scene) => scene.hook(ran) } as const;
  assert.equal(await outcomeOf({ ...ranBefore, then: (scene) => scene.dialog = undefined }), "dialog_gone");
  const after = { tool: { step: "after" } } as const;
  assert.equal(await outcomeOf({ call: null, then: (scene) => scene.hook(after) }), "submitted");
  assert.equal(await outcomeOf({ then: (scene) => scene.hook(after) }), unclear, "another call");
  const stop = { event: "Stop", state: "idle", news: { type: "agent.stop", title: "t" } } as const;
  for (const decision of ["once", "reject"] as const) {
    const then = (scene: Scene): void => scene.hook(stop);
    assert.equal(await outcomeOf({ decision, isShown: false, then }), "submitted");
  }
  assert.equal(
    await outcomeOf({ then: (scene) => scene.hook(stop) }),
    unclear,
    "rejecting ends some agents' turn",
  );
  const ended = (scene: Scene): void => scene.hook(stop);
  assert.equal(await outcomeOf({ decision: "reject", then: ended }), "submitted");
  const endedAfter = (scene: Scene): void => {
    scene.hook(stop);
    scene.clock.after(APPLIED_MS / 2, () => scene.hook(ran));
  };
  assert.equal(
    await outcomeOf({ decision: "reject", then: endedAfter }),
    "dialog_gone",
    "it ran, reported late",
  );
  const prompt = { event: "UserPromptSubmit", state: "working" } as const;
  for (const report of [stop, after, { event: "X" }]) {
    const then = (scene: Scene): void => {
      scene.dialog = undefined;
      scene.hook(prompt);
      scene.hook(report);
    };
    assert.equal(await outcomeOf({ call: null, then }), unclear, "of another turn");
  }
  const nextTurn = (scene: Scene): void => {
    [scene.dialog, scene.state] = [undefined, "idle"];
    scene.clock.after(2 * APPLIED_MS, () => scene.state = "working");
  };
  assert.equal(
    await outcomeOf({ then: nextTurn }),
    unclear,
    "another turn, whose prompt no hook has reported yet",
  );
  const lateEnd = (scene: Scene): void => [prompt, ran].forEach((report) => scene.hook(report));
  assert.equal(
    await outcomeOf({ then: lateEnd }),
    "submitted",
    "its own end, after a prompt that was queued",
  );
  const interrupted = { event: "Interrupt", state: "idle" } as const;
  assert.equal(await outcomeOf({ then: (scene) => scene.hook(interrupted) }), unclear);
  assert.ok(APPLIED_MS < APPLIED_LIMIT_MS);
});

Deno.test("a dialog that its hook holds back is gone when its agent has stopped working [card-first]", async () => {
  const scene = await Scene.make();
  const asked = scene.ask(QUESTION, { isShown: false });
  const { id } = await scene.card();
  scene.state = "idle";
  assert.deepEqual(await scene.ended(scene.answer(id, BLUE), 100), {
    state: "refused",
    reason: "dialog_gone",
  });
  assert.equal(await scene.ended(asked), undefined);
  assert.deepEqual(scene.withdrawn, [id]);
});
