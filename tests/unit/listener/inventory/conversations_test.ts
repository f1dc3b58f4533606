/** An agent of the same kind that the session's agent runs as a tool, such as `claude -p`, is not taken for it. */
import assert from "node:assert/strict";
import type { HookReport } from "../../../../src/home/control_socket.ts";
import { Conversations } from "../../../../src/listener/inventory/conversations.ts";

function makeBench() {
  const conversations = new Conversations();
  let elapsed = 0;
  const take = (conversation: string, more: Partial<HookReport>, idleAt?: number): boolean => {
    const report = {
      event: "Stop",
      agent: "cc",
      cwd: "/shop",
      session: "svc-shop",
      pane: "%1",
      conversation,
    };
    return conversations.isOfTool("pane", { ...report, ...more }, { idleAt, elapsed: ++elapsed });
  };
  const began = (id: string) => ({ event: "PreToolUse", tool: { step: "before", id } as const });
  const ended = (id: string) => ({ event: "PostToolUse", tool: { step: "after", id } as const });
  const started = (source: string) => ({ event: "SessionStart", state: "idle", source } as const);
  return { conversations, take, began, ended, started };
}

const STOP = { event: "Stop", state: "idle" } as const;
const PROMPT = { event: "UserPromptSubmit", state: "working" } as const;

Deno.test("conversations: what begins during a turn is the tool's, also after its call has ended [ls-state-foreign]", () => {
  for (const source of ["startup", "resume"]) {
    const { take, began, ended, started } = makeBench();
    assert.equal(take("own", started("startup")), false);
    assert.equal(take("own", PROMPT), false);
    assert.equal(take("own", began("1")), false);
    // A command that runs in the background ends its call at once.
    assert.equal(take("own", ended("1")), false);
    for (const report of [started(source), PROMPT, began("9"), ended("9"), started("compact")]) {
      assert.equal(take("tool's", report), true, `${source} ${report.event}`);
    }
    assert.equal(take("own", STOP), false);
    assert.equal(take("tool's", STOP), true, "it ends later");
    assert.equal(take("own", PROMPT), false);
    assert.equal(take("own", STOP), false);
    assert.equal(take("tool's", started("resume")), false, "the user resumed it in the pane");
  }
});

Deno.test("conversations: a dialog of a task in a conversation of its own is the session's [ls-state-foreign]", () => {
  const { take, began } = makeBench();
  take("own", began("task"));
  assert.equal(take("task's", { event: "Notification", state: "waiting" }), false);
  assert.equal(take("task's", began("1")), true);
});

Deno.test("conversations: a new conversation of the pane's own agent counts, whatever was under way before [ls-state-foreign]", () => {
  for (const what of ["cleared", "ended", "turn over", "interrupted", "without an id"]) {
    const { take, began, started } = makeBench();
    take("own", began("1"));
    if (what === "ended") take("own", { event: "SessionEnd" });
    if (what === "turn over") take("own", STOP);
    const conversation = what === "without an id" ? { conversation: undefined } : {};
    const idleAt = what === "interrupted" ? 1 : undefined;
    const start = started(what === "cleared" ? "clear" : "startup");
    assert.equal(take("new", { ...start, ...conversation }, idleAt), false, what);
  }
});

Deno.test("conversations: the pane's own agent stays so after another one ran in its pane between two turns [ls-state-foreign]", () => {
  const { take, started } = makeBench();
  take("own", STOP);
  assert.equal(take("other", started("startup")), false);
  assert.equal(take("other", PROMPT), false);
  assert.deepEqual([take("own", PROMPT), take("own", STOP)], [false, false]);
});

Deno.test("conversations: a screen that was idle before the turn began shows no interruption [ls-state-foreign]", () => {
  const { take, began } = makeBench();
  take("own", began("1"), 0);
  assert.equal(take("tool's", STOP, 0), true);
});

Deno.test("conversations: a turn that began before a read found the pane counts from its beginning on [ls-state-foreign]", () => {
  const { conversations, take, began } = makeBench();
  const own = { agent: "cc", cwd: "/shop", session: "svc-shop", conversation: "own", ...began("1") };
  for (const pane of ["%1", "%2"]) conversations.takeUnplaced({ report: { ...own, pane }, elapsed: 1 });
  conversations.placeEarly(({ pane }) => pane === "%1" ? "pane" : undefined);
  assert.equal(take("tool's", STOP, 0), true);
  assert.equal(take("own", STOP), false);
  conversations.placeEarly(() => "pane");
  assert.equal(take("next", STOP), false, "they are taken once");
});

Deno.test("conversations: a pane that is gone is forgotten", () => {
  const { conversations, take, began } = makeBench();
  take("own", began("1"));
  conversations.keep(new Set(["pane"]));
  assert.equal(take("tool's", STOP), true);
  conversations.keep(new Set());
  assert.equal(take("tool's", STOP), false);
});
