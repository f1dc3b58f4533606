/** The input that the real agents gave their hooks, and what svc reads from it. */
import assert from "node:assert/strict";
import type { AgentHooks, HookInput, HookMeaning } from "../../../src/agents/hooks.ts";
import { AGENT_KINDS, loadHooks } from "../../../src/agents/registry.ts";
import type { AgentKind } from "../../../src/protocol/names.ts";
import { recordedCalls } from "../../helpers/hook_calls.ts";

const HOOKS = new Map(
  await Promise.all(AGENT_KINDS.map(async (kind) => [kind, await loadHooks(kind)] as const)),
);

function hooksOf(kind: AgentKind): AgentHooks {
  const hooks = HOOKS.get(kind);
  assert.ok(hooks);
  return hooks;
}

const stop = (text?: string): HookMeaning => ({ state: "idle", notification: { type: "agent.stop", text } });
const waits = (text?: string): HookMeaning => ({
  state: "waiting",
  notification: { type: "agent.attention", text },
});

const before = (id?: string): HookMeaning => ({
  state: "working",
  tool: id === undefined ? { step: "before" } : { step: "before", id },
});
const after = (id?: string): HookMeaning => ({
  tool: id === undefined ? { step: "after" } : { step: "after", id },
});

const MEANINGS: Record<string, Record<string, HookMeaning>> = {
  cc: {
    "SessionStart startup": { state: "idle" },
    "SessionStart compact": { session: "compacted" },
    PreToolUse: before("toolu_8ab92dc7-81cf-40a4-b9f3-578b4a5dbd32"),
    PostToolUse: after("toolu_8ab92dc7-81cf-40a4-b9f3-578b4a5dbd32"),
    PermissionRequest: { state: "waiting" },
    Notification: waits("Claude needs your permission"),
    Stop: stop("Done."),
    SessionEnd: { session: "ended" },
  },
  codex: {
    PreToolUse: before("call_5742ab57-5aef-446c-8d18-dfc2ff2f2187"),
    PostToolUse: after("call_5742ab57-5aef-446c-8d18-dfc2ff2f2187"),
    PermissionRequest: { ...waits("Bash: rm -rf build"), tool: { step: "before" } },
    Interrupt: { state: "idle" },
    Stop: stop("Done."),
    SessionEnd: { session: "ended" },
  },
  gemini: {
    "SessionStart startup": { state: "idle" },
    BeforeTool: before(),
    AfterTool: after(),
    Notification: waits("Tool Confirm Shell Command requires execution: rm -rf build"),
    AfterAgent: stop("Done."),
  },
  copilot: {
    preToolUse: before(),
    permissionRequest: { tool: { step: "before" } },
    postToolUse: after(),
    notification: waits("Run command: rm -rf build"),
    agentStop: stop(),
    sessionEnd: { session: "ended" },
  },
};

for (const [kind, meanings] of Object.entries(MEANINGS)) {
  Deno.test(`${kind}: its recorded events have the expected meanings, and no other event has one [cli-hook]`, async () => {
    const hooks = hooksOf(kind as AgentKind);
    const found: Record<string, HookMeaning> = {};
    for (const { event, input } of await recordedCalls(kind)) {
      const meaning = hooks.meaning(event, input);
      const name = typeof input.source === "string" && event === "SessionStart"
        ? `${event} ${input.source}`
        : event;
      if (Object.keys(meaning).length > 0) found[name] = meaning;
    }
    assert.deepEqual(found, meanings);
  });

  Deno.test(`${kind}: every input has the directory and the conversation [rm-cwd]`, async () => {
    const hooks = hooksOf(kind as AgentKind);
    for (const { event, input } of await recordedCalls(kind)) {
      assert.equal(hooks.directoryOf(input), "/work/app", event);
      assert.match(hooks.sessionOf(input) ?? "", /^[0-9a-f-]{36}$/, event);
      if (event === hooks.promptEvent) assert.equal(typeof input.prompt, "string");
    }
  });
}

Deno.test("the model is informed in each agent's own format [ev-hooks, remote-cc, remote-gemini, remote-codex]", () => {
  const output = (kind: AgentKind, event = hooksOf(kind).promptEvent ?? ""): unknown =>
    JSON.parse(hooksOf(kind).contextOutput(event, "X"));
  const specific = { hookEventName: "UserPromptSubmit", additionalContext: "X" };
  assert.deepEqual(output("cc"), { hookSpecificOutput: specific });
  assert.deepEqual(output("codex"), { hookSpecificOutput: specific });
  assert.deepEqual(output("gemini"), { hookSpecificOutput: { additionalContext: "X" } });
  assert.deepEqual(output("copilot"), { additionalContext: "X" });
  assert.deepEqual(output("opencode"), { additionalContext: "X" });
  assert.equal(hooksOf("gemini").promptEvent, "BeforeAgent");
  const again = { hookEventName: "SessionStart", additionalContext: "X" };
  assert.deepEqual(output("cc", "SessionStart"), { hookSpecificOutput: again });
});

Deno.test("the Cursor-class agent has no prompt hook; its stop sends a notification [remote-cursor-none, remote-cursor-stop]", () => {
  const hooks = hooksOf("cursor");
  const input = { conversation_id: "c1", workspace_roots: ["/work/app"], status: "aborted" };
  assert.equal(hooks.promptEvent, undefined);
  assert.equal(hooks.directoryOf(input), "/work/app");
  assert.equal(hooks.sessionOf(input), "c1");
  assert.deepEqual(hooks.meaning("stop", input), stop('It ended as "aborted".'));
  assert.deepEqual(hooks.meaning("stop", { ...input, status: "completed" }), stop());
  assert.deepEqual(hooks.meaning("beforeSubmitPrompt", input), {});
});

Deno.test("OpenCode's plugin: its events and what they mean", () => {
  const meaning = (event: string, input: HookInput = {}): HookMeaning =>
    hooksOf("opencode").meaning(event, input);
  assert.deepEqual(meaning("session.idle", { last_message: "Done." }), stop("Done."));
  assert.deepEqual(meaning("permission.asked", { message: "bash rm" }), waits("bash rm"));
  assert.deepEqual(meaning("permission.replied"), {});
  assert.deepEqual(meaning("tool.execute.before", { call_id: "c1" }), before("c1"));
  assert.deepEqual(meaning("tool.execute.after", { call_id: "c1" }), after("c1"));
  assert.deepEqual(meaning("session.compacted"), { session: "compacted" });
  assert.deepEqual(meaning("session.deleted"), { session: "ended" });
  assert.deepEqual(meaning("session.updated"), {});
});

Deno.test("prompts that the agent itself submits are recognized", () => {
  const isFromMachine = (input: HookInput): boolean => hooksOf("cc").isFromMachine(input);
  assert.ok(isFromMachine({ prompt: "go on", source: "schedule_wakeup" }));
  assert.ok(isFromMachine({ prompt: "<task-notification>\n<task-id>1</task-id>" }));
  assert.ok(!isFromMachine({ prompt: "<task-notification> typed by hand", source: "user" }));
  assert.ok(!isFromMachine({ prompt: "what is a <task-notification>?" }));
});

Deno.test("other waits and failures are reported too; an answered dialog is not", () => {
  const { meaning } = hooksOf("cc");
  const notified = (type: string): HookMeaning =>
    meaning("Notification", { notification_type: type, message: "m" });
  assert.deepEqual(notified("idle_prompt"), {
    state: "idle",
    notification: { type: "agent.attention", text: "m" },
  });
  assert.deepEqual(notified("auth_success"), {});
  assert.deepEqual(meaning("Elicitation", { message: "which?" }), waits("which?"));
  assert.deepEqual(meaning("StopFailure", { error: "rate_limit", error_details: "429" }), stop("429"));
  assert.deepEqual(meaning("StopFailure", { error: "rate_limit" }), stop("rate_limit"));
});

Deno.test("a tool call that failed or was refused has ended too; an id that is too long for a report is left out", () => {
  const { meaning } = hooksOf("cc");
  for (const event of ["PostToolUseFailure", "PermissionDenied"]) {
    assert.deepEqual(meaning(event, { tool_use_id: "t1" }), after("t1"));
  }
  assert.deepEqual(meaning("PreToolUse", { tool_use_id: "x".repeat(201) }), before());
});

Deno.test("a prompt that Claude folded as one paste is unfolded; every other form stays as it is [rm-folded]", () => {
  const prompt = (text: string): string | undefined => hooksOf("cc").promptOf({ prompt: text });
  const folded = (text: string, id = "98b1"): string =>
    `\n\n<pasted_content id="${id}">\n${text}\n</pasted_content id="${id}">\n`;
  assert.equal(prompt("plain\ntext"), "plain\ntext");
  assert.equal(prompt(folded("one\ntwo\n\nfour")), "one\ntwo\n\nfour");
  assert.equal(prompt(folded("w".repeat(6_000))), "w".repeat(6_000));
  assert.equal(prompt(folded('a\n<\\/pasted_content id="1">\nb')), 'a\n</pasted_content id="1">\nb');
  const others = [
    `typed ${folded("one\ntwo")}`,
    `${folded("one\ntwo")}typed`,
    folded("one\ntwo") + folded("three\nfour"),
    '\n\n<pasted_content id="1">\none\n</pasted_content id="2">\n',
    '<pasted_content id="1">\none\n</pasted_content id="1">',
  ];
  for (const other of others) assert.equal(prompt(other), other);
  assert.equal(prompt('a <\\pasted_content id="3">'), 'a <pasted_content id="3">');
  assert.equal(hooksOf("codex").promptOf({ prompt: folded("one") }), folded("one"));
  assert.equal(hooksOf("cc").promptOf({ prompt: 1 }), undefined);
});

Deno.test("what a subagent does is not the state of the agent that started it", () => {
  for (const kind of ["cc", "codex"] as const) {
    const { meaning } = hooksOf(kind);
    const input = { tool_use_id: "t1", agent_id: "a1", agent_type: "default" };
    assert.deepEqual(meaning("PreToolUse", input), { tool: { step: "before", id: "t1", subagent: true } });
    assert.deepEqual(meaning("PostToolUse", input), { tool: { step: "after", id: "t1", subagent: true } });
  }
});

Deno.test("missing or malformed fields break nothing", () => {
  const inputs: HookInput[] = [{}, {
    cwd: 1,
    session_id: [],
    prompt: {},
    workspace_roots: "x",
    tool_input: "y",
  }];
  for (const kind of ["cc", "codex", "gemini", "copilot", "opencode", "cursor"] as const) {
    const hooks = hooksOf(kind);
    for (const input of inputs) {
      assert.equal(hooks.directoryOf(input), undefined);
      assert.equal(hooks.sessionOf(input), undefined);
      for (const event of ["Stop", "Notification", "PermissionRequest", "AfterAgent", "agentStop", "stop"]) {
        hooks.meaning(event, input);
      }
    }
  }
});

Deno.test("Copilot's last message is the last one of this turn in its transcript that is not empty", () => {
  const transcript = hooksOf("copilot").transcript;
  const line = (content: unknown): string => JSON.stringify({ type: "assistant.message", data: { content } });
  const text = [line("first"), line("Done."), line(""), '{"type":"assistant.turn_end"}', "{broken"].join(
    "\n",
  );
  assert.equal(transcript?.lastMessage(`${text}\n`), "Done.");
  assert.equal(transcript?.lastMessage('{"type":"assistant.message"}\n'), undefined);
  assert.equal(
    transcript?.lastMessage(`${text}\n{"type":"user.message"}\n{"type":"assistant.turn_start"}`),
    undefined,
  );
  assert.equal(transcript?.pathOf({ transcriptPath: "/t" }), "/t");
});
