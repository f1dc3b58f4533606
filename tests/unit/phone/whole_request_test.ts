/** A long request that the phone fetches: part by part, again after a break, and checked against the card's digest. */
import assert from "node:assert/strict";
import { sha256Hex } from "../../../src/async/encodings.ts";
import type { TerminalViewer } from "../../../src/phone/terminal_streams.ts";
import {
  ASK_AGAIN_MS,
  type FetchedRequest,
  fetchRequest,
  SILENT_MS,
} from "../../../src/phone/whole_request.ts";
import type { ReadInput, UploadInput } from "../../../src/protocol/key_input.ts";
import { CARD_PART_CHARS } from "../../../src/protocol/limits.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

const CARD = crypto.randomUUID();
const TEXT = Array.from({ length: 12_000 }, (_, line) => `line ${line} 漢🙂`).join("\n");
const LIVE = { kind: "live", sealing: "psk", size: { cols: 80, rows: 24 } } as const;

/** A stream and the host behind it, which has the text. */
class Bench {
  readonly clock = new FakeClock();
  readonly abort = new AbortController();
  readonly asked: number[] = [];
  readonly shares: number[] = [];
  isClosed = false;
  viewer: TerminalViewer | undefined;
  /** The host's answer; undefined for none. */
  answer: (at: number) => string | undefined = (at) => TEXT.slice(at, at + CARD_PART_CHARS);

  async fetch(
    { sealing = "psk", live = true }: { sealing?: "psk" | "base"; live?: boolean } = {},
  ): Promise<FetchedRequest> {
    return await fetchRequest({
      id: CARD,
      session: { deviceId: "dev_listener", session: "svc-demo" },
      whole: { length: TEXT.length, digest: await sha256Hex(TEXT) },
      clock: this.clock,
      signal: this.abort.signal,
      onProgress: (share) => void this.shares.push(share),
      open: (_name, viewer) => {
        this.viewer = viewer;
        if (live) queueMicrotask(() => viewer.onState({ ...LIVE, sealing }));
        return { upload: (input) => this.#take(input), close: () => void (this.isClosed = true) };
      },
    });
  }

  #take(input: UploadInput | ReadInput): Promise<void> {
    assert.ok(input.type === "card.part" && input.card === CARD);
    this.asked.push(input.at);
    const text = this.answer(input.at);
    if (text !== undefined) queueMicrotask(() => this.part(input.at, text));
    return Promise.resolve();
  }

  part(at: number, text: string, card = CARD): void {
    this.viewer?.onStatus({ part: { card, at, text } });
  }
}

Deno.test("all of a request arrives, each part requested once, even if parts arrive out of order [card-fetched]", async () => {
  const bench = new Bench();
  const parts: number[] = [];
  bench.answer = (at) => {
    parts.push(at);
    // Pairs arrive in reverse order.
    if (parts.length % 2 === 0) {
      for (const one of parts.splice(0).reverse()) bench.part(one, TEXT.slice(one, one + CARD_PART_CHARS));
    } else if (at + CARD_PART_CHARS >= TEXT.length) bench.part(at, TEXT.slice(at));
    return undefined;
  };
  const fetched = await bench.fetch();
  assert.ok(fetched.kind === "whole" && fetched.text === TEXT);
  const places = Array.from(
    { length: Math.ceil(TEXT.length / CARD_PART_CHARS) },
    (_, part) => part * CARD_PART_CHARS,
  );
  assert.deepEqual(bench.asked.toSorted((one, other) => one - other), places);
  assert.deepEqual([bench.shares.at(-1), bench.isClosed], [1, true]);
});

Deno.test("after a break, a restart of the stream or a part that was lost, only the missing parts are requested again [card-fetched]", async () => {
  const bench = new Bench();
  bench.answer = (at) => at === 0 ? TEXT.slice(0, CARD_PART_CHARS) : undefined;
  const fetching = bench.fetch();
  await until("the first part", () => bench.shares.length === 1);
  const before = bench.asked.length;
  bench.viewer?.onState({ kind: "opening" });
  bench.answer = () => undefined;
  bench.viewer?.onState(LIVE);
  await until("the parts to be asked for again", () => bench.asked.length > before);
  assert.ok(!bench.asked.slice(before).includes(0));
  bench.answer = (at) => TEXT.slice(at, at + CARD_PART_CHARS);
  await bench.clock.advance(ASK_AGAIN_MS);
  const fetched = await fetching;
  assert.ok(fetched.kind === "whole" && fetched.text === TEXT);
});

Deno.test("data that is not the card's request, or that is gone, silent or not sealed for this phone, is never shown as the request [card-fetched]", async () => {
  const result = async (
    prepare: (bench: Bench) => void,
    options?: Parameters<Bench["fetch"]>[0],
  ): Promise<unknown> => {
    const bench = new Bench();
    prepare(bench);
    const fetched = await bench.fetch(options);
    assert.ok(bench.isClosed);
    return fetched.kind === "failed" ? fetched.reason : fetched.kind;
  };
  assert.equal(await result((bench) => bench.answer = () => ""), "gone");
  assert.equal(await result((bench) => bench.answer = () => "short"), "changed");
  const other = (at: number): string => TEXT.slice(at, at + CARD_PART_CHARS).replace("line 7", "line 8");
  assert.equal(await result((bench) => bench.answer = other), "changed");
  assert.equal(await result(() => {}, { sealing: "base" }), "unpaired");
  const silent = new Bench();
  silent.answer = () => undefined;
  const fetching = silent.fetch();
  await until("the first questions", () => silent.asked.length > 0);
  // This part is not this card's and was not requested.
  silent.part(0, "x".repeat(CARD_PART_CHARS), crypto.randomUUID());
  silent.part(CARD_PART_CHARS * 6, TEXT.slice(CARD_PART_CHARS * 6, CARD_PART_CHARS * 7));
  for (let waited = 0; waited <= SILENT_MS; waited += ASK_AGAIN_MS) await silent.clock.advance(ASK_AGAIN_MS);
  assert.deepEqual(await fetching, { kind: "failed", reason: "silent" });
  assert.deepEqual(silent.shares, []);
  const cancelled = new Bench();
  const cancelling = cancelled.fetch({ live: false });
  cancelled.abort.abort();
  assert.deepEqual(await cancelling, { kind: "cancelled" });
});
