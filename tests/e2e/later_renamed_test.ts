/** A message for later follows the agent that it was meant for into a session that was renamed meanwhile. */
import assert from "node:assert/strict";
import type { Receipt } from "../../src/protocol/receipt.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

async function isListed({ api }: Stack, name: string): Promise<boolean> {
  const { devices } = await api.sessions();
  return devices.some(({ sessions }) => sessions.some((session) => session.name === name));
}

function receiptOf({ api }: Stack, id: string, { final }: { final: boolean }): Promise<Receipt> {
  return until(`the receipt of ${id}`, async () => {
    const { receipt } = await api.getPush(id);
    return receipt.final === final && receipt.state !== "queued" ? receipt : undefined;
  });
}

async function sendLater(stack: Stack, { name }: EchoSession, body: string): Promise<string> {
  const later = { kind: "at", at: Date.now() + 3_000 };
  const { id } = await stack.api.sendPush({
    type: "agent.command",
    agentSessionName: name,
    body,
    data: { later },
  });
  assert.equal((await receiptOf(stack, id, { final: false })).reason, "not_before");
  return id;
}

Deno.test("a message for later reaches its agent although the session was renamed, and another one has the old name [later-typed]", async () => {
  await using stack = await makeStack();
  const echo = await stack.echo();
  await until("the session at the relay", () => isListed(stack, echo.name));
  const id = await sendLater(stack, echo, "to the renamed one");
  await stack.sandbox.tmux("rename-session", "-t", `=${echo.name}`, "svc-work");
  await stack.sandbox.newSession(echo.name, ["cat"]);
  const { state, reason } = await receiptOf(stack, id, { final: true });
  assert.deepEqual([state, reason], ["submitted", undefined]);
  assert.deepEqual(await echo.prompts(1), ["to the renamed one"]);
});

Deno.test("a message for later is refused if its agent's session has a name to which nothing can be sent, and reaches no other one [later-typed]", async () => {
  await using stack = await makeStack();
  const echo = await stack.echo();
  await until("the session at the relay", () => isListed(stack, echo.name));
  const id = await sendLater(stack, echo, "to the renamed one");
  await stack.sandbox.tmux("rename-session", "-t", `=${echo.name}`, "my work");
  assert.equal((await stack.echo()).name, echo.name);
  const { state, reason } = await receiptOf(stack, id, { final: true });
  assert.deepEqual([state, reason], ["refused", "invalid_session_name"]);
});
