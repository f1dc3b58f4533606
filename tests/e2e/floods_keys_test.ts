/** A phone's key floods the listener: the flooder's sockets close, and another phone keeps typing. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { say } from "../../scripts/say.ts";
import { type AttackName, startAttack } from "../helpers/attack.ts";
import type { MirrorPhone } from "../helpers/mirror_phone.ts";
import { makeMirrorStage } from "../helpers/mirror_stage.ts";
import { until } from "../helpers/until.ts";

const FRAMES = 60;
const KEYS = 40;
/** Generous because of loaded machines; the measured figure is printed. */
const SLOWER_MAX = 20;

const median = (times: number[]): number => times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

/** Returns how long each key took to appear on the screen. */
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

interface Flood {
  name: AttackName;
  /** Scopes of the attacker's key. */
  scope: string;
  options: Record<string, unknown>;
}

interface Flooded {
  /** How often the relay closed the listener. */
  kicks: number;
  /** How the attacker's sockets ended, by close code. */
  closes: Record<string, number>;
  /** How much slower another phone's keys were during the attack than before. */
  ratio: number;
}

/** Runs the attack on a session's host while an honest phone types into the session. */
async function typeDuring({ name, scope, options }: Flood): Promise<Flooded> {
  await using stage = await makeMirrorStage();
  const { stack } = stage;
  const { wsUrl, url, apiKey, deviceId, sandbox } = stack;
  const session = await stage.start(["sh", "-c", "stty -icanon -echo; exec cat"], { cols: 80, rows: 24 });
  const honest = await stage.watch(session);
  await typeKeys(honest);
  const calm = median(await typeKeys(honest));
  const data = `${sandbox.svcHome}/server`;
  const made = ["keys", "create", "--name", "flooder", "--scope", scope, "--data", data, "--json"];
  const { stdout } = await stack.svc(...made);
  const target = { url, wsUrl, port: Number(new URL(url).port), apiKey: JSON.parse(stdout).key };
  await using attack = startAttack(name, { target, options: { deviceId, session, ...options } });
  let isDone = false;
  const done = attack.result.finally(() => isDone = true);
  const flooded: number[] = [];
  do flooded.push(...await typeKeys(honest)); while (!isDone);
  const { closes } = await done as { closes: Record<string, number> };
  const ratio = median(flooded) / calm;
  const kicks = stack.listener.output().match(/disconnected/g)?.length ?? 0;
  say(
    `${name} flood: ${kicks} kicks of the listener, the flooder closed ${
      JSON.stringify(closes)
    }, another phone's keys in ${ratio.toFixed(2)} of their time (${calm.toFixed(1)} ms calm)`,
  );
  const { devices } = await createRelayApi({ baseUrl: url, apiKey }).devices();
  assert.equal(devices.find(({ id }) => id === deviceId)?.online, true);
  return { kicks, closes, ratio };
}

Deno.test("60 keystroke frames of 1 MB from one phone close that phone's socket, never the listener's, and another phone keeps typing [flood-keys]", async () => {
  const options = { frames: FRAMES };
  const flooded = await typeDuring({ name: "longKeys", scope: "push:read,push:send", options });
  assert.equal(flooded.kicks, 0);
  assert.deepEqual(Object.keys(flooded.closes), ["4429"]);
  assert.ok(flooded.ratio < SLOWER_MAX, `${flooded.ratio}`);
});

Deno.test("when a read-only key grants credit on 20 sockets without a pause, they are closed, but never the listener's [flood-frames]", async () => {
  const options = { sockets: 20, frames: 1_000 };
  const flooded = await typeDuring({ name: "credits", scope: "push:read", options });
  assert.equal(flooded.kicks, 0);
  assert.ok((flooded.closes["4429"] ?? 0) > 0, JSON.stringify(flooded.closes));
  assert.ok(flooded.ratio < SLOWER_MAX, `${flooded.ratio}`);
});
