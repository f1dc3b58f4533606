/** A dialog changes while the phone answers it: no answer reaches another request, and receipts are true. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import { RelayError } from "../../src/client/relay_error.ts";
import { askedOf } from "../../src/protocol/ask.ts";
import type { Push, PushRequestInput } from "../../src/protocol/push.ts";
import { randomNumbers } from "../helpers/random_numbers.ts";
import { pairScriptedPhone, type ScriptedPhone } from "../helpers/scripted_phone.ts";
import { makeStack } from "../helpers/stack.ts";
import { SAFETY_LIMIT_MS, until } from "../helpers/until.ts";
import { WaitingHook } from "../helpers/waiting_hook.ts";

const ROUNDS = Number(Deno.env.get("SVC_CARD_ROUNDS") ?? 20);
const SEED = Number(Deno.env.get("SVC_SEED") ?? Date.now() % 1_000_000);

const HAPPENINGS = [
  "withdrawn",
  "answered at the computer",
  "a second request",
  "a repeated answer",
  "a swapped answer",
] as const;

/** Resolves with the card of this request, as the phone reads it. */
async function cardOf(phone: ScriptedPhone, { command }: WaitingHook): Promise<Push> {
  return await until("the card", async () => (await phone.read("ask")).find(({ body }) => body === command));
}

async function decisionOn(phone: ScriptedPhone, card: Push): Promise<PushRequestInput & { id: string }> {
  const asked = askedOf(card);
  assert.ok(asked?.kind === "approval");
  return await phone.answerOf(card, { kind: "decided", decision: "once", digest: asked.digest });
}

/** Resolves with the answer's final state; `closed` if the relay no longer accepted it. */
async function send(phone: ScriptedPhone, push: PushRequestInput & { id: string }): Promise<string> {
  try {
    await phone.api.sendPush(push);
  } catch (error) {
    if (error instanceof RelayError && !error.transient) return "closed";
    throw error;
  }
  return (await waitForReceipt(phone.api, push.id, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 20 })).receipt.state;
}

Deno.test(`while a phone answers, ${ROUNDS} requests change, end, are answered elsewhere or followed by another [card-race]`, async () => {
  await using stack = await makeStack();
  const path = `${stack.sandbox.svcHome}/config.json`;
  const config = { ...JSON.parse(await Deno.readTextFile(path)), allowRemoteApproval: "once" };
  await Deno.writeTextFile(path, JSON.stringify(config));
  await stack.restartListener();
  const phone = await pairScriptedPhone(await stack.pairLink());
  const { name } = await stack.echo();
  const random = randomNumbers(SEED);
  const counts = { rounds: 0, applied: 0, refused: 0, unknown: 0, "to another request": 0, untrue: 0 };
  const times = { card: [] as number[], hook: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const happening = HAPPENINGS[round % HAPPENINGS.length] ?? "withdrawn";
    const begun = performance.now();
    const asked = await WaitingHook.start(stack, name, `echo ${round}`);
    const card = await cardOf(phone, asked);
    times.card.push(performance.now() - begun);
    const decision = await decisionOn(phone, card);
    const tapped = performance.now();
    void asked.answer.then((answer) => answer && times.hook.push(performance.now() - tapped));
    const sent = send(phone, decision);
    for (let calls = Math.floor(random() * 4); calls > 0; calls--) await phone.api.getPush(card.id);
    const others: WaitingHook[] = [];
    if (happening === "withdrawn") asked.kill();
    if (happening === "answered at the computer") await asked.ended(stack, name);
    if (happening.startsWith("a ")) {
      const other = await WaitingHook.start(stack, name, `echo ${round} again`);
      others.push(other);
      const its = await cardOf(phone, other);
      const moved = {
        ...decision,
        id: happening === "a swapped answer" ? crypto.randomUUID() : decision.id,
        inReplyTo: its.id,
      };
      if (happening !== "a second request") await send(phone, moved).catch(() => "refused");
    }
    const state = await sent;
    if (state !== "submitted") asked.kill();
    const got = await asked.answer;
    for (const other of others) {
      other.kill();
      if (await other.answer !== undefined) counts["to another request"]++;
    }
    counts.rounds++;
    if (state === "submitted") counts.applied++;
    else if (state === "unknown") counts.unknown++;
    else counts.refused++;
    const isTrue = state === "submitted" ? got !== undefined : state === "unknown" || got === undefined;
    if (!isTrue) counts.untrue++;
  }
  say(
    `cards, seed ${SEED}: ${Object.entries(counts).map(([what, count]) => `${what} ${count}`).join(", ")}`,
  );
  say(`from the hook to the card on a phone: ${timesText(times.card)}`);
  say(`from the phone's answer to the hook: ${timesText(times.hook)}`);
  assert.equal(counts["to another request"], 0);
  assert.equal(counts.untrue, 0);
});

function timesText(times: number[]): string {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? NaN);
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms of ${sorted.length}`;
}
