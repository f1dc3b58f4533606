/** A turn of each real agent as a phone sees it: its states, its permission prompt, its exit. */
import assert from "node:assert/strict";
import { agentProfile } from "../../src/agents/profiles.ts";
import { MirrorPhone } from "../helpers/mirror_phone.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { assertTyped, sendMessage, untilFinal, untilHeld } from "./phone.ts";
import { runAgent, type SvcAgent } from "./run_agent.ts";
import { show } from "./table.ts";
import { StateWatch } from "./watch_states.ts";

/** The command with which a person exits. */
const LEAVE: Record<RealAgent, string> = {
  cc: "/exit",
  codex: "/quit",
  gemini: "/quit",
  opencode: "/exit",
  copilot: "/exit",
};

/** The command for which the model asks permission. */
const COMMAND = "touch allowed";

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/** Types keys that would approve: a digit, a letter, Enter. They are held until the phone closes the mirror. */
async function tryKeys(stack: Stack, { kind, session }: SvcAgent): Promise<void> {
  const { wsUrl, apiKey, deviceId } = stack;
  using phone = new MirrorPhone({ wsUrl, apiKey, deviceId, session });
  await phone.live();
  phone.type({ type: "text", text: "1" }, { type: "text", text: "y" }, { type: "key", key: "Enter" });
  const reported = await until("the keys' state", () => phone.keyStates().at(0));
  assert.deepEqual([reported.state, reported.reason], ["held", "dialog_open"]);
  show(kind, "keys");
}

for (const kind of Object.keys(REAL_AGENTS) as RealAgent[]) {
  Deno.test(`${kind}: its states in order; its permission prompt holds a message and the keys; its exit leaves nothing to type into [other-agents, inj-dialog, inj-dialog-keys, ls-hook-at-once]`, async () => {
    await using stack = await makeStack();
    const states = new StateWatch(stack, "svc-proj");
    const { sandbox } = stack;
    const allowed = `${sandbox.project}/allowed`;
    const begun = () => states.until("starting", "idle");
    await using agent = await runAgent(kind, stack, { meanwhile: begun });
    const { session, standIn, pane } = agent;
    await states.until("idle");

    const answer = standIn.hold();
    standIn.callShell(COMMAND);
    const first = await sendMessage(stack, session, "make the file");
    await states.until("working");
    answer();
    await until("the permission prompt", async () => (await agent.reading()).focus === "dialog", 60_000);
    await states.until("waiting");
    assertTyped(await untilFinal(stack, first), "make the file");

    await tryKeys(stack, agent);
    const held = await sendMessage(stack, session, "and then stop");
    assert.equal((await untilHeld(stack, held)).reason, "dialog_open");
    assert.ok(
      (await agent.reading()).focus === "dialog" && !await isThere(allowed),
      "something answered the prompt",
    );

    const finish = standIn.hold();
    await pane.press("Enter");
    await until("the command's file", () => isThere(allowed), 60_000);
    await states.until("working");
    if (agentProfile(kind).gate === undefined) {
      // The message waits for the end of the turn.
      await until("the hold", async () => {
        return (await stack.api.getPush(held)).receipt.reason === "agent_working";
      });
      finish();
    }
    assertTyped(await untilFinal(stack, held), "and then stop");
    finish();
    const isRead = () => standIn.bodies().some((body) => body.includes("and then stop"));
    await until("the held message at the model", isRead, 60_000);
    show(kind, "held");
    await agent.untilIdle();
    await states.until("idle");

    await sandbox.tmux("new-session", "-d", "-s", "desk", "sh");
    // Typed by the local user, since phones may not send it.
    await pane.type(LEAVE[kind]);
    await until("the command in the composer", async () => (await agent.reading()).draft !== "", 60_000);
    await pane.press("Enter");
    await states.until("gone");
    show(kind, "states", states.seen.join(", "));
    const { receipt: refused } = await stack.send(session, "touch typed-into-a-shell");
    assert.deepEqual([refused.state, refused.reason], ["refused", "no_such_session"]);
    assert.ok(!(await sandbox.tmux("capture-pane", "-p", "-t", "=desk:")).includes("typed-into"));
    show(kind, "exit", "no session");
  });
}
