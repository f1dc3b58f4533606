/** The live input of one stream: in order, once each, at a limited rate, held at a dialog, with its end reported. */
import assert from "node:assert/strict";
import { plainChannel } from "../../../../src/crypto/stream.ts";
import {
  BURST_CALM_MS,
  KEYS_AGE_MS,
  KEYS_HOLD_MS,
  KEYS_HOLD_STEP_MS,
  KEYS_UNKNOWN_HOLD_MS,
  KEYS_WAITING_MAX,
  KEYS_WORKING_HOLD_MS,
  KeystrokeAudit,
  KeystrokeStream,
} from "../../../../src/listener/keystrokes/keystroke_stream.ts";
import { KeystrokeLimit } from "../../../../src/listener/keystrokes/keystroke_rules.ts";
import type { KeystrokeOutcome } from "../../../../src/listener/keystrokes/type_keystroke.ts";
import { TURN_START_MS } from "../../../../src/listener/inject/pane_input.ts";
import {
  encodeKeyInput,
  encodeUpload,
  type KeyInput,
  type ReadInput,
  type UploadInput,
} from "../../../../src/protocol/key_input.ts";
import { KEYS_PER_SECOND } from "../../../../src/protocol/limits.ts";
import { encodeSequenced } from "../../../../src/protocol/pane_frame.ts";
import { FakeClock } from "../../../helpers/fake_clock.ts";
import type { AuditEntry } from "../../../../src/protocol/audit.ts";
import { canonicalDigest } from "../../../../src/protocol/canonical.ts";

const DIALOG: KeystrokeOutcome = { state: "held", reason: "dialog_open" };
const TYPED: KeystrokeOutcome = { state: "typed" };

class Bench {
  readonly clock = new FakeClock();
  readonly typed: string[] = [];
  readonly reported: string[] = [];
  readonly audited: string[] = [];
  readonly ends: string[] = [];
  readonly dropped: string[] = [];
  outcome: (input: KeyInput) => KeystrokeOutcome = () => TYPED;
  /** For how long the last key had been held by a dialog when it was typed. */
  dialogMs: number | undefined;
  /** Until this resolves, a message has exclusive use of the pane. */
  busy: Promise<void> = Promise.resolve();
  readonly uploads: UploadInput[] = [];
  readonly wishes: ReadInput[] = [];
  readonly keys = new KeystrokeStream({
    upload: (input) => void this.uploads.push(input),
    read: (input) => void this.wishes.push(input),
    opener: plainChannel().opener,
    limit: new KeystrokeLimit(0),
    clock: this.clock,
    type: async (input, { mayType, dialogMs }) => {
      this.dialogMs = dialogMs;
      await this.busy;
      if (!mayType()) return { state: "late" };
      const outcome = this.outcome(input);
      if (outcome.state === "typed") this.typed.push(nameOf(input));
      return outcome;
    },
    fit: (input) => {
      this.typed.push(input.type);
      return Promise.resolve();
    },
    sendState: ({ sequence, state, reason }) =>
      void this.reported.push([sequence, state, reason ?? ""].join(" ").trim()),
    audit: (input, outcome) => void this.audited.push(`${nameOf(input)}: ${outcome}`),
    end: (reason) => void this.ends.push(reason),
    dropped: (reason) => void this.dropped.push(reason),
    failed: (error) => void this.ends.push(String(error)),
  });

  async press(sequence: number, input: KeyInput): Promise<void> {
    await this.keys.receive(encodeSequenced(BigInt(sequence), encodeKeyInput(input)));
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 30; turn++) await Promise.resolve();
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.settle();
  }
}

const nameOf = (input: KeyInput): string =>
  input.type === "key" ? input.key : "text" in input ? input.text : input.type;
const text = (text: string): KeyInput => ({ type: "text", text });
const key = (key: string): KeyInput => ({ type: "key", key });

Deno.test("keystrokes: typed in order, the newest one confirmed, each one audited", async () => {
  const bench = new Bench();
  await Promise.all([bench.press(0, text("a")), bench.press(1, key("Up")), bench.press(2, text("漢"))]);
  assert.deepEqual(bench.typed, ["a", "Up", "漢"]);
  assert.equal(bench.reported.at(-1), "2 typed");
  assert.deepEqual(bench.audited, ["a: keys typed", "Up: keys typed", "漢: keys typed"]);
});

Deno.test("keystrokes: a key that may or may not have been typed is reported, whatever follows it, and audited", async () => {
  const bench = new Bench();
  bench.outcome = () => bench.audited.length === 0 ? { state: "unknown" } : TYPED;
  await Promise.all([bench.press(0, text("a")), bench.press(1, key("Up"))]);
  assert.deepEqual(bench.reported, ["0 unknown", "1 typed"]);
  assert.deepEqual(bench.audited, ["a: keys unknown", "Up: keys typed"]);
});

Deno.test("keystrokes: a repeated frame types nothing, a missing one ends the stream [enc-no-replay, sec-replay]", async () => {
  const bench = new Bench();
  await bench.press(0, text("a"));
  await bench.press(0, text("a"));
  await bench.press(0, text("b"));
  assert.deepEqual([bench.typed, bench.ends], [["a"], []]);
  assert.deepEqual(
    [bench.reported, bench.dropped],
    [["0 typed", "1 refused repeated"], ["repeated"]],
    "reported once",
  );
  assert.equal(bench.keys.received, 1);
  await bench.press(2, text("c"));
  assert.deepEqual([bench.typed, bench.ends], [["a"], ["keys_lost"]]);
});

Deno.test("keystrokes: invalid input is refused, and the next input is accepted", async () => {
  const bench = new Bench();
  await bench.keys.receive(
    encodeSequenced(0n, new TextEncoder().encode('{"type":"key","key":"kill-server"}')),
  );
  await bench.press(1, key("Enter"));
  assert.deepEqual(bench.reported, ["0 refused invalid_body", "1 typed"]);
  assert.deepEqual(bench.typed, ["Enter"]);
});

Deno.test("keystrokes: 200 a second are typed, the rest waits, and too many are refused", async () => {
  const bench = new Bench();
  const total = KEYS_WAITING_MAX + KEYS_PER_SECOND + 5;
  for (let at = 0; at < total; at++) await bench.press(at, key("Down"));
  assert.equal(bench.typed.length, KEYS_PER_SECOND);
  assert.equal(bench.reported.filter((reported) => reported.endsWith("refused rate_limited")).length, 5);
  await bench.pass(500);
  for (let turn = 0; turn < 500; turn++) await bench.pass(5);
  assert.ok(bench.typed.length > KEYS_PER_SECOND * 2, String(bench.typed.length));
  for (let turn = 0; turn < 2_000; turn++) await bench.pass(5);
  assert.equal(bench.typed.length, total - 5);
  bench.keys.close();
});

Deno.test("keystrokes: held while a dialog is open, reported once, typed when it has closed [inj-dialog-keys]", async () => {
  const bench = new Bench();
  bench.outcome = () => DIALOG;
  await bench.press(0, key("Enter"));
  await bench.press(1, text("x"));
  await bench.pass(KEYS_HOLD_STEP_MS);
  assert.deepEqual([bench.typed, bench.reported], [[], ["0 held dialog_open"]]);
  bench.outcome = (input) => {
    assert.equal(bench.dialogMs, nameOf(input) === "Enter" ? 2 * KEYS_HOLD_STEP_MS : undefined);
    return TYPED;
  };
  await bench.pass(KEYS_HOLD_STEP_MS);
  assert.deepEqual(bench.typed, ["Enter", "x"]);
  assert.equal(bench.reported.at(-1), "1 typed");
});

Deno.test("keystrokes: a dialog that stays open refuses them [inj-dialog-keys]", async () => {
  const bench = new Bench();
  bench.outcome = () => DIALOG;
  await bench.press(0, key("Enter"));
  await bench.press(1, text("x"));
  for (let waited = 0; waited <= KEYS_HOLD_MS; waited += KEYS_HOLD_STEP_MS) {
    await bench.pass(KEYS_HOLD_STEP_MS);
  }
  assert.deepEqual(bench.reported, ["0 held dialog_open", "0 refused dialog_open", "1 refused dialog_open"]);
  assert.deepEqual(bench.audited, ["Enter: keys refused dialog_open", "x: keys refused dialog_open"]);
  bench.outcome = () => TYPED;
  await bench.press(2, text("y"));
  assert.deepEqual(bench.typed, ["y"]);
});

Deno.test("keystrokes: while an agent works they wait only briefly, so that a key that interrupts it can follow [inj-turn]", async () => {
  const bench = new Bench();
  bench.outcome = (input) => nameOf(input) === "Escape" ? TYPED : { state: "held", reason: "agent_working" };
  await bench.press(0, text("x"));
  await bench.press(1, key("Escape"));
  for (let waited = 0; waited <= KEYS_WORKING_HOLD_MS; waited += KEYS_HOLD_STEP_MS) {
    await bench.pass(KEYS_HOLD_STEP_MS);
  }
  assert.deepEqual(bench.reported, ["0 held agent_working", "0 refused agent_working", "1 typed"]);
});

Deno.test("keystrokes: text after an Enter that began no turn is not lost, however long a check of the screen takes [inj-turn]", async () => {
  const bench = new Bench();
  const enteredAt = bench.clock.elapsed();
  bench.outcome = (input) => {
    const works = nameOf(input) === "x" && bench.clock.elapsed() - enteredAt < TURN_START_MS;
    if (works) bench.clock.advance(KEYS_HOLD_STEP_MS - 10);
    return works ? { state: "held", reason: "agent_working" } : TYPED;
  };
  await bench.press(0, key("Enter"));
  await bench.press(1, text("x"));
  for (let looks = 0; looks <= 2 * TURN_START_MS / KEYS_HOLD_STEP_MS; looks++) {
    await bench.pass(KEYS_HOLD_STEP_MS);
  }
  assert.deepEqual(bench.typed, ["Enter", "x"]);
});

Deno.test("keystrokes: a half-drawn screen loses no key, one that stays unknown refuses it [inj-unknown-keys]", async () => {
  const bench = new Bench();
  bench.outcome = () => ({ state: "held", reason: "unknown_screen" });
  await bench.press(0, text("x"));
  bench.outcome = () => TYPED;
  await bench.pass(KEYS_HOLD_STEP_MS);
  assert.deepEqual([bench.typed, bench.reported], [["x"], ["0 typed"]]);
  bench.outcome = () => ({ state: "held", reason: "unknown_screen" });
  await bench.press(1, text("y"));
  for (let waited = 0; waited <= KEYS_UNKNOWN_HOLD_MS; waited += KEYS_HOLD_STEP_MS) {
    await bench.pass(KEYS_HOLD_STEP_MS);
  }
  assert.deepEqual([bench.typed, bench.reported.slice(1)], [["x"], ["1 refused unknown_screen"]]);
});

Deno.test("keystrokes: a half-drawn screen refuses no key that has waited for something else or for another key [inj-unknown-keys]", async () => {
  for (const reason of ["dialog_open", "agent_working"] as const) {
    const bench = new Bench();
    bench.outcome = () => ({ state: "held", reason });
    for (const [at, letter] of ["a", "b", "c"].entries()) await bench.press(at, text(letter));
    for (let waited = 0; waited <= KEYS_UNKNOWN_HOLD_MS; waited += KEYS_HOLD_STEP_MS) {
      await bench.pass(KEYS_HOLD_STEP_MS);
    }
    const seen = new Set<string>();
    bench.outcome = (input) => {
      if (seen.has(nameOf(input))) return TYPED;
      seen.add(nameOf(input));
      return { state: "held", reason: "unknown_screen" };
    };
    for (let looks = 0; looks <= 3; looks++) await bench.pass(KEYS_HOLD_STEP_MS);
    assert.deepEqual(bench.typed, ["a", "b", "c"], reason);
  }
});

Deno.test("keystrokes: keys after one that an unrecognized screen refuses wait no longer than that one [inj-unknown-keys]", async () => {
  const bench = new Bench();
  bench.outcome = () => ({ state: "held", reason: "unknown_screen" });
  await Promise.all(["a", "b", "c"].map((letter, at) => bench.press(at, text(letter))));
  for (let waited = 0; waited < KEYS_UNKNOWN_HOLD_MS; waited += KEYS_HOLD_STEP_MS) {
    await bench.pass(KEYS_HOLD_STEP_MS);
  }
  assert.deepEqual(bench.reported, [0, 1, 2].map((at) => `${at} refused unknown_screen`));
  await bench.pass(KEYS_HOLD_MS);
  await bench.press(3, text("d"));
  bench.outcome = () => TYPED;
  await bench.pass(KEYS_HOLD_STEP_MS);
  assert.deepEqual(bench.typed, ["d"], "a later key waits anew");
});

Deno.test("keystrokes: the phone accepts further keys while a new agent's screen is half drawn, and is informed of one that starts [inj-unknown-keys]", async () => {
  const bench = new Bench();
  bench.outcome = () => ({ state: "held", reason: "agent_starting" });
  await bench.press(0, text("x"));
  await bench.pass(KEYS_HOLD_STEP_MS);
  assert.deepEqual(bench.reported, [], "it would take no more then");
  for (let waited = 0; waited <= KEYS_UNKNOWN_HOLD_MS; waited += KEYS_HOLD_STEP_MS) {
    await bench.pass(KEYS_HOLD_STEP_MS);
  }
  bench.outcome = () => TYPED;
  await bench.pass(KEYS_HOLD_STEP_MS);
  assert.deepEqual([bench.typed, bench.reported], [["x"], ["0 held agent_starting", "0 typed"]]);
});

Deno.test("keystrokes: keys that wait when the phone disconnects are not typed", async () => {
  const bench = new Bench();
  bench.outcome = () => DIALOG;
  await bench.press(0, key("Enter"));
  bench.keys.close();
  bench.outcome = () => TYPED;
  await bench.pass(KEYS_HOLD_MS);
  assert.deepEqual([bench.typed, bench.clock.pending], [[], 0]);
});

Deno.test("keystrokes: a key that is queued behind a message is not typed once its phone has disconnected, and one that the phone waits for is refused after the hold limit [inj-keys-late]", async () => {
  for (const leaves of [true, false]) {
    const bench = new Bench();
    const message = Promise.withResolvers<void>();
    bench.busy = message.promise;
    await Promise.all([bench.press(0, text("a")), bench.press(1, key("Enter"))]);
    if (leaves) bench.keys.close();
    else await bench.pass(KEYS_HOLD_MS);
    message.resolve();
    await bench.settle();
    assert.deepEqual(bench.typed, []);
    const refused = ["0 refused screen_stale", "1 refused screen_stale"];
    assert.deepEqual([bench.reported, bench.audited.length], leaves ? [[], 0] : [refused, 2]);
    if (leaves) continue;
    await bench.press(2, text("b"));
    assert.deepEqual(bench.typed, ["b"]);
  }
});

Deno.test("keystrokes: keys after one that is typed late, or that wait because of the rate, are typed [inj-keys-late]", async () => {
  const bench = new Bench();
  const message = Promise.withResolvers<void>();
  bench.busy = message.promise;
  await Promise.all([bench.press(0, text("a")), bench.press(1, key("Enter"))]);
  await bench.pass(KEYS_HOLD_MS - 1);
  message.resolve();
  await bench.settle();
  bench.busy = Promise.resolve();
  const many = Math.ceil(2 * KEYS_HOLD_MS / 1_000);
  await Promise.all(
    Array.from({ length: many }, (_, at) => bench.press(2 + at, text("x".repeat(KEYS_PER_SECOND)))),
  );
  for (let waited = 0; waited <= 3 * KEYS_HOLD_MS; waited += 1_000) await bench.pass(1_000);
  assert.deepEqual([bench.typed.slice(0, 2), bench.typed.length], [["a", "Enter"], 2 + many]);
});

Deno.test("keystrokes: three frames that cannot be opened end the stream [seal-open-fails]", async () => {
  const bench = new Bench();
  for (let times = 0; times < 3; times++) await bench.keys.receive(new Uint8Array(3));
  assert.deepEqual(bench.ends, ["unsealable"]);
});

Deno.test("keystrokes: fitting the window keeps its place among them", async () => {
  const bench = new Bench();
  await bench.press(0, text("a"));
  await bench.press(1, { type: "fit", cols: 40, rows: 20 });
  await bench.press(2, text("b"));
  assert.deepEqual(bench.typed, ["a", "fit", "b"]);
});

Deno.test("keystroke audit: one line per burst and outcome, with digest and length, never the text [ls-audit]", async () => {
  const clock = new FakeClock();
  const entries: AuditEntry[] = [];
  const names = { device: "dev_phone", session: "svc-p", pane: "%3" };
  const audit = new KeystrokeAudit({ clock, names, record: (entry) => void entries.push(entry) });
  for (const text of ["p", "w", "d"]) audit.add({ type: "text", text }, "keys typed");
  audit.add({ type: "key", key: "Enter" }, "keys typed");
  clock.advance(BURST_CALM_MS);
  audit.add({ type: "paste", text: "pasted" }, "keys refused dialog_open");
  audit.add({ type: "text", text: "x" }, "keys typed");
  await audit.close();
  const seen = entries.map(({ digest, length, outcome }) => [digest, length, outcome]);
  assert.deepEqual(seen, [
    [await canonicalDigest("pwd<Enter>"), 10, "keys typed"],
    [await canonicalDigest("pasted"), 6, "keys refused dialog_open"],
    [await canonicalDigest("x"), 1, "keys typed"],
  ]);
  assert.deepEqual(entries[0], { ...entries[0], ...names });
  assert.doesNotMatch(JSON.stringify(entries), /pwd|pasted/);
  assert.equal(clock.pending, 0);
});

Deno.test("a part of a file does not wait for the keys; a repeated one is dropped, and a gap ends the stream [up-wire]", async () => {
  const bench = new Bench();
  const chunk: UploadInput = { type: "upload.chunk", id: 1, at: 0, data: new Uint8Array([1]) };
  const frame = (sequence: bigint): Uint8Array => encodeSequenced(sequence, encodeUpload(chunk));
  await bench.keys.receive(frame(0n));
  await bench.keys.receive(frame(0n));
  assert.deepEqual([bench.uploads, bench.typed], [[chunk], []]);
  await bench.keys.receive(frame(2n));
  assert.deepEqual([bench.uploads.length, bench.ends], [1, ["keys_lost"]]);
});

Deno.test("a request for a part of a card is neither a key nor a part of a file [up-wire, card-fetched]", async () => {
  const bench = new Bench();
  const wish: ReadInput = { type: "card.part", card: crypto.randomUUID(), at: 32_768 };
  await bench.keys.receive(encodeSequenced(0n, encodeUpload(wish)));
  assert.deepEqual([bench.wishes, bench.uploads, bench.typed, bench.reported], [[wish], [], [], []]);
});

Deno.test("keys that were held back on the way for more than a minute are not typed, and end the stream [sec-keys-late]", async () => {
  const bench = new Bench();
  const key = (pulse?: number): KeyInput => ({ type: "text", text: "y", pulse });
  await bench.press(0, key(0));
  const first = bench.keys.pulse();
  bench.clock.advance(KEYS_AGE_MS);
  await bench.press(1, key(0));
  const second = bench.keys.pulse();
  bench.clock.advance(1);
  await bench.press(2, key(first));
  await bench.press(3, key());
  assert.deepEqual([first, second, bench.typed, bench.ends], [1, 2, ["y", "y", "y", "y"], []]);
  await bench.press(4, key(0));
  assert.deepEqual([bench.typed.length, bench.ends], [4, ["keys_lost"]]);
});
