/** A follower of a NATS stream that is stopped leaves nothing running. */
import assert from "node:assert/strict";
import { Following } from "../../../src/store/nats_following.ts";

Deno.test("a follower that is stopped while it waits for a late message leaves no timer", async () => {
  const asked = Promise.withResolvers<void>();
  let consumers = 0;
  const following = new Following({
    filter: "test.>",
    from: 1,
    handler: () => undefined,
    consume: () => {
      consumers++;
      const none = { stop: () => undefined, async *[Symbol.asyncIterator]() {} };
      return Promise.resolve({ messages: none, pending: 1 });
    },
    next: () => {
      asked.resolve();
      return Promise.resolve({ seq: 1 });
    },
    last: () => Promise.resolve(1),
    session: () => "",
    storedAt: () => Promise.resolve(undefined),
    lossAfterMs: 60_000,
  });
  await following.start();
  await asked.promise;
  await Promise.resolve();
  following.stop();
  await following.caughtUp;
  assert.equal(consumers, 1);
});
