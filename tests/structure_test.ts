/** Checks what the architecture promises beyond layers and sizes: one builder, one file per agent, one function. */
import assert from "node:assert/strict";
import { agentProfile } from "../src/agents/profiles.ts";
import { AGENT_KINDS } from "../src/agents/registry.ts";
import { AGENT_LABELS } from "../src/protocol/names.ts";
import { CHECKOUT, readSources, type SourceFile } from "./helpers/sources.ts";
import { makeSandbox } from "./helpers/sandbox.ts";

const sources = await readSources("src");

function pathsWith(pattern: RegExp): string[] {
  return sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
}

/** Returns the offsets of each of `parts` in `text`; asserts that all are there. */
function offsets({ path, text }: SourceFile, parts: readonly string[]): number[] {
  return parts.map((part) => {
    assert.ok(text.includes(part), `${path} has no ${part}`);
    return text.indexOf(part);
  });
}

Deno.test("tmux's command line is built in one file [arch-tmux-argv]", () => {
  const allowed = ["src/tmux/argv.ts"];
  // Asking for the version is not a command to a server.
  const starting = pathsWith(/\["tmux",\s*"(?!-V"\])-/);
  assert.deepEqual(starting, allowed);
});

Deno.test("tmux's commands are spelled in one file: listener, mirror and wrapper use its verbs [arch-tmux-argv]", () => {
  const names =
    "[a-z]+-(sessions?|panes?|clients?|environment|options?|server|shell|file|keys|buffer|mode|message|window)";
  const spelled = pathsWith(new RegExp(`\\[\\s*"${names}",?`));
  assert.deepEqual(spelled, ["src/tmux/argv.ts"]);
});

Deno.test("each agent is one folder, and other code reaches it only through the registry [arch-agent-file, cli-agents]", () => {
  const demanded = ["cc", "gemini", "codex", "cursor", "opencode", "copilot", "echo"] as const;
  assert.deepEqual(demanded.filter((kind) => !AGENT_KINDS.includes(kind)), []);
  assert.deepEqual([...AGENT_KINDS].sort(), Object.keys(AGENT_LABELS).sort());
  for (const kind of AGENT_KINDS) {
    const owners = pathsWith(new RegExp(`^  kind: "${kind}",`, "m")).filter((path) =>
      path.startsWith("src/agents/")
    );
    assert.equal(owners.length, 1, kind);
    const folder = owners[0]?.split("/").at(-2);
    const importers = pathsWith(
      new RegExp(`(?:from |import\\()"\\S*agents/${folder}/(?:profile|hooks|setup)\\.ts"`),
    );
    assert.deepEqual(importers, [], `${kind} is known outside src/agents`);
    const registrants = pathsWith(new RegExp(`"\\./${folder}/(?:profile|hooks|setup)\\.ts"`));
    assert.deepEqual(registrants, ["src/agents/registry.ts"], `${kind} is known outside the registry`);
  }
});

Deno.test("an agent's kind and label are those of the wire's names [spec-cc]", () => {
  for (const kind of AGENT_KINDS) {
    assert.equal(agentProfile(kind).kind, kind);
    assert.equal(agentProfile(kind).label, AGENT_LABELS[kind]);
  }
  assert.equal(agentProfile("cc").binary, "claude");
});

Deno.test("the editor's terminal agent is a separate program [spec-cursor-binary]", () => {
  assert.equal(agentProfile("cursor").binary, "cursor-agent");
});

Deno.test("the steps of an injection are in one file, in the specified order [inj-one-function]", async () => {
  const path = "src/listener/inject/inject.ts";
  const text = await Deno.readTextFile(CHECKOUT + path);
  const steps = [
    "findAsked(command, context, early)",
    "attempt.rateLimit.take(",
    "isShellEscape(command",
    "changesApproval(command",
    "holdReason(pane",
    "attempt.effects.writeMarker(",
    "await typeText(",
    "await submitTyped(attempt, {",
    "typedStatus(attempt, typed",
    "pressEnter(attempt, before",
    "await confirm(attempt",
  ];
  const body = text.slice(text.indexOf("export async function inject("));
  const found = offsets({ path, text: body }, steps);
  assert.deepEqual(found, found.toSorted((a, b) => a - b));
});

Deno.test("wrapper and inventory take names and labels from the wire [flow-4-label]", () => {
  const spelled = pathsWith(/svc-\$\{[\w.]*project|\} · \$\{|\} #\$\{/i);
  assert.deepEqual(spelled, ["src/protocol/names.ts"]);
});

Deno.test("SQLite and NATS run the cases of the same contract [style-store-bodies]", async () => {
  for (const kind of ["sqlite", "nats"]) {
    const text = await Deno.readTextFile(`${CHECKOUT}tests/contract/store_${kind}_cases.ts`);
    assert.match(text, /storeCases\(/, kind);
  }
});

Deno.test("two sandboxes have separate homes and tmux servers, which are gone at the end [style-private-tmux]", async () => {
  const roots: string[] = [];
  {
    await using one = await makeSandbox();
    await using other = await makeSandbox();
    roots.push(one.root, other.root);
    await one.tmux("new-session", "-d", "-s", "svc-p");
    await other.tmux("new-session", "-d", "-s", "svc-q");
    assert.equal(await one.tmux("list-sessions", "-F", "#{session_name}"), "svc-p\n");
    assert.equal(await other.tmux("list-sessions", "-F", "#{session_name}"), "svc-q\n");
    assert.notEqual(one.env.HOME, other.env.HOME);
    assert.ok(!("TMUX" in one.env));
  }
  for (const root of roots) await assert.rejects(Deno.stat(root), Deno.errors.NotFound);
});
