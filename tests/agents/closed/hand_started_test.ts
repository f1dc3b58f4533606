/** An agent that a person started in a shell without line editing: nothing that a phone sends after a Ctrl-C reaches the shell. */
import assert from "node:assert/strict";
import { AgentStage, SHELL_PROMPT } from "./agent_stage.ts";
import { agents } from "./form.ts";
import { burst, canaryOf, key, paste } from "./row.ts";

const WAYS = ["a paste", "a message"] as const;

/** Sends two Ctrl-C from the phone and, right after them, a paste or a message. */
async function send(
  stage: AgentStage,
  { way, body }: { way: typeof WAYS[number]; body: string },
): Promise<void> {
  const phone = await stage.phone();
  phone.type(key("C-c"), key("C-c"));
  if (way === "a paste") await burst(phone, paste(`${body}\n`));
  else await stage.firstReceipt(await stage.post(body));
}

for (const kind of agents()) {
  Deno.test(`${kind}, started by hand: it is recognized, so that its commands are judged [closed-by-hand, read-unrecorded]`, async () => {
    await using stage = await AgentStage.open(kind, { shell: "/bin/dash", hooks: false });
    const { state, reason } = await stage.firstReceipt(await stage.post("/a-command-of-tomorrow"));
    assert.deepEqual([state, reason], ["refused", "approval_change"]);
  });
  for (const way of WAYS) {
    Deno.test(`${kind}, started by hand: ${way} after two Ctrl-C does not reach the shell [closed-by-hand]`, async () => {
      const env = { COLORTERM: "truecolor" };
      await using stage = await AgentStage.open(kind, { shell: "/bin/dash", hooks: false, env });
      const canary = canaryOf(stage);
      await send(stage, { way, body: `please\n${canary.command}\nthanks` });
      await stage.settle();
      assert.ok(await canary.isAlive(), "X was made");
      const screen = await stage.text();
      const isShell = screen.trimEnd().endsWith(SHELL_PROMPT);
      assert.ok(!isShell || !screen.includes(canary.command), `the shell could read it:\n${screen}`);
    });
  }
}
