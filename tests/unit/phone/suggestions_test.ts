/** Which slash commands the composer suggests. */

import assert from "node:assert/strict";
import { AGENT_KINDS } from "../../../src/agents/registry.ts";
import { agentProfile } from "../../../src/agents/profiles.ts";
import { changesApproval } from "../../../src/listener/inject/policy.ts";
import { suggestedCommands } from "../../../src/phone/views/suggestion_list.tsx";
import { DEFAULT_POLICY } from "../../helpers/fake_pane.ts";

Deno.test("only commands that a host with the default configuration accepts are suggested [ux-commands]", () => {
  for (const kind of AGENT_KINDS) {
    const suggested = suggestedCommands("/", kind);
    const { commands } = agentProfile(kind);
    assert.deepEqual(suggested, commands.map((name) => `/${name}`), kind);
    const refused = suggested.filter((text) => changesApproval(text, { commands }, DEFAULT_POLICY));
    assert.deepEqual(refused, [], kind);
  }
});

Deno.test("suggestions begin with the draft, then contain it; a whole command and a path have none [ux-commands]", () => {
  assert.deepEqual(suggestedCommands("/co", "cc"), ["/compact", "/context", "/color"]);
  assert.deepEqual(suggestedCommands("/r", "cc").slice(3, 6), ["/release-notes", "/clear", "/effort"]);
  assert.deepEqual(suggestedCommands("/Com", "cc"), ["/compact"]);
  assert.deepEqual(suggestedCommands("/ea", "cc"), ["/clear", "/release-notes"]);
  for (const draft of ["", "clear", " /", "/clear", "/clear now", "/home/", "/x\n", "//"]) {
    assert.deepEqual(suggestedCommands(draft, "cc"), [], JSON.stringify(draft));
  }
  assert.deepEqual([suggestedCommands("/", ""), suggestedCommands("/", "constructor")], [[], []]);
});
