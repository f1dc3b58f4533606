/** Messages that ended at the relay while no listener ran: which are fetched, and how long others wait for that. */
import assert from "node:assert/strict";
import { RelayError } from "../../../src/client/relay_error.ts";
import type { JournalEntry } from "../../../src/home/journal.ts";
import { EndedAtRelay } from "../../../src/listener/earlier_listener.ts";
import type { Push, PushRecord } from "../../../src/protocol/push.ts";
import type { PushState } from "../../../src/protocol/receipt.ts";
import { ID, push } from "./push_bench.ts";

interface Found {
  state: PushState;
  final: boolean;
}

const DAY_MS = 86_400_000;

function makeSearch(
  records: Record<string, Found | RelayError>,
  unfinished: readonly JournalEntry[],
  { now = 1, written = () => Promise.resolve() }: { now?: number; written?: () => Promise<void> } = {},
) {
  const closed: string[] = [];
  const asked: string[] = [];
  const received: Push[] = [];
  const logged: string[] = [];
  const ended = new EndedAtRelay({
    journal: {
      unfinished: () => [...unfinished],
      record: (id, step) => {
        closed.push(`${id} ${step.step} ${"outcome" in step && step.outcome}`);
        return written();
      },
    },
    now: () => now,
    find: (id) => {
      asked.push(id);
      const found = records[id];
      if (found === undefined) {
        return Promise.reject(new RelayError("no such push", { code: "unknown_push" }));
      }
      if (found instanceof RelayError) return Promise.reject(found);
      const record: PushRecord = { push: { ...push, id }, receipt: { ...found, at: {} } };
      return Promise.resolve(record);
    },
    receive: (one) => Promise.resolve(void received.push(one)),
    log: (line) => void logged.push(line),
  });
  return { ended, asked, received, logged, closed };
}

const idOf = (place: number): string => ID.replace(/.$/, String(place));

Deno.test("ended at the relay: only what may still be in a composer is fetched, and it is taken as expired [inj-take-back]", async () => {
  const ends: Found[] = [
    { state: "expired", final: true },
    { state: "unknown", final: true },
    { state: "withdrawn", final: true },
    { state: "submitted", final: true },
    { state: "held", final: false },
  ];
  const records = Object.fromEntries(ends.map((end, place) => [idOf(place), end]));
  const typed = ends.map((_, place) => ({ id: idOf(place), at: 1, step: "left" }) as const);
  const waiting = { id: idOf(8), at: 1, step: "accepted" } as const;
  const { ended, asked, received, logged } = makeSearch(records, [
    ...typed,
    { ...waiting, id: idOf(9), step: "typed" },
    waiting,
  ]);
  ended.search();
  await ended.searching;
  assert.deepEqual(asked, [0, 1, 2, 3, 4, 9].map(idOf));
  assert.deepEqual(
    received.map(({ id, expiresAt }) => [id, expiresAt]),
    [0, 1, 2].map((place) => [idOf(place), 0]),
  );
  ended.search();
  assert.equal(ended.searching, undefined, "once");
  assert.deepEqual(logged, []);
});

Deno.test("ended at the relay: a relay that cannot answer is asked again on the next connection, and delays other messages only until then [inj-take-back]", async () => {
  const records: Record<string, Found | RelayError> = {
    [ID]: new RelayError("no relay answers", { code: "unreachable" }),
  };
  const { ended, received, logged } = makeSearch(records, [{ id: ID, at: 1, step: "typing" }]);
  ended.search();
  await ended.searching;
  assert.equal(ended.searching, undefined);
  assert.match(logged.join(), /may stay in a composer: no relay answers/);
  records[ID] = { state: "expired", final: true };
  ended.search();
  await ended.searching;
  assert.deepEqual(received.map(({ id }) => id), [ID]);
});

Deno.test("ended at the relay: an entry whose end is known, or whose message the relay removed long ago, is closed for good [inj-take-back]", async () => {
  const [removed, reported, young] = [1, 2, 3].map(idOf);
  const records = { [reported ?? ""]: { state: "submitted", final: true } as const };
  const { ended, closed, received } = makeSearch(records, [
    { id: removed ?? "", at: 1, step: "typed" },
    { id: reported ?? "", at: 30 * DAY_MS, step: "typing" },
    { id: young ?? "", at: 30 * DAY_MS, step: "typed" },
  ], { now: 31 * DAY_MS });
  ended.search();
  await ended.searching;
  assert.deepEqual(closed, [`${removed} done unknown`, `${reported} done submitted`]);
  assert.deepEqual(received, []);
});

Deno.test("ended at the relay: entries are closed in one write, for which other messages wait", async () => {
  const entries = [1, 2, 3].map((place) => ({ id: idOf(place), at: 1, step: "typed" } as const));
  const all = Promise.withResolvers<void>();
  let count = 0;
  const written = (): Promise<void> => {
    if (++count === entries.length) all.resolve();
    return all.promise;
  };
  const { ended, closed } = makeSearch({}, entries, { now: 31 * DAY_MS, written });
  ended.search();
  await ended.searching;
  assert.equal(closed.length, entries.length);
});

Deno.test("ended at the relay: without such an entry nothing is asked, and nothing waits", () => {
  const { ended, asked } = makeSearch({}, [{ id: ID, at: 1, step: "accepted" }]);
  ended.search();
  assert.deepEqual([ended.searching, asked], [undefined, []]);
});
