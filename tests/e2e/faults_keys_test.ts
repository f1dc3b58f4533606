/** A hostile relay holds back a key of an open terminal and delivers it later, with the real host and the page's own code. */
import assert from "node:assert/strict";
import { KEYS_AGE_MS } from "../../src/listener/keystrokes/keystroke_stream.ts";
import { MIRROR_PULSE_MS } from "../../src/protocol/limits.ts";
import { isSame, WAYS } from "../helpers/hostile_relay.ts";
import { HostileStage } from "../helpers/hostile_stage.ts";
import type { Watched } from "../helpers/page_phone.ts";
import { until } from "../helpers/until.ts";

/** Types a key, which the relay holds back until the phone has received so many pulses, and another one. Returns both texts. */
async function holdBack(stage: HostileStage, watched: Watched, pulses: number): Promise<[string, string]> {
  const [held, next] = [stage.text(), stage.text()];
  const frames: Uint8Array[] = [];
  let isHolding = true;
  stage.attack({
    bytes: (bytes, way) => {
      if (!isSame(way, WAYS.fromPhone)) return [bytes];
      frames.push(bytes.slice());
      return isHolding ? [] : frames.splice(0);
    },
  });
  const pressed = watched.pulse;
  watched.type({ type: "text", text: held });
  await until("the end of the hold", () => watched.pulse >= pressed + pulses, 4 * KEYS_AGE_MS);
  isHolding = false;
  watched.type({ type: "text", text: next });
  return [held, next];
}

Deno.test("keys that a relay held back for more than a minute are not typed, nor those after them, and the phone says so; after a short delay they are typed [sec-keys-late]", async () => {
  await using stage = await HostileStage.make("psk");
  using watching = await stage.watching();
  const { watched } = watching;
  const [delayed, after] = await holdBack(stage, watched, 2);
  await until("both keys", async () => (await stage.screen()).includes(`${delayed}${after}`));
  await stage.clearLine();
  await holdBack(stage, watched, KEYS_AGE_MS / MIRROR_PULSE_MS + 2);
  await until("the warning", () => /Keys were lost on the way/.test(watched.words()));
  assert.match(stage.log(0), /keys_lost/);
  assert.doesNotMatch(await stage.scrollback(), /mine-psk-[23]\./);
});
