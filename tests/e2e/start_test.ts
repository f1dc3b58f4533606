/** A phone starts an agent on a host that allows it, and none on a host that does not. */
import assert from "node:assert/strict";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import type { Receipt } from "../../src/protocol/receipt.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { SAFETY_LIMIT_MS, until } from "../helpers/until.ts";

async function makeHost(config: Record<string, unknown>): Promise<Stack> {
  const stack = await makeStack({ listener: false });
  const path = `${stack.sandbox.svcHome}/config.json`;
  const before = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify({ ...before, ...config }));
  await stack.startListener();
  return stack;
}

/** Runs an agent in the project until the listener has seen it, and ends it. */
async function agentWasHere(stack: Stack): Promise<void> {
  const { name } = await stack.echo();
  const known = `${stack.sandbox.svcHome}/projects.json`;
  const read = (): Promise<string> => Deno.readTextFile(known).catch(() => "");
  await until("the project to be known", async () => (await read()).includes(stack.sandbox.project));
  // A session that ends while a control client attaches crashes tmux before 3.7.
  const clients = (): Promise<string> => stack.sandbox.tmux("list-clients", "-F", "#{client_control_mode}:");
  await until("the listener's control client", async () => (await clients()).includes("1:"));
  await stack.sandbox.tmux("kill-session", "-t", `=${name}`);
}

async function start(stack: Stack, data: Record<string, unknown>): Promise<Receipt> {
  const push = { type: "agent.start", targetDeviceId: stack.deviceId, data };
  const { id } = await stack.api.sendPush(push);
  const { receipt } = await waitForReceipt(stack.api, id, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 50 });
  return receipt;
}

Deno.test("agent.start starts an agent where svc started one before, and it takes messages [type-start]", async () => {
  await using stack = await makeHost({ allowAgentStart: true });
  await agentWasHere(stack);
  const receipt = await start(stack, { agent: "echo", project: "proj", arguments: ["--help"] });
  assert.deepEqual([receipt.state, receipt.agentSessionName], ["submitted", "svc-proj"]);
  const { sandbox } = stack;
  const where = await sandbox.tmux("display-message", "-p", "-t", "=svc-proj:", "#{session_path}");
  assert.equal(where.trim(), sandbox.project);
  await until("the agent's input line", async () => /^❯/mu.test(await sandbox.screen("svc-proj")));
  assert.equal((await stack.send("svc-proj", "hello")).receipt.state, "submitted");
  const again = await start(stack, { agent: "echo", project: "proj" });
  assert.deepEqual([again.state, again.agentSessionName], ["submitted", "svc-proj"]);
});

Deno.test("agent.start of a listener that was upgraded on disk does not end the listener that waits for it [type-start]", async () => {
  await using stack = await makeHost({ allowAgentStart: true });
  await agentWasHere(stack);
  await Deno.writeTextFile(`${stack.sandbox.svcHome}/listener.version`, "0.0.1\n");
  const receipt = await start(stack, { agent: "echo", project: "proj" });
  assert.deepEqual([receipt.state, receipt.agentSessionName], ["submitted", "svc-proj"]);
});

Deno.test("agent.start in an unknown directory, or on a host that does not allow it, starts nothing [type-start]", async () => {
  await using stack = await makeHost({ allowAgentStart: true });
  await agentWasHere(stack);
  const elsewhere = await start(stack, { agent: "echo", project: "proj", directory: stack.sandbox.home });
  assert.deepEqual([elsewhere.state, elsewhere.reason], ["refused", "unknown_project"]);

  await using strict = await makeHost({});
  await agentWasHere(strict);
  const refused = await start(strict, { agent: "echo", project: "proj" });
  assert.deepEqual([refused.state, refused.reason], ["refused", "start_not_allowed"]);
  const sessions = await strict.sandbox.tmux("list-sessions").catch(() => "");
  assert.equal(sessions, "");
});
