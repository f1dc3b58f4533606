/** Acknowledgements of a paired phone's messages go out in order, each with its proof; all others go out unchanged. */
import assert from "node:assert/strict";
import { importSecret, newSecret, receiptProof } from "../../../src/crypto/paired_secret.ts";
import { Acknowledger, type AcknowledgerOptions } from "../../../src/listener/acknowledger.ts";
import type { EventData } from "../../../src/protocol/frames.ts";
import type { Push } from "../../../src/protocol/push.ts";
import { until } from "../../helpers/until.ts";

const secret = await importSecret(newSecret());
const push = (id: string, mode?: "base" | "psk"): Push => ({
  id,
  type: "agent.command",
  from: "dev_phone",
  createdAt: 0,
  expiresAt: 1,
  ...(mode ? { sealed: { mode, enc: "", ciphertext: "" } } : {}),
});

/** Returns an acknowledger whose host shares its secret with every phone, and what it sends. */
function makeAcknowledger(
  change: Partial<AcknowledgerOptions> = {},
): { acknowledger: Acknowledger; sent: EventData<"push.ack">[] } {
  const sent: EventData<"push.ack">[] = [];
  const acknowledger = new Acknowledger({
    secretOf: () => Promise.resolve(secret),
    ownSecret: () => Promise.resolve(undefined),
    isLasting: () => true,
    send: (ack) => void sent.push(ack),
    log: (line) => assert.fail(line),
    ...change,
  });
  return { acknowledger, sent };
}

Deno.test("acknowledgements of a sealed message carry a proof, in order; others are sent unchanged [sec-active-relay]", async () => {
  assert.ok(secret);
  const { acknowledger, sent } = makeAcknowledger({
    secretOf: (phone) => Promise.resolve(phone === "dev_phone" ? secret : undefined),
  });
  for (const one of [push("sealed", "psk"), push("base", "base"), push("plain")]) acknowledger.expect(one);
  acknowledger.acknowledge({ id: "sealed", outcome: "delivered", final: false });
  acknowledger.acknowledge({ id: "sealed", outcome: "refused", reason: "muted", final: true });
  for (const id of ["base", "plain"]) acknowledger.acknowledge({ id, outcome: "submitted", final: true });
  await until("all words", () => sent.length === 4);
  assert.deepEqual(sent.slice(0, 2).map(({ id, proof }) => [id, proof]), [["base", undefined], [
    "plain",
    undefined,
  ]]);
  const words = [
    { id: "sealed", state: "delivered", final: false },
    { id: "sealed", state: "refused", reason: "muted", final: true },
  ] as const;
  const proofs = await Promise.all(words.map((word) => receiptProof(secret, word)));
  assert.deepEqual(sent.slice(2).map(({ proof }) => proof), proofs);
  assert.notEqual(proofs[0], proofs[1]);
});

Deno.test("a message sealed by svc send on the host gets a proof with the host's own secret, whatever the relay calls its key [send-seals]", async () => {
  assert.ok(secret);
  const { acknowledger, sent } = makeAcknowledger({
    secretOf: () => Promise.resolve(undefined),
    ownSecret: () => Promise.resolve(secret),
  });
  acknowledger.expect({ ...push("own", "psk"), from: "key_0123" });
  acknowledger.acknowledge({ id: "own", outcome: "submitted", final: true });
  await until("the word", () => sent.length === 1);
  assert.equal(sent[0]?.proof, await receiptProof(secret, { id: "own", state: "submitted", final: true }));
});

Deno.test("a host that cannot read its secrets still acknowledges [sec-active-relay]", async () => {
  const lines: string[] = [];
  const { acknowledger, sent } = makeAcknowledger({
    secretOf: () => Promise.reject(new Error("paired.json is damaged")),
    log: (line) => void lines.push(line),
  });
  acknowledger.expect(push("sealed", "psk"));
  acknowledger.acknowledge({ id: "sealed", outcome: "refused", reason: "unsealable", final: true });
  await until("the word", () => sent.length === 1);
  assert.deepEqual([sent.map(({ proof }) => proof), lines.length], [[undefined], 1]);
});

Deno.test("secrets that could not be read when a message came are read again for its receipt [sec-active-relay]", async () => {
  let reads = 0;
  const { acknowledger, sent } = makeAcknowledger({
    secretOf: () => ++reads === 1 ? Promise.reject(new Error("busy")) : Promise.resolve(secret),
  });
  acknowledger.expect(push("sealed", "psk"));
  acknowledger.acknowledge({ id: "sealed", outcome: "submitted", final: true });
  await until("the word", () => sent.length === 1);
  assert.equal(typeof sent[0]?.proof, "string");
});

Deno.test("a final state that the host may drop gets no proof, intermediate states do [sec-replay]", async () => {
  assert.ok(secret);
  const { acknowledger, sent } = makeAcknowledger({
    isLasting: () => false,
  });
  acknowledger.expect(push("sealed", "psk"));
  acknowledger.acknowledge({ id: "sealed", outcome: "delivered", final: false });
  acknowledger.acknowledge({ id: "sealed", outcome: "refused", reason: "unsealable", final: true });
  await until("both", () => sent.length === 2);
  assert.deepEqual(sent.map(({ proof }) => proof !== undefined), [true, false]);
});
