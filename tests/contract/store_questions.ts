/** The store's contract for pages of open questions. */
import assert from "node:assert/strict";
import type { PageRequest } from "../../src/store/store.ts";
import { aPush, type Body, idsOf, queued, uuid } from "./store_samples.ts";

export const QUESTIONS: Record<string, Body> = {
  "a page of open questions has one account's unclosed questions, in both directions [ux-old-open]": async (
    store,
  ) => {
    const ask = (n: number, fields: Parameters<typeof aPush>[1] = {}) => {
      const asked = aPush(n, { target: undefined, ...fields });
      return { ...asked, push: { ...asked.push, type: "ask" } };
    };
    const note = aPush(3, { target: undefined });
    for (const push of [ask(1), ask(2), note, aPush(4), ask(5), ask(6), ask(7, { account: "b" })]) {
      await store.insertPush(push);
    }
    await store.changeReceipt({ account: "a", id: uuid(5) }, () => ({ ...queued, final: true }));
    const page = async (request: Partial<PageRequest>) => {
      const most = { limit: 9, bytes: Number.MAX_SAFE_INTEGER };
      const found = await store.pagePushes({ account: "a", openQuestions: true, ...most, ...request });
      return [idsOf(found?.pushes), found?.hasMore];
    };
    assert.deepEqual(await page({}), [[uuid(1), uuid(2), uuid(6)], false]);
    assert.deepEqual(await page({ before: "end", limit: 2 }), [[uuid(2), uuid(6)], true]);
    assert.deepEqual(await page({ before: uuid(2) }), [[uuid(1)], false]);
    assert.deepEqual(await page({ after: uuid(1), limit: 1 }), [[uuid(2)], true]);
    assert.deepEqual(await page({ account: "b" }), [[uuid(7)], false]);
  },
};
