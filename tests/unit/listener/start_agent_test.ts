/** What a phone may start: a known agent in a known project, if the host allows it, and nothing else. */
import assert from "node:assert/strict";
import {
  AGENTS_KEPT_MS,
  type Ran,
  startAgent,
  startChoices,
  type StartOptions,
} from "../../../src/listener/agent_life.ts";
import type { Push } from "../../../src/protocol/push.ts";

const PUSH: Push = {
  id: "00000000-0000-4000-8000-000000000001",
  type: "agent.start",
  data: { agent: "cc", project: "app" },
  from: "dev_phone_1",
  createdAt: 1,
  expiresAt: 2,
};

interface Bench {
  host: StartOptions;
  /** What happened, in order. */
  events: string[];
}

function makeBench(change: Partial<StartOptions> = {}, ran?: Partial<Ran>): Bench {
  const events: string[] = [];
  const host: StartOptions = {
    allowed: true,
    projects: () =>
      Promise.resolve([
        { project: "app", directory: "/work/app" },
        { project: "lib", directory: "/work/lib" },
        { project: "lib", directory: "/old/lib" },
        { project: "gone", directory: "/work/gone" },
      ]),
    isDirectory: (path) => Promise.resolve(path !== "/work/gone"),
    isMuted: () => Promise.resolve(false),
    record: (_id, step) => Promise.resolve(void events.push(step)),
    run: (agent, directory) => {
      events.push(`${agent} in ${directory}`);
      return Promise.resolve({ code: 0, stdout: "svc-app\n", stderr: "", ...ran });
    },
    log: (line) => void events.push(line),
    ...change,
  };
  return { host, events };
}

const asking = (data: Record<string, unknown>): Push => ({ ...PUSH, data });

Deno.test("a known project gets its agent, after a journal entry, and the receipt names the session [type-start]", async () => {
  const { host, events } = makeBench();
  assert.deepEqual(await startAgent(PUSH, host), { state: "submitted", agentSessionName: "svc-app" });
  assert.deepEqual(events, ["typing", "cc in /work/app"]);
});

Deno.test("the directory distinguishes two projects with the same name [type-start]", async () => {
  const { host, events } = makeBench();
  const outcome = await startAgent(asking({ agent: "codex", project: "lib", directory: "/old/lib" }), host);
  assert.equal(outcome.state, "submitted");
  assert.deepEqual(events.at(-1), "codex in /old/lib");
});

Deno.test("a sealed start uses the sealed data, not what the relay shows [type-start]", async () => {
  const { host, events } = makeBench();
  const sealed = { mode: "psk" as const, enc: "AA", ciphertext: "AA" };
  const body = JSON.stringify({ agent: "gemini", project: "app" });
  await startAgent({ ...PUSH, sealed, body }, host);
  assert.deepEqual(events.at(-1), "gemini in /work/app");
});

Deno.test("a start that is not allowed, unknown or ambiguous starts nothing and says why [type-start]", async () => {
  const cases: [string, Record<string, unknown>, Partial<StartOptions>][] = [
    ["start_not_allowed", { agent: "cc", project: "app" }, { allowed: false }],
    ["unknown_agent", { agent: "bash", project: "app" }, {}],
    ["unknown_project", { agent: "cc", project: "etc" }, {}],
    ["unknown_project", { agent: "cc", project: "gone" }, {}],
    ["unknown_project", { agent: "cc", project: "app", directory: "/etc" }, {}],
    ["ambiguous_project", { agent: "cc", project: "lib" }, {}],
    ["muted", { agent: "cc", project: "app" }, { isMuted: () => Promise.resolve(true) }],
    ["invalid_body", { agent: "cc; rm -rf /", project: "app" }, {}],
    ["invalid_body", { agent: "cc", project: "../app" }, {}],
    ["invalid_body", {}, {}],
  ];
  for (const [reason, data, change] of cases) {
    const { host, events } = makeBench(change);
    assert.deepEqual(
      await startAgent(asking(data), host),
      { state: "refused", reason },
      JSON.stringify(data),
    );
    assert.deepEqual(events, []);
  }
});

Deno.test("a failed start is refused, with the cause in the log; a hanging one is unknown [type-start]", async () => {
  const failed = makeBench({}, { code: 1, stdout: "", stderr: "Cannot start Claude: not on PATH\n" });
  assert.deepEqual(await startAgent(PUSH, failed.host), { state: "refused", reason: "start_failed" });
  assert.match(failed.events.at(-1) ?? "", /ended with 1: Cannot start Claude: not on PATH$/);
  const hanging = makeBench({ run: () => Promise.resolve(undefined) });
  assert.deepEqual(await startAgent(PUSH, hanging.host), { state: "unknown" });
});

Deno.test("the installed agents are looked up at intervals, not at each report [det-report]", async () => {
  let installed = ["claude"];
  let lookups = 0;
  let now = 0;
  const choices = startChoices({
    commands: {
      which: (program) => {
        lookups++;
        return Promise.resolve(installed.includes(program) ? `/bin/${program}` : undefined);
      },
    },
    projects: {
      list: () => Promise.resolve([{ project: "a", directory: "/a" }, { project: "b", directory: "/b" }]),
    },
    now: () => now,
  });
  assert.deepEqual(await choices(), {
    agents: ["cc"],
    projects: [{ project: "b", directory: "/b" }, { project: "a", directory: "/a" }],
  });
  const first = lookups;
  installed = [];
  now = AGENTS_KEPT_MS - 1;
  assert.deepEqual((await choices()).agents, ["cc"]);
  assert.equal(lookups, first);
  now = AGENTS_KEPT_MS;
  assert.deepEqual((await choices()).agents, ["echo"]);
});
