/** The hooks as agents run them: real processes, a real listener, a real relay. */
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { ControlRequest, type HookReport } from "../../src/home/control_socket.ts";
import { writeMarker } from "../../src/home/markers.ts";
import type { PushRecord } from "../../src/protocol/push.ts";
import { Pane } from "../helpers/agents_pane.ts";
import { recordedCall } from "../helpers/hook_calls.ts";
import { runSvc } from "../helpers/program.ts";
import type { Ran } from "../helpers/run.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

const SILENT: Ran = { code: 0, stdout: "", stderr: "" };

function prompt(sandbox: Sandbox, text: string, conversation = "c-1"): string {
  return JSON.stringify({ session_id: conversation, cwd: sandbox.project, prompt: text });
}

function hook(
  sandbox: Sandbox,
  args: string[],
  stdin: string,
  env: Record<string, string> = {},
): Promise<Ran> {
  return runSvc(sandbox, args, { stdin, env });
}

async function mark(sandbox: Sandbox, text: string): Promise<void> {
  const home = { files: runtime.files, markers: `${sandbox.svcHome}/markers` };
  await writeMarker(home, { dir: sandbox.project, text, now: Date.now() });
}

Deno.test("one of two hooks is flagged when the keyboard and the phone submit the same text at once [remote-race, cmd-remote-hook]", async () => {
  await using sandbox = await makeSandbox();
  for (let round = 0; round < 5; round++) {
    await mark(sandbox, "go on");
    const both = await Promise.all(
      ["keyboard", "phone"].map((conversation) =>
        hook(sandbox, ["remote-hook", "gemini"], prompt(sandbox, "go on", `${conversation}-${round}`))
      ),
    );
    assert.deepEqual(both.map(({ stdout }) => stdout.includes("from their phone")).sort(), [false, true]);
    assert.ok(both.every(({ code, stderr }) => code === 0 && stderr === ""));
  }
});

Deno.test("from one process to the next: flagged, then back at the keyboard, then silent [remote-sticky, rm-ends]", async () => {
  await using sandbox = await makeSandbox();
  const submit = async (text: string): Promise<string> =>
    (await hook(sandbox, ["remote-hook", "codex"], prompt(sandbox, text))).stdout;
  await mark(sandbox, "go on");
  assert.match(await submit("go on"), /drives this session from their phone/);
  assert.match(await submit("thanks"), /back at the keyboard/);
  assert.equal(await submit("thanks"), "");
});

Deno.test("hooks exit 0 without output with no daemon, no home, a broken home, or junk [rm-never-breaks, cli-hook]", async () => {
  await using sandbox = await makeSandbox();
  const file = `${sandbox.root}/file`;
  await Deno.writeTextFile(file, "");
  const broken = `${sandbox.root}/broken`;
  await Deno.mkdir(broken);
  for (const name of ["config.json", "muted.json", "markers", "remote", "listener.sock"]) {
    await Deno.writeTextFile(`${broken}/${name}`, "{junk");
  }
  const stop = JSON.stringify(await recordedCall("codex", "Stop"));
  const tool = JSON.stringify(await recordedCall("codex", "PreToolUse"));
  const places: Record<string, string>[] = [{}, { SVC_HOME: `${file}/below` }, { SVC_HOME: broken }, {
    SVC_HOME: "/proc/1/nothing",
  }, {
    HOME: "",
  }];
  for (const env of places) {
    assert.deepEqual(await hook(sandbox, ["remote-hook", "codex"], prompt(sandbox, "x"), env), SILENT);
    assert.deepEqual(await hook(sandbox, ["hook", "Stop", "codex"], stop, env), SILENT);
    assert.deepEqual(await hook(sandbox, ["hook", "PreToolUse", "codex", "gates"], tool, env), SILENT);
  }
  for (const junk of ["", "junk", "{}", "[1]", "\0"]) {
    assert.deepEqual(await hook(sandbox, ["remote-hook", "cc"], junk), SILENT);
    assert.deepEqual(await hook(sandbox, ["hook", "Stop", "cc"], junk), SILENT);
  }
  assert.deepEqual(await hook(sandbox, ["remote-hook", "nobody"], prompt(sandbox, "x")), SILENT);
  assert.deepEqual(await hook(sandbox, ["hook", "Nothing", "cc"], stop), SILENT);
});

Deno.test("a hanging daemon does not block an agent: hooks end without output even if it reads nothing [rm-never-breaks]", async () => {
  await using sandbox = await makeSandbox();
  await Deno.mkdir(sandbox.svcHome, { mode: 0o700 });
  const hanging = Deno.listen({ transport: "unix", path: `${sandbox.svcHome}/listener.sock` });
  const stop = JSON.stringify(await recordedCall("codex", "Stop"));
  assert.deepEqual(await hook(sandbox, ["remote-hook", "codex"], prompt(sandbox, "x")), SILENT);
  assert.deepEqual(await hook(sandbox, ["hook", "Stop", "codex"], stop), SILENT);
  const tool = JSON.stringify(await recordedCall("codex", "PreToolUse"));
  assert.deepEqual(await hook(sandbox, ["hook", "PreToolUse", "codex", "gates"], tool), SILENT);
  const dialog = JSON.stringify(await recordedCall("codex", "PermissionRequest"));
  assert.deepEqual(await hook(sandbox, ["hook", "PermissionRequest", "codex", "cards"], dialog), SILENT);
  hanging.close();
});

Deno.test("a hook without its arguments is a usage error, and has help", async () => {
  await using sandbox = await makeSandbox();
  for (const args of [["remote-hook"], ["hook"], ["hook", "Stop"]]) {
    const { code, stderr } = await hook(sandbox, args, "");
    assert.deepEqual([code, /See: svc \S*hook --help/.test(stderr)], [2, true]);
  }
  for (const args of [["remote-hook", "--help"], ["hook", "--help"]]) {
    const { code, stdout } = await hook(sandbox, args, "");
    assert.deepEqual([code, /Examples:/.test(stdout)], [0, true]);
  }
});

Deno.test("the plugin's scripts run the svc that setup recorded, else the one in PATH, else nothing; one that waits for a phone is svc itself [remote-cc, rm-never-breaks, card-hook-ends]", async () => {
  await using sandbox = await makeSandbox();
  const script = fileURLToPath(new URL("../../plugin/svc/scripts/svc-remote.sh", import.meta.url));
  const program = `${sandbox.root}/bin/svc`;
  await Deno.mkdir(`${sandbox.root}/bin`);
  await Deno.mkdir(`${sandbox.svcHome}/bin`, { recursive: true });
  const run = async (env: Record<string, string>): Promise<Ran> => {
    const options = { env: { HOME: sandbox.home, PATH: "/usr/bin:/bin", ...env }, clearEnv: true };
    const { code, stdout, stderr } = await new Deno.Command(script, options).output();
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  };
  assert.deepEqual(await run({}), SILENT);
  await Deno.writeTextFile(program, '#!/bin/sh\necho "from PATH $@"; exit 2\n', { mode: 0o700 });
  const onPath = { PATH: `${sandbox.root}/bin:/usr/bin:/bin` };
  assert.deepEqual(await run(onPath), { ...SILENT, stdout: "from PATH remote-hook cc\n" });
  await Deno.writeTextFile(`${sandbox.svcHome}/bin/svc`, '#!/bin/sh\necho "recorded $@"\n', { mode: 0o700 });
  assert.deepEqual(await run(onPath), { ...SILENT, stdout: "recorded remote-hook cc\n" });
  assert.equal((await run({ SVC_BIN: program })).stdout, "from PATH remote-hook cc\n");
  await Deno.writeTextFile(program, "#!/bin/sh\necho $$\n", { mode: 0o700 });
  const waits = new Deno.Command(script.replace("svc-remote.sh", "svc.sh"), {
    args: ["hook", "PermissionRequest", "cc", "cards"],
    env: { HOME: sandbox.home, SVC_BIN: program },
    stdout: "piped",
  }).spawn();
  assert.equal(Number(new TextDecoder().decode((await waits.output()).stdout)), waits.pid);
});

/** Resolves with the newest push of the type. */
async function newest({ api }: Stack, type: string): Promise<PushRecord["push"]> {
  return await untilAsked(`a push ${type}`, async () => {
    const { pushes } = await api.listPushes({ before: "end" });
    return pushes.map(({ push }) => push).findLast((push) => push.type === type);
  });
}

/** Like `until`, but polls a relay no more often than its rate limit allows. */
async function untilAsked<T>(what: string, ask: () => Promise<T>): Promise<NonNullable<T>> {
  let last = 0;
  return await until(what, async () => {
    if (performance.now() < last + 100) return undefined;
    last = performance.now();
    return await ask();
  }) as NonNullable<T>;
}

Deno.test("a stop and a wait reach the phones with the hook's id, and the state is reported at once [type-stop, type-attention, rm-hook-id, ls-hook-at-once]", async () => {
  await using stack = await makeStack();
  const { sandbox } = stack;
  // Its screen shows no state and contradicts no hook.
  const { session: name } = await Pane.open(sandbox, { session: "svc-proj", argv: ["cat"] });
  const call = async (event: string): Promise<void> => {
    const input = JSON.stringify({ ...await recordedCall("codex", event), cwd: sandbox.project });
    assert.deepEqual(await hook(sandbox, ["hook", event, "codex"], input, { SVC_SESSION: name }), SILENT);
  };
  await untilAsked("the session", async () => {
    const { devices } = await stack.api.sessions();
    return devices.some(({ sessions }) => sessions.some((one) => one.name === name && one.state === "idle"));
  });
  await call("PermissionRequest");
  await untilAsked("the state waiting", async () => {
    const { devices } = await stack.api.sessions();
    return devices.some(({ sessions }) =>
      sessions.some((one) => one.name === name && one.state === "waiting")
    );
  });
  const attention = await newest(stack, "agent.attention");
  assert.equal(attention.body, "Bash: rm -rf build");
  await call("Stop");
  const { type, title, body, agentSessionName, data } = await newest(stack, "agent.stop");
  assert.deepEqual({ type, title, body, agentSessionName, data }, {
    type: "agent.stop",
    title: "proj · Codex has finished",
    body: "Done.",
    agentSessionName: name,
    data: { hookId: "hook_test", agent: "codex", event: "Stop", cwd: sandbox.project },
  });
});

/** Makes a pane that looks as if the wrapper had started Codex in it, as the second session of the project. */
async function secondOfProject(
  { sandbox, api }: Stack,
): Promise<{ name: string; label: string; pane: string }> {
  // Its screen shows no state and contradicts no hook.
  const { session: name } = await Pane.open(sandbox, { session: "svc-proj-2", argv: ["cat"] });
  const { project } = sandbox;
  const pane = (await sandbox.tmux("display-message", "-p", "-t", `=${name}:`, "#{pane_id}")).trim();
  // The agent comes last, because with it the listener treats the session as one of svc's.
  const recorded = { project: "proj", dir: project, root: project, pane, agent: "codex" };
  for (const [option, value] of Object.entries(recorded)) {
    await sandbox.tmux("set-option", "-t", `=${name}:`, `@svc_${option}`, value);
  }
  const { label } = await untilAsked("the session", async () => {
    const { devices } = await api.sessions();
    return devices.flatMap(({ sessions }) => sessions).find((one) =>
      one.name === name && one.agent === "codex"
    );
  });
  return { name, label, pane };
}

Deno.test("a push has the session's name from the picker, wherever in the project its agent works, and another kind of agent that it runs keeps its own [wrap-label, type-stop]", async () => {
  await using stack = await makeStack();
  const { sandbox } = stack;
  const { name, label } = await secondOfProject(stack);
  assert.equal(label, "proj · Codex #2");
  const input = JSON.stringify({ ...await recordedCall("codex", "Stop"), cwd: `${sandbox.project}/sub` });
  for (const kind of ["codex", "cc"]) {
    await hook(sandbox, ["hook", "Stop", kind], input, { SVC_SESSION: name });
  }
  const stops = await untilAsked("both", async () => {
    const { pushes } = await stack.api.listPushes({ before: "end" });
    const found = pushes.filter(({ push }) => push.type === "agent.stop");
    return found.length === 2 ? found : undefined;
  });
  const shown = stops.map(({ push: { title, agentSessionName } }) => [agentSessionName, title]);
  assert.deepEqual(shown.sort(), [
    [name, "proj · Codex #2 has finished"],
    [name, "sub · Claude has finished"],
  ]);
});

Deno.test("an agent of the same kind that the session's agent runs as a tool neither ends its turn nor notifies the phones [ls-state-foreign, type-stop]", async () => {
  await using stack = await makeStack();
  const { sandbox, api } = stack;
  const { name, pane } = await secondOfProject(stack);
  const TMUX = (await sandbox.tmux("display-message", "-p", "#{socket_path},#{pid},0")).trim();
  const env = { SVC_SESSION: name, TMUX_PANE: pane, TMUX };
  const call = async (event: string, conversation: string): Promise<void> => {
    const recorded = await recordedCall("codex", event);
    const text = { last_assistant_message: `the words of ${conversation}` };
    const input = { ...recorded, ...text, cwd: sandbox.project, session_id: conversation };
    assert.deepEqual(await hook(sandbox, ["hook", event, "codex"], JSON.stringify(input), env), SILENT);
  };
  await call("PreToolUse", "own");
  await call("Stop", "nested");
  await call("PostToolUse", "own");
  await call("Stop", "own");
  // Pushes are delivered in order.
  assert.equal((await newest(stack, "agent.stop")).body, "the words of own");
  const { pushes } = await api.listPushes({ before: "end" });
  assert.equal(pushes.filter(({ push }) => push.type === "agent.stop").length, 1);
});

Deno.test("a muted project stays silent while its agent works in another directory [cli-mute]", async () => {
  await using stack = await makeStack();
  const { sandbox } = stack;
  const { name } = await secondOfProject(stack);
  const stop = async (cwd: string, session: string): Promise<void> => {
    const input = JSON.stringify({ ...await recordedCall("codex", "Stop"), cwd });
    await hook(sandbox, ["hook", "Stop", "codex"], input, { SVC_SESSION: session });
  };
  assert.equal((await stack.svc("mute")).code, 0);
  await stop(sandbox.root, name);
  await stop(sandbox.root, "svc-other");
  // Pushes are delivered in order.
  assert.equal((await newest(stack, "agent.stop")).agentSessionName, "svc-other");
  const { pushes } = await stack.api.listPushes({ before: "end" });
  assert.deepEqual(pushes.filter(({ push }) => push.agentSessionName === name), []);
});

Deno.test("a message from the phone, typed into a session, is flagged by the hook of its agent [remote-compare, rm-cwd]", async () => {
  await using stack = await makeStack();
  const { sandbox } = stack;
  // A program that does not take the marker, like an agent whose hook has not run yet.
  const pane = await Pane.open(sandbox, { session: "svc-proj", argv: ["cat"] });
  const { receipt } = await stack.send(pane.session, "fix the bug, please");
  assert.ok(["submitted", "typed"].includes(receipt.state), JSON.stringify(receipt));
  await until(
    "the text in the pane",
    async () => (await pane.screen()).lines.includes("fix the bug, please"),
  );
  const submit = async (text: string): Promise<string> =>
    (await hook(sandbox, ["remote-hook", "codex"], prompt(sandbox, text))).stdout;
  assert.equal(await submit("fix the bug"), "");
  assert.match(await submit(" fix the bug, please\n"), /from their phone/);
});

Deno.test("a hook reports its pane with its tmux server, and the gate only if its registration has it [gate-registered, ls-hook-at-once]", async () => {
  await using sandbox = await makeSandbox();
  await Deno.mkdir(sandbox.svcHome, { mode: 0o700 });
  const reports: HookReport[] = [];
  const control = await runtime.sockets.listen(`${sandbox.svcHome}/listener.sock`, async ({ lines }) => {
    for await (const line of lines) {
      const request = ControlRequest.parse(JSON.parse(line));
      if (request.op === "hook") reports.push(request.report);
    }
  });
  const stop = JSON.stringify(await recordedCall("codex", "Stop"));
  const call = async (args: string[], TMUX_PANE: string, TMUX = ""): Promise<void> => {
    const before = reports.length;
    await hook(sandbox, ["hook", "Stop", "codex", ...args], stop, { TMUX_PANE, TMUX });
    // A hook ends once its report is sent; reports of several connections may arrive in any order.
    await until("the report", () => reports.length > before);
  };
  const socket = await Deno.realPath(`${sandbox.svcHome}/listener.sock`);
  await Deno.symlink(sandbox.svcHome, `${sandbox.root}/other name`);
  await call(["gates"], "%12", `${sandbox.root}/other name/listener.sock,42,0`);
  await call([], "%12", "/no/such/socket,42,0");
  await call(["gates"], "not a pane");
  assert.deepEqual(reports.map((report) => [report.pane, report.socket, report.gates]), [
    ["%12", socket, true],
    ["%12", undefined, undefined],
    [undefined, undefined, true],
  ]);
  control.close();
});
