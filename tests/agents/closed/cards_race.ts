/** Rounds in which something happens to a real agent's dialog while a phone's answer to it is on its way. */
import type { Answer } from "../../../src/protocol/ask.ts";
import { attachClient } from "../../helpers/attached_client.ts";
import { until } from "../../helpers/until.ts";
import {
  type Answered,
  CardStage,
  decisionOn,
  exists,
  type OpenCard,
  pressUntilClosed,
  STEP_MS,
} from "../card_stage.ts";
import { callForCard } from "../for_card.ts";
import type { RealAgent } from "../install.ts";
import { moment } from "./agent_stage.ts";

/** Agents whose hook holds the dialog back until keys at the computer open it. */
const HELD: readonly RealAgent[] = ["codex", "gemini", "copilot"];

const HAPPENINGS = [
  "nothing",
  "withdrawn",
  "answered at the computer",
  "followed by another",
  "beside another",
] as const;
export type Happening = (typeof HAPPENINGS)[number];

/** The phone answers within these bounds around the event, in milliseconds. */
const OFFSETS: Readonly<Record<Happening, readonly [first: number, last: number]>> = {
  nothing: [0, 0],
  withdrawn: [-300, 700],
  "answered at the computer": [-300, 700],
  "followed by another": [-300, 4_000],
  "beside another": [0, 0],
};
const BEFORE_MS = 300;
const CALM_LIMIT_MS = 60_000;
/** A longer conversation makes each request larger. */
const ROUNDS_A_SESSION = 25;
const SIZE = { cols: 100, rows: 30 };

export interface Round {
  happening: Happening;
  offsetMs: number;
  answered: Answered;
  /** Whether the agent followed the phone's answer and not the one at the computer. Undefined when both said no. */
  isApplied: boolean | undefined;
  /** Whether the other request was allowed although no answer was given to it. */
  isOtherAllowed: boolean;
  /** From the tool call at the agent to the card on the phone, in milliseconds. */
  cardMs: number;
  /** From the tap to the effect in the agent, in milliseconds, if nothing else happened. */
  appliedMs: number | undefined;
}

export async function raceCards(
  kind: RealAgent,
  { rounds, onRound }: { rounds: number; onRound: (round: Round, place: number) => void },
): Promise<Round[]> {
  const done: Round[] = [];
  while (done.length < rounds) {
    await using stage = await CardStage.open(kind, { allowRemoteApproval: "once" });
    const end = Math.min(rounds, done.length + ROUNDS_A_SESSION);
    while (done.length < end) {
      const round = await new CardRound(stage, { place: done.length, rounds }).run();
      onRound(round, done.length);
      done.push(round);
    }
  }
  return done;
}

class CardRound {
  readonly #stage: CardStage;
  readonly #happening: Happening;
  readonly #offsetMs: number;
  /** Names of the files in this request, and in the one at the same time or afterwards. */
  readonly #names: readonly [own: string, other: string];
  /** Whether the person at the computer rejected an open dialog. */
  #isRefusedThere = false;

  constructor(stage: CardStage, { place, rounds }: { place: number; rounds: number }) {
    this.#stage = stage;
    // The stand-in asks only one question at a time.
    const happenings = HAPPENINGS.filter((one) => !this.#isQuestion || one !== "beside another");
    this.#happening = happenings[place % happenings.length] ?? "nothing";
    const [first, last] = OFFSETS[this.#happening];
    const [turn, turns] = [Math.floor(place / happenings.length), Math.ceil(rounds / happenings.length)];
    this.#offsetMs = first + (last - first) * turn / Math.max(1, turns - 1);
    const number = String(place).padStart(4, "0");
    this.#names = [`own-${number}`, `other-${number}`];
  }

  async run(): Promise<Round> {
    const stage = this.#stage;
    const { agent: { kind, standIn } } = stage;
    const [own, other] = this.#names;
    await this.#calm();
    this.#isRefusedThere = false;
    standIn.forget();
    callForCard(stage.agent, ...(this.#happening === "beside another" ? [own, other] : [own]));
    await stage.start(`begin ${own}`);
    const card = await stage.untilCard(own);
    const calledAt = standIn.exchanges().find(({ answer }) => answer === "tools")?.answeredAt ?? NaN;
    if (!HELD.includes(kind)) await until("the dialog", () => stage.hasDialog());
    const at = performance.now() + BEFORE_MS;
    const tap = async (): Promise<Answered> => {
      await moment(at + this.#offsetMs);
      return await stage.answered(card, this.#given(card));
    };
    const [answered, appliedMs] = await Promise.all([
      tap(),
      this.#happening === "nothing" ? this.#applied(at) : undefined,
      moment(at).then(() => this.#happen()),
    ]);
    await this.#calm();
    return {
      happening: this.#happening,
      offsetMs: Math.round(this.#offsetMs),
      answered,
      isApplied: this.#bothSaidNo ? undefined : await this.#isDone(own) === this.#saysYes,
      isOtherAllowed: await this.#isDone(other),
      cardMs: card.at - calledAt,
      appliedMs,
    };
  }

  get #isQuestion(): boolean {
    return this.#stage.agent.kind === "gemini";
  }

  /** The answer at the computer is the opposite, so that the result shows which of the two was applied. */
  get #saysYes(): boolean {
    return this.#isQuestion || this.#happening !== "answered at the computer";
  }

  #given(card: OpenCard): Answer {
    if (this.#isQuestion) return { kind: "answers", answers: [{ options: [1] }] };
    return decisionOn(card, { decision: this.#saysYes ? "once" : "reject" });
  }

  /** True if the yes at the computer came too late for its dialog, which was then rejected there. */
  get #bothSaidNo(): boolean {
    return this.#happening === "answered at the computer" && !this.#saysYes && this.#isRefusedThere;
  }

  /** True if the file was made, or the model read the phone's answer. */
  async #isDone(name: string): Promise<boolean> {
    const { agent: { standIn } } = this.#stage;
    if (!this.#isQuestion) return await exists(this.#stage.made(name));
    return standIn.bodies().some((body) => body.includes(`for ${name}? Blue`));
  }

  async #applied(at: number): Promise<number> {
    await until("the effect", () => this.#isDone(this.#names[0]));
    return performance.now() - at;
  }

  async #happen(): Promise<void> {
    const { agent: { pane } } = this.#stage;
    switch (this.#happening) {
      case "nothing":
        return;
      case "withdrawn":
        return await pane.press("Escape");
      case "answered at the computer":
        return await this.#answerAtComputer();
      case "followed by another":
        await pane.press("Escape");
        await this.#calm();
        callForCard(this.#stage.agent, this.#names[1]);
        await this.#stage.start(`begin ${this.#names[1]}`);
        return await this.#untilOtherAsked();
      case "beside another":
        return await this.#untilOtherAsked();
    }
  }

  async #answerAtComputer(): Promise<void> {
    const { agent, stack } = this.#stage;
    if (!HELD.includes(agent.kind)) return await pressUntilClosed(agent, "Enter");
    using client = await attachClient(stack.sandbox, { session: agent.session, ...SIZE });
    // Presses until the dialog closes: the phone's answer may have come first.
    await until("the dialog, or the end of the turn", async () => {
      if (!await this.#stage.hasDialog()) return (await agent.reading()).state === "idle";
      await client.press("\r");
      await moment(performance.now() + STEP_MS);
      return !await this.#stage.hasDialog();
    });
  }

  /** Resolves once the other request is on the screen or on the phone, or the turn has ended without it. */
  async #untilOtherAsked(): Promise<void> {
    const stage = this.#stage;
    await until("the other request", async () => {
      const screen = (await stage.agent.pane.screen()).lines.join("\n");
      if (await stage.hasDialog() && screen.includes(this.#names[1])) return true;
      if ((await stage.cards()).some(({ push }) => push.body?.includes(this.#names[1]))) return true;
      return (await stage.agent.reading()).state === "idle";
    });
  }

  /** Rejects every request until the agent is idle: at the computer, or from the phone where keys have no effect. */
  async #calm(): Promise<void> {
    const { agent } = this.#stage;
    await until("an idle agent", async () => {
      const { state, draft = "" } = await agent.reading();
      // Clears an interrupted prompt, which some agents put back into the input line.
      if (state === "idle" && draft !== "") await agent.pane.press("C-e", "C-u");
      await moment(performance.now() + STEP_MS);
      const now = await agent.reading();
      if (state === "idle" && now.state === "idle" && now.draft === "") return true;
      if (now.focus === "dialog") {
        this.#isRefusedThere = true;
        await agent.pane.press("Escape");
      }
      for (const card of await this.#stage.cards()) {
        if (card.push.body?.includes(this.#names[1])) await this.#refuse(card);
      }
      await moment(performance.now() + STEP_MS);
      return false;
    }, CALM_LIMIT_MS);
  }

  async #refuse(card: OpenCard): Promise<void> {
    const given: Answer = this.#isQuestion
      ? { kind: "answers", answers: [{ options: [0] }] }
      : decisionOn(card, { decision: "reject" });
    await this.#stage.answered(card, given);
  }
}
