/** Agents' dialogs answered from a paired phone: real hook processes, listener and relay, and phones that must not answer. */
import assert from "node:assert/strict";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import { type Answer, askedOf } from "../../src/protocol/ask.ts";
import type { Push } from "../../src/protocol/push.ts";
import type { Receipt } from "../../src/protocol/receipt.ts";
import { runSvc } from "../helpers/program.ts";
import type { Ran } from "../helpers/run.ts";
import { pairScriptedPhone, type ScriptedPhone } from "../helpers/scripted_phone.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import { SAFETY_LIMIT_MS, until } from "../helpers/until.ts";

interface Scene {
  stack: Stack;
  phone: ScriptedPhone;
  echo: EchoSession;
  /** Variables of the agent's hooks, in addition to the sandbox's. */
  env?: Record<string, string>;
}

/** `config`: further settings of the host. */
async function withScene(
  config: Record<string, unknown>,
  test: (scene: Scene) => Promise<void>,
): Promise<void> {
  await using stack = await makeStack();
  const path = `${stack.sandbox.svcHome}/config.json`;
  await Deno.writeTextFile(path, JSON.stringify({ ...JSON.parse(await Deno.readTextFile(path)), ...config }));
  await stack.restartListener();
  const phone = await pairScriptedPhone(await stack.pairLink());
  await test({ stack, phone, echo: await stack.echo() });
}

/**
 * Runs the hook of Claude's dialog for this tool, as Claude does, and the hooks that follow: at the end of an allowed
 * call, or of the turn after a refused one.
 */
async function hook(scene: Scene, tool: string, input: Record<string, unknown>): Promise<Ran> {
  const ran = await runHook(scene, "PermissionRequest", { tool_name: tool, tool_input: input });
  if (ran.stdout !== "") {
    const { behavior } = JSON.parse(ran.stdout).hookSpecificOutput.decision;
    await runHook(scene, behavior === "allow" ? "PostToolUse" : "Stop", { tool_name: tool });
  }
  return ran;
}

function runHook(
  { stack, echo, env = { SVC_SESSION: echo.name } }: Scene,
  event: string,
  more: Record<string, unknown>,
): Promise<Ran> {
  const call = { session_id: "s1", hook_event_name: event, cwd: stack.sandbox.project, ...more };
  return runSvc(stack.sandbox, ["hook", event, "cc", "cards"], { env, stdin: JSON.stringify(call) });
}

const QUESTIONS = {
  questions: [
    { question: "Which color?", header: "Color", options: [{ label: "Red" }, { label: "Blue" }] },
    { question: "Which days?", multiSelect: true, options: [{ label: "Mon" }, { label: "Tue" }] },
  ],
};

/** Resolves with the open card that this phone reads. Fails if the hook that asks for it ends without one. */
async function cardOf(
  { phone, stack }: Scene,
  asking: Promise<Ran>,
  known: readonly string[] = [],
): Promise<Push> {
  let ended: Ran | undefined;
  void asking.then((ran) => ended = ran);
  return await until("the card", async () => {
    const ran = ended;
    const card = (await phone.read("ask")).find(({ id }) => !known.includes(id));
    if (card !== undefined || ran === undefined) return card;
    throw new Error(`the hook ended without a card: ${ran.stdout}${ran.stderr}\n${stack.listener.output()}`);
  });
}

async function answer(phone: ScriptedPhone, card: Push, given: Answer): Promise<Receipt> {
  const push = await phone.answerOf(card, given);
  await phone.api.sendPush(push);
  return (await waitForReceipt(phone.api, push.id, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 50 })).receipt;
}

const digestOf = (card: Push): string => {
  const asked = askedOf(card);
  return asked?.kind === "approval" ? asked.digest : assert.fail("no request for permission");
};

const isClosed = async ({ phone }: Scene, card: Push): Promise<boolean> =>
  (await phone.api.getPush(card.id)).receipt.final;

Deno.test("a question is answered from the phone through the agent's own hook [card-applied, card-sealed]", () =>
  withScene({}, async (scene) => {
    const { stack, phone, echo } = scene;
    const asking = hook(scene, "AskUserQuestion", QUESTIONS);
    const card = await cardOf(scene, asking);
    assert.equal(card.agentSessionName, echo.name);
    assert.ok(!JSON.stringify(await stack.api.getPush(card.id)).includes("color"), "the relay reads it");
    const answers: Answer = {
      kind: "answers",
      answers: [{ options: [], text: 'Green, "please"' }, { options: [0, 1] }],
    };
    const receipt = await answer(phone, card, answers);
    assert.deepEqual([receipt.state, receipt.reason], ["submitted", undefined]);
    assert.ok(receipt.proof !== undefined);
    const { hookSpecificOutput: { decision } } = JSON.parse((await asking).stdout);
    assert.equal(decision.behavior, "allow");
    assert.deepEqual(decision.updatedInput.answers, {
      "Which color?": 'Green, "please"',
      "Which days?": "Mon, Tue",
    });
    assert.deepEqual(await echo.prompts(), []);
  }));

Deno.test("the cards of a renamed session have its new name [card-applied]", () =>
  withScene({}, async ({ stack, phone, echo }) => {
    const { sandbox } = stack;
    const pane = (await sandbox.tmux("display-message", "-p", "-t", `=${echo.name}:`, "#{pane_id}")).trim();
    await sandbox.tmux("rename-session", "-t", `=${echo.name}`, "work");
    await until("the new name", async () => {
      const { devices } = await stack.api.sessions();
      return devices.some(({ sessions }) => sessions.some(({ name }) => name === "work"));
    });
    const env = { SVC_SESSION: echo.name, TMUX: `${sandbox.tmuxSocket},1,0`, TMUX_PANE: pane };
    const scene = { stack, phone, echo, env };
    const asking = hook(scene, "AskUserQuestion", QUESTIONS);
    const card = await cardOf(scene, asking);
    assert.equal(card.agentSessionName, "work");
    const answers = [{ options: [0] }, { options: [1] }];
    assert.equal((await answer(phone, card, { kind: "answers", answers })).state, "submitted");
    assert.equal(JSON.parse((await asking).stdout).hookSpecificOutput.decision.behavior, "allow");
  }));

Deno.test("a session renamed while a card is open keeps the card, even if another session has the old name [card-applied]", () =>
  withScene({}, async ({ stack, phone, echo }) => {
    const { sandbox } = stack;
    const envOf = async ({ name }: EchoSession): Promise<Record<string, string>> => {
      const pane = (await sandbox.tmux("display-message", "-p", "-t", `=${name}:`, "#{pane_id}")).trim();
      return { SVC_SESSION: name, TMUX: `${sandbox.tmuxSocket},1,0`, TMUX_PANE: pane };
    };
    const scene = { stack, phone, echo, env: await envOf(echo) };
    const asking = hook(scene, "AskUserQuestion", QUESTIONS);
    const card = await cardOf(scene, asking);
    await sandbox.tmux("rename-session", "-t", `=${echo.name}`, "work");
    const other = await stack.echo();
    assert.equal(other.name, echo.name);
    const names = async (): Promise<boolean> => {
      const { devices } = await stack.api.sessions();
      const all = devices.flatMap(({ sessions }) => sessions.map(({ name }) => name));
      return all.includes("work") && all.includes(echo.name);
    };
    await until("both names", names);
    // Events of the other session must not affect this card.
    await runHook({ stack, phone, echo: other, env: await envOf(other) }, "Stop", {});
    const answers = [{ options: [0] }, { options: [1] }];
    assert.equal((await answer(phone, card, { kind: "answers", answers })).state, "submitted");
    assert.equal(JSON.parse((await asking).stdout).hookSpecificOutput.decision.behavior, "allow");
    assert.deepEqual([await echo.prompts(), await other.prompts()], [[], []]);
  }));

Deno.test("in a muted project a dialog opens only at the computer, even while the agent works in another directory [cli-mute]", () =>
  withScene({}, async (scene) => {
    const { stack } = scene;
    assert.equal((await stack.svc("mute")).code, 0);
    const asked = { tool_name: "AskUserQuestion", tool_input: QUESTIONS, cwd: stack.sandbox.root };
    await assert.rejects(cardOf(scene, runHook(scene, "PermissionRequest", asked)), /ended without a card/);
  }));

Deno.test("the first answer of two phones counts, and the other is refused [card-first]", () =>
  withScene({}, async (scene) => {
    const other = await pairScriptedPhone(await scene.stack.pairLink(), { name: "Tablet" });
    const asking = hook(scene, "AskUserQuestion", QUESTIONS);
    const card = await cardOf(scene, asking);
    const given = (place: number): Answer => ({
      kind: "answers",
      answers: [{ options: [place] }, { options: [place] }],
    });
    const theirs = (await other.read("ask")).at(-1) ?? assert.fail("the other phone has no card");
    const results = await Promise.allSettled([
      answer(scene.phone, card, given(0)),
      answer(other, theirs, given(1)),
    ]);
    const won = results.findIndex((result) => result.status === "fulfilled");
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
    const { hookSpecificOutput: { decision } } = JSON.parse((await asking).stdout);
    assert.equal(decision.updatedInput.answers["Which color?"], won === 0 ? "Red" : "Blue");
  }));

Deno.test("by default no request for permission reaches a phone, and the hook does not wait [card-setting]", () =>
  withScene({}, async (scene) => {
    assert.equal((await hook(scene, "Bash", { command: "npm test" })).stdout, "");
    assert.deepEqual(await scene.phone.read("ask"), []);
  }));

Deno.test("a request is allowed once or rejected with a reason, and a destructive one only rejected [card-setting, card-never]", () =>
  withScene({ allowRemoteApproval: "once", neverAllow: ["deploy"] }, async (scene) => {
    const { phone } = scene;
    const decide = async (
      command: string,
      decision: "once" | "reject",
      known: string[],
    ): Promise<unknown[]> => {
      const asking = hook(scene, "Bash", { command });
      const card = await cardOf(scene, asking, known);
      known.push(card.id);
      assert.ok(card.body?.includes(command));
      const { state } = await answer(phone, card, {
        kind: "decided",
        decision,
        digest: digestOf(card),
        ...(decision === "reject" ? { reason: "not today" } : {}),
      });
      const { stdout } = await asking;
      return [state, stdout === "" ? undefined : JSON.parse(stdout).hookSpecificOutput.decision];
    };
    const known: string[] = [];
    assert.deepEqual(await decide("npm test", "once", known), ["submitted", { behavior: "allow" }]);
    const denied = { behavior: "deny", message: "not today" };
    assert.deepEqual(await decide("sudo make install", "reject", known), ["submitted", denied]);
    assert.deepEqual(await decide("make deploy", "once", known), ["refused", undefined]);
    const path = `${scene.stack.sandbox.svcHome}/audit.jsonl`;
    // The host writes it while it reports to the relay.
    const audit = await until("the audit of each answer", async () => {
      const lines = (await Deno.readTextFile(path).catch(() => "")).trim().split("\n");
      return lines.length >= known.length && lines;
    });
    const about = audit.map((line) => JSON.parse(line)).map((entry) => [
      entry.device === phone.deviceId,
      entry.outcome,
      entry.about?.replace(/[0-9a-f]{64}/, "…"),
    ]);
    assert.deepEqual(about, [
      [true, "submitted", "Bash … once of once|reject"],
      [true, "submitted", "Bash … reject of reject"],
      [true, "refused invalid_body", "Bash … once of reject"],
    ]);
  }));

Deno.test("an answer to another request, from a script, unsealed or repeated approves nothing [card-bound, card-phones, card-reopened]", () =>
  withScene({ allowRemoteApproval: "always" }, async (scene) => {
    const { stack, phone } = scene;
    const first = hook(scene, "Bash", { command: "echo one" });
    const one = await cardOf(scene, first);
    const second = hook(scene, "Bash", { command: "echo two" });
    const two = await cardOf(scene, second, [one.id]);
    const crossed = await answer(phone, two, { kind: "decided", decision: "once", digest: digestOf(one) });
    assert.deepEqual([crossed.state, crossed.reason], ["refused", "invalid_body"]);
    // The relay accepts no second answer for it, so the computer decides.
    assert.equal((await second).stdout, "");
    const plain = {
      type: "ask.answer",
      inReplyTo: one.id,
      data: { decided: { decision: "once", digest: digestOf(one) } },
    };
    await assert.rejects(stack.api.sendPush(plain), /sealed/i);
    const garbage = { mode: "psk" as const, enc: "AAAA", ciphertext: "AAAA" };
    const forged = { id: crypto.randomUUID(), type: "ask.answer", inReplyTo: one.id, sealed: garbage };
    await assert.rejects(stack.api.sendPush(forged), /only they can answer it/);
    const yes = await phone.answerOf(one, { kind: "decided", decision: "once", digest: digestOf(one) });
    await phone.api.sendPush(yes);
    await waitForReceipt(phone.api, yes.id, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 50 });
    await assert.rejects(phone.api.sendPush({ ...yes, id: crypto.randomUUID() }), /answered|closed/i);
    assert.equal(JSON.parse((await first).stdout).hookSpecificOutput.decision.behavior, "allow");
  }));

Deno.test("the dialog opens at the computer when the hook, the listener or the relay ends [card-local]", () =>
  withScene({ allowRemoteApproval: "once" }, async (scene) => {
    const { stack } = scene;
    const ask = async (known: readonly string[]): Promise<{ asking: Promise<Ran>; card: Push }> => {
      const asking = hook(scene, "Bash", { command: `echo ${known.length}` });
      return { asking, card: await cardOf(scene, asking, known) };
    };
    const stopped = await ask([]);
    stack.listener.kill("SIGTERM");
    assert.equal((await stopped.asking).stdout, "");
    // It has answered the hook, and still holds its lock.
    await stack.listener.exited;
    await stack.startListener();
    await until("the end of the card", () => isClosed(scene, stopped.card));
    const killed = await ask([stopped.card.id]);
    stack.listener.kill("SIGKILL");
    assert.equal((await killed.asking).stdout, "");
    await stack.startListener();
    await until("the end of the card that nobody withdrew", () => isClosed(scene, killed.card));
    const late = await scene.phone.answerOf(killed.card, {
      kind: "decided",
      decision: "once",
      digest: digestOf(killed.card),
    });
    await assert.rejects(scene.phone.api.sendPush(late), { code: "ask_closed" });
    await stack.killHostsRelay();
    await until("the loss of the relay", () => /disconnected/.test(stack.listener.output()));
    assert.equal((await hook(scene, "Bash", { command: "echo away" })).stdout, "");
  }));

Deno.test("an answer that cannot be opened closes no card: the dialog is asked again, and answered [card-reopened]", () =>
  withScene({}, async (scene) => {
    const { phone } = scene;
    const asking = hook(scene, "AskUserQuestion", QUESTIONS);
    const first = await cardOf(scene, asking);
    const given: Answer = { kind: "answers", answers: [{ options: [0] }, { options: [1] }] };
    const good = await phone.answerOf(first, given);
    assert.ok(good.sealed !== undefined);
    // The answer is damaged, which the relay cannot notice.
    const ciphertext = good.sealed.ciphertext.split("").reverse().join("");
    await phone.api.sendPush({ ...good, sealed: { ...good.sealed, ciphertext } });
    const again = await cardOf(scene, asking, [first.id]);
    assert.deepEqual(askedOf(again)?.kind, "questions");
    assert.equal((await answer(phone, again, given)).state, "submitted");
    const { hookSpecificOutput: { decision } } = JSON.parse((await asking).stdout);
    assert.equal(decision.updatedInput.answers["Which color?"], "Red");
  }));
