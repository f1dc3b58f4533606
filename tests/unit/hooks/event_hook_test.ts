/** The hooks of all other events: what they report to the daemon. */
import assert from "node:assert/strict";
import type { HookReport } from "../../../src/home/control_socket.ts";
import { BODY_MAX_BYTES } from "../../../src/protocol/limits.ts";
import { type HookBench, makeHookBench } from "../../helpers/hook_bench.ts";
import { recordedCall } from "../../helpers/hook_calls.ts";
import { until } from "../../helpers/until.ts";

async function reported(bench: HookBench, ...call: Parameters<HookBench["call"]>): Promise<HookReport> {
  const before = bench.reports.length;
  assert.equal(await bench.call(...call), "");
  await until("the report", () => bench.reports.length > before);
  const report = bench.reports[before];
  assert.ok(report);
  return report;
}

Deno.test("a stop carries the agent's last message [type-stop, ls-hook-at-once]", async () => {
  await using bench = await makeHookBench();
  const news = { type: "agent.stop", title: "app · Claude has finished", body: "Done." } as const;
  const input = await recordedCall("cc", "Stop");
  assert.deepEqual(await reported(bench, "cc", "Stop", input), {
    event: "Stop",
    agent: "cc",
    cwd: "/work/app",
    conversation: input.session_id,
    session: "svc-proj",
    pane: "%7",
    socket: "/tmp/tmux-1000/default",
    gates: true,
    state: "idle",
    news,
  });
  const codex = await reported(bench, "codex", "Stop", await recordedCall("codex", "Stop"));
  assert.equal(codex.news?.body, "Done.");
  const gemini = await reported(bench, "gemini", "AfterAgent", await recordedCall("gemini", "AfterAgent"));
  assert.deepEqual([gemini.news?.body, gemini.state], ["Done.", "idle"]);
});

Deno.test("the start of a conversation is reported with how it began [ls-state-foreign]", async () => {
  await using bench = await makeHookBench();
  const input = await recordedCall("cc", "SessionStart");
  const { conversation, source } = await reported(bench, "cc", "SessionStart", input);
  assert.deepEqual([conversation, source], [input.session_id, "startup"]);
  const long = { ...input, session_id: "c".repeat(1_000), source: "s".repeat(1_000) };
  const short = await reported(bench, "cc", "SessionStart", long);
  assert.deepEqual([short.conversation, short.source, short.state], [undefined, undefined, "idle"]);
});

Deno.test("OpenCode works in several conversations at once: none is taken for another agent's [ls-state-foreign]", async () => {
  await using bench = await makeHookBench();
  for (const event of ["permission.asked", "session.idle"]) {
    const { conversation } = await reported(bench, "opencode", event, {
      session_id: "ses_2",
      cwd: "/work/app",
    });
    assert.equal(conversation, undefined, event);
  }
});

Deno.test("the end of a subagent is neither a notification nor the end of the turn [push-subagent]", async () => {
  await using bench = await makeHookBench();
  const own = await recordedCall("cc", "SubagentStop");
  const calls = [["SubagentStop", own], ["Stop", own], ["StopFailure", {
    ...own,
    error: "overloaded",
  }]] as const;
  for (const [event, input] of calls) {
    const { news, state, conversation } = await reported(bench, "cc", event, input);
    assert.deepEqual([news, state, conversation], [undefined, undefined, undefined], event);
  }
});

Deno.test("a pending permission is reported with its command [type-attention]", async () => {
  await using bench = await makeHookBench();
  const input = await recordedCall("codex", "PermissionRequest");
  const { state, news } = await reported(bench, "codex", "PermissionRequest", input);
  const title = "app · Codex waits for you";
  assert.deepEqual({ state, news }, {
    state: "waiting",
    news: { type: "agent.attention", title, body: "Bash: rm -rf build" },
  });
});

Deno.test("a state without a notification sends nothing to the phones", async () => {
  await using bench = await makeHookBench();
  const input = await recordedCall("cc", "PermissionRequest");
  const { state, news } = await reported(bench, "cc", "PermissionRequest", input);
  assert.deepEqual([state, news], ["waiting", undefined]);
});

Deno.test("Copilot writes its last message after its hook: the report names the file", async () => {
  await using bench = await makeHookBench();
  const input = await recordedCall("copilot", "agentStop");
  const { news } = await reported(bench, "copilot", "agentStop", input);
  assert.deepEqual(news, {
    type: "agent.stop",
    title: "app · Copilot has finished",
    transcript: input.transcriptPath,
  });
});

Deno.test("the text is cut and cleaned to fit a push", async () => {
  await using bench = await makeHookBench();
  const words = `${"long ".repeat(10_000)}\x1b[0m the end`;
  const input = {
    ...await recordedCall("cc", "Stop"),
    last_assistant_message: words,
    cwd: `/w/${"x".repeat(300)}`,
  };
  const { news } = await reported(bench, "cc", "Stop", input);
  assert.match(news?.body ?? "", /^….* the end$/);
  assert.ok(new TextEncoder().encode(news?.body).length <= BODY_MAX_BYTES);
  assert.ok((news?.title.length ?? 0) <= 200);
});

Deno.test("a tool call waits at the gate until it opens, and prints no decision [gate-waits]", async () => {
  await using bench = await makeHookBench();
  const open = bench.holdGate();
  let printed: string | undefined;
  const input = await recordedCall("cc", "PreToolUse");
  const called = bench.call("cc", "PreToolUse", input).then((text) => printed = text);
  await until("the report at the gate", () => bench.gated.length === 1);
  assert.equal(printed, undefined);
  open();
  await called;
  assert.equal(printed, "");
  assert.deepEqual(bench.gated, [{
    event: "PreToolUse",
    agent: "cc",
    cwd: "/work/app",
    conversation: input.session_id,
    session: "svc-proj",
    gates: true,
    pane: "%7",
    socket: "/tmp/tmux-1000/default",
    state: "working",
    tool: { step: "before", id: input.tool_use_id },
  }]);
  assert.deepEqual(bench.reports, []);
});

Deno.test("the end of a tool call is reported and does not wait [gate-after]", async () => {
  await using bench = await makeHookBench();
  bench.holdGate();
  const input = await recordedCall("cc", "PostToolUse");
  const { tool } = await reported(bench, "cc", "PostToolUse", input);
  assert.deepEqual(tool, { step: "after", id: input.tool_use_id });
});

Deno.test("the notification of a permission does not wait for the gate: it is sent first, in a separate report [gate-waits]", async () => {
  await using bench = await makeHookBench();
  const open = bench.holdGate();
  const called = bench.call("codex", "PermissionRequest", await recordedCall("codex", "PermissionRequest"));
  await until("both reports", () => bench.reports.length === 1 && bench.gated.length === 1);
  assert.deepEqual([bench.reports[0]?.news?.type, bench.reports[0]?.tool], ["agent.attention", undefined]);
  assert.deepEqual([bench.gated[0]?.news, bench.gated[0]?.tool], [undefined, { step: "before" }]);
  open();
  assert.equal(await called, "");
});
