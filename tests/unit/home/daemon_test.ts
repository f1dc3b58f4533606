/** The environment of a spawned daemon, and why one failed to start. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { systemClock } from "../../../src/async/clock.ts";
import { daemonEnvironment, type DaemonHost, ensureListener } from "../../../src/home/daemon.ts";
import { homePaths } from "../../../src/home/paths.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

const place = { homeDirectory: "/h", cwd: "/w", uid: 1 };

Deno.test("the daemon gets the wrapper's environment [wrap-env]", async () => {
  const env = {
    PATH: "/bin",
    HOME: "/h",
    HTTPS_PROXY: "http://p",
    SVC_TMUX_SOCKET: "/s",
    SVC_WS_URL: "ws://x",
  };
  assert.deepEqual(daemonEnvironment(env, await homePaths(place)), env);
});

Deno.test("variables of one agent or one pane are not passed on [ls-clean-env]", async () => {
  const scoped = {
    CLAUDECODE: "1",
    CLAUDE_PROJECT_DIR: "/p",
    CODEX_SANDBOX: "1",
    GEMINI_CLI: "1",
    CURSOR_TRACE_ID: "1",
    WINDSURF_PROJECT_DIR: "/p",
    OPENCODE: "1",
    COPILOT_MODEL: "m",
    MCP_TOOL_TIMEOUT: "1",
    TMUX: "/s,1,0",
    TMUX_PANE: "%1",
    SVC_SESSION: "svc-a",
  };
  const cleaned = daemonEnvironment({ ...scoped, PATH: "/bin" }, await homePaths(place));
  assert.deepEqual(cleaned, { PATH: "/bin" });
});

Deno.test("an agent that a phone starts gets the keys, folders and addresses that were set for it [ls-clean-env]", async () => {
  const settings = {
    GEMINI_API_KEY: "k",
    CURSOR_API_KEY: "k",
    CODEX_HOME: "/c",
    CLAUDE_CONFIG_DIR: "/d",
    OPENCODE_CONFIG_DIR: "/o",
    COPILOT_PROVIDER_BASE_URL: "http://p",
  };
  assert.deepEqual(daemonEnvironment(settings, await homePaths(place)), settings);
});

Deno.test("a relative SVC_HOME becomes absolute, because the daemon runs in another directory", async () => {
  const paths = await homePaths({ ...place, svcHome: "rel" });
  assert.deepEqual(daemonEnvironment({ SVC_HOME: "rel" }, paths), { SVC_HOME: "/w/rel" });
});

Deno.test("a listener that fails to start is reported with the reason of this start, without colors", async () => {
  await using home = await makeTempHome();
  const { files, sockets } = runtime;
  const { paths } = home;
  await files.writeText(paths.log, "svc: an earlier reason\n", { mode: 0o600 });
  const commands: DaemonHost["commands"] = {
    run: () => Promise.reject(new Error("nothing else runs")),
    kill: () => false,
    spawnDetached: async (_argv, { logFile }) => {
      const stack = "    at \x1b[36mfile:///cli.ts\x1b[39m:1:7\n";
      await Deno.writeTextFile(logFile, `\x1b[1;31merror\x1b[0m: Uncaught Error: broken\n${stack}`, {
        append: true,
      });
      return 1;
    },
  };
  const options = { paths, version: "1.2.3", selfCommand: ["svc"], env: {}, onNotice: () => {} };
  await assert.rejects(ensureListener({ files, sockets, commands, clock: systemClock }, options), {
    message:
      `Cannot start the listener: it did not come up: error: Uncaught Error: broken (the log: "${paths.log}")`,
  });
});
