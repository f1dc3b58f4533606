/** The commands that make a session. */
import assert from "node:assert/strict";
import { sessionCommands, type SessionPlan } from "../../../src/wrapper/session_commands.ts";

const PLAN: SessionPlan = {
  name: "svc-p",
  kind: "cc",
  project: { name: "p", root: "/work/p" },
  cwd: "/work/p/src",
  version: "1.2.3",
  agent: ["/bin/claude", "--resume", "--", "a;"],
  environment: { session: { A: "1" }, unset: ["OLD"], agent: {} },
  size: { columns: 100, rows: 30 },
  attaching: undefined,
};

function options(plan: SessionPlan): Record<string, string> {
  const set = sessionCommands(plan).filter(([verb]) => verb === "set-option");
  return Object.fromEntries(set.map((command) => command.slice(-2)));
}

Deno.test("the agent's words follow untouched [spec-args]", () => {
  const [create = []] = sessionCommands(PLAN);
  assert.deepEqual(create.slice(create.indexOf("--")), [
    ...["--", "env", "-u", "OLD"],
    ...["/bin/claude", "--resume", "--", "a;"],
  ]);
});

Deno.test("the session carries what the listener needs [wr-options]", () => {
  const carried = options(PLAN);
  assert.equal(carried["@svc_agent"], "cc");
  assert.equal(carried["@svc_project"], "p");
  assert.equal(carried["@svc_version"], "1.2.3");
  assert.equal(carried["@svc_pane"], "#{pane_id}");
  assert.equal(carried["@svc_pid"], "#{pane_pid}");
});

Deno.test("the directory of its markers is the project's, or the agent's where that lies elsewhere", () => {
  assert.equal(options(PLAN)["@svc_dir"], "/work/p");
  assert.equal(options({ ...PLAN, cwd: "/work/p" })["@svc_dir"], "/work/p");
  assert.equal(options({ ...PLAN, cwd: "/work/pq" })["@svc_dir"], "/work/pq");
});

Deno.test("leaving the agent ends the session, leaving the terminal does not [wr-own-process]", () => {
  assert.equal(options(PLAN)["remain-on-exit"], "off");
  assert.equal(options(PLAN)["destroy-unattached"], "off");
});

Deno.test("only a wrapper that attaches claims the session", () => {
  assert.equal(options(PLAN)["@svc_claim"], undefined);
  assert.equal(options({ ...PLAN, attaching: { claim: "c", lastWords: "/l" } })["@svc_claim"], "c");
});
