/** The phone's end of one mirror: in order, reopened after every break, never plain if sealed, and watched. */
import assert from "node:assert/strict";
import { importSecret, newSecret } from "../../../src/crypto/paired_secret.ts";
import { acceptStream, beginStream, plainChannel, type StreamChannel } from "../../../src/crypto/stream.ts";
import { makeEmulator } from "../../../src/phone/terminal_emulator.ts";
import {
  OPEN_LIMIT_MS,
  REOPEN_MAX_MS,
  type TerminalState,
  TerminalStream,
  TerminalWatch,
} from "../../../src/phone/terminal_stream.ts";
import { MIRROR_CREDIT_BYTES, MIRROR_PULSE_MS, MIRROR_SILENT_MS } from "../../../src/protocol/limits.ts";
import {
  decodeBinaryFrame,
  encodeMirror,
  type MirrorMessage,
  type MirrorStatus,
} from "../../../src/protocol/pane_frame.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

const PARTIES = { phone: "dev_phone", listener: "dev_listener", agentSessionName: "svc-p" };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

class Bench {
  readonly clock = new FakeClock();
  readonly sent: [string, Record<string, unknown>][] = [];
  readonly keys: string[] = [];
  readonly states: TerminalState[] = [];
  readonly statuses: MirrorStatus[] = [];
  readonly terminal = makeEmulator({ cols: 20, rows: 3 });
  /** The listener's end of the live stream. */
  listener: StreamChannel = plainChannel();
  readonly stream: TerminalStream;
  #number = 0;

  constructor(secret?: CryptoKey) {
    this.stream = new TerminalStream({ deviceId: "dev_listener", session: "svc-p" }, {
      link: {
        send: (event, data) => this.sent.push([event, data]) > 0,
        sendBinary: (frame) => {
          const { payload } = decodeBinaryFrame(frame) ?? {};
          void this.listener.opener.open(payload ?? new Uint8Array()).then((opened) => {
            if (opened.kind === "frame") this.keys.push(new TextDecoder().decode(opened.bytes));
          });
          return true;
        },
      },
      handshake: () => secret ? beginStream(PARTIES, { secret }) : Promise.resolve(undefined),
      nextStream: () => ++this.#number,
      terminal: this.terminal,
      clock: this.clock,
      random: () => 0.5,
      onState: (state) => void this.states.push(state),
      onStatus: (status) => void this.statuses.push(status),
      onDrawn: () => {},
    });
  }

  get opens(): Record<string, unknown>[] {
    return this.sent.flatMap(([event, data]) => event === "pane.open" ? [data] : []);
  }

  /** Opens the stream and accepts it unsealed. */
  async live(): Promise<number> {
    await this.stream.open();
    this.listener = plainChannel();
    const stream = this.#number;
    await this.stream.onOpened({ stream, cols: 20, rows: 3 });
    return stream;
  }

  async give(message: MirrorMessage, stream = this.#number): Promise<void> {
    const payload = await this.listener.sealer.seal(encodeMirror(message));
    await this.stream.onBytes(stream, payload ?? new Uint8Array());
  }

  shows(text: string): Promise<unknown> {
    return until(text, () => this.terminal.buffer.active.getLine(0)?.translateToString(true) === text);
  }
}

Deno.test("terminal stream: a screen and its output are shown, and credit is returned for what was shown [ux-resume]", async () => {
  const bench = new Bench();
  const stream = await bench.live();
  assert.deepEqual(bench.opens[0], { stream, agentSessionName: "svc-p", deviceId: "dev_listener" });
  await bench.give({ tag: "S", bytes: bytes("screen") });
  await bench.give({ tag: "O", bytes: bytes(" and more") });
  await bench.shows("screen and more");
  await bench.give({ tag: "R", cols: 30, rows: 5 });
  await bench.give({ tag: "S", bytes: bytes("larger") });
  await bench.shows("larger");
  assert.deepEqual([bench.terminal.cols, bench.terminal.rows], [30, 5]);
  assert.deepEqual(bench.stream.state, { kind: "live", sealing: "off", size: { cols: 30, rows: 5 } });
  await bench.give({ tag: "T", status: { title: "title" } });
  assert.deepEqual(bench.statuses, [{ title: "title" }]);
  await bench.give({ tag: "O", bytes: new Uint8Array(MIRROR_CREDIT_BYTES / 2) });
  await until("credit", () => bench.sent.some(([event]) => event === "pane.credit"));
});

Deno.test("terminal stream: the echo of a key appears without a timer [perf-key-echo]", async () => {
  const bench = new Bench();
  await bench.live();
  await bench.give({ tag: "S", bytes: bytes("$") });
  await bench.shows("$");
  bench.stream.type({ type: "text", text: "x" });
  await bench.give({ tag: "O", bytes: bytes("x") });
  assert.equal(bench.terminal.buffer.active.getLine(0)?.translateToString(true), "$x");
});

Deno.test("terminal stream: a missing frame makes it reopen under a new number, and late frames of the old one are dropped [ux-resume]", async () => {
  const bench = new Bench();
  const stream = await bench.live();
  await bench.give({ tag: "S", bytes: bytes("one") });
  await bench.listener.sealer.seal(bytes("lost on the way"));
  await bench.give({ tag: "O", bytes: bytes("three") });
  await until("another opening", () => bench.opens.length === 2);
  assert.notEqual(bench.opens[1]?.stream, stream);
  assert.equal(bench.states.some((state) => state.kind === "live" && state.trouble === "tampered"), true);
  await bench.give({ tag: "O", bytes: bytes("late") }, stream);
  await bench.shows("one");
});

Deno.test("terminal stream: an ended stream is shown and reopened; a lasting end is not reopened", async () => {
  const bench = new Bench();
  bench.stream.onClosed({ stream: await bench.live(), reason: "no_such_session" });
  assert.deepEqual(bench.stream.state, { kind: "ended", reason: "no_such_session", lasting: false });
  bench.clock.advance(REOPEN_MAX_MS);
  await until("another try", () => bench.opens.length === 2);
  bench.stream.onClosed({ stream: 2, reason: "sealed_required" });
  bench.clock.advance(REOPEN_MAX_MS * 10);
  assert.equal(bench.opens.length, 2);
  assert.deepEqual(bench.stream.state, { kind: "ended", reason: "sealed_required", lasting: true });
});

Deno.test("terminal stream: a host that does not answer is reported and asked again, and the end stays visible in the meantime [ux-ended]", async () => {
  const bench = new Bench();
  await bench.stream.open();
  bench.clock.advance(OPEN_LIMIT_MS - 1);
  assert.equal(bench.stream.state.kind, "opening");
  bench.clock.advance(1);
  const silent = { kind: "ended", reason: "host_silent", lasting: false };
  assert.deepEqual(bench.stream.state, silent);
  bench.clock.advance(REOPEN_MAX_MS);
  await until("another try", () => bench.opens.length === 2);
  assert.deepEqual(bench.stream.state, silent, "it is not called opening again and again");
  await bench.stream.onOpened({ stream: 2, cols: 20, rows: 3 });
  assert.equal(bench.stream.state.kind, "live");
  await bench.give({ tag: "S", bytes: bytes("here") });
  await bench.shows("here");
  bench.clock.advance(OPEN_LIMIT_MS);
  assert.equal(bench.stream.state.kind, "live");
});

Deno.test("terminal stream: keys are sent in order while it is live, with the last pulse, and not at all otherwise [sec-keys-late]", async () => {
  const bench = new Bench();
  assert.equal(bench.stream.type({ type: "text", text: "early" }), undefined);
  await bench.live();
  assert.equal(bench.stream.type({ type: "text", text: "a" }), 0);
  await bench.give({ tag: "T", status: { received: 1, pulse: 1 } });
  await bench.give({ tag: "T", status: { title: "t" } });
  assert.equal(bench.stream.type({ type: "text", text: "b" }), 1);
  await until("both keys", () => bench.keys.length === 2);
  const typed = bench.keys.map((key) => key.trimEnd());
  assert.deepEqual(typed, ['{"type":"text","text":"a","pulse":0}', '{"type":"text","text":"b","pulse":1}']);
  bench.stream.lost();
  assert.equal(bench.stream.type({ type: "text", text: "late" }), undefined);
  bench.stream.close();
  await bench.stream.open();
  assert.equal(bench.opens.length, 1, "a closed one stays closed");
  assert.equal(bench.clock.pending, 0);
});

Deno.test("terminal stream: a sealed stream never accepts plain data, and never shows data that cannot be opened [sec-active-relay, seal-open-fails]", async () => {
  const secret = await importSecret(newSecret());
  const bench = new Bench(secret);
  await bench.stream.open();
  assert.deepEqual([bench.opens[0]?.mode, bench.opens[0]?.from], ["psk", "dev_phone"]);
  await bench.stream.onOpened({ stream: 1, cols: 20, rows: 3 });
  assert.deepEqual(bench.stream.state, { kind: "ended", reason: "unsealable", lasting: true });

  await bench.stream.open();
  const { publicKey = "", mode = "psk" } = bench.opens[1] as { publicKey?: string; mode?: "psk" };
  const granted = await acceptStream(PARTIES, { hello: { publicKey, mode }, secret });
  assert.ok(granted);
  bench.listener = granted.channel;
  const opening = bench.stream.onOpened({ stream: 2, cols: 20, rows: 3, ...granted.hello });
  await bench.give({ tag: "S", bytes: bytes("sealed") });
  await opening;
  await bench.shows("sealed");
  assert.deepEqual(bench.states.at(-1), { kind: "live", sealing: "psk", size: { cols: 20, rows: 3 } });
  for (let times = 0; times < 3; times++) await bench.stream.onBytes(2, bytes("a forged frame"));
  assert.equal(bench.stream.state.kind, "ended");
});

function makeWatch() {
  const clock = new FakeClock();
  const changes: unknown[] = [];
  const watch: TerminalWatch = new TerminalWatch({ clock, changed: () => void changes.push(watch.trouble) });
  return { clock, changes, watch };
}

Deno.test("terminal watch: a mirror without a pulse is reported silent until it is back [hostile-relay]", () => {
  const { clock, changes, watch } = makeWatch();
  watch.start();
  for (let beat = 0; beat < 5; beat++) {
    clock.advance(MIRROR_PULSE_MS);
    watch.heard();
  }
  assert.deepEqual(changes, []);
  clock.advance(MIRROR_SILENT_MS);
  assert.deepEqual(changes, ["silent"]);
  watch.heard();
  assert.deepEqual(changes, ["silent", undefined]);
  clock.advance(MIRROR_SILENT_MS);
  assert.equal(watch.trouble, "silent");
  watch.stop();
  assert.deepEqual([watch.trouble, clock.pending], [undefined, 0]);
});

Deno.test("terminal watch: keys missing from the next pulse are reported late until the host has them [hostile-relay]", () => {
  const { changes, watch } = makeWatch();
  watch.start();
  watch.pulse({ received: 0, sent: 2 });
  watch.pulse({ received: 2, sent: 3 });
  assert.deepEqual(changes, []);
  watch.pulse({ received: 2, sent: 3 });
  watch.pulse({ received: 3, sent: 3 });
  assert.deepEqual(changes, ["keys_late", undefined]);
  watch.stop();
});

Deno.test("terminal watch: tampering is reported once and stays reported [sec-replay, hostile-relay]", () => {
  const { changes, watch } = makeWatch();
  watch.start();
  watch.tampered();
  watch.tampered();
  watch.stop();
  watch.start();
  assert.deepEqual([changes, watch.trouble], [["tampered"], "tampered"]);
  watch.stop();
});
