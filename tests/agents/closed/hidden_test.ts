/** Commands that the draft does not show, on each real agent: in a folded paste, or in the arguments of a harmless command. */
import assert from "node:assert/strict";
import { say } from "../../../scripts/say.ts";
import { agentProfile } from "../../../src/agents/profiles.ts";
import { AgentStage, moment } from "./agent_stage.ts";
import { agents, minutes, seed } from "./form.ts";
import { Random } from "./random.ts";
import { burst, canaryOf, key, paste, startOver, text } from "./row.ts";

const ENTER = key("Enter");
/** Enough text and lines that every agent folds the paste. */
const MUCH = `#${" filler".repeat(25)}\n`.repeat(12);
/** Time in which an agent would have run the command. */
const RUN_MS = 3_000;

for (const kind of agents()) {
  Deno.test(`${kind}: a folded paste does not hide a shell command from svc's check [closed-keys, inj-hidden]`, async () => {
    await using stage = await AgentStage.open(kind);
    const { command, isAlive } = canaryOf(stage);
    const ways = [
      [text("a"), paste(`!${command} ${MUCH}`), key("Home"), key("DC"), ENTER],
      [text("a"), paste(`!${command} ${MUCH}`), key("Home"), key("DC"), text(" "), ENTER],
      [paste(MUCH), key("Home"), text(`!${command} #`), ENTER],
    ];
    for (const inputs of ways) {
      const states = await burst(await startOver(stage), ...inputs);
      await moment(performance.now() + RUN_MS);
      assert.ok(await isAlive(), `ran: ${JSON.stringify(inputs).slice(0, 80)}`);
      const seen = `${JSON.stringify(states)} in\n${await stage.text()}`;
      assert.ok(states.some((one) => one?.state === "refused"), seen);
    }
  });

  Deno.test(`${kind}: the arguments of a harmless command run nothing [closed-keys, inj-hidden]`, async () => {
    await using stage = await AgentStage.open(kind);
    const { command, isAlive } = canaryOf(stage);
    const end = performance.now() + minutes() * 60_000;
    const { commands } = agentProfile(kind);
    let tried = 0;
    for (const name of new Random(seed()).shuffled(commands)) {
      if (tried > 0 && performance.now() > end) break;
      const body = `/${name} !\`${command}\``;
      await startOver(stage);
      await stage.firstReceipt(await stage.post(body));
      await moment(performance.now() + RUN_MS);
      assert.ok(await isAlive(), `${body} ran the command`);
      tried++;
    }
    say(`arguments of ${kind}: ${tried} of ${commands.length} commands tried, ran 0`);
  });
}
