/** The real agents' own questions and permissions, answered by a paired phone: what the model and the tool saw. */
import assert from "node:assert/strict";
import {
  type Answer,
  askedOf,
  type CardAnswer,
  type CardData,
  type Decision,
} from "../../src/protocol/ask.ts";
import type { Push } from "../../src/protocol/push.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { pairScriptedPhone, type ScriptedPhone } from "../helpers/scripted_phone.ts";
import { until } from "../helpers/until.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { assertTyped, untilFinal, untilTold } from "./phone.ts";
import { runAgent, type SvcAgent } from "./run_agent.ts";
import { show } from "./table.ts";

const KINDS = Object.keys(REAL_AGENTS) as RealAgent[];
const LIMIT_MS = 120_000;

interface Asking {
  tool: string;
  input: Record<string, unknown>;
  answers: CardAnswer[];
  /** What the model reads then, as text in JSON. */
  sees: readonly string[];
}

const options = (...labels: string[]) => labels.map((label) => ({ label, description: `about ${label}` }));
const COLOR = { question: "Which color?", header: "Color", options: options("Red", "Blue") };
const TESTS = { question: "Which tests?", header: "Tests", options: options("Unit", "E2E", "Bench") };
const SIZE = { question: "Which size?", header: "Size", options: options("S", "L") };
const CHOSEN: CardAnswer[] = [{ options: [1] }, { options: [0, 2], text: "and lint" }];

/** Each kind of question that the agent has: one choice, several, the user's own text. */
const ASKING: Record<RealAgent, readonly Asking[]> = {
  cc: [{
    tool: "AskUserQuestion",
    input: { questions: [{ ...COLOR, multiSelect: false }, { ...TESTS, multiSelect: true }] },
    answers: CHOSEN,
    sees: ['\\"Which color?\\"=\\"Blue\\"', '\\"Which tests?\\"=\\"Unit, Bench, and lint\\"'],
  }],
  codex: [{
    tool: "request_user_input",
    input: { questions: [{ ...COLOR, id: "color" }, { ...SIZE, id: "size" }] },
    answers: [{ options: [1] }, { options: [], text: "between both" }],
    sees: ["Which color? Blue\\nWhich size? between both"],
  }],
  gemini: [{
    tool: "ask_user",
    input: {
      questions: [
        { ...COLOR, type: "choice", multiSelect: false },
        { ...TESTS, type: "choice", multiSelect: true },
        { question: "Go on?", header: "Go", type: "yesno" },
      ],
    },
    answers: [...CHOSEN, { options: [0] }],
    sees: ["Which color? Blue\\nWhich tests? Unit, Bench, and lint\\nGo on? Yes"],
  }],
  opencode: [{
    tool: "question",
    input: { questions: [COLOR, { ...TESTS, multiple: true }] },
    answers: CHOSEN,
    sees: ['\\"Which color?\\"=\\"Blue\\"', '\\"Which tests?\\"=\\"Unit, Bench, and lint\\"'],
  }],
  copilot: [{
    tool: "ask_user",
    input: { question: "Which color?", choices: ["Red", "Blue"] },
    answers: [{ options: [1] }],
    sees: ["Which color? Blue"],
  }, {
    tool: "ask_user",
    input: { question: "Which size?", choices: ["S", "L"] },
    answers: [{ options: [], text: "between both" }],
    sees: ["Which size? between both"],
  }],
};

/** Codex asks only with a feature that must be switched on. */
async function prepare(home: string): Promise<void> {
  const path = `${home}/.codex/config.toml`;
  if (!await Deno.stat(path).then(() => true, () => false)) return;
  await Deno.writeTextFile(path, "\n[features]\ndefault_mode_request_user_input = true\n", { append: true });
}

interface Stage extends AsyncDisposable {
  stack: Stack;
  agent: SvcAgent;
  phone: ScriptedPhone;
}

async function makeStage(kind: RealAgent, config: Record<string, unknown>): Promise<Stage> {
  const ends = new AsyncDisposableStack();
  try {
    const stack = ends.use(await makeStack({ listener: false }));
    const path = `${stack.sandbox.svcHome}/config.json`;
    const given = JSON.parse(await Deno.readTextFile(path));
    await Deno.writeTextFile(path, JSON.stringify({ ...given, ...config }));
    await stack.startListener();
    const phone = await pairScriptedPhone(await stack.pairLink());
    const agent = ends.use(await runAgent(kind, stack, { prepare }));
    return { stack, agent, phone, [Symbol.asyncDispose]: () => ends.disposeAsync() };
  } catch (error) {
    await ends.disposeAsync();
    throw error;
  }
}

/** Begins a turn from the phone: a local user's keys would open a dialog that the hook holds back. */
async function start({ agent, phone }: Stage, text: string): Promise<void> {
  await agent.untilIdle();
  assertTyped((await phone.send(agent.session, text)).receipt, text);
}

interface OpenCard {
  push: Push;
  data: CardData;
}

/** The card whose text holds `text`, once the phone has it. */
function untilCard({ phone }: Stage, text: string): Promise<OpenCard> {
  return untilTold(() => `the card "${text}"`, async () => {
    for (const push of await phone.read("ask")) {
      const data = askedOf(push);
      if (data?.kind !== "questions" && data?.kind !== "approval") continue;
      if (push.body?.includes(text)) return { push, data };
    }
    return undefined;
  });
}

async function answer({ stack, phone }: Stage, { push }: OpenCard, given: Answer): Promise<void> {
  const { id } = await phone.api.sendPush(await phone.answerOf(push, given));
  const { state } = await untilFinal(stack, id);
  assert.equal(state, "submitted");
}

async function decide(
  stage: Stage,
  card: OpenCard,
  decided: { decision: Decision; reason?: string },
): Promise<void> {
  assert.ok(card.data.kind === "approval");
  await answer(stage, card, { kind: "decided", digest: card.data.digest, ...decided });
}

function untilRead({ agent }: Stage, text: string): Promise<unknown> {
  const isRead = (): boolean => agent.standIn.bodies().some((body) => body.includes(text));
  return until(`${text} at the model`, isRead, LIMIT_MS);
}

function exists(path: string): Promise<boolean> {
  return Deno.stat(path).then(() => true, () => false);
}

for (const kind of KINDS) {
  Deno.test(`${kind}: its questions are answered from a phone, whatever allowRemoteApproval says [other-agents, card-questions]`, async () => {
    await using stage = await makeStage(kind, {});
    const { agent } = stage;
    for (const { tool, input, answers, sees } of ASKING[kind]) {
      agent.standIn.callTool(tool, input);
      await start(stage, "ask me");
      const question = JSON.stringify(input).includes("Which color?") ? "Which color?" : "Which size?";
      const card = await untilCard(stage, question);
      await answer(stage, card, { kind: "answers", answers });
      for (const text of sees) await untilRead(stage, text);
      await agent.untilIdle();
    }
    show(kind, "questions");
  });
}

/** Gemini has no hook that decides. */
for (const kind of KINDS.filter((one) => one !== "gemini")) {
  Deno.test(`${kind}: a phone allows one command and refuses another, with its reason [other-agents, card-approvals]`, async () => {
    await using stage = await makeStage(kind, { allowRemoteApproval: "once" });
    const { agent, stack } = stage;
    const made = (name: string): string => `${stack.sandbox.project}/${name}`;
    agent.standIn.callShell("touch allowed-by-phone");
    await start(stage, "first");
    const first = await untilCard(stage, "touch allowed-by-phone");
    assert.ok(first.data.kind === "approval");
    assert.deepEqual([first.data.decisions, first.data.unusual], [["once", "reject"], []]);
    assert.equal(await exists(made("allowed-by-phone")), false);
    await decide(stage, first, { decision: "once" });
    await until("the file", () => exists(made("allowed-by-phone")), LIMIT_MS);
    await agent.untilIdle();

    agent.standIn.callShell("touch refused-by-phone");
    await start(stage, "second");
    const second = await untilCard(stage, "touch refused-by-phone");
    await decide(stage, second, { decision: "reject", reason: "not that one, says the phone" });
    await untilRead(stage, "not that one, says the phone");
    await agent.untilIdle();
    assert.equal(await exists(made("refused-by-phone")), false);
    show(kind, "approvals");
  });
}

Deno.test("cc: once the computer has answered, a phone's late answer is refused, also while the turn goes on [other-agents, card-first]", async () => {
  await using stage = await makeStage("cc", { allowRemoteApproval: "once" });
  const { agent, phone, stack } = stage;
  agent.standIn.callShell("touch by-the-computer");
  await start(stage, "answered at the computer");
  const { push, data } = await untilCard(stage, "touch by-the-computer");
  await until("the dialog", async () => (await agent.reading()).focus === "dialog", LIMIT_MS);
  // The turn goes on, so that its end does not end the card.
  const release = agent.standIn.hold();
  await agent.pane.press("Enter");
  await until("the file", () => exists(`${stack.sandbox.project}/by-the-computer`), LIMIT_MS);
  assert.ok(data.kind === "approval");
  const late: Answer = { kind: "decided", decision: "reject", digest: data.digest };
  const outcome = await phone.answerOf(push, late).then((answer) => phone.api.sendPush(answer)).then(
    async ({ id }) => (await untilFinal(stack, id)).state,
    (error) => /withdrawn/.test(String(error)) ? "refused" : Promise.reject(error),
  );
  release();
  assert.equal(outcome, "refused");
});

Deno.test("opencode: once the computer has answered, the card is withdrawn [other-agents, card-first, card-hook-ends]", async () => {
  await using stage = await makeStage("opencode", { allowRemoteApproval: "once" });
  const { agent, phone } = stage;
  agent.standIn.callShell("touch by-the-computer");
  await start(stage, "answered at the computer");
  const { push, data } = await untilCard(stage, "touch by-the-computer");
  await until("the dialog", async () => (await agent.reading()).focus === "dialog", LIMIT_MS);
  // The turn goes on, so that its end does not end the card.
  const release = agent.standIn.hold();
  await agent.pane.press("Enter");
  assert.ok(data.kind === "approval");
  const isOpen = async (): Promise<boolean> => {
    const [asked] = await phone.api.listPushes({ before: "end" }).then(({ pushes }) =>
      pushes.filter((record) => record.push.id === push.id)
    );
    return asked?.receipt.final === false;
  };
  await untilTold(() => "the card's end", async () => await isOpen() ? undefined : true);
  const late: Answer = { kind: "decided", decision: "reject", digest: data.digest };
  const sent = phone.answerOf(push, late).then((answer) => phone.api.sendPush(answer));
  await assert.rejects(sent, /withdrawn/);
  release();
});

/** In these the dialog opens only when the hook has ended: a card would have come before. */
for (const kind of ["codex", "copilot"] as const) {
  Deno.test(`${kind}: by default no phone is asked for a permission, and the dialog opens at the computer [other-agents, card-setting]`, async () => {
    await using stage = await makeStage(kind, {});
    const { agent, phone, stack } = stage;
    agent.standIn.callShell("touch by-nobody");
    await start(stage, "by default");
    await until("the dialog", async () => (await agent.reading()).focus === "dialog", LIMIT_MS);
    assert.deepEqual(await phone.read("ask"), []);
    await agent.pane.press("Escape");
    await until("its end", async () => (await agent.reading()).focus !== "dialog", LIMIT_MS);
    assert.equal(await exists(`${stack.sandbox.project}/by-nobody`), false);
  });
}
