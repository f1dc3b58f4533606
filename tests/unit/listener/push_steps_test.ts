/** How an injection is connected to the listener that runs it. */
import assert from "node:assert/strict";
import { endEffects } from "../../../src/listener/agent_life.ts";
import { TakenOver } from "../../../src/listener/inject/context.ts";
import { pushSteps } from "../../../src/listener/pushes.ts";
import { FakePane } from "../../helpers/fake_pane.ts";

Deno.test("pushes: a message that is held at a dialog obeys its own abort signal [ls-handover]", async () => {
  const pane = new FakePane();
  pane.draw(undefined, { focus: "dialog" });
  const { inject } = pushSteps({
    injection: pane.injection(),
    dialogOf: () => undefined,
    cards: { answer: () => assert.fail("answered"), refused: () => {} },
    askers: { of: () => undefined },
    starting: {
      allowed: false,
      projects: () => Promise.resolve([]),
      record: () => Promise.resolve(),
      log: () => {},
      isDirectory: () => Promise.resolve(false),
      isMuted: () => Promise.resolve(false),
      run: () => Promise.resolve(undefined),
    },
    ending: {
      allowed: false,
      isMuted: () => Promise.resolve(false),
      targets: {
        sessions: () => Promise.resolve([]),
        anyServer: () => assert.fail(),
      },
      record: () => Promise.resolve(),
      ended: () => {},
      ...endEffects(),
    },
    muting: {
      targets: { sessions: () => Promise.resolve([]) },
      change: () => assert.fail(),
      changed: () => {},
    },
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
