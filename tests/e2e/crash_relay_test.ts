/** kill -9 of the relay at every step of accepting and delivering a push: nothing is lost or duplicated. */
import assert from "node:assert/strict";
import { RelayError } from "../../src/client/relay_error.ts";
import { RelayLink } from "../../src/client/relay_link.ts";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import type { PushAccepted, PushRequestInput } from "../../src/protocol/push.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import { SAFETY_LIMIT_MS, until } from "../helpers/until.ts";

/** Sends like the phone's outbox: repeatedly with the same id until the relay accepts. */
async function sendUntilAccepted(stack: Stack, push: PushRequestInput): Promise<PushAccepted> {
  return await until("the relay's yes", async () => {
    try {
      return await stack.api.sendPush(push);
    } catch (error) {
      if (error instanceof RelayError && error.transient) return undefined;
      throw error;
    }
  });
}

async function killRelay(stack: Stack): Promise<void> {
  stack.relay.kill("SIGKILL");
  await stack.relay.exited;
  await stack.startRelay();
}

/** Connects a phone that waits for a receipt's state on its socket. */
function watchReceipts(stack: Stack): { link: RelayLink; seen(id: string, state: string): Promise<void> } {
  const states = new Set<string>();
  const link = new RelayLink({
    wsUrl: stack.wsUrl,
    apiKey: stack.apiKey,
    hello: () => ({ role: "phone", name: "test", version: "0", capabilities: [] }),
    onFrame: (frame) => {
      if (frame.event === "push.updated") states.add(`${frame.data.id} ${frame.data.receipt.state}`);
    },
    onState: () => {},
  });
  link.start();
  const seen = async (id: string, state: string): Promise<void> => {
    await until(
      `receipt ${state} of ${[...states].filter((one) => one.startsWith(id))}`,
      () => states.has(`${id} ${state}`),
    );
  };
  return { link, seen };
}

type Moment = (stack: Stack, push: PushRequestInput & { id: string }) => Promise<void>;

/** When the relay is killed; after each moment the push is accepted, or can be sent again with the same id. */
const MOMENTS: Record<string, Moment> = {
  "while it accepts the request": async (stack, push) => {
    const sent = stack.api.sendPush(push).catch((error) => error);
    await killRelay(stack);
    await sent;
  },
  "a moment into the request": async (stack, push) => {
    const sent = stack.api.sendPush(push).catch((error) => error);
    await Promise.race([
      sent,
      fetch(`${stack.url}/healthz`).then((answer) => answer.body?.cancel(), () => {}),
    ]);
    await killRelay(stack);
    await sent;
  },
  "right after its 202": async (stack, push) => {
    await stack.api.sendPush(push);
    await killRelay(stack);
  },
};
for (const state of ["delivered", "typed", "submitted"]) {
  MOMENTS[`when phones see ${state}`] = async (stack, push) => {
    const phone = watchReceipts(stack);
    try {
      await until("the phone's socket", () => phone.link.connected);
      await stack.api.sendPush(push);
      await phone.seen(push.id, state);
      await killRelay(stack);
    } finally {
      phone.link.close();
    }
  };
}

async function checkOnce(
  stack: Stack,
  { echo, name, moment }: { echo: EchoSession; name: string; moment: Moment },
) {
  const id = crypto.randomUUID();
  const body = `killed ${name} ${id}`;
  const push = {
    id,
    type: "agent.command",
    agentSessionName: echo.name,
    body,
    targetDeviceId: stack.deviceId,
  };
  // The old listener's back-off would grow from kill to kill.
  await stack.restartListener();
  await moment(stack, push);
  await sendUntilAccepted(stack, push);
  const { receipt } = await waitForReceipt(stack.api, id, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 50 });
  assert.equal(receipt.state, "submitted");
  await until("the prompt", async () => (await echo.prompts()).includes(body));
  assert.equal((await echo.prompts()).filter((prompt) => prompt === body).length, 1);
}

Deno.test("crash: kill -9 of the relay at each moment of a push loses and duplicates nothing [show-kill-relay, http-202, http-2xx-stored, proto-push-id, ev-push-resend, ws-persistent, http-no-stream]", async (t) => {
  await using stack = await makeStack();
  const echo = await stack.echo();
  for (const [name, moment] of Object.entries(MOMENTS)) {
    for (const round of [1, 2]) {
      await t.step(`${name}, round ${round}`, () => checkOnce(stack, { echo, name, moment }));
    }
  }
});
