/** A stream under attack: changes of frames by a relay are detected, and frames that it makes up are never accepted. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { acceptStream, beginStream, type StreamChannel } from "../../../src/crypto/stream.ts";
import { FRAME_OVERHEAD_BYTES, StreamSealer, UNOPENED_MAX } from "../../../src/crypto/stream_frames.ts";
import { ENC_BYTES } from "../../../src/crypto/hpke.ts";
import { bytes, secretKey, text } from "./secrets.ts";

const PARTIES = { phone: "dev_phone_a", listener: "dev_listener_01234567", agentSessionName: "svc-app" };
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
