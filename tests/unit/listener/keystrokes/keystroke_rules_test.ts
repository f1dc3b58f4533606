/** Which live input would run a shell command in the agent, and the cost of each input. */
import assert from "node:assert/strict";
import type { ScreenReading } from "../../../../src/agents/profile.ts";
import { agentProfile } from "../../../../src/agents/profiles.ts";
import { KeystrokeLimit, PASTE_COST } from "../../../../src/listener/keystrokes/keystroke_rules.ts";
import {
  afterInput,
  continuesEscape,
  costOf,
  draftRefusal,
  isLineBegun,
  type Keystroke,
  mayBeElsewhere,
  needsCaughtUp,
  PHONE_KEYS,
  screenRefusal,
} from "../../../../src/listener/keystrokes/keystroke_rules.ts";
import type { ComposerModel } from "../../../../src/listener/inject/pane_input.ts";
import { changesApproval, type Policy } from "../../../../src/listener/inject/policy.ts";
import type { TargetProfile } from "../../../../src/listener/targets.ts";
import { decodeKeyInput, encodeKeyInput } from "../../../../src/protocol/key_input.ts";
import { KEYS_PER_SECOND } from "../../../../src/protocol/limits.ts";
import { DEFAULT_POLICY } from "../../../helpers/fake_pane.ts";

const text = (text: string): Keystroke => ({ type: "text", text });
const key = (key: string): Keystroke => ({ type: "key", key });
const paste = (text: string): Keystroke => ({ type: "paste", text });

const CLAUDE = agentProfile("cc");
const PROFILE: TargetProfile = {
  ...CLAUDE,
  commands: ["model", "compact"],
  keys: { alsoAllowed: ["C-o"], forbidden: ["C-b"] },
  menus: { models: { keys: ["Enter"], text: /^[a-z]$/ } },
};

const model = (change: Partial<ComposerModel>): ComposerModel => ({
  expected: "",
  seen: "",
  isConfirmed: true,
  isAtEnd: true,
  lastText: "",
  hasPaste: false,
  hasMovedChoice: false,
  mayHaveLeft: false,
  awaitsView: false,
  isFromPhone: false,
  afterEscape: false,
  isSinceMessage: false,
  keyAt: 0,
  ...change,
});

const onScreen = (input: Keystroke, reading: Partial<ScreenReading>, policy: Partial<Policy> = {}) =>
  screenRefusal(input, {
    reading: { state: "idle", focus: "composer", draft: "", ...reading },
    profile: PROFILE,
    policy: { ...DEFAULT_POLICY, ...policy },
  });

const inDraft = (input: Keystroke, change: Partial<ComposerModel>, policy: Partial<Policy> = {}) =>
  draftRefusal(input, { model: model(change), profile: PROFILE, policy: { ...DEFAULT_POLICY, ...policy } });

Deno.test("keystroke rules: ! neither begins an input line nor is submitted in one [inj-shell-escape]", () => {
  assert.equal(inDraft(text("!"), {}), "shell_escape");
  assert.equal(inDraft(text("  !ls"), {}), "shell_escape");
  assert.equal(inDraft(paste("!ls"), {}), "shell_escape");
  assert.equal(inDraft(text("\u200b!ls"), {}), "shell_escape");
  assert.equal(inDraft(text("!"), { seen: "\u200b" }), "shell_escape");
  assert.equal(inDraft(text("!"), { seen: "Hello" }), undefined);
  assert.equal(
    inDraft(text("!"), { seen: "Hello", isAtEnd: false }),
    "shell_escape",
    "it may go to the start",
  );
  assert.equal(inDraft(text("Hello!"), {}), undefined);
  for (const name of ["Enter", "M-Enter", "Tab"]) {
    assert.equal(inDraft(key(name), { seen: "!ls" }), "shell_escape");
    assert.equal(inDraft(key(name), { seen: "\u200b!ls" }), "shell_escape");
  }
  assert.equal(inDraft(key("Enter"), { seen: "ls!" }), undefined);
  assert.equal(inDraft(key("Left"), { seen: "!ls" }), undefined);
  assert.equal(inDraft(key("Enter"), { seen: "!ls" }, { allowShellEscape: true }), undefined);
});

Deno.test("keystroke rules: a slash command is submitted whole, by its own name, and only when it changes no approval [inj-approval-command, inj-command-cursor]", () => {
  assert.equal(inDraft(key("Enter"), { seen: "/model" }), undefined);
  assert.equal(inDraft(key("Enter"), { seen: "/model opus" }), undefined);
  assert.equal(inDraft(key("Enter"), { seen: "/permissions" }), "approval_change");
  assert.equal(
    inDraft(key("Enter"), { seen: "/mod" }),
    "approval_change",
    "the suggestion that is chosen would run",
  );
  assert.equal(inDraft(key("Enter"), { seen: "/model", hasMovedChoice: true }), "approval_change");
  assert.equal(
    inDraft(key("Enter"), { seen: "//connect now", hasMovedChoice: true }),
    "approval_change",
    "agents show their commands for the part before the cursor",
  );
  assert.equal(inDraft(key("Tab"), { seen: "/mod" }), undefined);
  const within = (policy: Partial<Policy>, seen = "/model") =>
    draftRefusal(key("Enter"), {
      model: model({ seen }),
      cursorInCommand: true,
      profile: PROFILE,
      policy: { ...DEFAULT_POLICY, ...policy },
    });
  assert.equal(within({}), "approval_change", "the part before the cursor may name another one");
  assert.equal(within({}, "//connect now"), "approval_change");
  assert.equal(within({ allowApprovalChange: true }), undefined);
  assert.equal(inDraft(key("Enter"), { seen: "/src/app.ts is broken" }), undefined);
  const path = (seen: string) =>
    draftRefusal(key("Enter"), {
      model: model({ seen }),
      profile: agentProfile("opencode"),
      policy: DEFAULT_POLICY,
    });
  assert.equal(path("/t/"), "approval_change", "OpenCode finds its /exit by /quit and /q");
  assert.equal(path("/tmp/app.ts is broken"), undefined);
  assert.equal(inDraft(key("Enter"), { seen: "/deploy" }, { allowCommands: ["deploy"] }), undefined);
});

Deno.test("keystroke rules: a composer gets the common keys except those its profile forbids [inj-key-allowlist]", () => {
  for (const name of PHONE_KEYS.filter((one) => one !== "C-b")) {
    assert.equal(onScreen(key(name), {}), undefined, name);
  }
  assert.equal(onScreen(key("C-o"), {}), undefined);
  for (const name of ["C-b", "C-g", "C-z", "C-x", "C-d", "F1", "M-p", "C-m", "C-j"]) {
    assert.equal(onScreen(key(name), {}), "key_not_allowed", name);
  }
  for (const name of ["BTab", "C-y"]) {
    assert.equal(onScreen(key(name), {}), "approval_change", name);
    assert.equal(onScreen(key(name), {}, { allowApprovalChange: true }), undefined, name);
  }
});

Deno.test("keystroke rules: the last text is kept until a key may have removed it [inj-fresh-screen]", () => {
  const after = (...inputs: Keystroke[]): string =>
    inputs.reduce((before, input) => afterInput(before, input, 1), model({})).lastText;
  assert.equal(after(text("/edi"), text("tor")), "tor");
  assert.equal(after(paste("/editor")), "/editor");
  assert.equal(after(text("/editor"), key("Home"), key("Left")), "/editor");
  assert.equal(after(text("ab"), key("BSpace")), "a");
  for (const name of ["Enter", "Escape", "C-u", "Up", "Tab"]) {
    assert.equal(after(text("/editor"), key(name)), "", name);
  }
});

Deno.test("keystroke rules: Tab, which does more than complete in most agents, is typed only into Claude [inj-key-allowlist]", () => {
  const refusal = (kind: "cc" | "codex" | "gemini" | "opencode" | "copilot") =>
    screenRefusal(key("Tab"), {
      reading: { state: "idle", focus: "composer", draft: "" },
      profile: agentProfile(kind),
      policy: DEFAULT_POLICY,
    });
  assert.equal(refusal("cc"), undefined);
  for (const kind of ["codex", "gemini", "opencode", "copilot"] as const) {
    assert.equal(refusal(kind), "key_not_allowed", kind);
  }
});

Deno.test("keystroke rules: after a key that may open another view nothing is typed until a screen shows its effect [inj-key-view]", () => {
  for (const name of ["C-o", "Enter", "Tab", "M-Enter"]) {
    const after = afterInput(model({ seen: "ab" }), key(name), 1);
    for (const next of [text("v"), paste("v"), key("BSpace"), key("C-o")]) {
      assert.equal(mayBeElsewhere(next, after), true, name);
    }
    assert.equal(mayBeElsewhere(key("Escape"), after), false, "it leads back");
    assert.equal(
      mayBeElsewhere(text("v"), afterInput(after, key("Escape"), 2)),
      true,
      "Escape shows nothing",
    );
    assert.equal(mayBeElsewhere(text("v"), { ...after, isConfirmed: true }), false);
    assert.equal(mayBeElsewhere(text("v"), afterInput({ ...after, isConfirmed: true }, text("a"), 2)), false);
  }
  for (const input of [text("a"), key("Left"), key("BSpace"), key("Up"), paste("a")]) {
    assert.equal(mayBeElsewhere(text("v"), afterInput(model({}), input, 1)), false);
  }
});

Deno.test("keystroke rules: a draft whose beginning may be out of sight is not submitted: it may be a slash command [inj-approval-command]", () => {
  const enter = (seen: string, policy: Partial<Policy> = {}, cut?: true) =>
    draftRefusal(key("Enter"), {
      model: model({ seen }),
      cut,
      profile: PROFILE,
      policy: { ...DEFAULT_POLICY, ...policy },
    });
  const tall = "one\ntwo\nthree\nfour\nfive";
  assert.equal(enter("the end of it", {}, true), "screen_stale");
  assert.equal(enter(tall), "screen_stale");
  assert.equal(enter(tall, { allowApprovalChange: true }), "screen_stale", "it may begin with !");
  assert.equal(enter(tall, { allowApprovalChange: true, allowShellEscape: true }), undefined);
  assert.equal(enter("one\ntwo\nthree\nfour"), undefined);
});

Deno.test("keystroke rules: a key that acts differently on an empty composer is typed only after a draft [inj-key-allowlist]", () => {
  const profile: TargetProfile = { ...PROFILE, keys: { ...PROFILE.keys, forbiddenWhenEmpty: ["Left"] } };
  const refusal = (change: Partial<ComposerModel>) =>
    draftRefusal(key("Left"), { model: model(change), profile, policy: DEFAULT_POLICY });
  assert.equal(refusal({}), "key_not_allowed");
  assert.equal(refusal({ seen: "ab", expected: "ab" }), undefined);
  assert.equal(needsCaughtUp(key("Left"), model({ expected: "" }), profile), true);
  assert.equal(needsCaughtUp(key("Left"), model({ expected: undefined }), profile), true);
  assert.equal(needsCaughtUp(key("Left"), model({ expected: "ab" }), profile), false);
  assert.deepEqual(
    afterInput(model({ expected: "ab" }), key("Left"), 7),
    model({ expected: "ab", isAtEnd: false, isSinceMessage: true, keyAt: 7 }),
  );
});

Deno.test("keystroke rules: Enter is judged by what a folded paste hides, and refused if that is unknown [inj-hidden]", () => {
  const folded = "[Pasted text #1 +12 lines]";
  const refusal = (change: Partial<ComposerModel>, policy: Partial<Policy> = {}) =>
    draftRefusal(key("Enter"), {
      model: model({ seen: folded, hasPaste: true, ...change }),
      profile: PROFILE,
      policy: { ...DEFAULT_POLICY, ...policy },
    });
  assert.equal(refusal({ expected: "see this\n".repeat(12) }), undefined);
  assert.equal(refusal({ expected: "!touch X #\n".repeat(12) }), "shell_escape");
  assert.equal(refusal({ expected: "/hooks enable-all\n".repeat(12) }), "approval_change");
  for (const expected of [undefined, folded, `a${folded}`]) {
    assert.equal(refusal({ expected }), "screen_stale", String(expected));
    const both = { allowShellEscape: true, allowApprovalChange: true };
    assert.equal(refusal({ expected }, both), undefined, String(expected));
  }
  for (const seen of [`a ${folded} b`, "[Pasted text\n#1 +12 li\nnes]"]) {
    assert.equal(refusal({ seen, expected: seen }), "screen_stale", seen);
  }
  const unknown = model({ expected: undefined });
  assert.ok(needsCaughtUp(paste("long"), unknown, PROFILE), "what it is pasted behind has to be known");
  assert.ok(!needsCaughtUp(paste("long"), model({}), PROFILE));
});

Deno.test("keystroke rules: a harmless command is refused with arguments that its agent runs, or with another command after it [inj-hidden, inj-approval-command]", () => {
  const profile = { commands: ["compact", "init"], bareCommands: ["init"] };
  const refused = (text: string) => changesApproval(text, profile, DEFAULT_POLICY);
  for (
    const good of ["/compact", "/compact the tests in src/x", "/compact see /etc/hosts", "/init", " /init "]
  ) {
    assert.ok(!refused(good), good);
  }
  const stacked = ["/compact /statusline x", "/compact  /plugin"];
  const blanks = ["/compact\nx", "/compact\u00a0x", "/compact\u3000x"];
  for (const bad of ["/init x", "/init !`touch X`", "/init [Pasted ~5 lines]", ...stacked, ...blanks]) {
    assert.ok(refused(bad), JSON.stringify(bad));
    assert.ok(!changesApproval(bad, profile, { ...DEFAULT_POLICY, allowApprovalChange: true }));
  }
});

Deno.test("keystroke rules: a command with a slash in its name, as OpenCode calls one in a folder, is refused like any other of the user's own; a path is text [inj-approval-command]", () => {
  const refused = (text: string, kind: "opencode" | "cc", policy = DEFAULT_POLICY) =>
    changesApproval(text, agentProfile(kind), policy);
  for (const own of ["/git/commit", "/git/commit !`touch X`", " /a/b/c x", "/git/commit\nx"]) {
    assert.ok(refused(own, "opencode"), own);
    assert.ok(!refused(own, "cc"), own);
  }
  for (const path of ["/home/me/x.png what is this?", "/tmp/x", "// a comment", "/git/", "see /git/commit"]) {
    assert.ok(!refused(path, "opencode"), path);
  }
  assert.ok(!refused("/git/commit x", "opencode", { ...DEFAULT_POLICY, allowCommands: ["git/commit"] }));
});

Deno.test("keystroke rules: text that would continue an escape sequence is recognized, so that it cannot combine with an earlier Escape [inj-after-escape]", () => {
  for (const one of ["[Z", "[103;5u", "OP", "]0;", "P+q"]) assert.ok(continuesEscape(text(one)), one);
  assert.ok(continuesEscape(paste("[Z")));
  for (const one of ["a", " [Z", "hello"]) assert.ok(!continuesEscape(text(one)), one);
  assert.ok(!continuesEscape(key("Up")));
});

Deno.test("keystroke rules: outside the composer only keys that leave the screen, and those that a harmless menu accepts, are typed [inj-unknown-keys]", () => {
  const unknown = { focus: "unknown", draft: undefined } as const;
  const menu = { focus: "menu", draft: undefined, menu: "models" } as const;
  const dialog = { focus: "dialog", draft: undefined } as const;
  for (const name of ["Escape", "Up", "Down", "Left", "Right"]) {
    assert.equal(onScreen(key(name), unknown), undefined, name);
    assert.equal(onScreen(key(name), menu), undefined, name);
    assert.equal(onScreen(key(name), dialog), "dialog_open", name);
  }
  for (const input of [key("Enter"), key("Tab"), text("a"), paste("a"), key("C-c")]) {
    assert.equal(onScreen(input, unknown), "unknown_screen");
    assert.equal(onScreen(input, dialog), "dialog_open");
  }
  assert.equal(onScreen(key("Enter"), menu), undefined);
  assert.equal(onScreen(text("v"), menu), undefined);
  for (const input of [text("vim"), paste("v"), key("Tab")]) {
    assert.equal(onScreen(input, menu), "unknown_screen");
  }
  assert.equal(onScreen(text("a"), { ...menu, menu: "constructor" }), "unknown_screen");
  assert.equal(onScreen(text("a"), unknown, { allowUnknownScreens: true }), undefined);
  assert.equal(onScreen(key("C-z"), unknown, { allowUnknownScreens: true }), "key_not_allowed");
});

Deno.test("keystroke rules: a host may let phones reject dialogs, or answer them [inj-dialog-allowed]", () => {
  const dialog = { focus: "dialog", draft: undefined } as const;
  assert.equal(onScreen(key("Escape"), dialog, { approval: "reject" }), undefined);
  assert.equal(onScreen(key("Enter"), dialog, { approval: "reject" }), "dialog_open");
  assert.equal(onScreen(key("Enter"), dialog, { approval: "once" }), undefined);
});

Deno.test("keystroke rules: text begins a line, and a key that ends it begins a new one", () => {
  assert.equal(isLineBegun(false, text("a")), true);
  assert.equal(isLineBegun(false, text("  ")), false);
  assert.equal(isLineBegun(true, key("Left")), true);
  for (const end of ["Enter", "Escape", "C-c", "C-u"]) assert.equal(isLineBegun(true, key(end)), false, end);
});

Deno.test("keystroke limit: a burst, then a steady rate; a paste counts as several keys", () => {
  const limit = new KeystrokeLimit(0);
  assert.deepEqual([text("a漢👍"), key("Up"), paste("long")].map(costOf), [3, 1, PASTE_COST]);
  for (let at = 0; at < KEYS_PER_SECOND; at++) assert.equal(limit.take(1, 0), 0);
  assert.equal(limit.take(1, 0), 1_000 / KEYS_PER_SECOND);
  assert.equal(limit.take(1, 5), 0);
  assert.ok(limit.take(1, 5) > 0);
  assert.equal(limit.take(300, 1_000_000), 0, "more than fits goes into debt");
  assert.ok(limit.take(1, 1_000_400) > 0);
});

Deno.test("keystrokes: only known keys, plain characters and bodies are valid input", () => {
  const good = [
    { type: "text", text: "a漢👨‍👩‍👧" },
    { type: "key", key: "BTab" },
    { type: "key", key: "C-c" },
    { type: "key", key: "M-Enter" },
    { type: "paste", text: "two\nlines\t" },
    { type: "fit", cols: 40, rows: 20 },
    { type: "unfit" },
  ] as const;
  for (const input of good) assert.deepEqual(decodeKeyInput(encodeKeyInput(input)), input);
  const bad: unknown[] = [
    { type: "text", text: "" },
    { type: "text", text: "a\r" },
    { type: "text", text: "\u001b[A" },
    { type: "text", text: "x".repeat(257) },
    { type: "text", text: "\ud800" },
    { type: "key", key: "C-[" },
    { type: "key", key: "-t" },
    { type: "key", key: "Any" },
    { type: "paste", text: "a\u0003" },
    { type: "paste", text: "x".repeat(16_385) },
    { type: "fit", cols: 2, rows: 2 },
    { type: "run", text: "ls" },
    "text",
  ];
  for (const input of bad) {
    assert.equal(
      decodeKeyInput(new TextEncoder().encode(JSON.stringify(input))),
      undefined,
      JSON.stringify(input),
    );
  }
  assert.equal(decodeKeyInput(new Uint8Array([0xff, 0x7b])), undefined);
});
