/** A muted project's session gets nothing from a phone, wherever its agent works and whoever made the session. */
import assert from "node:assert/strict";
import { isMuted } from "../../../src/home/muted.ts";
import { type InjectContext, paneContext } from "../../../src/listener/inject/context.ts";
import { typeKeystroke } from "../../../src/listener/keystrokes/type_keystroke.ts";
import { inject } from "../../../src/listener/inject/inject.ts";
import { resolveTarget } from "../../../src/listener/targets.ts";
import { directoriesOf, type TmuxSession } from "../../../src/tmux/sessions.ts";
import { FakePane } from "../../helpers/fake_pane.ts";

/** The fake pane's directory. */
const HERE = "/p";
const PROJECT = "/home/user/app";

function sessionOf(recorded: Partial<TmuxSession["recorded"]>): TmuxSession {
  return {
    socket: "/tmux.sock",
    id: "$1",
    name: "svc-p",
    created: 1,
    activity: 1,
    attached: false,
    recorded: {
      agent: "cc",
      project: "app",
      directory: HERE,
      root: HERE,
      claim: "",
      pane: "%3",
      pid: "1",
      ...recorded,
    },
    pane: {
      id: "%3",
      pid: 1,
      dead: false,
      command: "claude",
      title: "",
      path: HERE,
      cols: 80,
      rows: 24,
    },
    destroyedWhenUnattached: false,
  };
}

/** Returns the pane of this session, with these directories muted. */
function stage(recorded: Partial<TmuxSession["recorded"]>, muted: readonly string[]) {
  const pane = new FakePane();
  pane.draw("");
  pane.onKey = (key) => key === "Enter" && pane.draw("");
  const resolved = resolveTarget("svc-p", [sessionOf(recorded)]);
  assert.ok(resolved.kind === "found");
  const { profile, isProfiled, panePid, recordedPid } = pane.target;
  const target = { ...resolved.target, profile, isProfiled, panePid, recordedPid };
  const injection = pane.injection();
  const context: InjectContext = {
    ...injection,
    targets: { ...injection.targets, resolve: () => Promise.resolve({ kind: "found", target }) },
    effects: {
      ...injection.effects,
      isMuted: (...directories) => Promise.resolve(isMuted(muted, ...directories)),
    },
  };
  const command = {
    id: "1",
    session: "svc-p",
    body: "hello",
    expiresAt: Infinity,
    sendAnyway: false,
    turn: { step: "waiting" as const },
  };
  return {
    pane,
    send: () => inject(command, context),
    press: () =>
      typeKeystroke({ ...paneContext(context, target), mayType: () => true }, { type: "text", text: "h" }),
  };
}

/** The recorded fields, and the muted directories. */
const CASES: [string, Partial<TmuxSession["recorded"]>, string[]][] = [
  ["the project that the environment named", { root: PROJECT }, [PROJECT]],
  ["the directory that the agent was started in", { directory: PROJECT, root: PROJECT }, ["/home/user"]],
  ["the directory that the agent works in", { directory: PROJECT, root: PROJECT }, [HERE]],
  ["the directory of a session that no wrapper made", { directory: "", root: "" }, [HERE]],
];

for (const [what, recorded, muted] of CASES) {
  Deno.test(`with ${what} muted, a session gets neither a message nor a key [inj-muted]`, async () => {
    const { pane, send, press } = stage(recorded, muted);
    assert.deepEqual(await send(), { state: "refused", reason: "muted", pane: "%3" });
    assert.deepEqual({ ...await press() }, { state: "refused", reason: "muted" });
    assert.deepEqual(pane.events, []);
    const other = stage(recorded, ["/elsewhere"]);
    assert.equal((await other.send()).state, "submitted");
  });
}

Deno.test("a list that mutes everything mutes a session without a known directory [inj-muted]", () => {
  const session = sessionOf({ directory: "", root: "" });
  assert.ok(isMuted(["/"], ...directoriesOf({ ...session, pane: undefined })));
  assert.ok(!isMuted([PROJECT], ...directoriesOf({ ...session, pane: undefined })));
});
