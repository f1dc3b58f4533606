/** A relay that does all that a relay can do to a phone and a host: what comes of it, attack by attack, paired and not. */
import assert from "node:assert/strict";
import { HANDSHAKE_ROWS } from "../helpers/hostile_handshakes.ts";
import { EVIL, type Expectation, HostileStage, type Mode, type Row } from "../helpers/hostile_stage.ts";
import { until } from "../helpers/until.ts";

const ROWS: readonly Row[] = [...HANDSHAKE_ROWS];

async function suffer(stage: HostileStage, row: Row, expect: Expectation): Promise<void> {
  const from = stage.logged;
  try {
    using attack = await row.run(stage);
    const { phone, host, typed = false, shown = false } = expect;
    const saysHost = (): string => attack.host?.() ?? stage.log(from);
    if (phone) {
      await until(`the phone to say ${phone}`, () => phone.test(attack.words()) || undefined).catch(
        (error) => {
          throw new Error(`${error.message}: "${attack.words()}"`);
        },
      );
    }
    if (host) {
      await until(`the host to say ${host}`, () => host.test(saysHost()) || undefined).catch((error) => {
        throw new Error(`${error.message}: "${saysHost()}"`);
      });
    }
    if (typed) await until("what was made up in the pane", async () => (await stage.screen()).includes(EVIL));
    if (shown) await until("what was made up on the phone", () => attack.shown().includes(EVIL));
    assert.equal((await stage.screen()).includes(EVIL), typed, "typed");
    assert.equal(attack.shown().includes(EVIL), shown, "shown");
  } finally {
    stage.attack({});
    await stage.clearLine();
  }
}

for (const mode of ["psk", "base"] satisfies Mode[]) {
  Deno.test(`a hostile relay, ${mode} mode [hostile-relay]`, async (t) => {
    await using stage = await HostileStage.make(mode);
    for (const row of ROWS) {
      const expect = row.expect[mode];
      if (expect === undefined) continue;
      await t.step(`${mode}: ${row.name} → ${expect.outcome ?? "told"}`, () => suffer(stage, row, expect));
    }
  });
}
