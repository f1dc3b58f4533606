/** Which agent a process is, by its name and its arguments. */
import assert from "node:assert/strict";
import { agentKindOfProgram } from "../../../src/agents/program.ts";

const MODULES = "/usr/lib/node_modules";

Deno.test("an agent is recognized by the name of its program [read-unrecorded]", () => {
  assert.equal(agentKindOfProgram("claude", ["claude", "--continue"]), "cc");
  assert.equal(agentKindOfProgram("/usr/local/bin/opencode", ["opencode"]), "opencode");
  assert.equal(agentKindOfProgram("cursor-agent", ["cursor-agent"]), "cursor");
});

Deno.test("an agent that node runs is recognized by its script [read-unrecorded]", () => {
  const node = (...words: string[]) => agentKindOfProgram("node", ["node", ...words]);
  assert.equal(node("/usr/bin/codex"), "codex");
  assert.equal(node("--max-old-space-size=4096", "/usr/bin/gemini"), "gemini");
  assert.equal(node(`${MODULES}/@google/gemini-cli/bundle/gemini.js`), "gemini");
  assert.equal(node(`${MODULES}/@github/copilot/index.js`), "copilot");
  assert.equal(node(`${MODULES}/@openai/codex/bin/codex.js`, "resume"), "codex");
});

Deno.test("no other program is an agent, whatever its arguments are [read-unrecorded]", () => {
  const none = [
    agentKindOfProgram("bash", ["bash", "claude"]),
    agentKindOfProgram("vi", ["vi", "/usr/bin/claude"]),
    agentKindOfProgram("node", ["node"]),
    agentKindOfProgram("node", ["node", "-i"]),
    agentKindOfProgram("node", ["node", "server.js", "/usr/bin/claude"]),
    agentKindOfProgram("node", ["node", `${MODULES}/@openai/codex/node_modules/other/index.js`]),
    agentKindOfProgram("svc", ["svc", "echo-agent"]),
    agentKindOfProgram("", []),
  ];
  assert.deepEqual(none, none.map(() => undefined));
});
