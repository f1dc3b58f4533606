/** Floods: only the flooding sender's socket is closed or its request refused. */
import assert from "node:assert/strict";
import { CLOSE } from "../../../src/protocol/errors.ts";
import {
  INVENTORIES_BURST,
  INVENTORY_BYTES_BURST,
  KEY_BYTES_BURST,
  KEY_FRAME_MAX_BYTES,
  OPEN_BYTES_BURST,
  PAGE_BYTES_BURST,
  PAGE_MAX_BYTES,
  STORED_PER_DAY_MAX_BYTES,
  TEXT_BYTES_BURST,
} from "../../../src/protocol/limits.ts";
import { encodeBinaryFrame, KEY_FRAME } from "../../../src/protocol/pane_frame.ts";
import { FRAME_RATES, OVER_BUDGET } from "../../../src/relay/budgets.ts";
import { UNREAD_MAX_BYTES } from "../../../src/relay/connection.ts";
import { networkOf, plainAddress } from "../../../src/runtime/plain_connections.ts";
import { type FakeClient, Fixture, sessionNamed, uuid } from "./fixture.ts";

const keys = (client: FakeClient, bytes: number): void =>
  client.socket.handlers?.bytes(
    encodeBinaryFrame({ kind: KEY_FRAME, stream: 1, payload: new Uint8Array(bytes - 5) }),
  );

async function makeMirrors(relay: Fixture) {
  const listener = await relay.listener();
  await listener.send("listener.sessions", { sequence: 1, sessions: [sessionNamed("svc-p")] });
  const [flooder, honest] = [await relay.connect(await relay.key()), await relay.connect(await relay.key())];
  for (const phone of [flooder, honest]) {
    await phone.send("pane.open", { stream: 1, agentSessionName: "svc-p" });
  }
  return { listener, flooder, honest };
}

/** `hello` counts as one of the other frames. */
const HELLOS = 1;
const keysAt = ({ socket }: FakeClient): number =>
  socket.sent.filter((data) => typeof data !== "string").length;
const closed = ({ socket }: FakeClient): number | undefined => socket.closedWith?.code;
const over = (relay: Fixture): string[] => relay.metrics.of(OVER_BUDGET).render().slice(2);

Deno.test("a keystroke frame larger than any paste closes its phone, not the listener [flood-keys]", async () => {
  await using relay = await Fixture.make();
  const { listener, flooder, honest } = await makeMirrors(relay);
  keys(flooder, KEY_FRAME_MAX_BYTES);
  keys(flooder, KEY_FRAME_MAX_BYTES + 1);
  keys(flooder, 100);
  keys(honest, 100);
  assert.deepEqual([closed(flooder), closed(honest), closed(listener)], [CLOSE.FLOOD, undefined, undefined]);
  assert.equal(keysAt(listener), 2);
  assert.ok(flooder.socket.paused, "what the flooder sends afterwards is still read");
  assert.deepEqual(over(relay), ['svc_over_budget_total{budget="key_frame_bytes"} 1']);
});

Deno.test("keystrokes are limited in bytes and in number per key, and the budget refills [flood-keys]", async () => {
  await using relay = await Fixture.make();
  const { listener, flooder, honest } = await makeMirrors(relay);
  const long = KEY_BYTES_BURST / KEY_FRAME_MAX_BYTES;
  for (let n = 0; n < long; n++) keys(flooder, KEY_FRAME_MAX_BYTES);
  assert.equal(closed(flooder), undefined);
  relay.clock.advance(4_000);
  for (let n = 0; n < long; n++) keys(flooder, KEY_FRAME_MAX_BYTES);
  assert.equal(closed(flooder), undefined);
  keys(flooder, KEY_FRAME_MAX_BYTES);
  assert.equal(closed(flooder), CLOSE.FLOOD);
  const { burst } = FRAME_RATES.keys;
  for (let n = 0; n < burst; n++) keys(honest, 20);
  assert.equal(closed(honest), undefined);
  keys(honest, 20);
  assert.equal(closed(honest), CLOSE.FLOOD);
  assert.equal(closed(listener), undefined);
  assert.equal(keysAt(listener), 2 * long + burst);
});

Deno.test("keystrokes never close a slow listener: a long frame closes its phone, and short ones are dropped [flood-keys]", async () => {
  await using relay = await Fixture.make();
  const { listener, flooder, honest } = await makeMirrors(relay);
  listener.socket.unread = UNREAD_MAX_BYTES / 2;
  keys(honest, 100);
  assert.equal(keysAt(listener), 1);
  listener.socket.unread = UNREAD_MAX_BYTES / 2 + 1;
  keys(honest, 100);
  keys(flooder, 10_000);
  assert.equal(keysAt(listener), 1);
  assert.deepEqual([closed(listener), closed(honest), closed(flooder)], [undefined, undefined, CLOSE.FLOOD]);
});

Deno.test("inventories are limited in number and bytes per key, and the flooder's socket closes [flood-inventories]", async () => {
  await using relay = await Fixture.make();
  const send = (client: FakeClient, title: string): Promise<void> =>
    client.send("listener.sessions", { sequence: 1, sessions: [{ ...sessionNamed("svc-p"), title }] });
  const many = await relay.listener("dev_listener_aaaaaaaa");
  for (let n = 0; n < INVENTORIES_BURST; n++) await send(many, "");
  assert.equal(closed(many), undefined);
  await send(many, "");
  assert.equal(closed(many), CLOSE.FLOOD);
  const big = await relay.listener("dev_listener_bbbbbbbb");
  for (let n = 0; n < INVENTORY_BYTES_BURST / 200_000 - 1; n++) await send(big, "x".repeat(200_000));
  assert.equal(closed(big), undefined);
  for (let n = 0; n < 3; n++) await send(big, "x".repeat(200_000));
  assert.equal(closed(big), CLOSE.FLOOD);
  const reports = over(relay).map((line) => /budget="(\w+)"/.exec(line)?.[1]);
  assert.deepEqual(reports, ["inventories", "inventory_bytes"]);
});

Deno.test("each kind of frame has its rate, including unknown ones, and a sender above it is closed [flood-frames]", async () => {
  await using relay = await Fixture.make();
  const flood = async (text: string, burst: number): Promise<FakeClient> => {
    const client = await relay.connect(await relay.key());
    for (let n = 0; n < burst; n++) client.socket.handlers?.text(text);
    assert.equal(closed(client), undefined, text);
    client.socket.handlers?.text(text);
    await relay.settle();
    return client;
  };
  for (
    const [text, burst] of [
      ['{"event":"ping"}', FRAME_RATES.ping.burst],
      ['{"event":"invented"}', FRAME_RATES.other.burst - HELLOS],
      ["no frame", FRAME_RATES.other.burst - HELLOS],
      ['{"event":"pane.credit","data":{"stream":1,"bytes":1}}', FRAME_RATES["pane.credit"].burst],
    ] as const
  ) assert.equal(closed(await flood(text, burst)), CLOSE.FLOOD, text);
});

Deno.test("neither more sockets nor reconnecting gives a key more frames [flood-frames]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const ping = '{"event":"ping"}';
  const { burst } = FRAME_RATES.ping;
  const [one, two] = [await relay.connect(key), await relay.connect(key)];
  for (let n = 0; n < burst; n++) (n % 2 === 0 ? one : two).socket.handlers?.text(ping);
  assert.deepEqual([closed(one), closed(two)], [undefined, undefined]);
  one.socket.handlers?.text(ping);
  assert.equal(closed(one), CLOSE.FLOOD);
  const again = await relay.connect(key);
  again.socket.handlers?.text(ping);
  assert.equal(closed(again), CLOSE.FLOOD);
  const other = await relay.connect(await relay.key());
  other.socket.handlers?.text(ping);
  assert.equal(closed(other), undefined);
  relay.clock.advance(1_000);
  two.socket.handlers?.text(ping);
  assert.equal(closed(two), undefined);
});

Deno.test("control frames of a key are limited in bytes before they are parsed, over all its sockets [flood-frames]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const long = JSON.stringify({ event: "ping", data: { junk: "x".repeat(200_000) } });
  let sent = 0;
  let client = await relay.connect(key);
  for (let sockets = 1; sockets < 4; client = await relay.connect(key), sockets++) {
    for (; closed(client) === undefined && sent < 10 * TEXT_BYTES_BURST; sent += long.length) {
      client.socket.handlers?.text(long);
    }
  }
  assert.ok(sent <= TEXT_BYTES_BURST + 4 * long.length, `${sent} bytes`);
  const reports = over(relay).map((line) => /budget="(\w+)"/.exec(line)?.[1]);
  assert.deepEqual(reports, ["text_bytes"]);
});

Deno.test("a listener cannot store a long text as the reason of a receipt [flood-stored]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  const sent = await relay.request("POST", "/pushes/send", {
    key: await relay.key(),
    body: { type: "agent.command", agentSessionName: "svc-p", body: "x" },
  });
  const { id } = await sent.json();
  await listener.send("push.ack", { id, outcome: "held", reason: "x".repeat(201), final: false });
  const push = await relay.services.store.findPush({ account: "default", id });
  assert.equal(push?.receipt.state, "queued");
});

/** Stores enough under the newest key that `left` bytes of its budget remain. */
async function storeAllBut(relay: Fixture, left: number): Promise<void> {
  const { store, clock } = relay.services;
  const from = (await store.listKeys()).at(-1)?.id ?? "";
  const now = clock.now();
  const parts = 4;
  for (let n = 0; n < parts; n++) {
    const body = "x".repeat((STORED_PER_DAY_MAX_BYTES - left) / parts - 1_000);
    const push = { id: uuid(1_000 + n), type: "note", from, body, createdAt: now, expiresAt: now };
    const receipt = { state: "delivered", final: true, at: {} } as const;
    await store.insertPush({ account: "default", digest: new Uint8Array(32), push, receipt });
  }
}

Deno.test("a key that has stored its bytes for the day gets 429 with Retry-After, and other keys are unaffected [flood-stored]", async () => {
  await using relay = await Fixture.make();
  const flooder = await relay.key();
  await storeAllBut(relay, 20_000);
  relay.clock.advance(1);
  const other = await relay.key();
  const body = { type: "note", body: "x".repeat(16_000) };
  const send = (key: string): Promise<Response> => relay.request("POST", "/pushes/send", { key, body });
  let refused = await send(flooder);
  for (let n = 0; n < 3 && refused.status === 202; n++) refused = await send(flooder);
  assert.deepEqual([refused.status, (await refused.json()).code], [429, "over_budget"]);
  const wait = Number(refused.headers.get("retry-after"));
  assert.ok(wait > 0 && wait < 60, `${wait} s`);
  assert.equal((await send(other)).status, 202);
  relay.clock.advance(wait * 1_000);
  assert.equal((await send(flooder)).status, 202);
});

Deno.test("a stored push gets its first answer again even from a key that has used up its bytes for the day [flood-stored, http-202]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  await storeAllBut(relay, 10_000);
  const send = (n: number, body: string): Promise<Response> =>
    relay.request("POST", "/pushes/send", { key, body: { id: uuid(n), type: "note", body } });
  // Its answer is lost.
  const first = await (await send(1, "x".repeat(16_000))).json();
  const again = await send(1, "x".repeat(16_000));
  assert.deepEqual([again.status, await again.json()], [202, first]);
  assert.deepEqual((await (await send(1, "another text")).json()).code, "id_reused");
  assert.deepEqual((await (await send(2, "new")).json()).code, "over_budget");
});

Deno.test("a page of the history ends at its byte limit with a cursor, and the pages of one key are limited [flood-pages]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const body = { type: "note", body: "x".repeat(16_000) };
  const sent = 150;
  for (let n = 0; n < sent; n++) {
    relay.clock.advance(50);
    assert.equal((await relay.request("POST", "/pushes/send", { key, body })).status, 202);
  }
  const seen: string[] = [];
  for (let next: string | undefined = ""; next !== undefined;) {
    const page: Response = await relay.request("GET", `/pushes?limit=200&after=${next}`, { key });
    const text = await page.text();
    assert.ok(text.length <= PAGE_MAX_BYTES + 20_000, `${text.length} bytes`);
    const { pushes, next: following } = JSON.parse(text);
    seen.push(...pushes.map(({ push }: { push: { id: string } }) => push.id));
    next = following;
  }
  assert.equal(new Set(seen).size, sent);
  const newest = await (await relay.request("GET", "/pushes?limit=200&before=end", { key })).json();
  assert.equal(newest.pushes.at(-1).push.id, seen.at(-1));
  const { budgets, clock, store } = relay.services;
  const [made] = await store.listKeys();
  budgets.pageBytes.charge(made?.id ?? "", clock.elapsed(), PAGE_BYTES_BURST);
  const refused = await relay.request("GET", "/pushes", { key });
  assert.deepEqual([refused.status, refused.headers.has("retry-after")], [429, true]);
});

Deno.test("pages requested at the same time are charged before the next one is made [flood-pages]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const body = { type: "note", body: "x".repeat(16_000) };
  for (let n = 0; n < 80; n++) {
    relay.clock.advance(50);
    await relay.request("POST", "/pushes/send", { key, body });
  }
  relay.clock.advance(10_000);
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => relay.request("GET", "/pushes?limit=200", { key })),
  );
  const read = (await Promise.all(answers.filter(({ ok }) => ok).map((answer) => answer.text())))
    .reduce((sum, text) => sum + text.length, 0);
  assert.ok(read < PAGE_BYTES_BURST + 2 * PAGE_MAX_BYTES, `${read} bytes`);
  assert.equal(answers.at(-1)?.status, 429);
});

Deno.test("unread bytes are limited over all sockets of a key, and those that do not read are closed [flood-unread]", async () => {
  await using relay = await Fixture.make();
  const [key, other] = [await relay.key(), await relay.key()];
  const deaf = await Promise.all(Array.from({ length: 12 }, () => relay.connect(key)));
  const reader = await relay.connect(key);
  const stranger = await relay.connect(other);
  for (const { socket } of deaf) socket.unread = UNREAD_MAX_BYTES / 2;
  await relay.request("POST", "/pushes/send", { key: other, body: { type: "note", body: "x" } });
  assert.ok(deaf.some((client) => closed(client) === CLOSE.SLOW));
  assert.deepEqual([closed(reader), closed(stranger)], [undefined, undefined]);
  assert.equal(reader.received("push.new").length, 1);
});

Deno.test("answers without a key are limited per address: beyond it 429 and a closed connection, and other addresses are unaffected [flood-open]", async () => {
  const bytes = new Uint8Array(4_000_000);
  const forms = new Map([["identity", { bytes, etag: '"x"' }]] as const);
  const file = { type: "text/javascript", isHashed: false, forms };
  await using relay = await Fixture.make(new Map([["/app.js", file]]));
  const get = async (address: string, path = "/app.js"): Promise<Response> => {
    const answer = await relay.request("GET", path, { address });
    await answer.body?.cancel();
    return answer;
  };
  for (let n = 0; n < Math.floor(OPEN_BYTES_BURST / bytes.length); n++) {
    assert.equal((await get("2001:db8::1")).status, 200);
  }
  const refused = await get("2001:db8::2");
  assert.deepEqual([refused.status, refused.headers.get("connection")], [429, "close"]);
  assert.equal((await get("2001:db8:0:1::1")).status, 200);
  assert.equal((await get("2001:db8::1", "/healthz")).status, 200);
  relay.clock.advance(Number(refused.headers.get("retry-after")) * 1_000);
  assert.equal((await get("2001:db8::1")).status, 200);
});

Deno.test("addresses are counted as one IPv4 address or one IPv6 /64 network [flood-open]", () => {
  const cases = [
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::1", "::1"],
    ["2001:DB8::1", "2001:db8:0:0::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ];
  for (const [address = "", network] of cases) assert.equal(networkOf(address), network, address);
});

Deno.test("a trusted proxy is one address, however it is written, and not its neighbors in the network [flood-proxy]", () => {
  const proxy = plainAddress("2001:DB8:0:0::0005");
  assert.equal(plainAddress("2001:db8::5"), proxy);
  assert.notEqual(plainAddress("2001:db8::6"), proxy);
  assert.equal(plainAddress("::ffff:127.0.0.1"), "127.0.0.1");
  assert.equal(plainAddress("::1"), "::1");
});
