/** Files from phones on the real disk: where they are stored, what is refused, and what an attacker may try. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import {
  UPLOADS_KEPT_MS,
  UPLOADS_PER_PHONE_BYTES,
  UPLOADS_PHONES,
} from "../../../src/listener/upload_folder.ts";
import {
  type StreamUploads,
  UPLOAD_PARKED_MS,
  UPLOAD_STALL_MS,
  Uploads,
  UPLOADS_OPEN_MAX,
  UPLOADS_OPEN_PER_PHONE,
  type UploadsOptions,
} from "../../../src/listener/uploads.ts";
import { UPLOAD_CHUNK_BYTES } from "../../../src/protocol/limits.ts";
import type { UploadState } from "../../../src/protocol/key_input.ts";
import type { TmuxSession } from "../../../src/tmux/sessions.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";
import { until } from "../../helpers/until.ts";

type Changes = Partial<Pick<UploadsOptions, "maxBytes" | "sessions" | "isMuted" | "files">>;

class Bench {
  readonly clock = new FakeClock(Date.now());
  readonly outcomes: string[] = [];
  readonly log: string[] = [];
  readonly uploads: Uploads;
  readonly home: TempHome;
  readonly #streams: StreamUploads[] = [];
  #number = 1;

  constructor(home: TempHome, changes: Changes = {}) {
    this.home = home;
    this.uploads = new Uploads({
      files: home.files,
      uid: runtime.uid,
      root: home.paths.root,
      directory: home.paths.uploads,
      maxBytes: 1_000_000,
      clock: this.clock,
      sessions: () => Promise.resolve([]),
      isMuted: () => Promise.resolve(false),
      record: ({ outcome }) => void this.outcomes.push(outcome),
      log: (line) => void this.log.push(line),
      ...changes,
    });
  }

  phone(phone = "dev_phone_1", isProven = true): Sender {
    const answers: UploadState[] = [];
    const names = { device: phone, session: "svc-demo", pane: "%1" };
    const stream = this.uploads.ofStream({
      isProven,
      phone,
      names,
      answer: (state) => void answers.push(state),
    });
    this.#streams.push(stream);
    const own = this.#number;
    this.#number += 10;
    const begin = (name: string, size: number, id = own) => stream.take({ type: "upload", id, name, size });
    const chunk = (at: number, bytes: number, id = own) =>
      stream.take({ type: "upload.chunk", id, at, data: new Uint8Array(bytes).fill(65) });
    return { stream, answers, begin, chunk, last: () => answers.at(-1) };
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) await stream.close();
    await this.uploads.close();
  }

  names(): string[] {
    try {
      return [...Deno.readDirSync(this.home.paths.uploads)].map(({ name }) => name).sort();
    } catch {
      return [];
    }
  }
}

interface Sender {
  stream: StreamUploads;
  answers: UploadState[];
  begin(name: string, size: number, id?: number): Promise<void>;
  chunk(at: number, bytes: number, id?: number): Promise<void>;
  last(): UploadState | undefined;
}

async function withBench(act: (bench: Bench) => Promise<void>, changes: Changes = {}): Promise<void> {
  await using home = await makeTempHome();
  const bench = new Bench(home, changes);
  await act(bench);
  await bench.close();
}

const mode = (path: string): number => (Deno.lstatSync(path).mode ?? 0) & 0o777;

Deno.test("a file is stored with mode 0600 in a folder with mode 0700, byte for byte, and its path is answered [up-stored]", () =>
  withBench(async (bench) => {
    const { begin, chunk, answers, last } = bench.phone();
    await begin("Photo.JPG", 40_000);
    await chunk(0, UPLOAD_CHUNK_BYTES);
    await chunk(UPLOAD_CHUNK_BYTES, 40_000 - UPLOAD_CHUNK_BYTES);
    const { path = "", ...state } = last() ?? {};
    assert.deepEqual(state, { id: 1, state: "done", received: 40_000 });
    assert.deepEqual(answers.map(({ received }) => received), [0, UPLOAD_CHUNK_BYTES, 40_000]);
    assert.match(path, /\/\.svc\/uploads\/\d{8}-\d{6}-[0-9a-f]{8}-[0-9a-f]{16}\.jpg$/);
    assert.deepEqual([mode(path), mode(bench.home.paths.uploads)], [0o600, 0o700]);
    assert.equal(Deno.readTextFileSync(path), "A".repeat(40_000));
    assert.deepEqual(bench.outcomes, ["upload stored"]);
  }));

Deno.test("only a plain extension is kept of a hostile name [up-names]", () =>
  withBench(async (bench) => {
    const names: [string, string][] = [
      ["../../../etc/passwd", ""],
      ["/etc/cron.d/x.sh", ".sh"],
      ["a\0b.png", ".png"],
      ["x.p\0ng", ""],
      ["x.png/../../..", ""],
      ["x.png\n", ""],
      ["..", ""],
      ["x.$(touch y)", ""],
      ["x.äöü", ""],
      ["", ""],
      [`x.${"e".repeat(11)}`, ""],
      ["archive.tar.GZ", ".gz"],
    ];
    for (const [index, [name, extension]] of names.entries()) {
      const { begin, chunk, last } = bench.phone(`dev_phone_${index}`);
      await begin(name, 1);
      await chunk(0, 1);
      const path = last()?.path ?? "";
      const kept = path.slice(bench.home.paths.uploads.length);
      assert.match(kept, /^\/\d{8}-\d{6}-[0-9a-f]{8}-[0-9a-f]{16}(\.[a-z0-9]+)?$/, JSON.stringify(name));
      assert.equal(/\.[a-z0-9]+$/.exec(kept)?.[0] ?? "", extension, JSON.stringify(name));
    }
    assert.equal(bench.names().length, names.length);
  }));

Deno.test("chunks out of order, repeated, beyond the end or of another file get an answer and leave nothing [up-damaged]", () =>
  withBench(async (bench) => {
    const tries: ((sender: Sender) => Promise<void>)[] = [
      ({ chunk }) => chunk(10, 10),
      async ({ chunk }) => {
        await chunk(0, 10);
        await chunk(0, 10);
      },
      async ({ chunk }) => {
        await chunk(0, 60);
        await chunk(60, 60);
      },
      ({ chunk }) => chunk(0, 101),
    ];
    for (const [index, act] of tries.entries()) {
      const sender = bench.phone(`dev_phone_${index}`);
      await sender.begin("a.txt", 100);
      await act(sender);
      assert.deepEqual([sender.last()?.state, sender.last()?.reason], ["refused", "upload_damaged"]);
      await sender.chunk(0, 100);
      assert.equal(sender.last()?.state, "refused", "what comes after is ignored");
      assert.deepEqual(bench.names(), []);
    }
    const sender = bench.phone();
    await sender.begin("a.txt", 2);
    await sender.chunk(0, 2, 2);
    const { id = 0 } = sender.last() ?? {};
    assert.deepEqual(sender.answers, [{ id, state: "taking", received: 0 }], "another file's chunk");
    await sender.stream.take({ type: "upload.stop", id });
    assert.deepEqual(bench.names(), []);
  }));

Deno.test("a file is refused with the true reason, before a byte of it is accepted [up-refused]", async () => {
  const cases: [string, Changes, { size?: number; isProven?: boolean }][] = [
    ["sealed_required", {}, { isProven: false }],
    ["upload_not_allowed", { maxBytes: 0 }, {}],
    ["upload_too_large", { maxBytes: 99 }, {}],
    ["muted", { isMuted: () => Promise.resolve(true) }, {}],
  ];
  for (const [reason, changes, { isProven = true }] of cases) {
    await withBench(async (bench) => {
      const { begin, chunk, answers } = bench.phone("dev_phone_1", isProven);
      await begin("a.txt", 100);
      await chunk(0, 100);
      assert.deepEqual(answers.map((one) => [one.state, one.reason]), [["refused", reason]]);
      assert.equal(answers[0]?.most, changes.maxBytes ?? 1_000_000);
      assert.deepEqual([bench.names(), bench.outcomes], [[], [`upload refused ${reason}`]]);
    }, changes);
  }
});

Deno.test("a file for a session of a muted project is refused, even for a session that no wrapper made [up-refused]", async () => {
  const sessionOf = (directory: string, path: string): TmuxSession => {
    const recorded = { directory, root: directory } as TmuxSession["recorded"];
    return { name: "svc-demo", recorded, pane: { path } } as TmuxSession;
  };
  const other = { ...sessionOf("/app", "/app"), name: "svc-other" };
  const cases: [TmuxSession, UploadState["state"]][] = [
    [sessionOf("/app", "/tmp"), "refused"],
    [sessionOf("", "/app"), "refused"],
    [sessionOf("/tmp", "/app"), "refused"],
    [sessionOf("/tmp", "/tmp"), "taking"],
  ];
  for (const [session, state] of cases) {
    await withBench(async (bench) => {
      const { begin, last } = bench.phone();
      await begin("a.txt", 1);
      assert.equal(last()?.state, state);
      if (state === "refused") assert.equal(last()?.reason, "muted");
    }, {
      sessions: () => Promise.resolve([other, session]),
      isMuted: (...directories) => Promise.resolve(directories.includes("/app")),
    });
  }
});

Deno.test("a phone may send one file per stream and two in total, and does not delay others [up-bounds]", () =>
  withBench(async (bench) => {
    const first = bench.phone();
    await first.begin("a", 10);
    await first.begin("b", 10, 2);
    assert.deepEqual([first.last()?.id, first.last()?.reason], [2, "upload_busy"]);
    await first.chunk(0, 5);
    for (let more = 1; more < UPLOADS_OPEN_PER_PHONE; more++) await bench.phone().begin("c", 10);
    const tooMany = bench.phone();
    await tooMany.begin("d", 10);
    assert.equal(tooMany.last()?.reason, "upload_busy");
    const other = bench.phone("dev_phone_2");
    await other.begin("e", 10);
    assert.equal(other.last()?.state, "taking");
    await first.chunk(5, 5);
    assert.equal(first.last()?.state, "done", "the first one goes on");
    await tooMany.begin("d", 10);
    assert.equal(tooMany.last()?.state, "taking");

    const flooder = bench.phone("dev_flooder");
    for (let count = 0; count < 30; count++) {
      await flooder.begin("f", 10);
      await flooder.stream.take({ type: "upload.stop", id: flooder.answers.at(-1)?.id ?? 0 });
    }
    assert.equal(flooder.last()?.reason, "rate_limited");
    assert.equal(bench.names().length, 4);
  }));

Deno.test("the phone's next stream continues the upload of a lost one, but only for that phone and the same file [up-resumed]", () =>
  withBench(async (bench) => {
    const lost = bench.phone();
    await lost.begin("film.mov", 30, 7);
    await lost.chunk(0, 10, 7);
    await lost.stream.close();
    assert.equal(bench.names().length, 1);

    for (
      const [phone, size, id] of [["dev_phone_2", 30, 7], ["dev_phone_1", 31, 7], [
        "dev_phone_1",
        30,
        8,
      ]] as const
    ) {
      const other = bench.phone(phone);
      await other.begin("film.mov", size, id);
      assert.deepEqual(other.answers, [{ id, state: "taking", received: 0 }]);
      await other.stream.take({ type: "upload.stop", id });
    }
    const again = bench.phone();
    await again.begin("film.mov", 30, 7);
    assert.deepEqual(again.answers, [{ id: 7, state: "taking", received: 10 }]);
    await again.chunk(10, 10, 7);
    // The relay has not noticed yet that the previous stream is lost.
    const last = bench.phone();
    await last.begin("film.mov", 30, 7);
    assert.deepEqual(last.last(), { id: 7, state: "taking", received: 20 });
    await again.chunk(20, 10, 7);
    await last.chunk(20, 10, 7);
    const { path = "", state } = last.last() ?? {};
    assert.deepEqual([state, Deno.readTextFileSync(path), bench.names().length], ["done", "A".repeat(30), 1]);

    const unheard = bench.phone();
    await unheard.begin("film.mov", 30, 7);
    assert.deepEqual(
      unheard.answers,
      [{ id: 7, state: "done", received: 30, path }],
      "it is not stored twice",
    );
  }));

Deno.test("files that wait for their phone are removed after a while, when another needs the place, and with the listener [up-resumed, up-bounds]", async () => {
  await using home = await makeTempHome();
  const bench = new Bench(home);
  const lose = async (phone: string): Promise<void> => {
    const lost = bench.phone(phone);
    await lost.begin("a", 10);
    await lost.chunk(0, 5);
    await lost.stream.close();
  };
  for (let count = 0; count <= UPLOADS_OPEN_PER_PHONE; count++) await lose("dev_phone_1");
  assert.equal(bench.names().length, UPLOADS_OPEN_PER_PHONE);
  for (let phone = 0; phone < UPLOADS_OPEN_MAX; phone++) await lose(`dev_other_${phone}`);
  assert.equal(bench.names().length, UPLOADS_OPEN_MAX);
  const next = bench.phone("dev_next");
  await next.begin("b", 10);
  assert.equal(next.last()?.state, "taking");
  bench.clock.advance(UPLOAD_PARKED_MS);
  await until("the parts to go", () => bench.names().length <= 1);

  await lose("dev_phone_1");
  await bench.close();
  assert.deepEqual(bench.names(), []);
});

Deno.test("a stream that ends, a stalled file and a flood of chunks leave no part of a file [up-bounds, up-damaged]", () =>
  withBench(async (bench) => {
    const left = bench.phone("dev_1");
    await left.begin("a", 10);
    await left.chunk(0, 5);
    assert.equal(bench.names().length, 1);
    await left.stream.close();
    bench.clock.advance(UPLOAD_PARKED_MS);
    await until("no part of it", () => bench.names().length === 0);

    const cancelled = bench.phone("dev_1");
    await cancelled.begin("a", 10);
    const { id = 0 } = cancelled.last() ?? {};
    const steps = [cancelled.chunk(0, 5), cancelled.stream.take({ type: "upload.stop", id })];
    await Promise.all([...steps, cancelled.stream.close()]);
    assert.deepEqual(bench.names(), [], "cancelled just before the stream ends");

    const stalled = bench.phone("dev_2");
    await stalled.begin("a", 10);
    bench.clock.advance(UPLOAD_STALL_MS);
    await until("the answer", () => stalled.last()?.reason === "upload_stalled");
    assert.deepEqual(bench.names(), []);

    const flood = bench.phone("dev_3");
    await flood.begin("a", 100);
    await Promise.all(Array.from({ length: 100 }, (_, at) => flood.chunk(at, 1)));
    await flood.chunk(99, 1);
    assert.equal(flood.last()?.reason, "upload_damaged");
    assert.deepEqual(bench.names(), []);
  }));

Deno.test("a full disk is answered and logged, and leaves no part of a file [up-refused]", async () => {
  await using home = await makeTempHome();
  const full = (): never => {
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  };
  let isFull = false;
  const bench = new Bench(home, {
    files: {
      ...home.files,
      async openAppend(path, options) {
        const file = await home.files.openAppend(path, options);
        return { ...file, append: (data) => isFull ? full() : file.append(data) };
      },
    },
  });
  const { begin, chunk, last } = bench.phone();
  await begin("a", 10);
  await chunk(0, 5);
  isFull = true;
  await chunk(5, 5);
  assert.equal(last()?.reason, "upload_not_stored");
  assert.match(bench.log[0] ?? "", /no space left/);
  assert.deepEqual(bench.names(), []);
  isFull = false;
  await begin("a", 5);
  await chunk(0, 5);
  assert.equal(last()?.state, "done");
  await bench.close();
});

Deno.test("neither a link nor a folder with a loose mode redirects a file [up-folder]", async () => {
  await using home = await makeTempHome();
  const elsewhere = await Deno.makeTempDir({ dir: home.directory });
  await Deno.symlink(elsewhere, home.paths.uploads);
  const bench = new Bench(home);
  const { begin, last } = bench.phone();
  await begin("a", 1);
  assert.equal(last()?.reason, "upload_not_stored");
  assert.match(bench.log.join(), /is a link/);
  assert.deepEqual([...Deno.readDirSync(elsewhere)], []);

  await Deno.remove(home.paths.uploads);
  await Deno.mkdir(home.paths.uploads, { mode: 0o777 });
  await Deno.chmod(home.paths.uploads, 0o777);
  await begin("a", 1);
  assert.equal(last()?.state, "taking");
  assert.equal(mode(home.paths.uploads), 0o700);
  await bench.close();
});

Deno.test("a file is refused, and the listener keeps running, if the host cannot determine whether its project is muted [up-refused]", () =>
  withBench(async (bench) => {
    const { begin, last } = bench.phone();
    await begin("a.txt", 1);
    assert.equal(last()?.reason, "upload_not_stored");
    assert.deepEqual(bench.log, ["uploads: not stored: no tmux"]);
    for (let n = 0; n < UPLOADS_OPEN_PER_PHONE; n++) await begin("a.txt", 1);
    assert.equal(last()?.reason, "upload_not_stored", "it counts as no file that is being sent");
  }, { isMuted: () => Promise.reject(new Error("no tmux")) }));

Deno.test("old files are removed, and the phone's own oldest make room for its new ones, never another phone's [up-kept]", () =>
  withBench(async (bench) => {
    const { uploads: directory } = bench.home.paths;
    const send = async (phone: string, size: number): Promise<UploadState | undefined> => {
      const { begin, chunk, last } = bench.phone(phone);
      bench.clock.advance(60_000);
      await begin("a.bin", size);
      for (let at = 0; at < size; at += UPLOAD_CHUNK_BYTES) {
        await chunk(at, Math.min(UPLOAD_CHUNK_BYTES, size - at));
      }
      return last();
    };
    const old = (await send("dev_1", 1))?.path ?? "";
    await Deno.writeTextFile(`${directory}/mine.txt`, "not made by svc");
    const longAgo = (Date.now() - 2 * UPLOADS_KEPT_MS) / 1_000;
    for (const path of [old, `${directory}/mine.txt`]) await Deno.utime(path, longAgo, longAgo);
    await bench.uploads.folder.removeOld();
    assert.deepEqual(bench.names(), ["mine.txt"]);

    const others: string[] = [];
    for (let phone = 2; phone <= UPLOADS_PHONES; phone++) {
      others.push((await send(`dev_${phone}`, 10))?.path ?? "");
    }
    const first = (await send("dev_1", 10))?.path ?? "";
    // As large as everything that the phone may keep, without writing it.
    Deno.truncateSync(first, UPLOADS_PER_PHONE_BYTES);
    assert.equal((await send("dev_1", 10))?.state, "done");
    assert.equal(bench.names().includes(first.slice(directory.length + 1)), false);
    for (const other of others) Deno.truncateSync(other, UPLOADS_PER_PHONE_BYTES);
    const stranger = (await send("dev_9", 10))?.path ?? "";
    Deno.truncateSync(stranger, UPLOADS_PER_PHONE_BYTES);
    assert.equal((await send("dev_10", 10))?.reason, "upload_full");
    const names = bench.names();
    assert.equal((await send("dev_1", 10))?.reason, "upload_full");
    assert.deepEqual(bench.names(), names, "its own files do not go in vain");
    for (const other of [...others, stranger]) {
      assert.ok(Deno.statSync(other).isFile, "another phone's file stays");
    }
  }, { maxBytes: 1_000 }));
