/** One phone floods the listener with keystroke frames of 1 MB: its socket closes, and another phone keeps typing. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { say } from "../../scripts/say.ts";
import { startAttack } from "../helpers/attack.ts";
import type { MirrorPhone } from "../helpers/mirror_phone.ts";
import { makeMirrorStage } from "../helpers/mirror_stage.ts";
import { until } from "../helpers/until.ts";

const FRAMES = 60;
const KEYS = 40;
/** Generous for a loaded machine; the measured figure is printed. */
const SLOWER_MAX = 20;

const median = (times: number[]): number => times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

/** How long each key took to appear on the screen. */
async function typeKeys(phone: MirrorPhone): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < KEYS; n++) {
    const letter = String.fromCharCode(97 + n % 26);
    const before = phone.frames;
    const began = performance.now();
    phone.type({ type: "text", text: letter });
    await until("the key's echo", () => phone.frames > before);
    times.push(performance.now() - began);
  }
  return times;
}

Deno.test("60 keystroke frames of 1 MB from one phone close that phone's socket, never the listener's, and another phone keeps typing [flood-keys]", async () => {
  await using stage = await makeMirrorStage();
  const { stack } = stage;
  const { wsUrl, url, apiKey, deviceId, sandbox } = stack;
  const session = await stage.start(["sh", "-c", "stty -icanon -echo; exec cat"], { cols: 80, rows: 24 });
  const honest = await stage.watch(session);
  await typeKeys(honest);
  const calm = median(await typeKeys(honest));
  const { stdout } = await stack.svc(
    "keys",
    "create",
    "--name",
    "flooder",
    "--scope",
    "push:read,push:send",
    "--data",
    `${sandbox.svcHome}/server`,
    "--json",
  );
  const target = { url, wsUrl, port: Number(new URL(url).port), apiKey: JSON.parse(stdout).key };
  await using attack = startAttack("longKeys", { target, options: { frames: FRAMES, deviceId, session } });
  let isDone = false;
  const done = attack.result.finally(() => isDone = true);
  const flooded: number[] = [];
  do flooded.push(...await typeKeys(honest)); while (!isDone);
  const { closes } = await done as { closes: Record<string, number> };
  const ratio = median(flooded) / calm;
  const kicks = stack.listener.output().match(/disconnected/g)?.length ?? 0;
  say(
    `keys flood: ${kicks} kicks of the listener, the flooder closed ${
      JSON.stringify(closes)
    }, another phone's keys in ${ratio.toFixed(2)} of their time (${calm.toFixed(1)} ms calm)`,
  );
  assert.equal(kicks, 0);
  assert.deepEqual(Object.keys(closes), ["4429"]);
  assert.ok(ratio < SLOWER_MAX, `${ratio}`);
  const { devices } = await createRelayApi({ baseUrl: url, apiKey }).devices();
  assert.equal(devices.find(({ id }) => id === deviceId)?.online, true);
});
