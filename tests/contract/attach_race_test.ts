/** Control clients attach to a real tmux while sessions begin: tmux before 3.7 crashes when it tells a half-attached client of one. */
import assert from "node:assert/strict";
import { runtime } from "../../src/runtime/deno.ts";
import { Targets } from "../../src/listener/targets.ts";
import { verbs } from "../../src/tmux/argv.ts";
import { createSession, type TmuxAccess } from "../../src/wrapper/tmux_server.ts";
import { SESSION_OPTIONS } from "../../src/tmux/sessions.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";

const ROUNDS = 2;
const LANES = 4;
const SESSIONS_A_LANE = 6;

Deno.test("sessions begin four at a time while the listener attaches its clients: tmux lives [wr-many]", async () => {
  for (let round = 0; round < ROUNDS; round++) await beginMany();
});

async function beginMany(): Promise<void> {
  await using sandbox = await makeSandbox();
  const targets = targetsOf(sandbox);
  const { commands } = runtime;
  const access: TmuxAccess = {
    commands,
    socket: sandbox.tmuxSocket,
    env: sandbox.env,
    serverEnv: sandbox.env,
  };
  const events = { output() {}, otherOutput() {}, notified() {}, ended() {} };
  const lane = async (lane: number): Promise<void> => {
    for (let n = 0; n < SESSIONS_A_LANE; n++) {
      const name = `svc-p${lane}-${n}`;
      const begun = new AbortController();
      await targets.sessionBegins(begun.signal);
      await createSession(access, { name, directory: "/", env: {}, argv: ["cat"] }, (pane) => [
        verbs.setSessionOption(pane, SESSION_OPTIONS.agent, "echo"),
      ]);
      begun.abort();
      targets.holdClients(await targets.sessions());
      const found = await targets.resolve(name);
      assert.equal(found.kind, "found", JSON.stringify(found));
      if (found.kind !== "found") continue;
      await targets.whenCalm();
      const mirror = targets.openMirror(found.target, events);
      assert.equal(await mirror.run(verbs.printPlain("x")), "x");
      await mirror.close();
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  assert.equal((await targets.sessions()).length, LANES * SESSIONS_A_LANE);
  await targets.close();
}

function targetsOf(sandbox: Sandbox): Targets {
  const { files, commands, uid, platform } = runtime;
  const env = { get: (name: string): string | undefined => sandbox.env[name] };
  return new Targets({ uid, env, files, commands, platform, now: Date.now });
}
