/** The hook of a submitted prompt, on real markers and files. */
import assert from "node:assert/strict";
import { MARKER_LIFE_MS } from "../../../src/home/markers.ts";
import { BENCH_NOW, type HookBench, makeHookBench } from "../../helpers/hook_bench.ts";
import { until } from "../../helpers/until.ts";

const PHONE = /drives this session from their phone/;
const ENDED = /back at the keyboard/;

async function withBench(test: (bench: HookBench) => Promise<void>): Promise<void> {
  await using bench = await makeHookBench();
  await test(bench);
}

Deno.test("a prompt from the phone is flagged and its marker is taken; the next typed prompt ends the mode [remote-compare, remote-told, rm-taken, rm-ends]", () =>
  withBench(async ({ mark, submit, home }) => {
    await mark("fix the bug");
    assert.match(await submit("fix the bug"), PHONE);
    assert.deepEqual(await home.files.list(home.paths.markers), []);
    assert.match(await submit("thanks"), ENDED);
    assert.equal(await submit("and now?"), "");
  }));

Deno.test("only an exact match counts, apart from the changes that agents make to a text [remote-exact, rm-canonical]", () =>
  withBench(async ({ mark, submit }) => {
    await mark("fix  the bug");
    for (const typed of ["fix the bug", "Fix  the bug", "fix  the bug!", "please fix  the bug"]) {
      assert.equal(await submit(typed), "", typed);
    }
    assert.match(await submit("\tfix  the bug\r\n"), PHONE);
  }));

Deno.test("one message flags one prompt: the same text typed at the keyboard at the same time remains the local user's [remote-race, res-marker-once]", () =>
  withBench(async ({ mark, submit }) => {
    await mark("go on");
    const both = await Promise.all(
      ["keyboard", "phone"].map((conversation) => submit("go on", { conversation })),
    );
    assert.equal(both.join("\n").match(new RegExp(PHONE, "g"))?.length, 1);
  }));

Deno.test("two messages that an agent joined are both taken", () =>
  withBench(async ({ mark, submit, home }) => {
    await mark("first");
    await mark("second");
    assert.match(await submit("first\n\nsecond", { kind: "gemini" }), PHONE);
    assert.deepEqual(await home.files.list(home.paths.markers), []);
  }));

Deno.test("the input's directory counts, not that of the process; one below it counts too [rm-cwd]", () =>
  withBench(async ({ mark, submit, project, home }) => {
    const [below, other] = [`${project}/src`, `${home.directory}/other`];
    await Deno.mkdir(below);
    await Deno.mkdir(other);
    await Deno.symlink(project, `${home.directory}/link`);
    await mark("go");
    assert.equal(await submit("go", { cwd: other }), "");
    assert.match(await submit("go", { cwd: below }), PHONE);
    await mark("go");
    assert.match(await submit("go", { cwd: `${home.directory}/link` }), PHONE);
  }));

Deno.test("a message from the phone does not end the mode while the agent works outside its project [rm-cwd, rm-ends]", () =>
  withBench(async ({ mark, submit, home, host: { pane, tmuxSocket: socket } }) => {
    const cwd = `${home.directory}/other`;
    await Deno.mkdir(cwd);
    await mark("use the other folder", { pane, socket });
    assert.match(await submit("use the other folder"), PHONE);
    await mark("go on", { pane, socket });
    assert.match(await submit("go on", { cwd }), PHONE);
    await mark("go on", { pane: "%8", socket });
    assert.match(await submit("go on", { cwd }), ENDED);
  }));

Deno.test("a marker expires after a day [rm-day]", () =>
  withBench(async (bench) => {
    await bench.mark("go on");
    bench.host.now = () => BENCH_NOW + MARKER_LIFE_MS;
    assert.equal(await bench.submit("go on"), "");
  }));

Deno.test("conversations are separate, even those of two agents with the same id", () =>
  withBench(async ({ mark, submit }) => {
    await mark("go on");
    assert.match(await submit("go on", { conversation: "a" }), PHONE);
    assert.equal(await submit("typed", { conversation: "b" }), "");
    assert.equal(await submit("typed", { conversation: "a", kind: "cc" }), "");
    assert.match(await submit("typed", { conversation: "a" }), ENDED);
  }));

Deno.test("a muted project is never flagged; muting ends an active mode [remote-muted, rm-ends-mute]", () =>
  withBench(async ({ mark, mute, submit }) => {
    await mute(true);
    await mark("go on");
    assert.equal(await submit("go on"), "");
    await mute(false);
    assert.equal(await submit("go on"), "", "the marker was still taken");
    await mark("again");
    assert.match(await submit("again"), PHONE);
    await mute(true);
    assert.match(await submit("what now?"), /muted this project/);
  }));

Deno.test("a background task's report neither starts nor ends the mode", () =>
  withBench(async ({ mark, submit }) => {
    const report = "<task-notification>done</task-notification>";
    assert.equal(await submit(report, { kind: "cc" }), "");
    await mark("go on");
    assert.match(await submit("go on", { kind: "cc" }), PHONE);
    assert.equal(await submit(report, { kind: "cc" }), "");
    assert.match(await submit("typed", { kind: "cc" }), ENDED);
  }));

Deno.test("the model is informed again after a compaction, and the mode ends with the session [rm-compact, rm-ends-mute]", () =>
  withBench(async ({ mark, submit, call, project }) => {
    const input = { session_id: "c-1", cwd: project };
    const compacted = { ...input, source: "compact" };
    assert.equal(await call("codex", "SessionStart", compacted), "");
    await mark("go on");
    await submit("go on");
    const again = JSON.parse(await call("codex", "SessionStart", compacted));
    assert.match(again.hookSpecificOutput.additionalContext, PHONE);
    assert.equal(await call("codex", "SessionEnd", input), "");
    assert.equal(await call("codex", "SessionStart", compacted), "");
    assert.match(await submit("typed after a resume"), ENDED);
  }));

Deno.test("the prompt is reported to the daemon at once: the agent works [ls-hook-at-once]", () =>
  withBench(async ({ submit, reports, project }) => {
    await submit("hello");
    await until("the report", () => reports.length === 1);
    const report = {
      event: "UserPromptSubmit",
      agent: "codex",
      cwd: project,
      session: "svc-proj",
      pane: "%7",
      socket: "/tmp/tmux-1000/default",
      conversation: "c-1",
      gates: true,
      state: "working",
    };
    assert.deepEqual(reports, [report]);
  }));

Deno.test("an input without directory, conversation or prompt prints nothing", () =>
  withBench(async ({ call, mark, project }) => {
    await mark("go");
    const whole = { session_id: "c", cwd: project, prompt: "go" };
    for (const name of Object.keys(whole)) {
      assert.equal(await call("codex", "UserPromptSubmit", { ...whole, [name]: undefined }), "");
    }
    assert.match(await call("codex", "UserPromptSubmit", whole), PHONE);
  }));

Deno.test("a folded message from the phone is flagged, and a folded paste by the local user ends REMOTE mode [rm-folded, rm-ends]", () =>
  withBench(async ({ submit, mark }) => {
    const folded = (text: string): string =>
      `\n\n<pasted_content id="98b1">\n${text}\n</pasted_content id="98b1">\n`;
    await mark("first line\nsecond\u2028line\n\tlast");
    const cc = { kind: "cc" } as const;
    assert.match(await submit(folded("first line\nsecond\nline\n    last"), cc), PHONE);
    assert.match(await submit(folded("pasted\nat the\nkeyboard"), cc), ENDED);
  }));

Deno.test("the prompt of a subagent neither ends REMOTE mode nor is reported [rm-ends]", () =>
  withBench(async ({ call, mark, submit, project, reports }) => {
    await mark("go on");
    await submit("go on");
    await until("the report", () => reports.length === 1);
    const input = { session_id: "c-1", cwd: project, prompt: "do a part of it", agent_id: "a1" };
    assert.equal(await call("codex", "UserPromptSubmit", input), "");
    assert.match(await submit("typed at the keyboard"), ENDED);
    await until("the second report", () => reports.length === 2);
  }));
