/** A real agent in svc's session, and a paired phone that reads and answers the cards of its dialogs. */
import assert from "node:assert/strict";
import { RelayError } from "../../src/client/relay_error.ts";
import { RelayLink } from "../../src/client/relay_link.ts";
import { type Answer, askedOf, type CardData, type Decision } from "../../src/protocol/ask.ts";
import type { Push } from "../../src/protocol/push.ts";
import type { Receipt } from "../../src/protocol/receipt.ts";
import { VERSION } from "../../src/protocol/version.ts";
import { createDirectSocket } from "../../src/runtime/direct_socket.ts";
import { pairScriptedPhone, type ScriptedPhone } from "../helpers/scripted_phone.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { moment } from "./closed/agent_stage.ts";
import type { RealAgent } from "./install.ts";
import { assertTyped, untilFinal, untilTold } from "./phone.ts";
import { runAgent, type RunOptions, type SvcAgent } from "./run_agent.ts";

export const CARD_LIMIT_MS = 120_000;
/** Time between two keys at the computer. */
export const STEP_MS = 400;

/** An open card as the phone reads it. */
export interface OpenCard {
  push: Push;
  data: CardData;
  /** When the phone was notified of the card, in milliseconds of `performance.now()`. */
  at: number;
}

/** The outcome of an answer: its last receipt, or the relay's refusal to take it. */
export type Answered = Pick<Receipt, "state" | "reason"> | { state: "closed"; reason: string };

export class CardStage implements AsyncDisposable {
  readonly stack: Stack;
  readonly agent: SvcAgent;
  readonly phone: ScriptedPhone;
  readonly #ends: AsyncDisposableStack;
  /** When a push reached the phone's connection. */
  readonly #arrivals = new Map<string, number>();

  private constructor(
    parts: Pick<CardStage, "stack" | "agent" | "phone">,
    ends: AsyncDisposableStack,
  ) {
    ({ stack: this.stack, agent: this.agent, phone: this.phone } = parts);
    this.#ends = ends;
    const link = new RelayLink({
      wsUrl: this.stack.wsUrl,
      apiKey: this.phone.apiKey,
      hello: () => ({ role: "phone", name: "test phone", version: VERSION, capabilities: [] }),
      onFrame: (frame) => {
        if (frame.event === "push.new") this.#arrivals.set(frame.data.id, performance.now());
      },
      onState: () => {},
      createSocket: createDirectSocket,
    });
    link.start();
    ends.defer(() => link.close());
  }

  /** `config`: further settings of the host. */
  static async open(
    kind: RealAgent,
    config: Record<string, unknown>,
    options: RunOptions = {},
  ): Promise<CardStage> {
    const ends = new AsyncDisposableStack();
    try {
      const stack = ends.use(await makeStack({ listener: false }));
      const path = `${stack.sandbox.svcHome}/config.json`;
      const given = JSON.parse(await Deno.readTextFile(path));
      await Deno.writeTextFile(path, JSON.stringify({ ...given, ...config }));
      await stack.startListener();
      const phone = await pairScriptedPhone(await stack.pairLink());
      const agent = ends.use(await runAgent(kind, stack, options));
      return new CardStage({ stack, agent, phone }, ends);
    } catch (error) {
      await ends.disposeAsync();
      throw error;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ends.disposeAsync();
  }

  /** Starts a turn from the phone: keys of a local user would open a dialog that the hook holds back. */
  async start(text: string): Promise<void> {
    const { agent, phone } = this;
    await agent.untilIdle();
    assertTyped((await phone.send(agent.session, text)).receipt, text);
  }

  /** Resolves with the card whose text contains `text`, once the phone has it. */
  untilCard(text: string): Promise<OpenCard> {
    return untilTold(
      () => `the card "${text}"`,
      async () => (await this.cards()).find(({ push }) => push.body?.includes(text)),
    );
  }

  /** Returns the cards that wait for an answer. */
  async cards(): Promise<OpenCard[]> {
    const { pushes } = await this.phone.api.listPushes({ before: "end", limit: 200 });
    const open = pushes.filter(({ receipt }) => !receipt.final && receipt.state !== "answered");
    const ids = new Set(open.map(({ push }) => push.id));
    if (ids.size === 0) return [];
    return (await this.phone.read("ask")).flatMap((push) => {
      const data = ids.has(push.id) ? askedOf(push) : undefined;
      const isCard = data?.kind === "questions" || data?.kind === "approval";
      return isCard ? [{ push, data, at: this.#arrivals.get(push.id) ?? NaN }] : [];
    });
  }

  /** Sends an answer; resolves with its outcome. */
  async answered({ push }: OpenCard, given: Answer): Promise<Answered> {
    const answer = await this.phone.answerOf(push, given);
    try {
      await this.phone.api.sendPush(answer);
    } catch (error) {
      if (error instanceof RelayError && !error.transient) return { state: "closed", reason: error.message };
      throw error;
    }
    return await untilFinal(this.stack, answer.id);
  }

  async answer(card: OpenCard, given: Answer): Promise<void> {
    const { state, reason } = await this.answered(card, given);
    assert.deepEqual([state, reason], ["submitted", undefined]);
  }

  async decide(card: OpenCard, decided: { decision: Decision; reason?: string }): Promise<void> {
    await this.answer(card, decisionOn(card, decided));
  }

  /** Resolves once the model has received `text`. */
  untilRead(text: string): Promise<unknown> {
    const isRead = (): boolean => this.agent.standIn.bodies().some((body) => body.includes(text));
    return until(`${text} at the model`, isRead, CARD_LIMIT_MS);
  }

  /** Returns the path of a file in the agent's project. */
  made(name: string): string {
    return `${this.stack.sandbox.project}/${name}`;
  }

  untilMade(name: string): Promise<unknown> {
    return until(`the file "${name}"`, () => exists(this.made(name)), CARD_LIMIT_MS);
  }

  async hasDialog(): Promise<boolean> {
    return (await this.agent.reading()).focus === "dialog";
  }
}

export function decisionOn({ data }: OpenCard, decided: { decision: Decision; reason?: string }): Answer {
  assert.ok(data.kind === "approval");
  return { kind: "decided", digest: data.digest, ...decided };
}

/**
 * Consecutive checks, STEP_MS apart, that must find no dialog: it is redrawn often, and one check may see half of it.
 */
const CLOSED_LOOKS = 3;

/** Presses the key at the computer until the dialog closes: a busy agent may miss one. */
export async function pressUntilClosed(agent: SvcAgent, key: "Enter" | "Escape"): Promise<void> {
  let looks = 0;
  await until("the end of the dialog", async () => {
    const isOpen = (await agent.reading()).focus === "dialog";
    if (isOpen) await agent.pane.press(key);
    looks = isOpen ? 0 : looks + 1;
    if (looks === CLOSED_LOOKS) return true;
    await moment(performance.now() + STEP_MS);
    return false;
  });
}

export function exists(path: string): Promise<boolean> {
  return Deno.stat(path).then(() => true, () => false);
}
