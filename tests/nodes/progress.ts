/** Checks of the tests with several nodes: every session makes progress, and every message arrived once and in order. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import type { NodeStage } from "../helpers/node_stage.ts";
import { until } from "../helpers/until.ts";

/** How many more messages of every session must be accepted before, during and after a fault. */
const PROGRESS = 5;
export async function progress(stage: NodeStage): Promise<void> {
  const from = [...stage.accepted];
  await until(
    "every session goes on",
    () => stage.accepted.every((n, one) => n >= (from[one] ?? 0) + PROGRESS),
  );
}

/** Prints the figures of one fault. */
export function report(stage: NodeStage, fault: string): void {
  const again = stage.sessions.reduce((sum, session) => sum + session.again, 0);
  const sent = stage.accepted.reduce((sum, n) => sum + n, 0);
  say(
    `nodes ${fault}: longest pause ${
      Math.round(stage.longestPause())
    } ms, ${sent} accepted, ${again} sent again`,
  );
}

/** Asserts that every accepted message has arrived once, in the order in which its session's sender sent it. */
export async function checkAll(stage: NodeStage): Promise<void> {
  await stage.settle();
  await until(
    "every message has arrived",
    () => stage.sessions.every(({ arrived }, one) => arrived.length >= (stage.accepted[one] ?? 0)),
  );
  for (const [one, { arrived }] of stage.sessions.entries()) {
    assert.deepEqual(arrived, Array.from({ length: stage.accepted[one] ?? 0 }, (_, n) => n));
  }
}
