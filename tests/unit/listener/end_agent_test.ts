/** What a phone may end: an agent that svc started, in the exact session that the user saw, if the host allows it. */
import assert from "node:assert/strict";
import { endAgent, type EndOptions } from "../../../src/listener/agent_life.ts";
import type { Push } from "../../../src/protocol/push.ts";
import { TmuxError } from "../../../src/tmux/server.ts";
import type { TmuxSession } from "../../../src/tmux/sessions.ts";

const CREATED = 1_790_000_000;
const PUSH: Push = {
  id: "00000000-0000-4000-8000-000000000001",
  type: "agent.end",
  agentSessionName: "svc-p",
  body: `end ${CREATED}000`,
  from: "dev_phone_1",
  createdAt: 1,
  expiresAt: 2,
};

function sessionOf(recorded: Partial<TmuxSession["recorded"]> = {}, path = "/p"): TmuxSession {
  const pane = { id: "%3", pid: 42, path } as NonNullable<TmuxSession["pane"]>;
  return {
    socket: "/s",
    id: "$1",
    name: "svc-p",
    created: CREATED,
    activity: CREATED,
    attached: false,
    pane,
    recorded: {
      agent: "cc",
      project: "p",
      directory: "/p",
      root: "/p",
      claim: "",
      pane: "%3",
      pid: "42",
      ...recorded,
    },
    destroyedWhenUnattached: false,
  };
}

/** `survives`: how many times the process is found running after its pane was closed. */
async function end(
  { change = {}, session = sessionOf(), survives = 0, push = PUSH }: {
    change?: Partial<EndOptions>;
    session?: TmuxSession;
    survives?: number;
    push?: Push;
  } = {},
): Promise<{ outcome: string; events: string[] }> {
  const events: string[] = [];
  const { state, reason } = await endAgent(push, {
    allowed: true,
    targets: {
      sessions: () => Promise.resolve([session]),
      anyServer: (socket) => ({
        socket,
        run: (...commands) => Promise.resolve(events.push(...commands.map((one) => one.join(" "))) + ""),
      }),
    },
    isMuted: (...directories) => Promise.resolve(directories.includes("/muted")),
    record: (_id, step) => Promise.resolve(void events.push(step)),
    ended: () => void events.push("ended"),
    identity: () => Promise.resolve("Monday"),
    exits: () => Promise.resolve(survives-- <= 0),
    endLeftovers: ({ pid, identity }) =>
      Promise.resolve(void events.push(`leftovers of ${pid}, ${identity}`)),
    ...change,
  });
  return { outcome: [state, reason ?? ""].join(" ").trim(), events };
}

Deno.test("ending closes the agent's pane while the agent is its process, after a journal entry, and waits for its end [type-end]", async () => {
  const { outcome, events } = await end();
  assert.equal(outcome, "submitted");
  assert.deepEqual(events, ["typing", "if-shell -F -t %3 #{==:#{pane_pid},42} kill-pane -t %3", "ended"]);
});

Deno.test("an agent that ignores the end of its terminal is ended too, and one that survives is not reported as ended [type-end]", async () => {
  const stubborn = await end({ survives: 1 });
  assert.equal(stubborn.outcome, "submitted");
  assert.deepEqual(stubborn.events.slice(2), ["leftovers of 42, Monday", "ended"]);
  assert.equal((await end({ survives: 2 })).outcome, "refused end_failed");
});

Deno.test("a connection that ends together with its session does not hide what happened [type-end]", async () => {
  const run = (): Promise<string> => Promise.reject(new TmuxError("lost server", { lost: true }));
  const targets = {
    sessions: () => Promise.resolve([sessionOf()]),
    anyServer: (socket: string) => ({ socket, run }),
  };
  assert.equal((await end({ change: { targets } })).outcome, "submitted");
});

Deno.test("nothing is ended without the setting, in another session, in one that svc did not start, or in a muted project [type-end]", async () => {
  const cases: [Parameters<typeof end>[0], string][] = [
    [{ change: { allowed: false } }, "end_not_allowed"],
    [{ push: { ...PUSH, body: "end 1790000001000" } }, "session_changed"],
    [{ push: { ...PUSH, body: "end" } }, "invalid_body"],
    [{ push: { ...PUSH, agentSessionName: "svc-other" } }, "no_such_session"],
    [{ session: sessionOf({ agent: "" }) }, "not_started_by_svc"],
    [{ session: sessionOf({ pid: "41" }) }, "shell_in_pane"],
    [{ session: sessionOf({ directory: "/muted" }) }, "muted"],
    [{ session: sessionOf({ root: "/muted" }) }, "muted"],
    [{ session: sessionOf({}, "/muted") }, "muted"],
  ];
  for (const [host, reason] of cases) {
    const { outcome, events } = await end(host);
    assert.deepEqual([outcome, events], [`refused ${reason}`, []]);
  }
});
