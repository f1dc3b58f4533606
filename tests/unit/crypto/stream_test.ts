/** Streams sealed end to end: both sides agree, and nothing between them can change or make up a frame. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { ENC_BYTES } from "../../../src/crypto/hpke.ts";
import {
  acceptStream,
  beginStream,
  FRAME_OVERHEAD_BYTES,
  plainChannel,
  type StreamChannel,
  type StreamParties,
  StreamSealer,
  UNOPENED_MAX,
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

const secret = await secretKey();

/** Returns a sealed stream and the payloads of `words`, as they cross the relay. */
async function sealedWords(
  words: readonly string[],
): Promise<{ phone: StreamChannel; payloads: Uint8Array[] }> {
  const began = await beginStream(PARTIES, { secret });
  const accepted = await acceptStream(PARTIES, { hello: began.hello, secret });
  const phone = accepted && await began.finish(accepted.hello);
  assert.ok(phone);
  const payloads = await Promise.all(words.map((word) => accepted.channel.sealer.seal(bytes(word))));
  return { phone, payloads: payloads.filter((payload) => payload !== undefined) };
}

async function opened(phone: StreamChannel, payload: Uint8Array): Promise<string> {
  const frame = await phone.opener.open(payload);
  if (frame.kind === "frame") return text(frame.bytes);
  return frame.kind === "dropped" ? frame.reason : frame.kind;
}

const flip = (payload: Uint8Array, at: number): Uint8Array =>
  payload.with(at % payload.length, (payload[at % payload.length] ?? 0) ^ 1);

Deno.test("a flipped bit, a cut or a lengthened frame is dropped and counted, and the next one opens [seal-open-fails, hostile-relay]", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 2_000 }), fc.constantFrom("flip", "cut", "longer"), async (at, how) => {
      const { phone, payloads } = await sealedWords(["zero", "one", "two"]);
      const [zero, one, two] = payloads as [Uint8Array, Uint8Array, Uint8Array];
      const changed = how === "flip"
        ? flip(one, at)
        : how === "cut"
        ? one.slice(0, at % one.length)
        : new Uint8Array([...one, at % 256]);
      assert.equal(await opened(phone, zero), "zero");
      assert.equal(await opened(phone, changed), "unopenable");
      assert.equal(await opened(phone, two), "two");
      assert.equal(phone.opener.dropped.unopenable, 1);
    }),
    { numRuns: 40 },
  );
});

Deno.test("in any order and number of repetitions each frame is opened once, and never after a later one [sec-replay, hostile-relay]", async () => {
  const order = fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(order, async (places) => {
      const { phone, payloads } = await sealedWords(Array.from({ length: 8 }, (_, number) => `${number}`));
      let last = 0;
      await opened(phone, payloads[0] ?? bytes(""));
      for (const place of places) {
        const got = await opened(phone, payloads[place] ?? bytes(""));
        // The first payload, when it comes again, begins with its key.
        const expected = place > last ? `${place}` : place === 0 ? "unopenable" : "repeated";
        if (got === "broken") break;
        assert.equal(got, expected);
        last = Math.max(last, place);
      }
    }),
    { numRuns: 40 },
  );
});

Deno.test("three frames in a row that do not open break the stream for good, a good one between them does not [seal-open-fails]", async () => {
  const { phone, payloads } = await sealedWords(["0", "1", "2", "3", "4"]);
  const [zero, one, two, three, four] = payloads as Uint8Array[];
  assert.ok(zero && one && two && three && four);
  assert.equal(await opened(phone, zero), "0");
  const bad = Array.from({ length: UNOPENED_MAX - 1 }, () => flip(one, 20));
  for (const payload of bad) assert.equal(await opened(phone, payload), "unopenable");
  assert.equal(await opened(phone, two), "2");
  for (const payload of bad) assert.equal(await opened(phone, payload), "unopenable");
  assert.equal(await opened(phone, flip(three, 20)), "broken");
  assert.equal(await opened(phone, four), "broken");
});

Deno.test("a first frame that does not open breaks the stream, because its keys are not the agreed ones", async () => {
  for (const at of [0, 1, ENC_BYTES + 1, ENC_BYTES + 20]) {
    const { phone, payloads } = await sealedWords(["0", "1"]);
    assert.equal(await opened(phone, flip(payloads[0] ?? bytes(""), at)), "broken");
  }
  const { phone, payloads } = await sealedWords(["0", "1"]);
  assert.equal(
    await opened(phone, payloads[1] ?? bytes("")),
    "broken",
    "the frame with the key was held back",
  );
});

Deno.test("a relay that puts its own key in place of either side's can open nothing and send nothing [sec-active-relay, hostile-relay]", async () => {
  const began = await beginStream(PARTIES, { secret });
  const mallory = await beginStream(PARTIES);
  const swapped = { ...began.hello, publicKey: mallory.hello.publicKey };
  const accepted = await acceptStream(PARTIES, { hello: swapped, secret });
  assert.ok(accepted);
  const toMallory = await accepted.channel.sealer.seal(bytes("screen")) ?? bytes("");
  const byMallory = await mallory.finish({ ...accepted.hello, mode: "base" });
  assert.ok(byMallory);
  assert.equal((await byMallory.opener.open(toMallory)).kind, "broken");
  const typed = await byMallory.sealer.seal(bytes("rm -rf")) ?? bytes("");
  assert.equal((await accepted.channel.opener.open(typed)).kind, "broken");
  const phone = await began.finish(accepted.hello);
  assert.equal((await phone?.opener.open(toMallory))?.kind, "broken");
});

Deno.test("a relay that swaps only the listener's key, or returns the phone's own key, is detected by the first frame [sec-active-relay, hostile-relay]", async () => {
  const began = await beginStream(PARTIES, { secret });
  const accepted = await acceptStream(PARTIES, { hello: began.hello, secret });
  assert.ok(accepted);
  const mallory = await beginStream(PARTIES);
  const swapped = await began.finish({ mode: "psk", publicKey: mallory.hello.publicKey });
  const screen = await accepted.channel.sealer.seal(bytes("screen")) ?? bytes("");
  assert.equal((await swapped?.opener.open(screen))?.kind, "broken");
  const reflected = await began.finish({ mode: "psk", publicKey: began.hello.publicKey });
  const own = await reflected?.sealer.seal(bytes("key")) ?? bytes("");
  assert.equal((await reflected?.opener.open(own))?.kind, "broken");
});

Deno.test("a listener that a relay made up is detected by its first frame [sec-active-relay, hostile-relay]", async () => {
  const began = await beginStream(PARTIES, { secret });
  const minted = await acceptStream(PARTIES, { hello: began.hello, secret: await secretKey() });
  assert.ok(minted);
  const phone = await began.finish(minted.hello);
  const shown = await minted.channel.sealer.seal(bytes("a false screen")) ?? bytes("");
  assert.equal((await phone?.opener.open(shown))?.kind, "broken");
});

Deno.test("frames of one stream, or of the other direction, cannot be opened in another [seal-context]", async () => {
  const [one, other] = [await sealedWords(["a", "b"]), await sealedWords(["c", "d"])];
  assert.equal(await opened(one.phone, one.payloads[0] ?? bytes("")), "a");
  assert.equal(await opened(one.phone, other.payloads[1] ?? bytes("")), "unopenable");
  const own = await one.phone.sealer.seal(bytes("key")) ?? bytes("");
  assert.equal(await opened(one.phone, own), "unopenable", "its own frame, sent back to it");
});

Deno.test("a frame that cannot be sealed is dropped and counted, never sent plain, and leaves a gap [enc-drop]", async () => {
  const params = { name: "AES-GCM", length: 256 };
  const decryptOnly = await crypto.subtle.generateKey(params, false, ["decrypt"]);
  const sealer = new StreamSealer({ enc: new Uint8Array(ENC_BYTES), key: decryptOnly });
  assert.equal(await sealer.seal(bytes("plain")), undefined);
  assert.equal(sealer.unsealed, 1);
});

Deno.test("sealing adds a bounded length, and equal texts look different", async () => {
  const { payloads } = await sealedWords(["same", "same", "same"]);
  const [first, ...others] = payloads.map((payload) => payload.length - 4);
  assert.equal(first, FRAME_OVERHEAD_BYTES + ENC_BYTES);
  assert.deepEqual(others, [FRAME_OVERHEAD_BYTES, FRAME_OVERHEAD_BYTES]);
  assert.equal(new Set(payloads.map((payload) => payload.toHex())).size, 3);
});
