/** What svc verify says about hooks that an earlier svc setup registered. */
import assert from "node:assert/strict";
import { staleText } from "../../../../../src/cli/checks/agents/agents.ts";

const path = "/home/u/.codex/hooks.json";
const entry = (argument: string): string =>
  `{"command":"/s/bin/svc hook PermissionRequest codex ${argument}"}`;

Deno.test("an older registration works, and svc verify says that no phone can answer through it [card-registered]", () => {
  const older = staleText([{ path, before: entry("gates"), after: entry("cards") }]);
  assert.match(
    older,
    /^they work, in an older form that lets no phone answer .*; svc setup would change \/home/,
  );
  const moved = staleText([{ path, before: `old ${entry("cards")}`, after: entry("cards") }]);
  assert.equal(moved, `they work; svc setup would change ${path}`);
});
