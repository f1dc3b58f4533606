/** The audit log has the digest and the length of a sealed text once it was opened, however its push ends. */
import assert from "node:assert/strict";
import { auditEntry } from "../../../src/listener/push_steps.ts";
import type { PushOptions } from "../../../src/listener/pushes.ts";
import { QUEUE_MAX } from "../../../src/listener/waiting_pushes.ts";
import type { AuditEntry } from "../../../src/protocol/audit.ts";
import { canonicalDigest } from "../../../src/protocol/canonical.ts";
import type { Push } from "../../../src/protocol/push.ts";
import { type Bench, ID, makeBench, push, sealed, stepsAtOnce } from "./push_bench.ts";

const TEXT = "hello from the phone";
const CANCEL_ID = ID.replace(/1$/, "9");
const message: Push = { ...push, body: undefined, sealed };
const cancel: Push = { ...message, id: CANCEL_ID, type: "agent.cancel", inReplyTo: ID };

interface AuditBench extends Bench {
  audited: Map<string, AuditEntry>;
}

function auditBench(change: Partial<PushOptions> = {}, inject?: PushOptions["inject"]): AuditBench {
  const audited = new Map<string, AuditEntry>();
  const bench = makeBench(inject, {
    unseal: (one) => {
      const body = one.type === "agent.cancel" ? one.inReplyTo : TEXT;
      return Promise.resolve({ found: { ...one, body }, seal: { pairing: "a" } });
    },
    ended: async (one, outcome) => void audited.set(one.id, await auditEntry(one, outcome, 0)),
    ...change,
  });
  return { ...bench, audited };
}

async function assertAudited(
  { audited }: AuditBench,
  { id = ID, text = TEXT, outcome }: { id?: string; text?: string; outcome: string },
): Promise<void> {
  const { digest, length, outcome: ended } = audited.get(id) ?? {};
  assert.deepEqual([ended, length, digest], [outcome, text.length, await canonicalDigest(text)]);
}

for (
  const [what, leftBehind] of [
    ["is removed", () => Promise.resolve()],
    ["cannot be removed", () => Promise.reject(new Error("no tmux"))],
  ] as const
) {
  Deno.test(`audit: a sealed message that a crash interrupted has its length when its text ${what} [ls-audit]`, async () => {
    const removed: (string | undefined)[] = [];
    const bench = auditBench({
      leftBehind: ({ body }) => {
        removed.push(body);
        return leftBehind();
      },
    });
    bench.steps.set(ID, { id: ID, at: 0, step: "typing" });
    await bench.intake.receive(message);
    await assertAudited(bench, { outcome: "unknown interrupted" });
    assert.equal(bench.audited.get(ID)?.about, undefined);
    assert.deepEqual(removed, [TEXT]);
  });
}

Deno.test("audit: an interrupted message that no longer opens has no text, and none is searched for in the composer [ls-audit]", async () => {
  const bench = auditBench({
    unseal: () => Promise.resolve({ found: { state: "refused", reason: "unsealable" } }),
    leftBehind: () => assert.fail("looked for"),
  });
  bench.steps.set(ID, { id: ID, at: 0, step: "typing" });
  await bench.intake.receive(message);
  await assertAudited(bench, { outcome: "unknown interrupted", text: "" });
  assert.deepEqual(bench.log, []);
});

Deno.test("audit: a sealed message that is cancelled or whose phone is revoked while it waits has its length [ls-audit]", async () => {
  for (const later of [undefined, { kind: "idle" }]) {
    for (const way of ["cancelled", "revoked"]) {
      const first = Promise.withResolvers<void>();
      const bench = auditBench({}, async () => {
        await first.promise;
        return { state: "submitted" };
      });
      await bench.intake.receive({ ...message, id: ID.replace(/1$/, "2") });
      await bench.intake.receive(later === undefined ? message : { ...message, data: { later } });
      if (way === "cancelled") await bench.intake.receive(cancel);
      else await bench.intake.revoke(push.from);
      await assertAudited(bench, { outcome: way === "cancelled" ? "withdrawn" : "refused unsealable" });
      first.resolve();
      await bench.queues.idle();
    }
  }
});

Deno.test("audit: a sealed immediate push has its length, even if it fails or a crash interrupted it [ls-audit]", async () => {
  for (const type of ["agent.end", "project.mute", "dialog.answer", "ask.answer"]) {
    const done = auditBench();
    await done.intake.receive({ ...message, type });
    await assertAudited(done, { outcome: "submitted" });
    assert.equal(done.audited.get(ID)?.about, type);
  }
  const failed = auditBench({ atOnce: stepsAtOnce(() => Promise.reject(new Error("no tmux"))) });
  await failed.intake.receive({ ...message, type: "agent.end" });
  assert.equal(failed.audited.get(ID)?.length, TEXT.length);
  const crashed = auditBench();
  crashed.steps.set(ID, { id: ID, at: 0, step: "typing" });
  await crashed.intake.receive({ ...message, type: "agent.end" });
  await assertAudited(crashed, { outcome: "unknown interrupted" });
});

Deno.test("audit: a sealed message that finds its session's queue full has its length [ls-audit]", async () => {
  const typing = Promise.withResolvers<void>();
  const bench = auditBench({}, async () => {
    await typing.promise;
    return { state: "submitted" };
  });
  for (let n = 0; n < QUEUE_MAX; n++) {
    await bench.intake.receive({ ...message, id: ID.slice(0, -3) + (100 + n) });
  }
  await bench.intake.receive(message);
  await assertAudited(bench, { outcome: "refused rate_limited" });
  typing.resolve();
  await bench.queues.idle();
});
