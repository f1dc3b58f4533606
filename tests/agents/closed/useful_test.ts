/** Useful things that a phone could do by keys before still work on each real agent. */
import assert from "node:assert/strict";
import { say } from "../../../scripts/say.ts";
import type { KeyInput } from "../../../src/protocol/key_input.ts";
import { until } from "../../helpers/until.ts";
import type { RealAgent } from "../install.ts";
import { AgentStage } from "./agent_stage.ts";
import { agents } from "./form.ts";
import { burst, key, reasonsOf, text } from "./row.ts";

/** What the phone types, and what the screen then shows. */
interface Use {
  what: "model menu" | "session list" | "transcript" | "slash command";
  inputs: KeyInput[];
  shows: RegExp;
  /** The keys that lead back to the input line; empty if it stays there. */
  leave: KeyInput[];
}

const ENTER = key("Enter");
const ESCAPE = key("Escape");
const command = (name: string): KeyInput[] => [text(name)];

const use = (what: Use["what"], inputs: KeyInput[], how: { shows: RegExp; leave?: KeyInput[] }): Use => ({
  leave: [ESCAPE],
  what,
  inputs,
  ...how,
});

/** Codex and Gemini have no transcript view in these versions; Copilot unfolds its own in place. */
const USES: Readonly<Record<RealAgent, readonly Use[]>> = {
  cc: [
    use("model menu", command("/model"), { shows: /Select model/ }),
    use("session list", command("/resume"), { shows: /Resume session/ }),
    use("transcript", [key("C-o")], { shows: /Showing detailed transcript/, leave: [key("C-o")] }),
    use("slash command", command("/context"), { shows: /Context usage/i, leave: [] }),
  ],
  codex: [
    use("model menu", command("/model"), { shows: /Select Model/ }),
    use("session list", command("/resume"), { shows: /Resume a previous session/ }),
    use("slash command", command("/status"), { shows: /Context window:/, leave: [] }),
  ],
  gemini: [
    use("model menu", command("/model"), { shows: /Select Model/ }),
    use("session list", command("/resume"), { shows: /Chat Sessions/ }),
    use("slash command", command("/about"), { shows: /About Gemini CLI/, leave: [] }),
  ],
  opencode: [
    use("model menu", command("/models"), { shows: /Select model/ }),
    use("session list", command("/sessions"), { shows: /Sessions +esc/ }),
    use("slash command", command("/new"), { shows: /Ask anything/, leave: [] }),
  ],
  copilot: [
    use("model menu", command("/model"), { shows: /Session only\. Auto chooses|Search models/ }),
    use("session list", command("/resume"), { shows: /Source: \[All\]/ }),
    use("transcript", [key("C-o")], { shows: /hello to the model/, leave: [key("C-o")] }),
    use("slash command", command("/context"), { shows: /Context Usage/, leave: [] }),
  ],
};

for (const kind of agents()) {
  Deno.test(`${kind}: menus and harmless slash commands work by a phone's keys [closed-useful]`, async (t) => {
    await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" } });
    await stage.startTurn("hello to the model");
    await stage.untilIdle();
    const worked: string[] = [];
    for (const { what, inputs, shows, leave } of USES[kind]) {
      await t.step(what, async () => {
        const phone = await stage.phone();
        const isCommand = inputs.some(({ type }) => type === "text");
        const states = [await burst(phone, ...inputs)];
        await stage.settle();
        if (isCommand) states.push(await burst(phone, ENTER));
        await stage.untilShown(shows, 15_000);
        await stage.settle();
        if (leave.length > 0) {
          states.push(await burst(phone, key("Down"), key("Up")));
          await stage.settle();
          states.push(await burst(phone, ...leave));
        }
        assert.deepEqual(reasonsOf(states.flat()), []);
        const isBack = async (): Promise<boolean> => {
          if (await stage.isIdle()) return true;
          await burst(phone, ESCAPE);
          await stage.settle();
          return await stage.isIdle();
        };
        await until("the input line", isBack);
        worked.push(what);
      });
      if (!await stage.calmDown()) await stage.restart();
    }
    say(`useful ${kind}: ${worked.join(", ") || "nothing"}`);
  });
}
