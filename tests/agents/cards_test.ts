/** The real agents' own questions and permissions, answered by a paired phone: checks what the model and the tool received. */
import assert from "node:assert/strict";
import type { CardAnswer } from "../../src/protocol/ask.ts";
import { until } from "../helpers/until.ts";
import { CARD_LIMIT_MS, CardStage, decisionOn, exists, pressUntilClosed } from "./card_stage.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { untilTold } from "./phone.ts";
import { show } from "./table.ts";

const KINDS = Object.keys(REAL_AGENTS) as RealAgent[];

interface Asking {
  tool: string;
  input: Record<string, unknown>;
  answers: CardAnswer[];
  /** What the model then reads, as text in JSON. */
  sees: readonly string[];
}

const options = (...labels: string[]) => labels.map((label) => ({ label, description: `about ${label}` }));
const COLOR = { question: "Which color?", header: "Color", options: options("Red", "Blue") };
const TESTS = { question: "Which tests?", header: "Tests", options: options("Unit", "E2E", "Bench") };
const SIZE = { question: "Which size?", header: "Size", options: options("S", "L") };
const CHOSEN: CardAnswer[] = [{ options: [1] }, { options: [0, 2], text: "and lint" }];

/** Each kind of question that the agent has: one choice, several choices, the user's own text. */
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

/** Enables the feature without which Codex asks no questions. */
async function prepare(home: string): Promise<void> {
  const path = `${home}/.codex/config.toml`;
  if (!await Deno.stat(path).then(() => true, () => false)) return;
  await Deno.writeTextFile(path, "\n[features]\ndefault_mode_request_user_input = true\n", { append: true });
}

for (const kind of KINDS) {
  Deno.test(`${kind}: its questions are answered from a phone, whatever allowRemoteApproval says [other-agents, card-questions]`, async () => {
    await using stage = await CardStage.open(kind, {}, { prepare });
    const { agent } = stage;
    for (const { tool, input, answers, sees } of ASKING[kind]) {
      agent.standIn.callTool(tool, input);
      await stage.start("ask me");
      const question = JSON.stringify(input).includes("Which color?") ? "Which color?" : "Which size?";
      const card = await stage.untilCard(question);
      await stage.answer(card, { kind: "answers", answers });
      for (const text of sees) await stage.untilRead(text);
      await agent.untilIdle();
    }
    show(kind, "questions");
  });
}

/** All agents but Gemini, which has no hook that decides. */
for (const kind of KINDS.filter((one) => one !== "gemini")) {
  Deno.test(`${kind}: a phone allows one command and refuses another, with its reason [other-agents, card-approvals]`, async () => {
    await using stage = await CardStage.open(kind, { allowRemoteApproval: "once" });
    const { agent } = stage;
    agent.standIn.callShell("touch allowed-by-phone");
    await stage.start("first");
    const first = await stage.untilCard("touch allowed-by-phone");
    assert.ok(first.data.kind === "approval");
    assert.deepEqual([first.data.decisions, first.data.unusual], [["once", "reject"], []]);
    assert.equal(await exists(stage.made("allowed-by-phone")), false);
    await stage.decide(first, { decision: "once" });
    await stage.untilMade("allowed-by-phone");
    await agent.untilIdle();

    agent.standIn.callShell("touch refused-by-phone");
    await stage.start("second");
    const second = await stage.untilCard("touch refused-by-phone");
    await stage.decide(second, { decision: "reject", reason: "not that one, says the phone" });
    await stage.untilRead("not that one, says the phone");
    await agent.untilIdle();
    assert.equal(await exists(stage.made("refused-by-phone")), false);
    show(kind, "approvals");
  });
}

Deno.test("cc: once the computer has answered, a phone's late answer is refused, even while the turn continues [other-agents, card-first]", async () => {
  await using stage = await CardStage.open("cc", { allowRemoteApproval: "once" });
  const { agent } = stage;
  agent.standIn.callShell("touch by-the-computer");
  await stage.start("answered at the computer");
  const card = await stage.untilCard("touch by-the-computer");
  await until("the dialog", () => stage.hasDialog(), CARD_LIMIT_MS);
  // The turn continues, so its end does not close the card.
  const release = agent.standIn.hold();
  await pressUntilClosed(agent, "Enter");
  await stage.untilMade("by-the-computer");
  const { state } = await stage.answered(card, decisionOn(card, { decision: "reject" }));
  release();
  assert.ok(state === "refused" || state === "closed", state);
});

Deno.test("opencode: once the computer has answered, the card is withdrawn [other-agents, card-first, card-hook-ends]", async () => {
  await using stage = await CardStage.open("opencode", { allowRemoteApproval: "once" });
  const { agent, phone } = stage;
  agent.standIn.callShell("touch by-the-computer");
  await stage.start("answered at the computer");
  const card = await stage.untilCard("touch by-the-computer");
  await until("the dialog", () => stage.hasDialog(), CARD_LIMIT_MS);
  // The turn continues, so its end does not close the card.
  const release = agent.standIn.hold();
  await pressUntilClosed(agent, "Enter");
  const isOpen = async (): Promise<boolean> => {
    const [asked] = await phone.api.listPushes({ before: "end" }).then(({ pushes }) =>
      pushes.filter((record) => record.push.id === card.push.id)
    );
    return asked?.receipt.final === false;
  };
  await untilTold(() => "the card's end", async () => await isOpen() ? undefined : true);
  const late = await stage.answered(card, decisionOn(card, { decision: "reject" }));
  assert.match(late.reason ?? "", /withdrawn/);
  release();
});

/** In these agents the dialog opens only when the hook has ended, so a card would have come before it. */
for (const kind of ["codex", "copilot"] as const) {
  Deno.test(`${kind}: by default no phone is asked for a permission, and the dialog opens at the computer [other-agents, card-setting]`, async () => {
    await using stage = await CardStage.open(kind, {});
    const { agent, phone } = stage;
    agent.standIn.callShell("touch by-nobody");
    await stage.start("by default");
    await until("the dialog", () => stage.hasDialog(), CARD_LIMIT_MS);
    assert.deepEqual(await phone.read("ask"), []);
    await agent.pane.press("Escape");
    await until("its end", async () => !await stage.hasDialog(), CARD_LIMIT_MS);
    assert.equal(await exists(stage.made("by-nobody")), false);
  });
}
