/** What the picker shows of a session, and the order of the rules for its state. */
import assert from "node:assert/strict";
import {
  decideState,
  dialogNews,
  entryFault,
  HOOK_FRESH_MS,
  isAlive,
  isReported,
  namedSession,
  StateClock,
  toEntry,
} from "../../../../src/listener/inventory/session_entry.ts";
import type { HookReport } from "../../../../src/home/control_socket.ts";
import { encodeFrame } from "../../../../src/protocol/frames.ts";
import { resolveTarget } from "../../../../src/listener/targets.ts";
import type { TmuxSession } from "../../../../src/tmux/sessions.ts";

const session: TmuxSession = {
  socket: "/s",
  id: "$1",
  name: "svc-shop-2",
  created: 1_000,
  activity: 2_000,
  attached: true,
  recorded: {
    agent: "cc",
    project: "shop",
    directory: "/shop",
    root: "/shop",
    claim: "",
    pane: "%1",
    pid: "42",
  },
  pane: {
    id: "%1",
    pid: 42,
    dead: false,
    command: "claude",
    title: "topic",
    path: "/shop",
    cols: 80,
    rows: 24,
  },
  destroyedWhenUnattached: false,
};
const facts = { state: "idle", stateSince: 5, muted: false } as const;
const nobody = { agent: "", project: "", directory: "", root: "", claim: "", pane: "", pid: "" };

function withPane(change: Partial<NonNullable<TmuxSession["pane"]>>): TmuxSession {
  return { ...session, pane: session.pane && { ...session.pane, ...change } };
}

Deno.test("entry: the fields of a wrapper's session that the picker shows [entry-fields, wrap-label, flow-4-label, res-inventory]", () => {
  assert.deepEqual(toEntry(session, facts), {
    name: "svc-shop-2",
    project: "shop",
    agent: "cc",
    agentLabel: "Claude",
    ordinal: 2,
    label: "shop · Claude #2",
    state: "idle",
    stateSince: 5,
    attached: true,
    createdAt: 1_000_000,
    lastActivity: 2_000_000,
    cwd: "/shop",
    title: "topic",
    cols: 80,
    rows: 24,
    muted: false,
    addressable: true,
  });
});

Deno.test("entry: agents are reported, the user's other sessions are not", () => {
  assert.ok(isReported(session));
  assert.ok(isReported({ ...session, recorded: nobody, name: "work" }));
  assert.ok(isReported({ ...withPane({ command: "vim" }), recorded: nobody, name: "svc-x" }));
  assert.ok(!isReported({ ...withPane({ command: "vim" }), recorded: nobody, name: "diary" }));
});

Deno.test("entry: fields that a session can make too long are cut [inv-left-out]", () => {
  const long = "é".repeat(50_000);
  const [recorded, pane] = [{ ...session.recorded, project: long }, { title: long, path: `/${long}` }];
  const entry = toEntry({ ...withPane(pane), recorded }, facts);
  assert.ok(entry.label.endsWith("é · Claude"));
  assert.ok(encodeFrame("listener.sessions", { sequence: 1, sessions: [entry] }).length < 2_000);
  const agent = toEntry({ ...session, recorded: { ...session.recorded, agent: long } }, facts);
  assert.ok(encodeFrame("listener.sessions", { sequence: 1, sessions: [agent] }).length < 2_000);
  const halved = toEntry(withPane({ title: `${"x".repeat(199)}😀` }), facts);
  assert.equal(halved.title, `${"x".repeat(199)}\ufffd`);
});

Deno.test("entry: an entry that the relay would reject is recognized by the relay's own rules [inv-left-out]", () => {
  const name = (length: number): string => "svc-".padEnd(length, "x");
  assert.equal(entryFault(session), undefined);
  assert.equal(entryFault({ ...session, name: name(256) }), undefined);
  assert.equal(entryFault({ ...session, name: name(257) }), "/name: at most 256 characters");
  assert.match(entryFault(withPane({ cols: NaN })) ?? "", /^\/cols: /);
});

Deno.test("entry: no message can go to a dead pane, a shell, or another process than the agent's", () => {
  assert.ok(isAlive(session));
  assert.ok(!isAlive(withPane({ dead: true })));
  assert.ok(!isAlive(withPane({ command: "-zsh" })));
  assert.ok(!isAlive(withPane({ pid: 43 })));
  assert.ok(!isAlive({ ...session, pane: undefined }));
});

Deno.test("state: dead, question or dialog, hook, screen, age, activity, in this order [ls-state-order, ls-state-ask, entry-states]", () => {
  const now = 2_000_500;
  const elapsed = 5_000;
  const idle = { reading: { state: "idle", focus: "composer", draft: "" }, at: elapsed } as const;
  const working = { state: "working", at: elapsed, before: "idle" } as const;
  const state = (change: Partial<Parameters<typeof decideState>[0]>) =>
    decideState({
      session,
      screen: undefined,
      hint: undefined,
      asking: false,
      known: undefined,
      now,
      elapsed,
      ...change,
    });
  assert.equal(state({ session: withPane({ dead: true }), screen: idle, asking: true }), "exited");
  assert.equal(state({ screen: idle, asking: true }), "waiting");
  const dialog = { ...idle, reading: { ...idle.reading, focus: "dialog" } } as const;
  assert.equal(state({ screen: dialog, hint: working }), "waiting");
  assert.equal(state({ screen: idle, hint: working }), "working");
  assert.equal(state({ screen: idle, hint: { ...working, at: elapsed - HOOK_FRESH_MS } }), "idle");
  const pager = { ...idle, reading: { state: undefined, focus: "unknown", draft: undefined } } as const;
  assert.equal(state({ screen: pager, known: "idle" }), "idle");
  assert.equal(state({ session: { ...session, created: 2_000 } }), "starting");
  assert.equal(state({}), "working");
  assert.equal(state({ now: now + 10_000 }), "idle");
});

Deno.test("state: a session neither starts nor works because the clock was set back [ls-state-order]", () => {
  const facts = { screen: undefined, hint: undefined, asking: false, known: undefined, elapsed: 5_000 };
  assert.equal(decideState({ ...facts, session, now: 500_000 }), "idle");
});

Deno.test("state: its start is stored per session and dropped with the session", () => {
  const clock = new StateClock();
  assert.equal(clock.since(session, { state: "idle", now: 1 }), 1);
  assert.equal(clock.since(session, { state: "idle", now: 2 }), 1);
  assert.equal(clock.since(session, { state: "working", now: 3 }), 3);
  clock.keep([]);
  assert.equal(clock.since(session, { state: "working", now: 4 }), 4);
});

Deno.test("state: its start survives the listener; for a state that began in the meantime tmux's times are used [ls-state-since]", () => {
  const before = new StateClock();
  const now = 9_000_000;
  assert.equal(
    before.since(session, { state: "idle", now }),
    session.activity * 1_000,
    "not the listener's start",
  );
  assert.equal(before.since(session, { state: "waiting", now: now + 5 }), now + 5);
  const known = JSON.parse(JSON.stringify(before.known()));
  assert.equal(new StateClock(known).since(session, { state: "waiting", now: now + 90 }), now + 5);
  const later = { ...session, activity: now / 1_000 + 60 };
  const clock = new StateClock(known);
  assert.equal(clock.since(later, { state: "idle", now: now + 90_000 }), now + 60_000);
  assert.equal(clock.since(later, { state: "working", now: now + 95_000 }), now + 95_000);
  assert.equal(new StateClock().since(session, { state: "starting", now }), session.created * 1_000);
});

Deno.test("named: a report has the picker's label only from the pane of the session's agent [wrap-label]", () => {
  const report = { event: "Stop", agent: "cc", cwd: "/elsewhere", session: "svc-shop-2" };
  const label = (change: Partial<HookReport>, sessions = [session]): string | undefined =>
    namedSession({ ...report, ...change }, sessions)?.label;
  assert.equal(label({}), "shop · Claude #2");
  assert.equal(label({ socket: "/s", pane: "%1" }), "shop · Claude #2");
  const dialog = { id: "d", since: 1, text: "Run it?" };
  assert.equal(dialogNews(session, dialog).label, label({}), "as of its dialogs");
  assert.equal(label({ agent: "codex" }), undefined, "an agent that this one runs as a tool");
  assert.equal(label({ pane: "%2" }), undefined, "an agent in another pane has inherited the name");
  assert.equal(label({ socket: "/t" }), undefined);
  assert.equal(label({ session: "svc-shop" }), undefined);
  assert.equal(label({}, [{ ...session, recorded: nobody }]), undefined, "no wrapper made it");
  const twin = { ...session, socket: "/t", recorded: { ...session.recorded, agent: "codex" } };
  assert.equal(label({}, [session, twin]), undefined, "the name means two sessions");
  assert.equal(label({ socket: "/t", agent: "codex" }, [session, twin]), "shop · Codex #2");
});

Deno.test("named: a report has the possible directories of the session's project, whatever its own directory [cli-mute]", () => {
  const recorded = { ...session.recorded, directory: "/shop/web", root: "/shop" };
  const moved = { ...withPane({ path: "/tmp" }), recorded };
  const report = { event: "Stop", agent: "cc", cwd: "/elsewhere", session: "svc-shop-2" };
  const directories = (change: Partial<HookReport>, sessions: TmuxSession[]): string[] | undefined =>
    namedSession({ ...report, ...change }, sessions)?.directories;
  assert.deepEqual(directories({}, [moved]), ["/shop/web", "/shop", "/tmp"]);
  assert.deepEqual(directories({}, [{ ...moved, recorded: nobody }]), ["/tmp"]);
  assert.deepEqual(
    directories({ pane: "%2" }, [moved]),
    ["/shop/web", "/shop", "/tmp"],
    "another pane of it",
  );
  const twin = { ...session, socket: "/t", recorded: { ...recorded, directory: "/copy", root: "/copy" } };
  assert.deepEqual(directories({ socket: "/t" }, [moved, twin]), ["/copy", "/copy", "/shop"]);
  assert.deepEqual(directories({}, [moved, twin])?.includes("/copy"), true, "either may be muted");
  assert.equal(directories({ session: "svc-shop" }, [moved]), undefined);
});

Deno.test("target: a name identifies exactly one session, and its recorded pane [inj-1-name, err-name, lim-charset, wr-exact, ls-ambiguous]", () => {
  const resolve = (name: string, sessions: TmuxSession[]): string => {
    const resolved = resolveTarget(name, sessions);
    return resolved.kind === "refused" ? resolved.reason : resolved.target.pane;
  };
  assert.equal(resolve("svc-shop-2", [session]), "%1");
  assert.equal(resolve("svc-shop", [session]), "no_such_session");
  assert.equal(resolve("svc-shop-2", [session, { ...session, socket: "/t" }]), "ambiguous_session");
  assert.equal(resolve("svc shop;", [session]), "invalid_session_name");
  assert.equal(resolve("svc-shop-2", [{ ...session, pane: undefined }]), "pane_dead");
});
