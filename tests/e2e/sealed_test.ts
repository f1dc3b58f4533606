/** Sealed messages on the real stack, with a relay that records everything, and with one that tampers. */
import assert from "node:assert/strict";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import { decodeBase64url } from "../../src/async/encodings.ts";
import { sealMessage } from "../../src/crypto/stored_message.ts";
import { UnprovenHost } from "../../src/client/relay_error.ts";
import type { PushRequestInput } from "../../src/protocol/push.ts";
import { NAUGHTY_BODIES } from "../helpers/naughty.ts";
import { outcomeOf } from "../helpers/outcome_of.ts";
import { startSvc } from "../helpers/program.ts";
import { pairScriptedPhone, type ScriptedPhone } from "../helpers/scripted_phone.ts";
import { makeStack } from "../helpers/stack.ts";
import { keySwapper, storedBy, tappedStack } from "../helpers/tapped_stack.ts";
import { SAFETY_LIMIT_MS } from "../helpers/until.ts";

async function sent(phone: Pick<ScriptedPhone, "api">, push: PushRequestInput): Promise<string> {
  const { id } = await phone.api.sendPush(push);
  const { receipt } = await waitForReceipt(phone.api, id, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 50 });
  return outcomeOf(receipt);
}

const latin1 = (text: string): string => new TextDecoder("latin1").decode(new TextEncoder().encode(text));

Deno.test("sealed messages arrive byte for byte, and neither text nor secret is found in what crossed the relay or is stored there [seal-stored, sec-passive-relay, pair-fragment, hostile-relay]", async () => {
  await using tapped = await tappedStack();
  const { stack, tap } = tapped;
  const { name, prompts } = await stack.echo();
  const link = await tapped.stack.pairLink();
  const phone = await pairScriptedPhone(link);
  const bodies = ["a body that nobody in between may read", ...Object.values(NAUGHTY_BODIES)];
  for (const body of bodies) {
    assert.equal((await phone.send(name, body)).receipt.state, "submitted");
  }
  assert.deepEqual(await prompts(bodies.length), bodies);

  const control = "a plain body, to show that the tap sees";
  await stack.send(name, control);
  const [seen, stored] = [tap.seen(), await storedBy(stack)];
  for (const text of [seen, stored]) {
    assert.ok(text.includes(control));
    for (const body of bodies.filter((one) => one.length > 8)) assert.ok(!text.includes(latin1(body)));
  }
  const word = new URLSearchParams(new URL(link).hash.slice(1)).get("s") ?? "";
  const secret = decodeBase64url(word) ?? new Uint8Array();
  const forms = [word, secret.toHex(), secret.toBase64(), new TextDecoder("latin1").decode(secret)];
  for (const form of forms) assert.ok(form.length >= 32 && !seen.includes(form) && !stored.includes(form));
});

Deno.test("a sealed message that a relay moves, changes or repeats is refused, and nothing is typed [seal-stored, seal-unsealable, hostile-relay]", async () => {
  await using stack = await makeStack();
  const { name, prompts } = await stack.echo();
  const phone = await pairScriptedPhone(await stack.pairLink());
  const push = await phone.pushOf(name, "once");
  assert.equal(await sent(phone, push), "submitted");
  assert.equal(await sent(phone, push), "submitted", "the same answer, and nothing typed");
  const moved: Partial<PushRequestInput>[] = [
    {},
    { data: { sendAnyway: true } },
    { sealed: push.sealed && { ...push.sealed, mode: "base" } },
    { sealed: push.sealed && { ...push.sealed, ciphertext: `${push.sealed.ciphertext.slice(0, -4)}AAAA` } },
  ];
  for (const change of moved) {
    const replayed = { ...push, ...change, id: crypto.randomUUID() };
    const outcome = change.sealed?.mode === "base" ? "refused sealed_required" : "refused unsealable";
    assert.equal(await sent(phone, replayed), outcome, JSON.stringify(change));
  }
  const byOther = { ...await phone.pushOf(name, "from another key") };
  assert.equal(await sent(stack, byOther), "refused unsealable");
  await stack.sandbox.tmux("new-session", "-d", "-s", `${name}-2`, "cat");
  const elsewhere = { ...await phone.pushOf(name, "to another session"), agentSessionName: `${name}-2` };
  assert.equal(await sent(phone, elsewhere), "refused unsealable");
  assert.equal(await sent(phone, await phone.pushOf(name, "end")), "submitted");
  assert.deepEqual(await prompts(2), ["once", "end"]);
});

Deno.test("a host that demands paired phones refuses plain messages, and those sealed without a secret [seal-floor, seal-floor-message]", async () => {
  await using tapped = await tappedStack({ requireEncryption: "psk" });
  const { stack } = tapped;
  const { name, prompts } = await stack.echo();
  const phone = await pairScriptedPhone(await tapped.stack.pairLink());
  const plain = { type: "agent.command", agentSessionName: name, body: "plain" };
  assert.equal(await sent(phone, plain), "refused sealed_required");
  const id = crypto.randomUUID();
  const boundTo = {
    id,
    type: "agent.command",
    from: phone.deviceId,
    targetDeviceId: phone.host.deviceId,
    agentSessionName: name,
    sendAnyway: false,
  };
  const { publicKey } = phone.host;
  const sealed = await sealMessage({ body: "base", notAfter: Date.now() + 60_000 }, { boundTo, publicKey });
  const { from: _from, sendAnyway: _anyway, ...fields } = boundTo;
  assert.equal(await sent(phone, { ...fields, sealed }), "refused sealed_required");
  assert.equal((await phone.send(name, "paired")).receipt.state, "submitted");
  assert.deepEqual(await prompts(1), ["paired"]);
});

Deno.test("a relay that gives the phone its own key in place of the host's pairs nothing, and the user is warned [sec-active-relay, seal-psk, hostile-relay]", async () => {
  await using tapped = await tappedStack({}, await keySwapper(/"host":"[^"]*","publicKey":"[\w-]{87}"/));
  const { stack, tap } = tapped;
  await assert.rejects(pairScriptedPhone(await tapped.stack.pairLink()), UnprovenHost);
  assert.match(tap.seen(), /"publicKey":"[\w-]{87}"/);
  assert.equal((await stack.api.sessions()).devices.length, 1);
});

Deno.test("a relay that gives the host its own key in place of the phone's pairs nothing, and the user is warned [sec-active-relay, seal-psk, hostile-relay]", async () => {
  await using tapped = await tappedStack({}, await keySwapper(/"name":"iPhone","publicKey":"[\w-]{87}"/));
  const { stack } = tapped;
  const { name, prompts } = await stack.echo();
  const waiting = startSvc(stack.sandbox, ["pair"]);
  const [link = ""] = await waiting.line(/^http\S+#pair=\S+$/);
  const phone = await pairScriptedPhone(link);
  await waiting.line(/^Not paired: "iPhone" claimed the code without its secret\./);
  assert.equal((await waiting.exited).code, 1);
  const listed = JSON.parse((await stack.svc("devices", "--json")).stdout);
  assert.ok(listed.every(({ paired }: { paired: boolean }) => !paired));
  assert.equal(await sent(phone, await phone.pushOf(name, "sealed")), "refused unsealable");
  assert.deepEqual(await prompts(), []);
});
