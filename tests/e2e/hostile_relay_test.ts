/** Everything that a hostile relay can do to a phone and a host: the outcome of each attack, paired and not. */
import assert from "node:assert/strict";
import { FRAME_ROWS } from "../helpers/hostile_frames.ts";
import { HANDSHAKE_ROWS } from "../helpers/hostile_handshakes.ts";
import { MESSAGE_ROWS } from "../helpers/hostile_messages.ts";
import { MINTED_ROWS } from "../helpers/hostile_minted.ts";
import { PAIRING_ROWS } from "../helpers/hostile_pairings.ts";
import { EVIL, type Expectation, HostileStage, type Mode, type Row } from "../helpers/hostile_stage.ts";
import { until } from "../helpers/until.ts";

const ROWS: readonly Row[] = [
  ...HANDSHAKE_ROWS,
  ...FRAME_ROWS,
  ...MESSAGE_ROWS,
  ...MINTED_ROWS,
  ...PAIRING_ROWS,
];

const outcomeOf = ({ outcome = "reported" }: Expectation): string => outcome;

function count(screens: string, text: string): number {
  return screens.split(text).length - 1;
}

async function says(who: string, { pattern, words }: { pattern: RegExp; words(): string }): Promise<void> {
  await until(`the ${who} to say ${pattern}`, () => pattern.test(words())).catch((error) => {
    throw new Error(`${error.message}, but: ${words()}`);
  });
}

async function runAttack(stage: HostileStage, row: Row, expect: Expectation): Promise<void> {
  const from = stage.logged;
  const typedBefore = count(await stage.scrollback(), EVIL);
  try {
    using attack = await row.run(stage);
    const { phone, host, typed = false, shown = false } = expect;
    if (phone) await says("phone", { pattern: phone, words: () => attack.words() });
    if (host) await says("host", { pattern: host, words: () => attack.host?.() ?? stage.log(from) });
    // Earlier attacks may be scrolled off the screen by what is typed here.
    const isTyped = async (): Promise<boolean> => count(await stage.scrollback(), EVIL) > typedBefore;
    if (typed) await until("what was made up in the pane", isTyped);
    if (shown) await until("what was made up on the phone", () => attack.shown().includes(EVIL));
    assert.equal(await isTyped(), typed, "what the relay made up is typed");
    // What was shown may have been drawn over since.
    assert.ok(shown || !attack.shown().includes(EVIL), "what the relay made up is shown");
    const [last = EVIL] = stage.texts.slice(-1);
    assert.ok(last === EVIL || count(await stage.screen(), last) <= 1, "what was meant is typed twice");
  } finally {
    stage.attack({});
    await stage.clearLine();
  }
}

for (const mode of ["psk", "base"] satisfies Mode[]) {
  const rows = ROWS.flatMap((row) => {
    const expect = row.expect[mode];
    return expect === undefined ? [] : [{ row, expect }];
  });
  const title = mode === "psk"
    ? "paired: a hostile relay can type nothing and show nothing in the host's name, and what it changes is reported"
    : "not paired: a hostile relay can use keys of its own, and nothing else";
  Deno.test(`${title} [hostile-relay, seal-${mode}, sec-active-relay, sec-replay]`, async (t) => {
    await using stage = await HostileStage.make(mode);
    for (const { row, expect } of rows) {
      await t.step(`${mode}: ${row.name} → ${outcomeOf(expect)}`, () => runAttack(stage, row, expect));
    }
    const counts = Map.groupBy(rows, ({ expect }) => outcomeOf(expect));
    const summary = [...counts].map(([outcome, { length }]) => `${length} ${outcome}`).join(", ");
    await t.step(`${mode}: ${rows.length} attacks: ${summary}; everything else arrived once`, async () => {
      const prompts = (await stage.session.prompts()).filter((prompt) => mode === "psk" || prompt !== EVIL);
      assert.ok(prompts.every((prompt) => stage.texts.includes(prompt)), prompts.join("\n"));
      assert.equal(new Set(prompts).size, prompts.length);
    });
  });
}
