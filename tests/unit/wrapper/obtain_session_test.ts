/** The commands that create a session, and the agent's environment in it. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { agentProfile } from "../../../src/agents/profiles.ts";
import {
  obtainSession,
  paneArgv,
  paneEnvironment,
  sessionCommands,
  type SessionPlan,
} from "../../../src/wrapper/obtain_session.ts";
import { makeSandbox } from "../../helpers/sandbox.ts";

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

Deno.test("a session whose agent's pane is gone is attached, without a process that could outlive it", async () => {
  await using sandbox = await makeSandbox();
  const { env, tmuxSocket: socket } = sandbox;
  const root = await Deno.realPath(sandbox.project);
  await sandbox.newSession("svc-p", ["sleep", "1000"]);
  const recorded = { agent: "cc", root, pane: "%99" };
  for (const [name, value] of Object.entries(recorded)) {
    await sandbox.tmux("set-option", "-t", "=svc-p:", `@svc_${name}`, value);
  }
  const tmux = { commands: runtime.commands, socket, env, serverEnv: env };
  const obtained = await obtainSession(tmux, {
    ...{ profile: agentProfile("cc"), project: { name: "p", root }, cwd: root, env, version: "1.2.3" },
    ...{ agent: ["claude"], size: { columns: 80, rows: 24 }, lastWords: undefined },
    now: Date.now,
    announce: () => assert.fail("no session begins"),
    checkTmux: () => Promise.resolve(),
  });
  assert.deepEqual(obtained, { name: "svc-p", pid: undefined, created: false });
});

function options(plan: SessionPlan): Record<string, string> {
  const set = sessionCommands(plan).filter(([verb]) => verb === "set-option");
  return Object.fromEntries(set.map((command) => command.slice(-2)));
}

Deno.test("the agent's arguments are passed on unchanged [spec-args]", () => {
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

Deno.test("markers are keyed by the project's directory, or by the agent's when that is outside the project", () => {
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

Deno.test("the session gets the wrapper's variables except those of the pane; the agent alone gets svc's [wr-session-env]", () => {
  const { session, agent } = paneEnvironment({
    own: {
      PATH: "/new",
      KEY: "k",
      TERM: "xterm",
      TMUX: "/s,1,0",
      PWD: "/p",
      SHLVL: "2",
      SVC_SESSION: "svc-old",
    },
    server: [],
    svc: { SVC_SESSION: "svc-p", WAIT: "0" },
  });
  assert.deepEqual(session, { PATH: "/new", KEY: "k" });
  assert.deepEqual(agent, { SVC_SESSION: "svc-p", WAIT: "0" });
});

Deno.test("variables that only the old server has are removed, except those that tmux sets", () => {
  const { unset } = paneEnvironment({
    own: { PATH: "/new" },
    server: ["PATH", "CLAUDECODE", "TERM", "SHLVL", "STALE"],
    svc: { SVC_SESSION: "svc-p" },
  });
  assert.deepEqual(unset, ["CLAUDECODE", "STALE"]);
});

Deno.test("env execs the agent without a shell, however few arguments it has [wr-own-process]", () => {
  const empty = { session: {}, unset: [], agent: {} };
  assert.deepEqual(paneArgv(empty, ["/bin/claude"]), ["env", "/bin/claude"]);
  const full = { session: {}, unset: ["A", "B"], agent: { SVC_SESSION: "svc-p" } };
  assert.deepEqual(paneArgv(full, ["/c", "--x"]), [
    "env",
    "-u",
    "A",
    "-u",
    "B",
    "SVC_SESSION=svc-p",
    "/c",
    "--x",
  ]);
});
