/** The length of a sealed keystroke frame reveals nothing. */
import assert from "node:assert/strict";
import { say } from "../../../scripts/say.ts";
import { importSecret, newSecret } from "../../../src/crypto/paired_secret.ts";
import { acceptStream, beginStream } from "../../../src/crypto/stream.ts";
import {
  decodeKeyInput,
  encodeKeyInput,
  KEY_INPUT_BLOCK_BYTES,
  KEY_NAMES,
  type KeyInput,
} from "../../../src/protocol/key_input.ts";

const letters = "abcdefghijklmnopqrstuvwxyz";
const names = [
  ...KEY_NAMES,
  ...[...letters].flatMap((letter) => [`C-${letter}`, `M-${letter}`]),
  ...["M-Enter", "M-BSpace"],
];
const printable = Array.from({ length: 0x7f - 0x20 }, (_, place) => String.fromCharCode(0x20 + place));
const characters = [...printable, "é", "ß", "Ж", "漢", "가", "😀", "👩‍💻", "\u2028", '"', "\\"];
const inputs: KeyInput[] = [
  ...names.map((key): KeyInput => ({ type: "key", key })),
  ...characters.map((text): KeyInput => ({ type: "text", text })),
];

Deno.test("every sealed key and every single character has the same length [seal-key-length]", async () => {
  const parties = { phone: "dev_phone_a", listener: "dev_listener_01234567", agentSessionName: "svc-a" };
  const secret = await importSecret(newSecret());
  const began = await beginStream(parties, { secret });
  const host = await acceptStream(parties, { hello: began.hello, secret });
  assert.ok(host);
  const phone = await began.finish(host.hello);
  const sealed: (Uint8Array | undefined)[] = [];
  for (const input of inputs) sealed.push(await phone?.sealer.seal(encodeKeyInput(input)));
  // The first frame of a stream also carries the stream's key, whatever was typed.
  const lengths = new Set(sealed.slice(1).map((frame) => frame?.length));
  assert.equal(lengths.size, 1, [...lengths].join(", "));
  say(`${inputs.length} keys and characters, sealed: all of ${[...lengths].join()} bytes`);
  for (const [place, frame] of sealed.entries()) {
    const opened = await host.channel.opener.open(frame ?? new Uint8Array());
    assert.equal(opened.kind, "frame");
    assert.deepEqual(opened.kind === "frame" && decodeKeyInput(opened.bytes), inputs[place]);
  }
});

Deno.test("an unpadded frame from an earlier page is accepted, and longer text is padded to whole blocks [seal-key-length]", () => {
  const input: KeyInput = { type: "text", text: "x".repeat(256) };
  assert.equal(encodeKeyInput(input).length, 2 * KEY_INPUT_BLOCK_BYTES);
  assert.deepEqual(decodeKeyInput(encodeKeyInput(input)), input);
  assert.deepEqual(decodeKeyInput(new TextEncoder().encode(JSON.stringify(input))), input);
});
