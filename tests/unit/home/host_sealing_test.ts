/** A question is answered once: either the asker or the listener acts on the answer, never both. */
import assert from "node:assert/strict";
import { newSecret } from "../../../src/crypto/paired_secret.ts";
import {
  claimQuestion,
  CLAIMS_LATEST,
  type HostKeys,
  hostKeys,
  hostSealing,
} from "../../../src/home/host_sealing.ts";
import { changePaired } from "../../../src/home/pairing.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";

Deno.test("only the first to claim a question gets it, even if two claim it at the same instant [replay-window, seal-answers]", async () => {
  await using home = await makeTempHome();
  const claim = (id: string, by: "asker" | "listener", now = Date.now(), answer = "1") =>
    claimQuestion(home.files, home.paths, { id, answer, by, now });
  assert.deepEqual([await claim("a", "asker"), await claim("a", "listener"), await claim("a", "asker")], [
    ...[true, false, true],
  ]);
  for (const by of ["asker", "listener"] as const) {
    assert.equal(await claim("a", by, Date.now(), "2"), false, "another answer to the same question");
  }
  for (let n = 0; n < CLAIMS_LATEST; n++) {
    const both = await Promise.all([claim(`b${n}`, "asker"), claim(`b${n}`, "listener")]);
    assert.equal(both.filter(Boolean).length, 1);
  }
  assert.equal((await Deno.stat(home.paths.answers)).mode! & 0o777, 0o700);
  await claim("c", "listener", Date.now() + 9 * 86_400_000);
  const kept = await home.files.list(home.paths.answers);
  assert.equal(kept.length, CLAIMS_LATEST + 1);
  assert.ok(!kept.includes("a"), "what is too old to come again is forgotten");
});

Deno.test("an answer that an asker has taken is not typed after a clock was days ahead for a moment [replay-window, seal-answers]", async () => {
  await using home = await makeTempHome();
  const claim = (id: string, by: "asker" | "listener", now = Date.now()) =>
    claimQuestion(home.files, home.paths, { id, answer: "1", by, now });
  assert.ok(await claim("a", "asker"));
  assert.ok(await claim("b", "asker", Date.now() + 9 * 86_400_000));
  assert.equal(await claim("a", "listener"), false);
});

/** The host's keys, without a relay. */
function keysOf({ files, paths }: TempHome): HostKeys {
  const none = (): Promise<never> => Promise.reject(new Error("no relay"));
  const api = { createPairing: none, pairingStatus: none };
  return hostKeys({ files, paths, api, deviceId: "dev_listener_a", hostname: "a", now: () => 0 });
}

Deno.test("a script's secret opens its messages and nothing else: no mirror, no answer [pair-script, role-speaks-for]", async () => {
  await using home = await makeTempHome();
  const pair = (deviceId: string, script?: true) => ({
    deviceId,
    name: deviceId,
    publicKey: "",
    secret: newSecret(),
    pairedAt: 0,
    ...(script && { script }),
  });
  const phones = [pair("dev_phone_a"), pair("dev_phone_script", true)];
  await changePaired(home.files, home.paths, (file) => ({ ...file, phones }));
  const keys = keysOf(home);
  const has = async (phone: string, use?: { orScript: boolean }): Promise<boolean> =>
    await keys.secretOf(phone, use) !== undefined;
  assert.deepEqual([await has("dev_phone_a"), await has("dev_phone_script")], [true, false]);
  const orScript = { orScript: true };
  assert.deepEqual([await has("dev_phone_a", orScript), await has("dev_phone_script", orScript)], [
    true,
    true,
  ]);
});

Deno.test("a host that accepts only sealed messages sends nothing plain when its last phone is gone; other hosts do [seal-answers, sec-passive-relay]", async () => {
  await using home = await makeTempHome();
  const keys = keysOf(home);
  let config: { requireEncryption?: "psk" | "base" | "off" } = {};
  const sealing = hostSealing(keys, { config: () => Promise.resolve(config) });
  const push = { id: crypto.randomUUID(), type: "ask", body: "Delete the database?" };
  assert.deepEqual(await sealing.seal(push), push, "no phone was ever paired");
  await changePaired(home.files, home.paths, (file) => ({ ...file, floor: "psk" }));
  await assert.rejects(sealing.seal(push), /^Error: Not sent: .* Pair one with: svc pair$/);
  config = { requireEncryption: "off" };
  assert.deepEqual(await sealing.seal(push), push, "the user wants it so");
  await changePaired(home.files, home.paths, ({ floor: _, ...file }) => file);
  config = { requireEncryption: "psk" };
  await assert.rejects(sealing.seal(push), /Not sent/);
});
