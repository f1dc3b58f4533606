/** The commands that create a session, and the agent's environment in it. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { agentProfile } from "../../../src/agents/profiles.ts";
import { verbs } from "../../../src/tmux/argv.ts";
import {
  configuration,
  obtainSession,
  paneArgv,
  paneEnvironment,
  plannedSession,
  type SessionPlan,
} from "../../../src/wrapper/obtain_session.ts";
import { makeSandbox, type Sandbox } from "../../helpers/sandbox.ts";
import { until } from "../../helpers/until.ts";

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

/**
 * Makes a detached session of svc's for the sandbox's project, with these recorded options, and a request for that
 * project.
 */
async function recordedSession(
  { env, project, tmuxSocket: socket, newSession, tmux }: Sandbox,
  recorded: { pane?: string; pid?: string },
) {
  const root = await Deno.realPath(project);
  await newSession("svc-p", ["sleep", "1000"]);
  const [pane = "", pid = ""] =
    (await tmux("display-message", "-p", "-t", "=svc-p:", "#{pane_id} #{pane_pid}"))
      .trim().split(" ");
  for (const [name, value] of Object.entries({ agent: "cc", root, pane, pid, ...recorded })) {
    await tmux("set-option", "-t", "=svc-p:", `@svc_${name}`, value);
  }
  const access = { commands: runtime.commands, socket, env, serverEnv: env };
  const ask = (lastWords: ((name: string) => Promise<string | undefined>) | undefined) =>
    obtainSession(access, {
      profile: agentProfile("cc"),
      project: { name: "p", root },
      cwd: root,
      env,
      version: "1.2.3",
      agent: ["sleep", "1000"],
      size: { columns: 80, rows: 24 },
      lastWords,
      now: Date.now,
      announce: () => Promise.resolve(() => {}),
      checkTmux: () => Promise.resolve(),
    });
  return { ask, pid: Number(pid) };
}

Deno.test("a wrapper attaches to a session whose agent's pane is gone, without a process that could outlive it", async () => {
  await using sandbox = await makeSandbox();
  const { ask } = await recordedSession(sandbox, { pane: "%99" });
  const obtained = await ask(() => assert.fail("no session is created"));
  assert.deepEqual(obtained, { name: "svc-p", pid: undefined, created: false });
});

Deno.test("a start without a terminal takes over a session while its agent runs", async () => {
  await using sandbox = await makeSandbox();
  const { ask, pid } = await recordedSession(sandbox, {});
  assert.deepEqual(await ask(undefined), { name: "svc-p", pid, created: false });
});

for (
  const [what, recorded] of [["pane is gone", { pane: "%99" }], ["process is another", { pid: "1" }]] as const
) {
  Deno.test(`a start without a terminal creates the next session when the agent's ${what} [wr-agent-gone]`, async () => {
    await using sandbox = await makeSandbox();
    const { ask } = await recordedSession(sandbox, recorded);
    const { name, created } = await ask(undefined);
    assert.deepEqual({ name, created }, { name: "svc-p-2", created: true });
  });
}

Deno.test("a start without a terminal creates the next session when the agent's pane is dead [wr-agent-gone]", async () => {
  await using sandbox = await makeSandbox();
  const { ask, pid } = await recordedSession(sandbox, {});
  await sandbox.tmux("set-option", "-p", "-t", "=svc-p:", "remain-on-exit", "on");
  Deno.kill(pid, "SIGKILL");
  await until(
    "a dead pane",
    async () => (await sandbox.tmux("display-message", "-p", "-t", "=svc-p:", "#{pane_dead}")).trim() === "1",
  );
  const { name, created } = await ask(undefined);
  assert.deepEqual({ name, created }, { name: "svc-p-2", created: true });
});

function options(plan: SessionPlan): Record<string, string> {
  const set = configuration(plan, "%1").filter(([verb]) => verb === "set-option");
  return Object.fromEntries(set.map((command) => command.slice(-2)));
}

Deno.test("the agent's arguments are passed on unchanged [spec-args]", () => {
  const create = verbs.newSession(plannedSession(PLAN));
  assert.deepEqual(create.slice(create.indexOf("--")), [
    ...["--", "env", "-u", "OLD"],
    ...["/bin/claude", "--resume", "--", "a;"],
  ]);
});

Deno.test("the session has the options that the listener needs [wr-options]", () => {
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

Deno.test("exiting the agent ends the session, detaching the terminal does not [wr-own-process]", () => {
  assert.equal(options(PLAN)["remain-on-exit"], "off");
  assert.equal(options(PLAN)["destroy-unattached"], "off");
});

Deno.test("only a wrapper that attaches claims the session", () => {
  assert.equal(options(PLAN)["@svc_claim"], undefined);
  assert.equal(options({ ...PLAN, attaching: { claim: "c", lastWords: "/l" } })["@svc_claim"], "c");
});

Deno.test("the session gets the wrapper's variables except those of the pane; only the agent gets svc's [wr-session-env]", () => {
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
