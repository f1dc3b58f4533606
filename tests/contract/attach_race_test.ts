/** Control clients attach to a real tmux while sessions begin and while svc types: tmux before 3.7 crashes when it notifies a half-attached client. */
import assert from "node:assert/strict";
import { runtime } from "../../src/runtime/deno.ts";
import { GUARD_REFUSED, typingRequests } from "../../src/listener/inject/guard.ts";
import { Targets } from "../../src/listener/targets.ts";
import { verbs } from "../../src/tmux/argv.ts";
import { createSession, type TmuxAccess } from "../../src/wrapper/tmux_server.ts";
import { SESSION_OPTIONS } from "../../src/tmux/sessions.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";

const ROUNDS = 2;
const LANES = 4;
const SESSIONS_A_LANE = 6;
const MIRRORS = 3;
/** About a second's worth. Without the gate, tmux crashed in the first tenths of a second. */
const MIRROR_ROUNDS = 60;
const EVENTS = { output() {}, otherOutput() {}, notified() {}, ended() {} };

Deno.test("tmux survives sessions that begin four at a time while the listener attaches its clients [wr-many]", async () => {
  for (let round = 0; round < ROUNDS; round++) await beginMany();
});

Deno.test("tmux survives when svc leaves a mode and types a long text repeatedly while mirrors attach [wr-many]", async () => {
  await using sandbox = await makeSandbox();
  const targets = targetsOf(sandbox);
  await createSession(
    accessTo(sandbox),
    { name: "svc-a", directory: "/", env: {}, argv: ["cat"] },
    (pane) => [
      verbs.setSessionOption(pane, SESSION_OPTIONS.agent, "echo"),
    ],
  );
  const found = await targets.resolve("svc-a");
  if (found.kind !== "found") return assert.fail(found.reason);
  const { target } = found;
  const server = targets.server(target);
  const enterMode = ["copy-mode", "-t", target.pane];
  const { fill, type } = typingRequests(target.pane, { text: "one\ntwo", method: "paste", guard: "1" });
  for (let round = 0; round < MIRROR_ROUNDS; round++) {
    await server.run(enterMode);
    await targets.whenCalm();
    const mirrors = Array.from({ length: MIRRORS }, () => targets.openMirror(target, EVENTS));
    let areAttached = false;
    const attached = Promise.all(mirrors.map((mirror) => mirror.run(verbs.printPlain("x"))))
      .finally(() => areAttached = true);
    do {
      for (const request of [...fill, type, [enterMode]]) {
        assert.doesNotMatch(await server.run(...request), new RegExp(GUARD_REFUSED));
      }
    } while (!areAttached);
    await attached;
    await Promise.all(mirrors.map((mirror) => mirror.close()));
  }
  await targets.close();
});

function accessTo({ tmuxSocket, env }: Sandbox): TmuxAccess {
  return { commands: runtime.commands, socket: tmuxSocket, env, serverEnv: env };
}

async function beginMany(): Promise<void> {
  await using sandbox = await makeSandbox();
  const targets = targetsOf(sandbox);
  const access = accessTo(sandbox);
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
      const mirror = targets.openMirror(found.target, EVENTS);
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
