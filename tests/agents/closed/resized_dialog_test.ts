/** A permission dialog that a phone has made too small or too narrow to be read as a whole gets no input from it. */
import assert from "node:assert/strict";
import type { KeyInput } from "../../../src/protocol/key_input.ts";
import { AgentStage, exists } from "./agent_stage.ts";
import { agents, type Size } from "./form.ts";
import { burst, describe, key, paste, text } from "./row.ts";
import { until } from "../../helpers/until.ts";

const FITS: readonly Size[] = [
  ...[{ cols: 20, rows: 5 }, { cols: 20, rows: 200 }, { cols: 300, rows: 5 }, { cols: 30, rows: 8 }],
];
/** Inputs that answer some agent's dialog. */
const ANSWERS: readonly KeyInput[] = [
  ...[key("Enter"), text("y"), text("1"), text("p"), key("Tab"), key("Enter")],
  ...[paste("please\n"), key("Enter")],
];

for (const kind of agents()) {
  Deno.test(`${kind}: a phone that changes the size of a permission dialog cannot answer it [closed-resized]`, async (t) => {
    await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" } });
    stage.standIn.callShell("touch resized");
    await stage.startTurn("ask me");
    await until("the dialog", () => stage.asksPermission());
    const phone = await stage.phone();
    const id = await stage.post("please stop");
    for (const { cols, rows } of FITS) {
      await t.step(`${cols} by ${rows}`, async () => {
        phone.type({ type: "fit", cols, rows });
        const states = await burst(phone, ...ANSWERS);
        await stage.settle();
        assert.ok(!await exists(`${stage.project}/resized`), JSON.stringify(states));
        assert.ok(!states.some((one) => one?.state === "typed"), JSON.stringify(states));
        // OpenCode's dialog is not recognized at 20 columns.
        assert.match(describe(await stage.firstReceipt(id)), /^held (dialog_open|unknown_screen)$/);
      });
    }
  });
}
