/** An open card's checks of the computer's screen: what closes the card, and what does not. */
import assert from "node:assert/strict";
import type { LocalView } from "../../../../src/listener/inject/pane_check.ts";
import type { Place } from "../../../../src/listener/targets.ts";
import { until } from "../../../helpers/until.ts";
import { answerOf, BLUE, QUESTION, Scene, SESSION } from "./card_bench.ts";

Deno.test("a failed check of the screen closes no card, and a screen that stays unreadable opens the dialog [card-local]", async () => {
  let looks = (): "seen" | "failed" | "missed" => "seen";
  const look = () => {
    const now = looks();
    if (now === "failed") return Promise.reject(new Error("tmux is busy"));
    const view: LocalView & { place: Place } = {
      lastKeyAt: 0,
      hasDialog: true,
      state: "working" as const,
      place: { session: SESSION },
    };
    return Promise.resolve(now === "seen" ? view : undefined);
  };
  for (const missed of ["failed", "missed"] as const) {
    looks = () => "seen";
    const scene = await Scene.make({ look });
    const asked = scene.ask(QUESTION);
    const { id } = await scene.card();
    let left = 2;
    looks = () => left-- > 0 ? missed : "seen";
    await until("both looks", () => {
      scene.clock.advance(100);
      return left < 0 ? true : undefined;
    });
    const receipt = scene.answer(id, BLUE);
    assert.deepEqual(answerOf(await asked), BLUE, missed);
    scene.cards.stop();
    await receipt;

    const other = await Scene.make({ look });
    looks = () => "seen";
    const opened = other.ask(QUESTION);
    await other.card();
    looks = () => missed;
    assert.equal(await other.ended(opened), undefined, missed);
    assert.equal(other.withdrawn.length, 1, missed);
  }
});
