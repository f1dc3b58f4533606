/** An asker's word over its socket: that it took an answer, that it waits no more, or that it takes its question back. */
import type { EventData } from "../protocol/frames.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { DeviceName, StoredPush } from "../store/store.ts";
import { questionOf, withdrawnAt } from "./asks_decision.ts";
import { typeLate } from "./asks_late.ts";
import { changeReceipt } from "./receipts.ts";
import type { Services } from "./services.ts";

/** `device` is the asker: it can change its own questions, and the answers that were kept for it. */
export async function takeAskerAck(
  services: Services,
  { device, ack }: { device: DeviceName; ack: EventData<"push.ack"> },
): Promise<void> {
  const { store, clock } = services;
  const push = { account: device.account, id: ack.id };
  if (ack.outcome === "ignored") {
    const stored = await store.findPush(push);
    if (stored !== undefined && isAnswerFor(stored, device)) await typeLate(services, stored);
    return;
  }
  await changeReceipt(services, {
    push,
    decide: (stored) => acknowledged(stored, { device, outcome: ack.outcome, now: clock.now() }),
  });
}

interface Word {
  device: DeviceName;
  outcome: string;
  now: number;
}

function acknowledged(stored: StoredPush, { device, outcome, now }: Word): Receipt | undefined {
  const { receipt } = stored;
  if (outcome === "withdrawn" && questionOf(stored)?.data.replyTo === device.id) {
    return withdrawnAt(receipt, now);
  }
  const isTaken = outcome === "delivered" && isAnswerFor(stored, device) && receipt.state === "queued";
  return isTaken ? { state: "delivered", final: true, at: { delivered: now, ...receipt.at } } : undefined;
}

function isAnswerFor({ push, target }: StoredPush, device: DeviceName): boolean {
  return push.type === "ask.answer" && target === device.id;
}
