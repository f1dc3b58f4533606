/** One phone's stream: grant, order, credit, backlog, end; and what it reads: each phone's limit, an unreadable log. */
import assert from "node:assert/strict";
import { importSecret, newSecret } from "../../../../src/crypto/paired_secret.ts";
import { beginStream, plainChannel, type StreamChannel } from "../../../../src/crypto/stream.ts";
import {
  BACKLOG_MAX_BYTES,
  grantStream,
  PIECE_MAX_BYTES,
  Reading,
  Viewer,
} from "../../../../src/listener/mirror/viewer.ts";
import { MIRROR_CREDIT_BYTES } from "../../../../src/protocol/limits.ts";
import { decodeBinaryFrame, decodeMirror, decodeSequenced } from "../../../../src/protocol/pane_frame.ts";
import { FakeClock } from "../../../helpers/fake_clock.ts";

const SIZE = { cols: 80, rows: 24 };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function makeViewer(channel: StreamChannel = plainChannel()) {
  const events: string[] = [];
  let received = 0;
  const viewer = new Viewer({
    stream: 7,
    channel,
    history: 0,
    opened: ({ cols, rows }) => void events.push(`opened ${cols}x${rows}`),
    send: (frame) => {
      const { stream, payload } = decodeBinaryFrame(frame) ?? {};
      const { sequence, bytes } = decodeSequenced(payload ?? new Uint8Array()) ?? {};
      const message = decodeMirror(bytes ?? new Uint8Array());
      received += bytes?.length ?? 0;
      const text = message && "bytes" in message && message.bytes.length < 100
        ? ` ${new TextDecoder().decode(message.bytes)}`
        : "";
      events.push(`${stream} ${sequence} ${message?.tag}${text}`);
    },
    ended: (reason) => void events.push(`ended ${reason}`),
  });
  const sent = async (): Promise<string[]> => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    return events.splice(0);
  };
  return { viewer, sent, received: () => received };
}

Deno.test("viewer: opened first, then a snapshot, then output in order with rising numbers [bin-tags, flow-2]", async () => {
  const { viewer, sent } = makeViewer();
  assert.equal(viewer.isStale, true);
  viewer.snapshot(SIZE, bytes("screen"));
  viewer.output(bytes("a"));
  viewer.output(bytes("b"));
  viewer.flush();
  viewer.sendTitle("title");
  viewer.sendTitle("title");
  viewer.snapshot({ cols: 100, rows: 30 }, bytes("new"));
  assert.deepEqual(await sent(), [
    "opened 80x24",
    "7 0 S screen",
    "7 1 O ab",
    "7 2 T",
    "7 3 R",
    "7 4 S new",
  ]);
});

Deno.test("viewer: what a phone asks to read is sent only over a stream that its secret has proven [card-fetched, ls-audit-phone]", async () => {
  const part = { card: crypto.randomUUID(), at: 0, text: "secret" };
  for (const mode of ["off", "base", "psk"] as const) {
    const { viewer, sent } = makeViewer({ ...plainChannel(), mode });
    await viewer.answer(() => Promise.resolve({ part }));
    await viewer.answer(() => Promise.resolve(undefined));
    assert.deepEqual(await sent(), mode === "psk" ? ["7 0 T"] : [], mode);
  }
});

Deno.test("viewer: without credit nothing is sent, and at most the backlog is kept [ev-pane-credit]", async () => {
  const { viewer, sent, received } = makeViewer();
  viewer.snapshot(SIZE, new Uint8Array(MIRROR_CREDIT_BYTES));
  assert.equal(viewer.canTake, false);
  viewer.output(bytes("waits"));
  viewer.flush();
  assert.deepEqual((await sent()).length, 2);
  viewer.addCredit(100);
  viewer.flush();
  assert.deepEqual(await sent(), ["7 1 O waits"]);
  viewer.output(new Uint8Array(BACKLOG_MAX_BYTES));
  assert.equal(viewer.isStale, false);
  viewer.output(new Uint8Array(1));
  assert.equal(viewer.isStale, true, "too far behind");
  viewer.addCredit(1_000_000_000);
  viewer.flush();
  assert.deepEqual(await sent(), [], "what waited is void");
  viewer.snapshot(SIZE, new Uint8Array(MIRROR_CREDIT_BYTES));
  assert.equal(viewer.canTake, false, "credit has a most");
  assert.ok(received() > MIRROR_CREDIT_BYTES);
});

Deno.test("viewer: the rest of a snapshot larger than a frame follows as output", async () => {
  const { viewer, sent, received } = makeViewer();
  viewer.snapshot(SIZE, new Uint8Array(2 * PIECE_MAX_BYTES + 1));
  assert.deepEqual(await sent(), ["opened 80x24", "7 0 S", "7 1 O", "7 2 O \u0000"]);
  assert.equal(received(), 2 * PIECE_MAX_BYTES + 1 + 3);
});

Deno.test("viewer: a frame that cannot be sealed is never sent plain [enc-drop]", async () => {
  const { viewer, sent } = makeViewer({
    ...plainChannel(),
    sealer: { unsealed: 0, seal: () => Promise.resolve(undefined) },
  });
  viewer.snapshot(SIZE, bytes("secret"));
  assert.deepEqual(await sent(), ["opened 80x24"]);
});

Deno.test("viewer: its end is reported once, and nothing follows", async () => {
  const { viewer, sent } = makeViewer();
  viewer.snapshot(SIZE, bytes("screen"));
  await sent();
  viewer.end("pane_gone");
  viewer.end("again");
  viewer.sendStatus({ title: "late" });
  assert.deepEqual(await sent(), ["ended pane_gone"]);
  const left = makeViewer();
  left.viewer.leave();
  left.viewer.end("unheard");
  assert.deepEqual(await left.sent(), []);
});

const secret = await importSecret(newSecret());
const PARTIES = { phone: "dev_phone_a", listener: "dev_listener_01234567", agentSessionName: "svc-a" };
const keys = {
  deviceId: PARTIES.listener,
  secretOf: (phone: string) => Promise.resolve(phone === PARTIES.phone ? secret : undefined),
};
const plain = { stream: 1, agentSessionName: PARTIES.agentSessionName };

async function asked(own: CryptoKey | undefined) {
  const began = await beginStream(PARTIES, { secret: own });
  return { began, open: { ...plain, from: PARTIES.phone, ...began.hello } };
}

Deno.test("a stream has the encryption that the phone requests, and works on both sides [seal-off, seal-base, seal-psk, enc-public-key]", async () => {
  const off = await grantStream(plain, { keys, floor: "off" });
  assert.ok("channel" in off && off.channel.mode === "off" && off.hello === undefined);
  for (const own of [undefined, secret]) {
    const { began, open } = await asked(own);
    const granted = await grantStream(open, { keys, floor: "off" });
    assert.ok("channel" in granted && granted.hello);
    const phone = await began.finish(granted.hello);
    const payload = await granted.channel.sealer.seal(new Uint8Array([1, 2]));
    const opened = await phone?.opener.open(payload ?? new Uint8Array());
    assert.deepEqual([phone?.mode, opened?.kind], [own ? "psk" : "base", "frame"]);
  }
});

Deno.test("below the host's floor a stream is refused with the reason [seal-floor]", async () => {
  const base = (await asked(undefined)).open;
  assert.deepEqual(await grantStream(plain, { keys, floor: "base" }), {
    kind: "refused",
    reason: "sealed_required",
  });
  assert.deepEqual(await grantStream(base, { keys, floor: "psk" }), {
    kind: "refused",
    reason: "sealed_required",
  });
  assert.ok("channel" in await grantStream(base, { keys, floor: "base" }));
  assert.ok("channel" in await grantStream((await asked(secret)).open, { keys, floor: "psk" }));
});

Deno.test("psk mode without a shared secret, and an invalid key, are unsealable", async () => {
  const { open } = await asked(secret);
  for (const change of [{ from: "dev_phone_b" }, { from: undefined }, { publicKey: "AAAA" }]) {
    assert.deepEqual(await grantStream({ ...open, ...change }, { keys, floor: "off" }), {
      kind: "refused",
      reason: "unsealable",
    });
  }
});

const PAGE = { skip: 0, entries: [], more: false };
const PHONE = { session: "svc-demo", phone: "dev_phone_1" };

Deno.test("pages of the audit log are limited for each phone [ls-audit-phone]", async () => {
  const clock = new FakeClock();
  const audit = { page: () => Promise.resolve(PAGE) };
  const reading = new Reading({ cards: { part: () => undefined }, audit, clock, log: () => {} });
  const read = async (phone = PHONE): Promise<boolean> =>
    await reading.answer({ type: "audit.read", skip: 0 }, phone) !== undefined;
  const first = await Promise.all(Array.from({ length: 12 }, () => read()));
  assert.equal(first.filter(Boolean).length, 10);
  assert.equal(await read({ ...PHONE, phone: "dev_phone_2" }), true);
  clock.advance(1_000);
  assert.deepEqual([await read(), await read()], [true, false]);
});

Deno.test("a log that cannot be read is reported at the host, and the phone gets no answer [ls-audit-phone]", async () => {
  const lines: string[] = [];
  const audit = { page: () => Promise.reject(new Error("is a directory")) };
  const options = { cards: { part: () => undefined }, audit, clock: new FakeClock() };
  const reading = new Reading({ ...options, log: (line) => void lines.push(line) });
  assert.equal(await reading.answer({ type: "audit.read", skip: 0 }, PHONE), undefined);
  assert.match(lines.join(), /audit log could not be read.*is a directory/);
});
