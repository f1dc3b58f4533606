/** A file that the phone sends: only sealed, at the host's pace, and what ends it. */
import assert from "node:assert/strict";
import type { TerminalViewer } from "../../../src/phone/terminal_streams.ts";
import {
  ANSWER_WITHIN_MS,
  RESUME_WITHIN_MS,
  uploadFile,
  type UploadResult,
} from "../../../src/phone/upload.ts";
import {
  KEY_BYTES_BURST,
  KEY_BYTES_PER_SECOND,
  UPLOAD_CHUNK_BYTES,
  UPLOAD_CHUNKS_AHEAD_MAX,
  UPLOAD_CONFIG_MAX_BYTES,
} from "../../../src/protocol/limits.ts";
import type { MirrorStatus } from "../../../src/protocol/pane_frame.ts";
import {
  encodeUpload,
  type ReadInput,
  type UploadInput,
  type UploadState,
} from "../../../src/protocol/key_input.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

const SIZE = { cols: 80, rows: 24 };
const NAME = { deviceId: "dev_listener", session: "svc-demo" };

/** A stream and the host behind it. */
class Bench {
  readonly clock = new FakeClock();
  readonly abort = new AbortController();
  readonly sent: UploadInput[] = [];
  readonly shares: number[] = [];
  /** How often the connection was waited for. */
  waits = 0;
  isClosed = false;
  bytes = 0;
  /** Called with every part; by default the host accepts it at once. */
  answer: (input: UploadInput) => Omit<UploadState, "id"> | undefined = (input) => {
    if (input.type !== "upload.chunk") return { state: "taking", received: 0 };
    const received = input.at + input.data.length;
    return received === this.size
      ? { state: "done", received, path: "/home/u/.svc/uploads/x.png" }
      : { state: "taking", received };
  };
  size = 0;
  viewer: TerminalViewer | undefined;

  send(
    file: File,
    options: { sealing?: "psk" | "base" | "off"; live?: boolean } = {},
  ): Promise<UploadResult> {
    const { sealing = "psk", live = true } = options;
    this.size = file.size;
    return uploadFile(file, {
      session: NAME,
      clock: this.clock,
      signal: this.abort.signal,
      onProgress: (share, isWaiting) => void (isWaiting ? this.waits++ : this.shares.push(share)),
      open: (_name, viewer) => {
        this.viewer = viewer;
        if (live) queueMicrotask(() => viewer.onState({ kind: "live", sealing, size: SIZE }));
        return { upload: (input) => this.#take(input), close: () => void (this.isClosed = true) };
      },
    });
  }

  #take(input: UploadInput | ReadInput): Promise<void> {
    assert.ok(input.type !== "card.part" && input.type !== "audit.read");
    this.sent.push(input);
    this.bytes += encodeUpload(input).length;
    const answer = this.answer(input);
    if (answer !== undefined) this.status({ upload: { id: input.id, ...answer } });
    return Promise.resolve();
  }

  status(status: MirrorStatus): void {
    queueMicrotask(() => this.viewer?.onStatus(status));
  }

  /** Resolves with the result while time passes. */
  async result(pending: Promise<UploadResult>, stepMs = 250): Promise<UploadResult> {
    let result: UploadResult | undefined;
    void pending.then((found) => result = found);
    return await until("the end of the upload", () => {
      if (result === undefined) this.clock.advance(stepMs);
      return result;
    });
  }

  chunks(): Extract<UploadInput, { type: "upload.chunk" }>[] {
    return this.sent.filter((input) => input.type === "upload.chunk");
  }
}

const fileOf = (bytes: number): File =>
  new File([
    crypto.getRandomValues(new Uint8Array(Math.min(bytes, 65_536))),
    new Uint8Array(Math.max(0, bytes - 65_536)),
  ], "Foto.PNG");

Deno.test("a file is sent in order, byte for byte, no faster than the relay allows a key to send [up-phone]", async () => {
  const bench = new Bench();
  const file = fileOf(40 * UPLOAD_CHUNK_BYTES + 5);
  const begun = bench.clock.elapsed();
  const result = await bench.result(bench.send(file));
  assert.deepEqual(result, { kind: "done", path: "/home/u/.svc/uploads/x.png" });
  const all = new Uint8Array(await new Blob(bench.chunks().map(({ data }) => data.slice())).arrayBuffer());
  assert.deepEqual(all, new Uint8Array(await file.arrayBuffer()));
  const seconds = (bench.clock.elapsed() - begun) / 1_000;
  assert.ok(
    bench.bytes < KEY_BYTES_BURST / 2 + seconds * KEY_BYTES_PER_SECOND,
    `${bench.bytes} in ${seconds} s`,
  );
  assert.ok(bench.shares.every((share, index) => share >= (bench.shares[index - 1] ?? 0) && share < 1));
  assert.equal(bench.isClosed, true);
});

Deno.test("the phone waits for a host that is slow [up-phone]", async () => {
  const bench = new Bench();
  bench.answer = (input) => input.type === "upload" ? { state: "taking", received: 0 } : undefined;
  const result = bench.result(bench.send(fileOf(10 * UPLOAD_CHUNK_BYTES)));
  await until("the window", () => bench.chunks().length === UPLOAD_CHUNKS_AHEAD_MAX);
  assert.deepEqual(await result, { kind: "failed", reason: "silent" });
  assert.equal(bench.chunks().length, UPLOAD_CHUNKS_AHEAD_MAX);
});

Deno.test("no part of a file leaves a phone whose stream is not sealed for the paired host [up-sealed]", async () => {
  for (const sealing of ["base", "off"] as const) {
    const bench = new Bench();
    assert.deepEqual(await bench.result(bench.send(fileOf(5), { sealing })), {
      kind: "failed",
      reason: "unpaired",
    });
    assert.deepEqual([bench.sent, bench.isClosed], [[], true]);
  }
});

Deno.test("the cause of an upload's end is reported: refused, old, silent, lost, ended, cancelled [up-phone]", async () => {
  const refused = new Bench();
  refused.answer = () => ({ state: "refused", received: 0, reason: "upload_too_large", most: 3 });
  const tooLarge = { kind: "failed", reason: "upload_too_large", most: 3 } as const;
  assert.deepEqual(await refused.result(refused.send(fileOf(5))), tooLarge);
  assert.equal(refused.sent.length, 1);

  const old = new Bench();
  old.answer = () => {
    old.status({ keys: { sequence: 0, state: "refused", reason: "invalid_body" } });
    return undefined;
  };
  assert.deepEqual(await old.result(old.send(fileOf(5))), { kind: "failed", reason: "old", most: undefined });

  const silent = new Bench();
  const begun = silent.clock.elapsed();
  assert.deepEqual(await silent.result(silent.send(fileOf(5), { live: false })), {
    kind: "failed",
    reason: "silent",
  });
  assert.ok(silent.clock.elapsed() - begun >= ANSWER_WITHIN_MS);

  for (const [lasting, reason] of [[true, "unsealable"], [false, "lost"]] as const) {
    const bench = new Bench();
    bench.answer = ({ type }) => {
      if (type === "upload") return { state: "taking", received: 0 };
      queueMicrotask(() => bench.viewer?.onState({ kind: "ended", reason: "unsealable", lasting }));
      return undefined;
    };
    const begun = bench.clock.elapsed();
    const result = await bench.result(bench.send(fileOf(9 * UPLOAD_CHUNK_BYTES)), 10_000);
    assert.deepEqual(result, { kind: "failed", reason });
    assert.ok(lasting || bench.clock.elapsed() - begun >= RESUME_WITHIN_MS);
  }

  const cancelled = new Bench();
  cancelled.answer = ({ type }) => {
    if (type === "upload.chunk") cancelled.abort.abort();
    return type === "upload" ? { state: "taking", received: 0 } : undefined;
  };
  assert.deepEqual(await cancelled.result(cancelled.send(fileOf(9 * UPLOAD_CHUNK_BYTES))), {
    kind: "cancelled",
  });
  assert.equal(cancelled.sent.at(-1)?.type, "upload.stop");
});

Deno.test("after a lost connection an upload continues from what the host already has [up-resumed]", async () => {
  for (
    const gone of [{ kind: "opening" }, { kind: "ended", reason: "listener_gone", lasting: false }] as const
  ) {
    const bench = new Bench();
    const file = fileOf(9 * UPLOAD_CHUNK_BYTES + 3);
    const stored = new Uint8Array(file.size);
    let received = 0;
    let losses = 0;
    bench.answer = (input) => {
      if (input.type === "upload") return { state: "taking", received };
      if (input.type !== "upload.chunk" || input.at !== received) return undefined;
      stored.set(input.data, input.at);
      received += input.data.length;
      if (losses < 2 && received >= (losses + 1) * 3 * UPLOAD_CHUNK_BYTES) {
        losses++;
        queueMicrotask(() => bench.viewer?.onState(gone));
        bench.clock.after(60_000, () => bench.viewer?.onState({ kind: "live", sealing: "psk", size: SIZE }));
        return undefined;
      }
      return received === file.size
        ? { state: "done", received, path: "/home/u/.svc/uploads/x.png" }
        : { state: "taking", received };
    };
    const result = await bench.result(bench.send(file), 5_000);
    assert.deepEqual(result, { kind: "done", path: "/home/u/.svc/uploads/x.png" });
    assert.deepEqual(stored, new Uint8Array(await file.arrayBuffer()));
    const announced = bench.sent.filter(({ type }) => type === "upload");
    assert.equal(announced.length, 3);
    assert.deepEqual(announced[0], announced[2]);
    assert.equal(bench.waits, 2);
  }
});

Deno.test("a file that cannot be sent is not announced [up-phone]", async () => {
  const bench = new Bench();
  assert.deepEqual(await bench.send(fileOf(0)), { kind: "failed", reason: "empty" });
  const huge = { name: "x", size: UPLOAD_CONFIG_MAX_BYTES + 1, slice: () => new Blob() };
  const result = await uploadFile(huge, {
    session: NAME,
    open: () => undefined,
    onProgress: () => {},
    signal: bench.abort.signal,
  });
  assert.deepEqual(result, { kind: "failed", reason: "upload_too_large" });
});
