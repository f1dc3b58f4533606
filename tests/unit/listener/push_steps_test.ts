/** A message obeys its own abort signal, and the log says how each push ended. */
import assert from "node:assert/strict";
import { homePaths } from "../../../src/home/paths.ts";
import { TakenOver } from "../../../src/listener/inject/context.ts";
import { failureOutcome } from "../../../src/listener/inject/pane_check.ts";
import { pushSteps, recordEnd } from "../../../src/listener/push_steps.ts";
import { TmuxError } from "../../../src/tmux/server.ts";
import { FakePane } from "../../helpers/fake_pane.ts";
import { ID, push } from "./push_bench.ts";

Deno.test("pushes: a message that is held at a dialog obeys its own abort signal [ls-handover]", async () => {
  const pane = new FakePane();
  pane.draw(undefined, { focus: "dialog" });
  const { inject } = pushSteps({
    paths: await homePaths({ homeDirectory: "/nonexistent", cwd: "/", uid: 1000 }),
    config: {},
    env: {},
    injection: pane.injection(),
    targets: { sessions: () => assert.fail(), anyServer: () => assert.fail() },
    projects: { list: () => assert.fail() },
    dialogOf: () => undefined,
    cards: { answer: () => assert.fail("answered"), refused: () => {} },
    askers: { of: () => undefined },
    keys: {
      deviceId: "dev_listener_01234567",
      identity: () => Promise.resolve(undefined),
      secretOf: () => Promise.resolve(undefined),
      ownSecret: () => Promise.resolve(undefined),
      claimQuestion: () => Promise.resolve(true),
    },
    audit: { record: () => {} },
    log: () => {},
  });
  const command = {
    id: "1",
    session: "svc-p",
    body: "hello",
    expiresAt: Infinity,
    sendAnyway: false,
  } as const;
  const signal = AbortSignal.abort(new TakenOver("another listener took over"));
  await assert.rejects(inject({ ...command, turn: { step: "waiting" } }, signal), /another listener/);
  assert.deepEqual(pane.events, ["reported held dialog_open"]);
});

Deno.test("the log has tmux's own message for a push that it refused [ls-log-injection]", async () => {
  const lines: string[] = [];
  const outcome = failureOutcome(new TmuxError("command too long\nat line 2\n"));
  const audit = { record: () => Promise.resolve() };
  await recordEnd(push, outcome, {
    ...{ audit, now: 0, elapsedMs: 7 },
    log: (line) => void lines.push(line),
  });
  assert.deepEqual(lines, [`inject ${ID} svc-a refused tmux_failed 7 ms: command too long at line 2`]);
});
