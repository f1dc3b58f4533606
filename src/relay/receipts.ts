/** Changes of receipts: stored, then told to the phones and counted. */
import { encodeFrame } from "../protocol/frames.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { PushName, StoredPush } from "../store/store.ts";
import type { Services } from "./services.ts";

/** Applies the decision to the receipt as it stands; unknown pushes and no news are nothing, and give undefined. */
export async function changeReceipt(
  services: Services,
  { push, decide }: { push: PushName; decide: (stored: StoredPush) => Receipt | undefined },
): Promise<StoredPush | undefined> {
  const outcome = await services.store.changeReceipt(push, decide);
  if (outcome?.changed !== true) return undefined;
  tellReceipt(services, outcome.stored);
  count(services, outcome.stored);
  return outcome.stored;
}

/** To phones and scripts. */
export function tellReceipt({ bus }: Services, { account, push, receipt }: StoredPush): void {
  const text = encodeFrame("push.updated", { id: push.id, receipt });
  bus.publish(account, { kind: "frame", to: { phones: true }, text });
}

/** How long a person takes to answer is no measure of the relay. */
function count({ metrics }: Services, { push, receipt }: StoredPush): void {
  if (push.type === "ask" || push.type === "ask.answer") return;
  const seconds = (at: number): number => Math.max(0, at - push.createdAt) / 1000;
  const { delivered } = receipt.at;
  if (receipt.state === "delivered" && delivered !== undefined) metrics.delivered.observe(seconds(delivered));
  if (!receipt.final) return;
  metrics.pushes.add({ outcome: receipt.state });
  metrics.final.observe(seconds(receipt.at[receipt.state] ?? push.createdAt));
}
