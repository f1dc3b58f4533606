/** The agent's environment, whatever tmux server it starts in. */
import assert from "node:assert/strict";
import { environmentNames, paneArgv, paneEnvironment } from "../../../src/wrapper/pane_environment.ts";

Deno.test("the session gets the wrapper's variables but the pane's own; svc's are the agent's alone [wr-session-env]", () => {
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

Deno.test("what only the old server has is taken out, but for what tmux sets", () => {
  const { unset } = paneEnvironment({
    own: { PATH: "/new" },
    server: ["PATH", "CLAUDECODE", "TERM", "SHLVL", "STALE"],
    svc: { SVC_SESSION: "svc-p" },
  });
  assert.deepEqual(unset, ["CLAUDECODE", "STALE"]);
});

Deno.test("the agent is exec'ed by env, without a shell, however few words it has [wr-own-process]", () => {
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

Deno.test("names are read from tmux's list; removed ones and the lines of long values are no names", () => {
  const output = "A=1\n-REMOVED\nB=two\nlines of B\nBASH_FUNC_x%%=() {\n C_1=\n";
  assert.deepEqual(environmentNames(output), ["A", "B"]);
});
