/** "Send anyway" on each real agent: a phone cannot use it to complete a command that it may not send. */
import assert from "node:assert/strict";
import { untilTold } from "../phone.ts";
import { AgentStage } from "./agent_stage.ts";
import { agents } from "./form.ts";
import { burst, startOver, text } from "./row.ts";

/** The draft that the phone types key by key, and the message that would complete it. */
const PARTS = [["/allow-al", "l"], ["/permission", "s"]] as const;

for (const kind of agents()) {
  Deno.test(`${kind}: a message is not typed after a command in the composer, even with "Send anyway" [closed-keys, inj-send-anyway]`, async () => {
    await using stage = await AgentStage.open(kind);
    for (const [draft, body] of PARTS) {
      const phone = await startOver(stage);
      await burst(phone, text(draft));
      const id = await stage.post(body, { data: { sendAnyway: true } });
      assert.equal((await stage.firstReceipt(id)).state, "held", draft);
      await untilTold(() => "its reason", async () => (await stage.receipt(id)).reason === "desk_busy");
      // Copilot shows the rest of the command's name after it.
      assert.ok((await stage.reading()).draft?.startsWith(draft));
      await stage.stack.api.sendPush({
        type: "agent.cancel",
        inReplyTo: id,
        agentSessionName: stage.session,
      });
    }
  });
}
