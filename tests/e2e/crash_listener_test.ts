/** kill -9 of the listener after every step of an injection: nothing is lost or duplicated, and the state is `unknown` only if it cannot be determined. */
import assert from "node:assert/strict";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import { encodeEntry } from "../../src/home/journal.ts";
import { crashingImportMap } from "../helpers/crashing_runtime.ts";
import { FROM_CHECKOUT, startSvc } from "../helpers/program.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import { SAFETY_LIMIT_MS, until } from "../helpers/until.ts";

/** More steps than an injection has: the sweep ends earlier. */
const STEPS_MAX = 60;

interface Crashed {
  /** The step after which the listener died; undefined if the injection has fewer steps. */
  step: string | undefined;
  state: string;
  /** How often the agent has the text, submitted or in its input line. */
  times: number;
}

async function crashAt(
  stack: Stack,
  { echo, at }: { echo: EchoSession; at: number | string },
): Promise<Crashed> {
  const { sandbox, api } = stack;
  const importMap = ["--import-map", `${sandbox.root}/crashing.json`];
  const launch = [...FROM_CHECKOUT.slice(0, -1), ...importMap, ...FROM_CHECKOUT.slice(-1)];
  const listener = startSvc(sandbox, ["listener"], { launch, env: { SVC_TEST_CRASH: String(at) } });
  await listener.line(/connected to/);
  const body = `message ${at} of the sweep`;
  const { id } = await api.sendPush({ type: "agent.command", agentSessionName: echo.name, body });
  let died = false;
  void listener.exited.then(() => died = true);
  await until("the crash or the receipt", async () => died || (await api.getPush(id)).receipt.final);
  const step = /^svc-test-crash after (.*)$/m.exec(listener.output())?.[1];
  if (step === undefined) listener.kill("SIGKILL");
  await listener.exited;
  await stack.startListener();
  const { receipt } = await waitForReceipt(api, id, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 50 });
  stack.listener.kill("SIGKILL");
  await stack.listener.exited;
  const times = await until("the text where the receipt says it is", async () => {
    const prompts = (await echo.prompts()).filter((prompt) => prompt.includes(body)).length;
    const drafts = /^❯ .*$/m.exec(await echo.screen())?.[0].includes(body) ? 1 : 0;
    return receipt.state === "submitted" && prompts === 0 ? undefined : { count: prompts + drafts };
  });
  // The next listener removes the text that it finds before it reports the outcome.
  await until("an empty input line", async () => /^❯\s*$/m.test(await echo.screen()));
  return { step, state: receipt.state, times: times.count };
}

Deno.test("crash: kill -9 of the listener after each step of an injection loses and duplicates nothing [show-kill-listener, inj-unknown, inj-journal, inj-never-retype, ev-push-resend]", async (t) => {
  await using stack = await makeStack({ listener: false });
  await Deno.writeTextFile(`${stack.sandbox.root}/crashing.json`, await crashingImportMap(CHECKOUT));
  const echo = await stack.echo();
  await stack.svc("listener", "--stop");
  const steps: string[] = [];
  const crash = async (at: number | string): Promise<boolean> => {
    const crashed = await crashAt(stack, { echo, at });
    if (crashed.step === undefined) return false;
    steps.push(crashed.step);
    await t.step(
      `after step ${at}, ${crashed.step}: ${crashed.state}, there ${crashed.times} time(s)`,
      () => {
        assert.ok(["submitted", "typed", "unknown"].includes(crashed.state), crashed.state);
        if (crashed.state === "unknown") assert.ok(crashed.times <= 1, `${crashed.times} times`);
        else assert.equal(crashed.times, 1);
      },
    );
    return true;
  };
  for (let at = 1; at <= STEPS_MAX && await crash(at); at++);
  // Marker and journal are written concurrently, so which one a count hits is random.
  for (const step of ["journal sync", "marker", "tmux request", "acknowledgement"]) {
    if (!steps.includes(step)) await crash(step);
    assert.ok(steps.includes(step), step);
  }
  assert.ok(steps.length < STEPS_MAX);
});

Deno.test("crash: the next listener removes a text that a killed one had put into tmux but not typed, and no other text [inj-unknown]", async () => {
  await using stack = await makeStack({ listener: false });
  const { sandbox } = stack;
  await sandbox.newSession("svc-a", ["cat"]);
  const owners = { killed: 2 ** 31 - 1, running: Deno.pid };
  const [left, own] = [owners.killed, owners.running].map((pid) => `svc-${pid}-${crypto.randomUUID()}`);
  for (const name of [left, own, "svc-notes"]) await sandbox.tmux("set-buffer", "-b", `${name}`, "text");
  await stack.startListener();
  const names = async (): Promise<string[]> => {
    const printed = await sandbox.tmux("list-buffers", "-F", "#{buffer_name}");
    return printed.trim().split("\n").sort();
  };
  await until("the end of what was left", async () => !(await names()).includes(`${left}`));
  assert.deepEqual(await names(), [own, "svc-notes"].sort());
});

Deno.test("crash: a text that an earlier listener typed is removed even if its message ended while no listener ran, and the next message is submitted alone [inj-take-back]", async () => {
  await using stack = await makeStack({ listener: false });
  const { sandbox, api } = stack;
  const echo = await stack.echo();
  const isOnline = async (): Promise<boolean | undefined> =>
    (await api.devices()).devices.find(({ id }) => id === stack.deviceId)?.online;
  await until("the listener that the agent started to connect", async () => await isOnline() === true);
  await stack.svc("listener", "--stop");
  for (const step of ["typed", "left"] as const) {
    const body = `${step} by an earlier listener`;
    const about = { agentSessionName: echo.name, targetDeviceId: stack.deviceId };
    // Until then, the relay may send the message into the connection that is ending, and leave its end to the host.
    await until("the relay to see that the listener has gone", async () => await isOnline() === false);
    const { id } = await api.sendPush({ type: "agent.command", body, ...about });
    await api.sendPush({ type: "agent.cancel", inReplyTo: id, ...about });
    assert.equal((await api.getPush(id)).receipt.final, true);
    const entry = encodeEntry({ id, at: Date.now(), step });
    await Deno.writeTextFile(`${sandbox.svcHome}/journal.jsonl`, entry, { append: true });
    await sandbox.tmux("send-keys", "-t", `=${echo.name}:`, "-l", body);
    await until("the text in the composer", async () => (await echo.screen()).includes(body));
    await stack.startListener();
    const { receipt } = await stack.send(echo.name, `after what was ${step}`);
    assert.deepEqual([receipt.state, receipt.reason], ["submitted", undefined]);
    stack.listener.kill("SIGTERM");
    await stack.listener.exited;
  }
  assert.deepEqual(await echo.prompts(2), ["after what was typed", "after what was left"]);
});

Deno.test("crash: a message whose text an earlier listener left in the composer is cancelled while no listener runs: its text is removed, and it is not submitted [inj-take-back, cancel-atomic]", async () => {
  await using stack = await makeStack({ listener: false });
  const { sandbox, api } = stack;
  const echo = await stack.echo();
  await stack.svc("listener", "--stop");
  const body = "cancelled in the composer";
  const about = { agentSessionName: echo.name, targetDeviceId: stack.deviceId };
  const { id } = await api.sendPush({ type: "agent.command", body, ...about });
  // A relay that was restarted does not know whether it has sent the message.
  stack.relay.kill("SIGKILL");
  await stack.relay.exited;
  await stack.startRelay();
  const entry = encodeEntry({ id, at: Date.now(), step: "left" });
  await Deno.writeTextFile(`${sandbox.svcHome}/journal.jsonl`, entry, { append: true });
  await sandbox.tmux("send-keys", "-t", `=${echo.name}:`, "-l", body);
  await until("the text in the composer", async () => (await echo.screen()).includes(body));
  const cancel = await api.sendPush({ type: "agent.cancel", inReplyTo: id, ...about });
  await stack.startListener();
  const ends: string[] = [];
  for (const one of [cancel.id, id]) {
    const { receipt } = await waitForReceipt(api, one, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 50 });
    ends.push(receipt.state);
  }
  assert.deepEqual(ends, ["submitted", "withdrawn"]);
  assert.match(await echo.screen(), /^❯\s*$/m);
  assert.deepEqual(await echo.prompts(), []);
});
