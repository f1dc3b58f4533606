/** Sends messages to sessions and questions of an agent, one of each per second, and counts their outcomes. */
import { createRelayApi, type RelayApi } from "../../src/client/api.ts";
import { RelayError } from "../../src/client/relay_error.ts";
import { RelayLink } from "../../src/client/relay_link.ts";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import { lateAnswerId } from "../../src/protocol/late_answer.ts";
import type { Push } from "../../src/protocol/push.ts";
import { promptsIn } from "../helpers/agents_echo.ts";
import { countMessages, missing } from "../helpers/fault_count.ts";
import { endMessage, type Message } from "../helpers/fault_load.ts";
import { textOf } from "../helpers/mcp_bench.ts";
import type { McpProcess } from "../helpers/mcp_process.ts";
import type { EchoSession } from "../helpers/stack.ts";
import { SAFETY_LIMIT_MS, until } from "../helpers/until.ts";

export interface TrafficOptions {
  /** The address that all requests use, through the link that is cut. */
  baseUrl: string;
  wsUrl: string;
  apiKey: string;
  deviceId: string;
  sessions: readonly EchoSession[];
  agent: McpProcess;
}

export interface TrafficCounts {
  messages: ReturnType<typeof countMessages>;
  asks: AskCounts;
}

/** A connection, and whether it goes through the link that is cut. */
export interface CutLink {
  isCut: boolean;
  /** Returns how often it has connected. */
  ups(): number;
  isUp(): boolean;
  /** Returns its name and state. */
  text(): string;
}

/**
 * `late`: typed into the session because its asker did not receive it in time; `refused`: the session accepted no more
 * of these.
 */
export type AskCounts = Record<"sent" | "answered" | "late" | "refused" | "lost" | "duplicated", number> & {
  /** What the agent received for each question that was lost. */
  lostTexts: string[];
};

const EVERY_MS = 1_000;
/** A request without an answer after this time is repeated with the same id. */
const ANSWER_MS = 4_000;
/** Limits of the wait for a final receipt. */
const RECEIPT_LIMITS = { timeoutMs: SAFETY_LIMIT_MS, pollMs: 500 };
const ASK_SECONDS = 300;

const answerTo = (question: string): string => `answer-${question.split("-").at(-1)}-end`;
const ANSWER = /answer-\d+-end/g;

export class Traffic {
  readonly messages: Message[] = [];
  readonly #options: TrafficOptions;
  readonly #api: RelayApi;
  readonly #phone: RelayLink;
  readonly #running = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];
  /** What the agent's tool returned for each question, by number. */
  readonly #results: string[] = [];
  /** The id of the answer to each question, by the question's id. */
  readonly #answers = new Map<string, string>();
  /** When the relay accepted each message, by its id. */
  readonly #acceptedAt = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #ticks = 0;
  #ups = 0;

  constructor(options: TrafficOptions) {
    const { baseUrl, wsUrl, apiKey } = options;
    this.#options = options;
    this.#api = createRelayApi({ baseUrl, apiKey });
    this.#phone = new RelayLink({
      wsUrl,
      apiKey,
      hello: () => ({
        role: "phone",
        deviceId: "dev_phone_soak_answers",
        name: "soak",
        version: "1.0.0",
        capabilities: [],
      }),
      onFrame: (frame) => {
        if (frame.event === "push.new") this.#answer(frame.data);
      },
      onState: ({ state }) => {
        if (state !== "connected") return;
        this.#ups++;
        this.#run(this.#answerOpen());
      },
    });
    this.#phone.start();
  }

  /** The connection of the phone that answers. */
  get link(): CutLink {
    return {
      isCut: true,
      ups: () => this.#ups,
      isUp: () => this.#phone.connected,
      text: () => `answering phone ${JSON.stringify(this.#phone.state)}`,
    };
  }

  /** The number of messages and questions so far. */
  get sent(): number {
    return this.messages.length + this.#results.length;
  }

  start(): void {
    this.#timer = setInterval(() => {
      const n = this.#ticks++;
      this.#run(this.#send(n));
      this.#run(this.#ask(n));
    }, EVERY_MS);
  }

  /** Stops sending; resolves when everything has ended, and throws what went wrong. */
  async pause(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#running.size > 0) await Promise.all(this.#running);
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  close(): void {
    clearInterval(this.#timer);
    this.#phone.close();
  }

  async count(): Promise<TrafficCounts> {
    const { sessions } = this.#options;
    const refused = await this.#refusedAnswers();
    await until("the texts that were submitted", async () => {
      const entries = await Promise.all(sessions.map((session) => session.entries()));
      return missing(this.messages, entries.flat()).length === 0;
    }).catch(() => undefined);
    const all = await Promise.all(
      sessions.map(async ({ name, entries }) => [name, await entries()] as const),
    );
    const late = all.flatMap(([, entries]) => promptsIn(entries)).flatMap((text) => text.match(ANSWER) ?? []);
    const transcripts = new Map(
      all.map(([name, entries]) =>
        [name, entries.filter((one) => !("prompt" in one && one.prompt.match(ANSWER)))] as const
      ),
    );
    const acceptedAt = ({ id }: Message): number => this.#acceptedAt.get(id) ?? 0;
    const messages = this.messages.toSorted((one, other) => acceptedAt(one) - acceptedAt(other));
    return {
      messages: countMessages(messages, { transcripts, agentDied: new Set() }),
      asks: this.#countAsks(late, refused),
    };
  }

  #countAsks(late: readonly string[], refused: ReadonlySet<string>): AskCounts {
    const sent = this.#results.length;
    const asks: AskCounts = {
      sent,
      answered: 0,
      late: late.length,
      refused: 0,
      lost: 0,
      duplicated: 0,
      lostTexts: [],
    };
    for (const [n, result] of this.#results.entries()) {
      const wanted = answerTo(`question-${n}`);
      const times = [result.includes(wanted), ...late.map((text) => text === wanted)].filter(Boolean).length;
      if (result.includes(wanted)) asks.answered++;
      if (times > 1) asks.duplicated++;
      if (times > 0) continue;
      if (refused.has(wanted)) asks.refused++;
      else {
        asks.lost++;
        asks.lostTexts.push(`question-${n}: ${result}`);
      }
    }
    return asks;
  }

  /** Returns late answers that their session refused because of its rate limit; waits for those still queued. */
  async #refusedAnswers(): Promise<Set<string>> {
    const refused = new Set<string>();
    for (const id of this.#answers.values()) {
      const lateId = await lateAnswerId(id);
      if (await this.#api.getPush(lateId).catch(() => undefined) === undefined) continue;
      const { push, receipt } = await waitForReceipt(this.#api, lateId, RECEIPT_LIMITS);
      if (receipt.state !== "refused") continue;
      for (const text of push.body?.match(ANSWER) ?? []) refused.add(text);
    }
    return refused;
  }

  async #send(n: number): Promise<void> {
    const { sessions, deviceId } = this.#options;
    const session = sessions[n % sessions.length]?.name ?? "";
    const body = n % 3 === 0 ? `message ${n}\nits second line` : `message ${n}`;
    const message: Message = { id: crypto.randomUUID(), session, n, body };
    const { id } = message;
    const push = { id, type: "agent.command", targetDeviceId: deviceId, agentSessionName: session, body };
    await this.#accepted(push);
    this.messages.push(message);
    const { push: { createdAt }, receipt } = await waitForReceipt(this.#api, id, RECEIPT_LIMITS);
    this.#acceptedAt.set(id, createdAt);
    endMessage(message, receipt);
  }

  async #ask(n: number): Promise<void> {
    const call = {
      name: "svc_ask",
      arguments: { question: `question-${n}`, timeoutSeconds: ASK_SECONDS },
    };
    this.#results[n] = "";
    this.#results[n] = textOf(
      await this.#options.agent.client.callTool(call, { timeout: 2 * SAFETY_LIMIT_MS }),
    );
  }

  /** Sends like a phone's outbox: repeats with the same id until there is an answer. */
  async #accepted(push: Parameters<RelayApi["sendPush"]>[0]): Promise<void> {
    await until(`${push.type} is accepted`, async () => {
      try {
        return await this.#api.sendPush(push, { signal: AbortSignal.timeout(ANSWER_MS) });
      } catch (error) {
        if (error instanceof RelayError && !error.transient) throw error;
        return undefined;
      }
    });
  }

  #answer({ id, type, body = "" }: Push): void {
    if (type !== "ask" || this.#answers.has(id)) return;
    const answer = { id: crypto.randomUUID(), type: "ask.answer", inReplyTo: id, body: answerTo(body) };
    this.#answers.set(id, answer.id);
    this.#run(this.#accepted(answer));
  }

  /** Answers the questions that were asked while the phone was cut off. */
  async #answerOpen(): Promise<void> {
    const { pushes } = await this.#api.listPushes({ before: "end", limit: 200 });
    for (const { push, receipt } of pushes) if (!receipt.final) this.#answer(push);
  }

  #run(work: Promise<void>): void {
    const task = work.catch((error) => void this.#failures.push(error)).finally(() =>
      this.#running.delete(task)
    );
    this.#running.add(task);
  }
}
