/** Pushes that arrived while the page had no link are read after the reconnect, however many there are. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../../src/client/api.ts";
import { MISSED_PAGES_MAX, MissedHistory } from "../../../src/phone/missed_history.ts";
import { startRequest } from "../../../src/phone/requests.ts";
import { until } from "../../helpers/until.ts";
import { FakeRelay } from "./fake_relay.ts";
import { type Bench, live, phoneWith, stateOf, TO } from "./phone_bench.ts";
import { idOf, NOW, receiptOf, recordOf } from "./samples.ts";

const PAGE = 2;
const records = (count: number) => Array.from({ length: count }, (_, number) => recordOf(number + 1));
const bodies = ({ store }: Bench): string[] =>
  [...store.get().messages.values()].sort((one, other) => one.createdAt - other.createdAt).map(({ body }) =>
    body
  );
const texts = (count: number): string[] => records(count).map(({ push }) => push.body ?? "");

async function liveWith(count: number): Promise<Bench> {
  const bench = phoneWith({ apiKey: "svc_k" });
  Object.assign(bench.relay, { pageSize: PAGE, records: records(count) });
  return await live(bench);
}

/** Loses the link, and restores it once `meanwhile` has run. */
function reconnect(bench: Bench, meanwhile: () => void): void {
  bench.sockets.last.ends(1006);
  meanwhile();
  bench.controller.reconnectNow();
  bench.sockets.last.welcome(NOW);
}

for (const before of [0, 1, 2]) {
  Deno.test(`pushes that came without a link are all read, after ${before} known ones [ux-any-order]`, async () => {
    const bench = await liveWith(before);
    const more = before + 3 * PAGE;
    reconnect(bench, () => bench.relay.records = records(more));
    await until("all of them", () => bodies(bench).length === more);
    await bench.controller.stop();
  });
}

Deno.test("pushes beyond the pages that a reconnect reads come with the earlier messages [ux-any-order]", async () => {
  const bench = await liveWith(PAGE);
  const more = PAGE + (MISSED_PAGES_MAX + 2) * PAGE;
  reconnect(bench, () => bench.relay.records = records(more));
  await until("the newest", () => bodies(bench).length === PAGE + MISSED_PAGES_MAX * PAGE);
  const [oldest] = bench.relay.records.slice(-MISSED_PAGES_MAX * PAGE);
  await until("the gap", () => bench.store.get().oldestRead?.id === oldest?.push.id);
  assert.equal(bench.store.get().history, "more");
  for (const shown of [more - PAGE, more]) {
    bench.controller.readOlder();
    await until("the next page", () => bodies(bench).length === shown);
  }
  assert.deepEqual(bodies(bench), texts(more));
  await bench.controller.stop();
});

Deno.test("pushes that the link has reported are not read again after a reconnect, unless earlier ones are missing [ux-any-order]", async () => {
  const relay = Object.assign(new FakeRelay(), { pageSize: PAGE, records: records(1) });
  const api = createRelayApi({ baseUrl: "https://relay.example/svc", fetch: relay.fetch });
  const missed = new MissedHistory({
    read: (before) => api.listPushes({ before }).catch(() => undefined),
    add: () => Promise.resolve(),
  });
  const { signal } = new AbortController();
  const pagesAfter = async (count: number): Promise<number> => {
    relay.records = records(count);
    const before = relay.asked.length;
    await missed.read(signal);
    return relay.asked.length - before;
  };
  await missed.read(signal);
  for (let count = 2; count <= 3 * PAGE; count++) missed.heard(idOf(count));
  assert.equal(await pagesAfter(3 * PAGE), 1);
  relay.away = true;
  await missed.read(signal);
  relay.away = false;
  missed.heard(idOf(6 * PAGE));
  assert.equal(await pagesAfter(6 * PAGE), 4);
});

Deno.test("the outcome of an own message or request is read after a time without a link, however old it is [ux-any-order]", async () => {
  const bench = await liveWith(0);
  await bench.controller.send(TO, "long ago");
  const start = bench.controller.ask(startRequest("dev_listener_1", { agent: "cc", project: "demo" }));
  await until("the request at the relay", () => stateOf(bench, start) === "queued");
  const own = bench.relay.records.map(({ push }) => ({ push, receipt: receiptOf("submitted") }));
  const [message] = own;
  assert.ok(message);
  const missed = records((MISSED_PAGES_MAX + 1) * PAGE);
  reconnect(bench, () => bench.relay.records = [...own, ...missed]);
  await until("the message's outcome", () => stateOf(bench, message.push.id) === "submitted");
  await until("the request's outcome", () => stateOf(bench, start) === "submitted");
  await bench.controller.stop();
});
