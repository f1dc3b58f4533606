/** What a pane check from before a message's turn may be used for. */
import assert from "node:assert/strict";
import { ASK_EVENT } from "../../../../src/home/notify_daemon.ts";
import type { Command, InjectContext } from "../../../../src/listener/inject/context.ts";
import {
  Askers,
  ASKERS_MAX,
  EARLY_MAX_MS,
  EarlyPanes,
  findPane,
  REPEAT_AFTER_MS,
} from "../../../../src/listener/inject/find_pane.ts";
import { inject } from "../../../../src/listener/inject/inject.ts";
import { observe } from "../../../../src/listener/inject/pane_check.ts";
import type { Target } from "../../../../src/listener/targets.ts";
import { lateAnswerData } from "../../../../src/protocol/late_answer.ts";
import { TmuxError } from "../../../../src/tmux/server.ts";
import { FakePane } from "../../../helpers/fake_pane.ts";
import { until } from "../../../helpers/until.ts";

const ID = "00000000-0000-4000-8000-000000000001";
const push = {
  id: ID,
  type: "agent.command",
  agentSessionName: "svc-p",
  body: "hello",
  from: "dev_phone_1",
  createdAt: 1,
  expiresAt: 2,
};

function stage(known: (target: Target) => Target = (target) => target) {
  const pane = new FakePane();
  pane.draw("");
  pane.onKey = (key) => key === "Enter" && pane.draw("");
  const context: InjectContext = pane.injection();
  let [resolved, checked] = [0, 0];
  const effects: InjectContext["effects"] = {
    ...context.effects,
    isMuted: (directory) => {
      checked += 1;
      return context.effects.isMuted(directory);
    },
  };
  const targets: InjectContext["targets"] = {
    ...context.targets,
    known: () => known(pane.target),
    resolve: (name) => {
      resolved += 1;
      return context.targets.resolve(name);
    },
  };
  const all = { ...context, targets, effects };
  const early = new EarlyPanes(all);
  const command: Command = {
    id: ID,
    session: "svc-p",
    body: "hello",
    sendAnyway: false,
    expiresAt: pane.clock.now() + 3_600_000,
    turn: { step: "waiting" },
  };
  const send = () => inject({ ...command, turn: { step: "waiting" } }, all, early);
  return { pane, context: all, early, send, resolutions: () => resolved, checks: () => checked };
}

Deno.test("inject: a check that began with the journal is used once, for its own message [inj-early]", async () => {
  const { early, send, resolutions } = stage();
  early.begin(push);
  assert.equal((await send()).state, "submitted");
  assert.equal(resolutions(), 1);
  assert.equal((await send()).state, "submitted");
  assert.equal(resolutions(), 2);
  early.begin({ ...push, id: "00000000-0000-4000-8000-000000000002" });
  assert.equal((await send()).state, "submitted");
  assert.equal(resolutions(), 4, "another message's check");
});

for (
  const [what, happens] of [
    ["another input came after it", ({ input }: FakePane) => input.alone(() => Promise.resolve())],
    ["it is old", ({ clock }: FakePane) => Promise.resolve(clock.advance(EARLY_MAX_MS + 1))],
  ] as const
) {
  Deno.test(`inject: a check that began with the journal is repeated when ${what} [inj-early]`, async () => {
    const { pane, early, send, checks } = stage();
    early.begin(push);
    await until("the check", () => checks() === 1);
    await happens(pane);
    pane.draw(undefined, { focus: "dialog" });
    pane.onPause = () => pane.draw("");
    assert.equal((await send()).state, "submitted");
    assert.ok(pane.events.includes("reported held dialog_open"), pane.events.join());
  });
}

Deno.test("inject: a check of the pane that the name last led to is not used if it now leads elsewhere [inj-early]", async () => {
  const { context, pane, checks } = stage((target) => ({ ...target, pane: "%9", panePid: 999 }));
  const found = await findPane("svc-p", context);
  assert.ok(found.kind === "found" && found.check.kind === "ready");
  assert.deepEqual([found.target, checks()], [pane.target, 2]);
});

Deno.test("inject: a check that was lost because another session ended is repeated [inj-client-held]", async () => {
  const { pane, context } = stage();
  const server = context.targets.server(pane.target);
  let asked = 0;
  const run: typeof server.run = (...commands) =>
    ++asked === 1 ? Promise.reject(new TmuxError("tmux ended", { lost: true })) : server.run(...commands);
  const { reading } = await observe({ ...server, run }, pane.target);
  assert.deepEqual([reading.draft, asked], ["", 2]);
});

Deno.test("inject: a pane is checked while the relay stores the message that it announced [inj-early]", async () => {
  const { early, send, resolutions } = stage();
  early.expect(push);
  early.begin(push);
  assert.equal((await send()).state, "submitted");
  assert.equal(resolutions(), 1);
});

Deno.test("inject: the local user's typing since the announcement of a late message is noticed [inj-early]", async () => {
  const { pane, early, send, checks } = stage();
  early.expect(push);
  await until("the check", () => checks() === 1);
  pane.clock.advance(REPEAT_AFTER_MS);
  pane.draw("a draft");
  early.begin(push);
  pane.onPause = () => pane.draw("");
  assert.equal((await send()).state, "submitted");
  assert.ok(pane.events.includes("reported held desk_busy"), pane.events.join());
});

Deno.test("inject: messages that are announced but do not come cause at most one check per 200 ms, and none in a session that no message has reached [inj-early]", async () => {
  const { pane, early, checks, resolutions } = stage();
  const announce = (count: number): void => {
    for (let one = 0; one < count; one++) {
      early.expect({ id: crypto.randomUUID(), agentSessionName: "svc-p" });
    }
  };
  announce(1_000);
  pane.clock.advance(EARLY_MAX_MS);
  announce(1_000);
  await until("the checks", () => checks() === 2);
  assert.equal(resolutions(), 2);
  const { context } = stage();
  const other = new EarlyPanes({ ...context, targets: { ...context.targets, known: () => undefined } });
  other.expect({ id: ID, agentSessionName: "svc-p" });
  assert.equal(await other.take({ id: ID, session: "svc-p" }), undefined);
});

const QUESTION = "00000000-0000-4000-8000-000000000001";
const ANSWER = "00000000-0000-4000-8000-000000000002";
const ASKER = { session: "svc-p", socket: "/tmux.sock", pane: "%3", run: "1790000000 %3 42" };
const SEALED = { mode: "psk", enc: "", ciphertext: "" } as const;

const report = (ask: string, more: Record<string, unknown> = {}) => ({
  event: ASK_EVENT,
  agent: "mcp",
  cwd: "/p",
  state: "waiting" as const,
  ask,
  ...ASKER,
  ...more,
});

function knowing(question: string): Askers {
  const askers = new Askers();
  askers.hook(report(question));
  return askers;
}

const late = { type: "agent.command", inReplyTo: QUESTION };

Deno.test("a late answer, sealed or not, belongs to the agent that reported its question first [mcp-late]", () => {
  const askers = knowing(QUESTION);
  askers.hook(report(QUESTION, { session: "work", pane: "%9" }));
  assert.deepEqual(askers.of(late), ASKER);
  assert.deepEqual(askers.of({ ...late, sealed: SEALED, data: lateAnswerData(ANSWER) }), ASKER);
  assert.equal(askers.of({ type: "agent.command" }), undefined);
});

Deno.test("a relay cannot send a phone's sealed message to another session by writing a question beside it [mcp-late]", () => {
  const askers = knowing(QUESTION);
  assert.equal(askers.of({ ...late, sealed: SEALED }), undefined);
  assert.equal(askers.of({ ...late, sealed: SEALED, data: { run: ASKER.run } }), undefined);
  assert.equal(askers.of({ ...late, inReplyTo: ANSWER }), undefined);
});

Deno.test("a report without the agent's pane, or of another event, names no agent, and old questions are forgotten", () => {
  const askers = new Askers();
  askers.hook(report(QUESTION, { pane: undefined }));
  askers.hook(report(QUESTION, { run: undefined }));
  askers.hook(report(QUESTION, { event: "Stop" }));
  assert.equal(askers.of(late), undefined);
  askers.hook(report(QUESTION));
  for (let n = 0; n < ASKERS_MAX; n++) askers.hook(report(`question ${n}`));
  assert.equal(askers.of(late), undefined);
});

/** Types a late answer for a pane that a name no longer leads to; resolves with its outcome. */
async function answer(more: Partial<Command>): Promise<string | undefined> {
  const pane = new FakePane();
  pane.draw("");
  pane.onKey = (key) => key === "Enter" && pane.draw("");
  const context = pane.injection();
  const targets = {
    ...context.targets,
    resolve: () => Promise.resolve({ kind: "refused", reason: "no_such_session" } as const),
  };
  const expiresAt = pane.clock.now() + 3_600_000;
  const turn = { step: "waiting" as const };
  const command = { id: "1", session: "svc-p", body: "hello", expiresAt, sendAnyway: false, turn, ...more };
  const { state, reason } = await inject(command, { ...context, targets });
  return reason ?? state;
}

Deno.test("the run that a relay names neither finds a renamed session nor replaces the one that this host knows [mcp-late]", async () => {
  const { run } = new FakePane().target;
  assert.equal(await answer({ run }), "no_such_session");
  assert.equal(await answer({ run, asker: { ...ASKER, run: "another run" } }), "no_such_session");
  assert.equal(await answer({ run: "a lie", asker: { ...ASKER, run } }), "submitted");
});
