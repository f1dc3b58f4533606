/** Random sequences of everything that a phone can send run nothing, approve nothing and suspend nothing, on each real agent. */
import assert from "node:assert/strict";
import { say } from "../../../scripts/say.ts";
import { crawl } from "./crawler.ts";
import { agents, minutes, seed, sizes } from "./form.ts";

for (const kind of agents()) {
  for (const size of sizes()) {
    const name = `${kind} ${size.cols}x${size.rows}`;
    Deno.test(`${name}: a random phone makes no canary, approves nothing, changes no approval, suspends nothing [closed-crawler]`, async () => {
      const chosen = seed();
      say(`seed of ${name}: ${chosen}`);
      const { tally, seen, violations, slashes } = await crawl(kind, {
        size,
        minutes: minutes(),
        seed: chosen,
      });
      for (const { what, screen, steps } of violations) {
        say(`violation ${name}, seed ${chosen}: ${what}\n${steps.join("\n")}\n${screen}`);
      }
      say(
        `crawl ${name}: seed ${chosen}, sequences ${tally.sequences}, inputs ${tally.inputs}, messages ${tally.messages}, ` +
          `not sent ${tally.unsent}, screens ${seen.classes}, unknown ${seen.unknown}, commands ${slashes.length}, ` +
          `restarts ${tally.restarts}, resets ${tally.resets}, lost ${tally.lost}, dialogs rejected ${tally.rejected}, ` +
          `probes ${tally.probes}, violations ${violations.length}`,
      );
      say(`outcomes of ${name}: ${tally.describe()}`);
      assert.deepEqual(violations.map(({ what }) => what), []);
      assert.ok(tally.sequences > 0 && slashes.length > 0, "nothing was sent");
      assert.ok(tally.probes > 0, "the approval mode was not probed");
    });
  }
}
