/** Which agent gets a late answer: this host's own reports decide, never what a relay wrote. */
import assert from "node:assert/strict";
import { ASK_EVENT } from "../../../src/home/notify_daemon.ts";
import { Askers, ASKERS_MAX } from "../../../src/listener/askers.ts";
import type { Command } from "../../../src/listener/inject/context.ts";
import { inject } from "../../../src/listener/inject/inject.ts";
import { lateAnswerData } from "../../../src/protocol/late_answer.ts";
import { FakePane } from "../../helpers/fake_pane.ts";

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
