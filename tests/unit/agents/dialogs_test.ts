/** The agents' own dialogs as phones get them, and the output that answers each, from recorded hook input. */
import assert from "node:assert/strict";
import { type AgentHooks, type DialogAnswer, fieldsText, type HookInput } from "../../../src/agents/hooks.ts";
import { loadHooks } from "../../../src/agents/registry.ts";
import type { AgentKind } from "../../../src/protocol/names.ts";
import type { HookCallSample } from "../../helpers/hook_calls.ts";

async function hooksOf(kind: AgentKind): Promise<AgentHooks> {
  const hooks = await loadHooks(kind);
  assert.ok(hooks);
  return hooks;
}

async function samplesOf(kind: AgentKind): Promise<HookCallSample[]> {
  const url = new URL(`../../testdata/dialogs/${kind}.json`, import.meta.url);
  return JSON.parse(await Deno.readTextFile(url)).calls;
}

/** Returns the recorded call of this event and tool whose input contains the text. */
async function sampleOf(
  kind: AgentKind,
  { event, holds }: { event: string; holds: string },
): Promise<HookCallSample> {
  const found = (await samplesOf(kind)).find((one) =>
    one.event === event && JSON.stringify(one.input).includes(holds)
  );
  assert.ok(found, `${kind} ${event} ${holds}`);
  return found;
}

interface Dialogs {
  dialog: ReturnType<NonNullable<AgentHooks["dialogOf"]>>;
  answer(answer: DialogAnswer): unknown;
}

async function open(kind: AgentKind, which: { event: string; holds: string }): Promise<Dialogs> {
  const hooks = await hooksOf(kind);
  const call = await sampleOf(kind, which);
  return {
    dialog: hooks.dialogOf?.(call.event, call.input),
    answer: (answer) => JSON.parse(hooks.answerOutput?.(call, answer) ?? "null"),
  };
}

const once: DialogAnswer = { kind: "decided", decision: "once" };
const always: DialogAnswer = { kind: "decided", decision: "always" };
const reject: DialogAnswer = { kind: "decided", decision: "reject", reason: "not that one" };
const chosen = (...answers: { options: number[]; text?: string }[]): DialogAnswer => ({
  kind: "answers",
  answers,
});

const permission = (decision: unknown): unknown => ({
  hookSpecificOutput: { hookEventName: "PermissionRequest", decision },
});

const COLOR = {
  text: "Which color?",
  heading: "Color",
  options: [{ label: "Red", description: "about Red" }, { label: "Blue", description: "about Blue" }],
};

Deno.test("Claude's questions are answered by the text of each question, several choices and the user's own text too [card-questions]", async () => {
  const event = "PermissionRequest";
  const one = await open("cc", { event, holds: "Which color?" });
  assert.deepEqual(one.dialog, {
    dialog: { kind: "questions", questions: [{ ...COLOR, multiple: false, freeText: true }] },
    isShown: true,
  });
  const { input } = await sampleOf("cc", { event, holds: "Which color?" });
  const answered = (answers: Record<string, string>, { tool_input }: HookInput): unknown =>
    permission({ behavior: "allow", updatedInput: { ...Object(tool_input), answers } });
  assert.deepEqual(one.answer(chosen({ options: [1] })), answered({ "Which color?": "Blue" }, input));
  const own = chosen({ options: [], text: "a deep, dark green" });
  assert.deepEqual(one.answer(own), answered({ "Which color?": "a deep, dark green" }, input));

  const two = await sampleOf("cc", {
    event,
    holds:
      'Which color?","header":"Color","options":[{"label":"Red","description":"about Red"},{"label":"Blue","description":"about Blue"}],"multiSelect":false},{',
  });
  const hooks = await hooksOf("cc");
  const output = hooks.answerOutput?.(two, chosen({ options: [0] }, { options: [0, 2], text: "and lint" }));
  const answers = { "Which color?": "Red", "Which tests?": "Unit, Bench, and lint" };
  assert.deepEqual(JSON.parse(output ?? ""), answered(answers, two.input));
});

Deno.test("Claude's permission requests show every field of the tool's input, and what 'always' would allow [card-approvals]", async () => {
  const event = "PermissionRequest";
  const shell = await open("cc", { event, holds: "npm --version" });
  const rule = {
    type: "addRules",
    rules: [{ toolName: "Bash", ruleContent: "npm --version" }],
    behavior: "allow",
    destination: "localSettings",
  };
  const request = [
    "command:\n  npm --version\ndescription:\n  npm",
    `allowed from then on, with always:\n  ${JSON.stringify(rule, null, 2).replaceAll("\n", "\n  ")}`,
  ].join("\n");
  const decisions = ["once", "always", "reject"];
  assert.deepEqual(shell.dialog, {
    dialog: { kind: "approval", tool: "Bash", request, decisions },
    isShown: true,
  });
  assert.deepEqual(shell.answer(once), permission({ behavior: "allow" }));
  assert.deepEqual(shell.answer(always), permission({ behavior: "allow", updatedPermissions: [rule] }));
  assert.deepEqual(shell.answer(reject), permission({ behavior: "deny", message: "not that one" }));

  const edit = await open("cc", { event, holds: '"Edit"' });
  assert.ok(edit.dialog?.dialog.kind === "approval");
  const fields =
    "file_path:\n  /work/app/a.txt\nold_string:\n  one\nnew_string:\n  three\nreplace_all:\n  false";
  assert.ok(edit.dialog.dialog.request.startsWith(`${fields}\n`));
  const mcp = await open("cc", { event, holds: "mcp__probe__publish" });
  assert.ok(mcp.dialog?.dialog.kind === "approval");
  assert.deepEqual(mcp.dialog.dialog.tool, "mcp__probe__publish");
  assert.ok(mcp.dialog.dialog.request.startsWith("name:\n  x\n"));
});

Deno.test("Claude's plan is its request; a permission carries the plan, or Claude would ignore it [card-approvals]", async () => {
  const plan = await open("cc", { event: "PermissionRequest", holds: "ExitPlanMode" });
  const text = "# Plan\n\n1. do this\n2. do that\n";
  assert.deepEqual(plan.dialog, {
    dialog: { kind: "approval", tool: "ExitPlanMode", request: text, decisions: ["once", "reject"] },
    isShown: true,
  });
  const planFilePath = "/home/u/.claude/plans/hi-foamy-cat.md";
  assert.deepEqual(
    plan.answer(once),
    permission({ behavior: "allow", updatedInput: { plan: text, planFilePath } }),
  );
  assert.deepEqual(plan.answer(reject), permission({ behavior: "deny", message: "not that one" }));
});

Deno.test("what Claude's plan would also allow is shown with it [card-whole]", async () => {
  const { dialogOf } = await hooksOf("cc");
  const allowedPrompts = [{ tool: "Bash", prompt: "publish the package" }];
  const input = {
    tool_name: "ExitPlanMode",
    tool_input: { plan: "# Plan", planFilePath: "/a", allowedPrompts },
  };
  const call = dialogOf?.("PermissionRequest", input);
  assert.ok(call?.dialog.kind === "approval");
  assert.match(call.dialog.request, /^plan:\n {2}# Plan\nallowedPrompts:\n[^]*publish the package/);
});

Deno.test("Codex's questions are refused with the answers as the reason, its permissions are decided before their dialog [card-questions, card-approvals]", async () => {
  const one = await open("codex", { event: "PreToolUse", holds: "Which size?" });
  const SIZE = {
    text: "Which size?",
    heading: "Size",
    options: [{ label: "S", description: "small" }, { label: "L", description: "large" }],
  };
  const questions = [COLOR, SIZE].map((question) => ({ ...question, freeText: true }));
  assert.deepEqual(one.dialog, { dialog: { kind: "questions", questions }, isShown: false });
  const permissionDecisionReason =
    "Nothing went wrong: the user has answered on their phone. Which color? Blue\nWhich size? between both";
  assert.deepEqual(one.answer(chosen({ options: [1] }, { options: [], text: "between both" })), {
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason },
  });

  const shell = await open("codex", { event: "PermissionRequest", holds: "touch ok1" });
  const request = "command:\n  touch ok1\ndescription:\n  Remove the build folder";
  const decisions = ["once", "reject"];
  assert.deepEqual(shell.dialog, {
    dialog: { kind: "approval", tool: "Bash", request, decisions },
    isShown: false,
  });
  assert.deepEqual(shell.answer(once), permission({ behavior: "allow" }));
  assert.deepEqual(shell.answer(reject), permission({ behavior: "deny", message: "not that one" }));
  const patch = await open("codex", { event: "PermissionRequest", holds: "apply_patch" });
  const lines = ["*** Begin Patch", "*** Add File: a.txt", "+one", "+two", "*** End Patch"];
  assert.deepEqual(patch.dialog?.dialog, {
    kind: "approval",
    tool: "apply_patch",
    request: `command:\n${lines.map((line) => `  ${line}`).join("\n")}`,
    decisions,
  });
});

Deno.test("Gemini's questions of every type are refused with the answers as the reason; its permissions cannot be answered [card-questions]", async () => {
  const { dialog, answer } = await open("gemini", { event: "BeforeTool", holds: "Go on?" });
  const free = { multiple: false, freeText: true };
  assert.deepEqual(dialog, {
    dialog: {
      kind: "questions",
      questions: [
        { ...COLOR, ...free },
        {
          text: "Which tests?",
          heading: "Tests",
          options: [{ label: "Unit", description: "u" }, { label: "E2E", description: "e" }],
          multiple: true,
          freeText: true,
        },
        { text: "What name?", heading: "Name", options: [], ...free },
        {
          text: "Go on?",
          heading: "Go",
          options: [{ label: "Yes" }, { label: "No" }],
          multiple: false,
          freeText: false,
        },
      ],
    },
    isShown: false,
  });
  const given = chosen({ options: [1] }, { options: [0, 1] }, { options: [], text: "Ann" }, { options: [0] });
  const lines = ["Which color? Blue", "Which tests? Unit, E2E", "What name? Ann", "Go on? Yes"];
  const reason = `Nothing went wrong: the user has answered on their phone. ${lines.join("\n")}`;
  assert.deepEqual(answer(given), { decision: "deny", reason });
  const { dialogOf } = await hooksOf("gemini");
  const unknown = { questions: [{ question: "How much?", type: "slider" }] };
  assert.equal(dialogOf?.("BeforeTool", { tool_name: "ask_user", tool_input: unknown }), undefined);
});

Deno.test("Copilot's questions are refused with the answer as the reason, its permissions are decided before their dialog [card-questions, card-approvals]", async () => {
  const one = await open("copilot", { event: "preToolUse", holds: "Which color?" });
  const options = [{ label: "Red" }, { label: "Blue" }];
  assert.deepEqual(one.dialog, {
    dialog: { kind: "questions", questions: [{ text: "Which color?", options, freeText: true }] },
    isShown: false,
  });
  const permissionDecisionReason =
    "Nothing went wrong: the user has answered on their phone. Which color? Blue";
  assert.deepEqual(one.answer(chosen({ options: [1] })), {
    permissionDecision: "deny",
    permissionDecisionReason,
  });
  const asksText = await open("copilot", { event: "preToolUse", holds: "What name?" });
  assert.deepEqual(asksText.dialog?.dialog, {
    kind: "questions",
    questions: [{ text: "What name?", options: [], freeText: true }],
  });

  const shell = await open("copilot", { event: "permissionRequest", holds: "touch ok1" });
  const approval = { kind: "approval", decisions: ["once", "reject"] };
  assert.deepEqual(shell.dialog, {
    dialog: { ...approval, tool: "bash", request: "command:\n  touch ok1" },
    isShown: false,
  });
  assert.deepEqual(shell.answer(once), { behavior: "allow" });
  assert.deepEqual(shell.answer(reject), { behavior: "deny", message: "not that one" });
  const mcp = await open("copilot", { event: "permissionRequest", holds: "probe/publish" });
  assert.deepEqual(mcp.dialog?.dialog, { ...approval, tool: "probe/publish", request: "name:\n  x" });
});

Deno.test("the hook does not wait for a command that Copilot runs without asking, but asks for every other one [card-approvals]", async () => {
  const { dialogOf } = await hooksOf("copilot");
  const isAsked = (command: string): boolean =>
    dialogOf?.("permissionRequest", { toolName: "bash", toolInput: { command } }) !== undefined;
  const reads = [
    "ls",
    "ls -la src",
    "cat a.txt | head -3",
    "git status",
    "git log --oneline | grep fix",
    "pwd",
  ];
  assert.deepEqual(reads.filter(isAsked), []);
  const others = [
    ...["rm a", "ls; rm a", "ls && rm a", "ls > a", "cat a | sh", "cat $(rm a)", "echo `rm a`", "ls\nrm a"],
    ...["git push", "lsof", "cat a |& rm b", "find . -delete", "ls & rm a", "FOO=1 ls", ""],
  ];
  assert.deepEqual(others.filter((command) => !isAsked(command)), []);
});

Deno.test("OpenCode's questions and permissions are answered by its own request, with the arguments of the call [card-questions, card-approvals]", async () => {
  const ask = await open("opencode", { event: "question.asked", holds: "Which color?" });
  const questions = [{ ...COLOR, multiple: false, freeText: true }];
  assert.deepEqual(ask.dialog, { dialog: { kind: "questions", questions }, isShown: true });
  assert.deepEqual(ask.answer(chosen({ options: [1] })), { reply: { answers: [["Blue"]] } });
  const many = await open("opencode", { event: "question.asked", holds: "Which tests?" });
  const several = chosen({ options: [0, 2], text: "and lint" });
  assert.deepEqual(many.answer(several), { reply: { answers: [["Unit", "Bench", "and lint"]] } });

  const shell = await open("opencode", { event: "permission.asked", holds: "touch ok1" });
  const fields = [
    "command:\n  touch ok1\ndescription:\n  Remove the build folder\npermission:\n  bash",
    'patterns:\n  [\n    "touch ok1"\n  ]\nmetadata:\n  {\n    "command": "touch ok1"\n  }',
    "allowed from then on, with always:",
    '  {\n    "permission": "bash",\n    "patterns": [\n      "touch *"\n    ]\n  }',
  ];
  assert.deepEqual(shell.dialog, {
    dialog: {
      kind: "approval",
      tool: "bash",
      request: fields.join("\n"),
      decisions: ["once", "always", "reject"],
    },
    isShown: true,
  });
  assert.deepEqual(shell.answer(once), { reply: { reply: "once" } });
  assert.deepEqual(shell.answer(always), { reply: { reply: "always" } });
  assert.deepEqual(shell.answer(reject), { reply: { reply: "reject", message: "not that one" } });

  const { dialogOf } = await hooksOf("opencode");
  const { input } = await sampleOf("opencode", { event: "permission.asked", holds: "probe_publish" });
  assert.ok(dialogOf?.("permission.asked", input));
  const edit = await open("opencode", { event: "permission.asked", holds: "oldString" });
  assert.ok(edit.dialog?.dialog.kind === "approval");
  const edits = "filePath:\n  /work/app/a.txt\noldString:\n  one\nnewString:\n  three\npermission:\n  edit\n";
  assert.ok(edit.dialog.dialog.request.startsWith(edits));
  // The event of an MCP tool does not contain its arguments.
  assert.equal(dialogOf?.("permission.asked", { ...input, args: undefined }), undefined);
});

Deno.test("a suggestion of Claude's that would allow more than its dialog offers is not offered as 'always' [card-approvals]", async () => {
  const { dialogOf } = await hooksOf("cc");
  const call = await sampleOf("cc", { event: "PermissionRequest", holds: "npm --version" });
  const decisions = (...permission_suggestions: unknown[]): unknown => {
    const found = dialogOf?.(call.event, { ...call.input, permission_suggestions })?.dialog;
    return found?.kind === "approval" && found.decisions;
  };
  const narrow = ["once", "always", "reject"];
  assert.deepEqual(decisions({ type: "setMode", mode: "acceptEdits", destination: "session" }), narrow);
  assert.deepEqual(decisions({ type: "setMode", mode: "bypassPermissions" }), ["once", "reject"]);
  assert.deepEqual(decisions({ type: "somethingNew" }), ["once", "reject"]);
  assert.deepEqual(decisions("text"), ["once", "reject"]);
  assert.deepEqual(decisions(), ["once", "reject"]);
});

Deno.test("no field's value reads like another field, and none is cut [card-approvals]", () => {
  const one = fieldsText({ command: "touch a\ndescription:\n  harmless" });
  const two = fieldsText({ command: "touch a", description: "harmless" });
  assert.notEqual(one, two);
  assert.equal(one, "command:\n  touch a\n  description:\n    harmless");
  assert.equal(fieldsText({ a: "x\u2028b:\r\ny\rz" }), "a:\n  x\u2028  b:\r\n  y\r  z");
  assert.equal(
    fieldsText({ "a:\nb": [1, { c: "\n" }], d: null, e: "" }).split("\n")[0],
    '"a:\\nb":'.slice(1, -2) + ":",
  );
  const long = "w".repeat(200_000);
  assert.ok(fieldsText({ long }).includes(long));
});

/** Events and shapes that are not dialogs, in addition to the recorded ones of other events. */
const STRANGE: readonly HookInput[] = [
  {},
  { tool_name: "Bash", tool_input: "rm", toolName: "bash", toolInput: "rm", toolArgs: "{" },
  { tool_name: 1, tool_input: {}, toolName: 1, toolInput: {}, toolArgs: {} },
  { tool_input: { command: "rm" }, toolInput: { command: "rm" }, toolArgs: { command: "rm" } },
];

const STRANGE_EVENTS = [
  ...["PreToolUse", "PermissionRequest", "BeforeTool", "preToolUse", "permissionRequest"],
  ...["permission.asked", "question.asked"],
];

/** Inputs of the tools that ask, without anything that can be shown. */
const NO_QUESTIONS: readonly unknown[] = [
  {},
  "text",
  { questions: [] },
  { questions: ["x"] },
  { questions: [{ question: "", options: [] }] },
  { questions: [{ question: "a", options: [{}] }] },
  { questions: [{ question: "a", options: "b" }] },
];

Deno.test("questions of an unknown form are left to the computer, and never treated as a permission [card-questions]", async () => {
  const asking: [kind: AgentKind, event: string, tool: string][] = [
    ["cc", "PermissionRequest", "AskUserQuestion"],
    ["codex", "PreToolUse", "request_user_input"],
    ["gemini", "BeforeTool", "ask_user"],
    ["copilot", "preToolUse", "ask_user"],
    ["opencode", "question.asked", "question"],
  ];
  for (const [kind, event, tool] of asking) {
    const { dialogOf } = await hooksOf(kind);
    for (const asked of NO_QUESTIONS) {
      const input = { tool_name: tool, tool_input: asked, toolName: tool, toolArgs: asked, request: asked };
      assert.equal(dialogOf?.(event, input), undefined, `${kind} ${JSON.stringify(asked)}`);
    }
  }
  const { dialogOf } = await hooksOf("cc");
  const twice = { questions: [{ question: "a" }, { question: "a" }] };
  assert.equal(
    dialogOf?.("PermissionRequest", { tool_name: "AskUserQuestion", tool_input: twice }),
    undefined,
  );
  assert.equal(dialogOf?.("PermissionRequest", { tool_name: "ExitPlanMode", tool_input: {} }), undefined);
});

/** The events that come with a dialog, and a pattern of the tools for which they do. */
const DIALOG_EVENTS: Partial<Record<AgentKind, Record<string, RegExp>>> = {
  cc: { PermissionRequest: /./ },
  codex: { PermissionRequest: /./, PreToolUse: /^request_user_input$/ },
  gemini: { BeforeTool: /^ask_user$/ },
  copilot: { permissionRequest: /./, preToolUse: /^ask_user$/ },
  opencode: { "permission.asked": /./, "question.asked": /./ },
};

Deno.test("an event with another meaning, or an input of an unknown form, is not a dialog [card-questions, card-approvals]", async () => {
  for (const [kind, events] of Object.entries(DIALOG_EVENTS) as [AgentKind, Record<string, RegExp>][]) {
    const { dialogOf } = await hooksOf(kind);
    for (const { event, input } of await samplesOf(kind)) {
      const tool = String(input.tool_name ?? input.toolName);
      const isRead = kind === "copilot" && /"command":"(?:ls|cat)/.test(JSON.stringify(input));
      const isDialog = (events[event]?.test(tool) ?? false) && !isRead;
      assert.equal(dialogOf?.(event, input) !== undefined, isDialog, `${kind} ${event} ${tool}`);
    }
    for (
      const event of STRANGE_EVENTS
    ) {
      for (const input of STRANGE) assert.equal(dialogOf?.(event, input), undefined, JSON.stringify(input));
    }
  }
});
