/** Streams sealed end to end: both sides agree, and nothing between them can impersonate either. */
import assert from "node:assert/strict";
import {
  acceptStream,
  beginStream,
  plainChannel,
  type StreamChannel,
  type StreamParties,
} from "../../../src/crypto/stream.ts";
import { bytes, secretKey, text } from "./secrets.ts";

const PARTIES: StreamParties = {
  phone: "dev_phone_a",
  listener: "dev_listener_01234567",
  agentSessionName: "svc-app",
};
interface Both {
  phone: StreamChannel;
  listener: StreamChannel;
}

async function connect(
  { phoneSecret, listenerSecret, listenerParties = PARTIES }: {
    phoneSecret?: CryptoKey | undefined;
    listenerSecret?: CryptoKey | undefined;
    listenerParties?: StreamParties;
  } = {},
): Promise<Both> {
  const began = await beginStream(PARTIES, { secret: phoneSecret });
  const accepted = await acceptStream(listenerParties, { hello: began.hello, secret: listenerSecret });
  assert.ok(accepted);
  const phone = await began.finish(accepted.hello);
  assert.ok(phone);
  return { phone, listener: accepted.channel };
}

async function carry(from: StreamChannel, to: StreamChannel, word: string): Promise<string> {
  const payload = await from.sealer.seal(bytes(word));
  assert.ok(payload);
  const opened = await to.opener.open(payload);
  return opened.kind === "frame" ? `${opened.sequence}:${text(opened.bytes)}` : opened.kind;
}

for (const mode of ["base", "psk"] as const) {
  Deno.test(`frames pass both ways, numbered, and are nowhere plain, in ${mode} mode [seal-context, seal-base, seal-psk]`, async () => {
    const secret = mode === "psk" ? await secretKey() : undefined;
    const { phone, listener } = await connect({ phoneSecret: secret, listenerSecret: secret });
    assert.equal(phone.mode, mode);
    assert.equal(listener.mode, mode);
    for (const word of ["0:one", "1:two", "2:three"]) {
      const said = word.slice(2);
      assert.equal(await carry(listener, phone, said), word);
      assert.equal(await carry(phone, listener, said), word);
    }
    const payload = await listener.sealer.seal(bytes("a plain word"));
    assert.doesNotMatch(text(payload ?? new Uint8Array()), /plain/);
  });
}

Deno.test("frames sealed at once are returned in the order of the calls", async () => {
  const { phone, listener } = await connect();
  const words = Array.from({ length: 50 }, (_, number) => "x".repeat((number % 7) * 3_000) + number);
  const payloads = await Promise.all(words.map((word) => listener.sealer.seal(bytes(word))));
  const opened = await Promise.all(payloads.map((payload) => phone.opener.open(payload ?? bytes(""))));
  assert.deepEqual(opened.map((frame) => frame.kind === "frame" ? text(frame.bytes) : frame.kind), words);
});

Deno.test("without a secret psk mode is not granted, and a phone accepts nothing weaker than it requested [seal-psk]", async () => {
  const secret = await secretKey();
  const began = await beginStream(PARTIES, { secret });
  assert.equal(await acceptStream(PARTIES, { hello: began.hello }), undefined);
  const weaker = await acceptStream(PARTIES, { hello: { ...began.hello, mode: "base" } });
  assert.ok(weaker);
  assert.equal(await began.finish(weaker.hello), undefined);
  assert.equal(await began.finish({}), undefined);
  assert.equal(await began.finish({ mode: "psk", publicKey: "no key" }), undefined);
});

Deno.test("another secret, session, listener or phone on one side breaks both directions at once", async () => {
  const secret = await secretKey();
  const wrong = [
    { listenerSecret: await secretKey() },
    { listenerParties: { ...PARTIES, agentSessionName: "svc-other" } },
    { listenerParties: { ...PARTIES, listener: "dev_listener_ffffffff" } },
    { listenerParties: { ...PARTIES, phone: "dev_phone_b" } },
  ];
  for (const change of wrong) {
    const { phone, listener } = await connect({ phoneSecret: secret, listenerSecret: secret, ...change });
    assert.equal(await carry(listener, phone, "x"), "broken");
    assert.equal(await carry(phone, listener, "x"), "broken");
  }
});

Deno.test("a plain stream numbers its frames and drops repeated ones [seal-off]", async () => {
  const [from, to] = [plainChannel(), plainChannel()];
  const payload = await from.sealer.seal(bytes("a"));
  assert.ok(payload);
  assert.equal((await to.opener.open(payload)).kind, "frame");
  assert.deepEqual(await to.opener.open(payload), { kind: "dropped", reason: "repeated" });
  assert.deepEqual(await to.opener.open(bytes("1234")), { kind: "dropped", reason: "unopenable" });
  assert.deepEqual(to.opener.dropped, { unopenable: 1, repeated: 1 });
});
