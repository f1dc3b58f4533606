/** The bus of a single-process relay. */
import assert from "node:assert/strict";
import { type BusMessage, LocalBus } from "../../../src/bus/bus.ts";

const message = (deviceId: string): BusMessage => ({ kind: "greeted", deviceId, connection: "c" });

Deno.test("a message immediately reaches every subscriber of its account, until it unsubscribes [rl-accounts]", async () => {
  const bus = new LocalBus();
  const heard: string[] = [];
  const hear = (who: string) => (found: BusMessage): void =>
    void heard.push(`${who} ${found.kind === "greeted" && found.deviceId}`);
  const stop = bus.subscribe("a", hear("one"));
  bus.subscribe("a", hear("two"));
  bus.subscribe("b", hear("three"));
  bus.publish("a", message("x"));
  stop();
  bus.publish("a", message("y"));
  bus.publish("none", message("z"));
  assert.deepEqual(heard, ["one x", "two x", "two y"]);
  await bus.ready();
  await bus.close();
  bus.publish("a", message("late"));
  assert.equal(heard.length, 3);
});

Deno.test("a subscriber may unsubscribe while it handles a message", () => {
  const bus = new LocalBus();
  let heard = 0;
  const stop = bus.subscribe("a", () => {
    heard += 1;
    stop();
  });
  bus.subscribe("a", () => void (heard += 1));
  bus.publish("a", message("x"));
  bus.publish("a", message("x"));
  assert.equal(heard, 3);
});
