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

Deno.test("conversations: what begins during a tool call is the tool's, until the call ends [ls-state-foreign]", () => {
  const { take, began, ended, started } = makeBench();
  assert.equal(take("own", started("startup")), false);
  assert.equal(take("own", began("1")), false);
  assert.equal(take("own", began("2")), false);
  for (const report of [started("startup"), began("9"), ended("9"), STOP]) {
    assert.equal(take("tool's", report), true, report.event);
  }
  assert.equal(take("own", ended("1")), false);
  assert.equal(take("tool's", STOP), true, "the other call goes on");
  assert.equal(take("own", ended("2")), false);
  assert.equal(take("next", { event: "UserPromptSubmit", state: "working" }), false);
});

Deno.test("conversations: a new conversation of the pane's own agent counts, whatever call was under way before [ls-state-foreign]", () => {
  const calls = ["cleared", "resumed", "ended", "turn over", "interrupted", "without an id"];
  for (const what of calls) {
    const { take, began, started } = makeBench();
    take("own", began("1"));
    if (what === "ended") take("own", { event: "SessionEnd" });
    if (what === "turn over") take("own", STOP);
    const source = { cleared: "clear", resumed: "resume" }[what] ?? "startup";
    const conversation = what === "without an id" ? { conversation: undefined } : {};
    const idleAt = what === "interrupted" ? 1 : undefined;
    assert.equal(take("new", { ...started(source), ...conversation }, idleAt), false, what);
  }
});

Deno.test("conversations: a screen that was idle before the call began shows no interruption [ls-state-foreign]", () => {
  const { take, began } = makeBench();
  take("own", began("1"), 0);
  assert.equal(take("tool's", STOP, 0), true);
});

Deno.test("conversations: a pane that is gone is forgotten", () => {
  const { conversations, take, began } = makeBench();
  take("own", began("1"));
  conversations.keep(new Set(["pane"]));
  assert.equal(take("tool's", STOP), true);
  conversations.keep(new Set());
  assert.equal(take("tool's", STOP), false);
});
