/** Answers in NATS are stored after the receipt of the question that they close, completed by any node that finds them missing, and not stored again after removal. */
import assert from "node:assert/strict";
import { jetstream } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import type { Receipt } from "../../src/protocol/receipt.ts";
import { connectNats, subjectToken } from "../../src/runtime/nats.ts";
import { openNatsStore } from "../../src/store/nats.ts";
import { NOTE_HEADER } from "../../src/store/nats_following.ts";
import { noteOfReceipt } from "../../src/store/nats_open.ts";
import { textOf } from "../../src/store/nats_pushes.ts";
import type { NewPush, Store, StoredPush } from "../../src/store/store.ts";
import { startNats } from "../helpers/nats_server.ts";
import type { Case } from "../helpers/on_node.ts";
import { aPush, queued, uuid } from "./store_samples.ts";

const DAY_MS = 86_400_000;
const QUESTION = { account: "a", id: uuid(1) };
const ANSWER = { account: "a", id: uuid(2) };
const expired: Receipt = { state: "expired", reason: "too_late", final: true, at: {} };

const answered = (receipt: Receipt): Receipt | undefined =>
  receipt.final ? undefined : { ...receipt, state: "answered", final: true, answer: ANSWER.id };
const close = ({ receipt }: StoredPush): Receipt | undefined => answered(receipt);

function aQuestion(): NewPush {
  const { push } = aPush(1);
  const receipt: Receipt = { state: "delivered", final: false, at: {} };
  return aPush(1, { target: undefined, receipt, push: { ...push, createdAt: 1 } });
}

/** A late answer: it expires as soon as it is created. */
function anAnswer(createdAt: number): NewPush {
  const { push } = aPush(2, { expiresAt: createdAt });
  return aPush(2, { target: undefined, receipt: queued, push: { ...push, createdAt } });
}

/** Reads the ids as `svc server migrate` does, which first stores missing answers. */
async function copied(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of store.readPushes()) ids.push(...page.map(({ push }) => push.id));
  return ids;
}

interface Stage {
  store: Store;
  /** Closes the question with this answer, as a node that dies before it has stored the answer. */
  closeOnly(answer: NewPush): Promise<void>;
}

const BODIES: Record<string, (stage: Stage) => Promise<void>> = {
  "an answer that the sweep removed is not stored again by a copy or a change of its question [type-answer]":
    async ({ store }) => {
      const now = Date.now();
      await store.insertPush(aQuestion());
      const { kind } = await store.insertAnswer(anAnswer(now), { id: QUESTION.id, close });
      assert.equal(kind, "stored");
      await store.changeReceipt(ANSWER, () => expired);
      assert.equal(await store.removePushes({ madeBefore: 0, expiredBefore: now + 1 }), 1);
      assert.deepEqual(await copied(store), [QUESTION.id]);
      await store.changeReceipt(QUESTION, ({ receipt }) => ({ ...receipt, shown: { dev_p: { seen: now } } }));
      assert.deepEqual(await copied(store), [QUESTION.id]);
      assert.equal((await store.findPush(QUESTION))?.receipt.answer, ANSWER.id, "the receipt still names it");
    },
  "another node stores the answer of a node that died before storing it, unless it may have been removed since [type-answer]":
    async ({ store, closeOnly }) => {
      await closeOnly(anAnswer(Date.now() - 8 * DAY_MS));
      assert.deepEqual(await copied(store), [QUESTION.id]);
      await closeOnly(anAnswer(Date.now()));
      assert.deepEqual(await copied(store), [QUESTION.id, ANSWER.id]);
    },
  "the same answer, sent again, is stored if it has closed its question and is missing [type-answer]": async (
    { store, closeOnly },
  ) => {
    const send = (answer: NewPush) => store.insertAnswer(answer, { id: QUESTION.id, close });
    const old = anAnswer(Date.now() - 8 * DAY_MS);
    await closeOnly(old);
    assert.deepEqual(await send(old), { kind: "closed" });
    const answer = anAnswer(Date.now());
    await closeOnly(answer);
    const outcome = await send(answer);
    assert.equal(outcome.kind === "stored" && outcome.question.receipt.answer, ANSWER.id);
    assert.equal((await send(answer)).kind, "duplicate");
  },
};

export const cases: readonly Case[] = Object.entries(BODIES).map(([name, body]) => ({
  name,
  async run(_runtime, directory) {
    const server = await startNats(directory);
    const address = { servers: [server.url], prefix: "test" };
    const store = await openNatsStore(address, { node: crypto.randomUUID() });
    const connection = await connectNats(address, { name: "test" });
    try {
      await body({
        store,
        async closeOnly(answer) {
          const { stored } = await store.insertPush(aQuestion());
          const receipt = answered(aQuestion().receipt);
          assert.ok(receipt !== undefined);
          const of = { ...QUESTION, seq: stored.seq, expiresAt: stored.push.expiresAt };
          const marks = headers();
          marks.set(NOTE_HEADER, JSON.stringify(noteOfReceipt(of, { receipt, answer: answer.push.id })));
          const subject = `test.receipt.${subjectToken(QUESTION.account)}.${subjectToken(QUESTION.id)}`;
          const text = JSON.stringify({ ...of, receipt, answer: textOf(answer) });
          await jetstream(connection).publish(subject, text, { headers: marks });
        },
      });
    } finally {
      await connection.close();
      await store.close();
      await server.stop();
    }
  },
}));
