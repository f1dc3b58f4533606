/** Names that several programs must build the same way. */
import assert from "node:assert/strict";
import {
  AGENT_LABELS,
  isAgentKind,
  isSessionName,
  listenerDeviceId,
  projectName,
  SESSION_NAME_MAX_CHARS,
  sessionLabel,
  sessionName,
  sessionOrdinal,
} from "../../../src/protocol/names.ts";

Deno.test("a session name has only allowed characters and is not too long [lim-charset, push-session]", () => {
  for (const name of ["svc-proj", "a", "A.b_c-9", "x".repeat(SESSION_NAME_MAX_CHARS)]) {
    assert.ok(isSessionName(name), name);
  }
  const bad = ["", "a b", "a:b", "=a", "a\n", "\na", "svc;ls", "$(id)", "a/b", "é", "a\u0000"];
  for (const name of [...bad, "x".repeat(SESSION_NAME_MAX_CHARS + 1)]) {
    assert.ok(!isSessionName(name), JSON.stringify(name));
  }
});

Deno.test("a project is the basename with other characters replaced by underscores [wr-underscore]", () => {
  assert.equal(projectName("/home/user/proj"), "proj");
  assert.equal(projectName("/home/user/my proj.v2/"), "my_proj_v2");
  assert.equal(projectName("/srv/a:b"), "a_b");
  assert.equal(projectName("/srv/👩"), "_");
  assert.equal(projectName("/"), "project");
  assert.equal(projectName(""), "project");
  assert.ok(isSessionName(sessionName(projectName(`/${"x".repeat(500)}`), 999_999)));
});

Deno.test("only sessions after the first have a number", () => {
  assert.deepEqual([1, 2, 3].map((ordinal) => sessionName("p", ordinal)), ["svc-p", "svc-p-2", "svc-p-3"]);
});

Deno.test("an ordinal is parsed only from the names of its own project", () => {
  for (const ordinal of [1, 2, 10]) assert.equal(sessionOrdinal(sessionName("p", ordinal), "p"), ordinal);
  for (const name of ["svc-p-1", "svc-p-0", "svc-p-02", "svc-p-x", "svc-pp", "svc-p-2-2", "p", ""]) {
    assert.equal(sessionOrdinal(name, "p"), undefined, name);
  }
});

Deno.test("labels have the project, the agent and, from the second on, the number [wrap-label]", () => {
  assert.equal(sessionLabel("proj", AGENT_LABELS.cc, 1), "proj · Claude");
  assert.equal(sessionLabel("proj", AGENT_LABELS.codex, 2), "proj · Codex #2");
});

Deno.test("only the known words are agent kinds", () => {
  for (const kind of ["cc", "gemini", "codex", "cursor", "opencode", "copilot"]) assert.ok(isAgentKind(kind));
  for (const word of ["claude", "", "toString", "__proto__"]) assert.ok(!isAgentKind(word), word);
});

Deno.test("a listener's device id has 8 hex digits of its hostname's digest [push-target]", async () => {
  assert.equal(await listenerDeviceId("build-host"), await listenerDeviceId("build-host"));
  assert.match(await listenerDeviceId("build-host"), /^dev_listener_[0-9a-f]{8}$/);
  assert.notEqual(await listenerDeviceId("build-host"), await listenerDeviceId("other-host"));
  assert.equal(await listenerDeviceId(""), "dev_listener_e3b0c442");
});
