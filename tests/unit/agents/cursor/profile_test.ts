/** The Cursor-class agent's screens from published screenshots: it needs an account, so there are no captures of our own. */
import assert from "node:assert/strict";
import { profile as cursor } from "../../../../src/agents/cursor/profile.ts";

function read(...rows: string[]): ReturnType<typeof cursor.readScreen> {
  const lines = ["  Cursor Agent", "", ...rows];
  return cursor.readScreen({ lines, title: "", cursor: { x: 0, y: 0, visible: true } });
}

function composer(text: string): string[] {
  return [" ▄▄▄▄▄▄▄▄▄▄▄▄", ` → ${text}`, " ▀▀▀▀▀▀▀▀▀▀▀▀", "  GPT-5.2", "  ~/proj · main"];
}

Deno.test("its input line is read, and its hints are empty [inj-profile, inj-draft]", () => {
  const idle = { state: "idle", focus: "composer", draft: "" };
  assert.deepEqual(read(...composer("Plan, search, build anything")), idle);
  assert.deepEqual(read(...composer("Add a follow-up")), idle);
  assert.deepEqual(read(...composer("half typed")), { ...idle, draft: "half typed" });
});

Deno.test("work is recognized by the key that stops it [inj-profile, ls-state-order]", () => {
  assert.equal(read(...composer("Add a follow-up"), "  ctrl+c to stop").state, "working");
});

for (
  const question of [
    ["  Run this command?", "  → Something else"],
    ["  Not in allowlist: rm"],
    ["  → Run (once) (y)"],
    ["  │ → Allow (y) (enter) │"],
    ["    Skip (esc or n)"],
    ["    Add Shell(rm) to allowlist? (tab)"],
    ["  Waiting for approval..."],
    ["  Press any key to log in"],
  ]
) {
  Deno.test(`it waits at "${question[0]?.trim()}" [inj-dialog]`, () => {
    assert.deepEqual(read(...question), { state: "waiting", focus: "dialog", draft: undefined });
  });
}
