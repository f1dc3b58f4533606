/** A phone's calls to the relay, no more often than its rate limit allows. */
import assert from "node:assert/strict";
import { RelayError } from "../../src/client/relay_error.ts";
import type { Push } from "../../src/protocol/push.ts";
import type { Receipt } from "../../src/protocol/receipt.ts";
import type { Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

const LOOK_MS = 200;

/** Like `until`, with a pause between two requests. */
export async function untilTold<T>(what: () => string, ask: () => Promise<T | undefined>): Promise<T> {
  let asked = -LOOK_MS;
  const found = await until(what(), async () => {
    if (performance.now() < asked + LOOK_MS) return undefined;
    asked = performance.now();
    try {
      const value = await ask();
      return value === undefined ? undefined : { value };
    } catch (error) {
      if (error instanceof RelayError && error.transient) return undefined;
      throw error;
    }
  });
  return found.value;
}

/** Sends a message; resolves with the push's id. */
export async function sendMessage({ api }: Stack, session: string, body: string): Promise<string> {
  return (await api.sendPush({ type: "agent.command", agentSessionName: session, body })).id;
}

export function untilHeld({ api }: Stack, id: string): Promise<Receipt> {
  return untilTold(() => "the hold", async () => {
    const { receipt } = await api.getPush(id);
    return receipt.state === "held" ? receipt : undefined;
  });
}

/** Resolves with the push's final receipt. */
export function untilFinal({ api }: Stack, id: string): Promise<Receipt> {
  return untilTold(() => "the last receipt", async () => {
    const { receipt } = await api.getPush(id);
    return receipt.final ? receipt : undefined;
  });
}

/** Asserts that the text was typed, and submitted as far as screen and hook could confirm it in time. */
export function assertTyped({ state, reason }: Receipt, text: string): void {
  assert.ok(state === "submitted" || state === "typed", `${text}: ${state} ${reason ?? ""}`);
}

/** Resolves with the pushes of this type, once there are `count`. */
export function untilPushes({ api }: Stack, type: string, count: number): Promise<Push[]> {
  return untilTold(() => `${count} of ${type}`, async () => {
    const { pushes } = await api.listPushes({ before: "end" });
    const found = pushes.map(({ push }) => push).filter((push) => push.type === type);
    return found.length >= count ? found : undefined;
  });
}
