/**
 * Both ends of the sealed channel in one program: a message that only the host can open, and a stream of frames.
 *
 * deno run examples/sealed_channel.ts "run the tests"
 *
 * A phone gets the secret by scanning a QR code. A relay between the two ends sees the envelope and the frames.
 */
import assert from "node:assert/strict";
import process from "node:process";
import {
  acceptStream,
  beginStream,
  exportPublicKey,
  generateKeyPair,
  importSecret,
  newSecret,
  openMessage,
  sealMessage,
} from "../mod.ts";

const [text = "run the tests"] = process.argv.slice(2);
const secret = await importSecret(newSecret());
const parties = {
  phone: "dev_phone_example",
  listener: "dev_listener_example",
  agentSessionName: "svc-demo",
};

// A stored message: sealed for the host's key and bound to the fields of its push.
const host = await generateKeyPair();
const boundTo = {
  ...{ id: crypto.randomUUID(), type: "agent.command", from: parties.phone },
  ...{ targetDeviceId: parties.listener, agentSessionName: parties.agentSessionName, sendAnyway: false },
};
const content = { body: text, notAfter: Date.now() + 60_000, counter: 1 };
const publicKey = await exportPublicKey(host.publicKey);
const sealed = await sealMessage(content, { boundTo, publicKey, secret });
process.stdout.write(`the relay stores ${sealed.ciphertext.length} characters, mode ${sealed.mode}\n`);
process.stdout.write(
  `the host opens: ${(await openMessage(sealed, { boundTo, keyPair: host, secret }))?.body}\n`,
);
const other = { ...boundTo, agentSessionName: "svc-other" };
assert.equal(await openMessage(sealed, { boundTo: other, keyPair: host, secret }), undefined);
process.stdout.write("it does not open for another session\n");

// A stream: both ends derive the same keys without sending them.
const began = await beginStream(parties, { secret });
const accepted = await acceptStream(parties, { hello: began.hello, secret });
const phone = accepted && await began.finish(accepted.hello);
assert.ok(accepted && phone);
const payload = await accepted.channel.sealer.seal(new TextEncoder().encode(text));
const opened = await phone.opener.open(payload ?? new Uint8Array());
assert.equal(opened.kind, "frame");
if (opened.kind === "frame") {
  process.stdout.write(
    `the phone reads frame ${opened.sequence}: ${new TextDecoder().decode(opened.bytes)}\n`,
  );
}
