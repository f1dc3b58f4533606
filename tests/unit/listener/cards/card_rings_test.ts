/** A dialog with a card notifies the phones once: by its card, or by its notice if the relay never got the card. */
import assert from "node:assert/strict";
import { RelayError } from "../../../../src/client/relay_error.ts";
import { LINK_LOST_MS } from "../../../../src/listener/cards/watch.ts";
import { HookNotifier } from "../../../../src/listener/hook_notifier.ts";
import { until } from "../../../helpers/until.ts";
import { Scene, SESSION, SHELL } from "./card_bench.ts";

const busy = (): RelayError =>
  new RelayError("busy", { code: "overloaded", status: 503, retryAfterSeconds: 1 });

Deno.test("a card covers its dialog once the relay has it; while it is being sent, the notice waits for that [card-rings]", async () => {
  for (const isStored of [true, false]) {
    const scene: Scene = await Scene.make({
      send: (push) => {
        const isAway = !isStored || scene.clock.elapsed() < LINK_LOST_MS / 2;
        return isAway ? Promise.reject(busy()) : Promise.resolve(scene.sent.push(push));
      },
    });
    const asked = scene.ask(SHELL);
    let covered: boolean | undefined;
    const covers = scene.cards.covers(SESSION).then((value) => covered = value);
    await until("the first try", () => scene.clock.pending > 1);
    assert.equal(covered, undefined, "not known yet");
    assert.equal(await scene.ended(covers), isStored);
    assert.equal(await scene.cards.covers(SESSION), isStored);
    scene.gone.abort();
    assert.equal(await asked, undefined);
    assert.equal(await scene.cards.covers(SESSION), false);
  }
});

Deno.test("a dialog whose card did not reach the relay notifies the phones when the relay is back [card-rings]", async () => {
  let isAway = true;
  const scene: Scene = await Scene.make({ send: () => Promise.reject(busy()) });
  const rung: unknown[] = [];
  const notifier = new HookNotifier({
    clock: scene.clock,
    send: ({ data }) => isAway ? Promise.reject(busy()) : Promise.resolve(rung.push(data?.["quiet"])),
    seal: (push) => Promise.resolve(push),
    hookId: () => Promise.resolve("hook_1"),
    isMuted: () => Promise.resolve(false),
    isCovered: (session) => scene.cards.covers(session),
    lastWords: () => Promise.resolve(undefined),
    log: (line) => void scene.logged.push(line),
  });
  const asked = scene.ask(SHELL);
  const dialog = { id: crypto.randomUUID(), session: SESSION, agent: "cc", label: "app", cwd: "/work/app" };
  notifier.dialog({ ...dialog, pane: "/s $1 %1 42", directories: [], text: "Run it?" });
  assert.equal(await scene.ended(asked), undefined);
  isAway = false;
  await until("the notice", () => {
    scene.clock.advance(1_000);
    return rung.length > 0;
  });
  assert.deepEqual(rung, [undefined], "not quiet");
  await notifier.stop();
});
