/** When and how the relay itself ends a push. */
import assert from "node:assert/strict";
import type { PushState } from "../../../src/protocol/receipt.ts";
import { endOfDuePush, EXPIRY_GRACE_MS } from "../../../src/relay/upkeep.ts";
import type { StoredPush } from "../../../src/store/store.ts";
import { aDevice, aPush } from "../../contract/store_samples.ts";

const { createdAt, expiresAt } = aPush(1).push;

function stored(state: PushState, final = false): StoredPush {
  return { ...aPush(1), seq: 1, receipt: { state, final, at: {} } };
}

const never = aDevice("dev_l", { lastSeen: createdAt - 1 });
const left = aDevice("dev_l", { lastSeen: createdAt });
const here = aDevice("dev_l", { lastSeen: createdAt - 1, online: true });
const late = expiresAt + EXPIRY_GRACE_MS;

Deno.test("a push that no listener can have received expires on time [proto-push-ttl]", () => {
  assert.equal(endOfDuePush(stored("queued"), { listener: never, now: expiresAt - 1 }), undefined);
  assert.equal(endOfDuePush(stored("queued"), { listener: never, now: expiresAt }), "expired");
  assert.equal(endOfDuePush(stored("queued"), { listener: undefined, now: expiresAt }), "expired");
});

Deno.test("only the listener ends a push that it may have, which becomes unknown if the listener stays silent [rcpt-ends]", () => {
  for (const listener of [left, here]) {
    for (const state of ["queued", "delivered", "held", "typed"] as const) {
      assert.equal(endOfDuePush(stored(state), { listener, now: late - 1 }), undefined);
      assert.equal(endOfDuePush(stored(state), { listener, now: late }), "unknown");
    }
  }
  assert.equal(endOfDuePush(stored("held"), { listener: never, now: expiresAt }), undefined);
});

Deno.test("a final state stays", () => {
  assert.equal(endOfDuePush(stored("submitted", true), { listener: never, now: late }), undefined);
});
