/** Follows a question until it is answered, closed or timed out. The relay's stored receipt decides, never a frame. */
import type { Clock } from "../async/clock.ts";
import type { Wakeup } from "../async/wakeup.ts";
import { setNewest } from "../async/newest.ts";
import type { RelayApi } from "../client/api.ts";
import { RelayError } from "../client/relay_error.ts";
import { ASK_REPORT_MS } from "../home/notify_daemon.ts";
import type { Answer } from "../protocol/ask.ts";
import type { EventData } from "../protocol/frames.ts";
import { ASK_RETURN_MS } from "../protocol/limits.ts";
import type { Push } from "../protocol/push.ts";

export type Outcome =
  | { kind: "answered"; answer: Answer }
  /** The answer cannot be opened: no paired phone sealed it. */
  | { kind: "unreadable" }
  /** It asks for a secret and no phone is paired, so it could not be sealed: nothing was sent. */
  | { kind: "unsealed" }
  /** The answer came while the connection was lost: it is typed into the session. */
  | { kind: "typed" }
  /** The same, but there is no session that it could be typed into. */
  | { kind: "lost" }
  | { kind: "timed_out" }
  /** An answer was accepted, but the relay was not reached to read it: it may be lost, or typed into the session. */
  | { kind: "unconfirmed" }
  | { kind: "closed" };

/**
 * The relay is asked again after this time without news, in milliseconds: when a frame is lost, the answer must still
 * be taken before it is typed into the session.
 */
const POLL_MS = ASK_RETURN_MS / 2;
/**
 * How long the answer that closed the question may be missing, in milliseconds: relays on NATS store it afterwards, and
 * while NATS fails the phone has to send it again.
 */
const MISSING_LIMIT_MS = 60_000;
/** How long after its timeout a question waits for the relay to confirm an answer that was taken, in milliseconds. */
const CONFIRM_LIMIT_MS = 3 * ASK_RETURN_MS;

export interface FollowParts {
  api: RelayApi;
  clock: Clock;
  /** Woken when the relay may have news about the question. */
  wakeup: Wakeup;
  /** The answer in the push; undefined when it cannot be read. Throws while this host's files cannot be used. */
  read(push: Push): Promise<Answer | undefined>;
  /** Takes the answer with this id, which the relay keeps for this asker; it is taken once its receipt says so. */
  take(answerId: string): void;
}

/**
 * Resolves with the question's outcome. Throws RelayError when the relay refuses to answer, the error of `read` when
 * that lasts, and the signal's reason when that fires.
 */
export async function followQuestion(
  parts: FollowParts,
  { id, timeoutMs, signal }: { id: string; timeoutMs: number; signal: AbortSignal },
): Promise<Outcome> {
  const { clock, wakeup } = parts;
  const end = clock.elapsed() + timeoutMs;
  // True once there is an answer: it is then awaited beyond the timeout, even while the relay cannot be asked.
  let isTaken = false;
  let missingSince: number | undefined;
  for (;;) {
    const found = await poll(parts, { id, signal });
    if (!isUnsettled(found)) return found;
    isTaken ||= found.kind !== "open";
    if (found.kind === "missing") {
      missingSince ??= clock.elapsed();
      if (clock.elapsed() - missingSince >= MISSING_LIMIT_MS) throw found.error;
    }
    const left = end - clock.elapsed() + (isTaken ? CONFIRM_LIMIT_MS : 0);
    if (left <= 0 && found.kind === "unread") throw found.error;
    if (left <= 0) return { kind: isTaken ? "unconfirmed" : "timed_out" };
    await wakeup.wait(Math.min(left, POLL_MS), signal);
  }
}

type Unsettled =
  | { kind: "open" }
  | { kind: "taking" }
  /** The question was closed by an answer that is not stored yet. */
  | { kind: "missing"; error: RelayError }
  /** It was taken, so it is delivered nowhere else: it must not be lost because it cannot be read at once. */
  | { kind: "unread"; error: unknown };

type Poll = Outcome | Unsettled;

function isUnsettled(found: Poll): found is Unsettled {
  return ["open", "taking", "missing", "unread"].includes(found.kind);
}

async function poll(
  parts: FollowParts,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<Poll> {
  try {
    const { receipt } = await parts.api.getPush(id, { signal });
    if (!receipt.final) return { kind: "open" };
    if (receipt.answer === undefined) return { kind: "closed" };
    return await pollAnswer(parts, { id: receipt.answer, signal });
  } catch (error) {
    if (error instanceof RelayError && error.transient) return { kind: "open" };
    throw error;
  }
}

async function pollAnswer(
  parts: FollowParts,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<Poll> {
  const { api, take } = parts;
  try {
    const { push, receipt: { state, final } } = await api.getPush(id, { signal });
    if (state === "queued") {
      take(push.id);
      return { kind: "taking" };
    }
    // The relay is about to have it typed: only a final receipt shows whether there is a session.
    if (!final) return { kind: "taking" };
    if (state !== "delivered") return { kind: state === "refused" ? "lost" : "typed" };
    return await readTaken(push, parts);
  } catch (error) {
    if (error instanceof RelayError && error.code === "unknown_push") return { kind: "missing", error };
    throw error;
  }
}

async function readTaken(push: Push, { read }: FollowParts): Promise<Poll> {
  try {
    const answer = await read(push);
    return answer === undefined ? { kind: "unreadable" } : { kind: "answered", answer };
  } catch (error) {
    return { kind: "unread", error };
  }
}

export interface WaitingReport {
  state: "waiting" | "working";
  /** The id of the question's push. */
  ask: string;
}

/**
 * Reports repeatedly that the agent waits, until the question has ended: the agent's screen looks like work, and a
 * restarted listener has no record of the question. Each question is reported separately, because some agents leave one
 * open and go on to the next.
 */
export async function reportWhileWaiting<T>(
  question: Promise<T>,
  { ask, report, clock }: { ask: string; report: (report: WaitingReport) => void; clock: Clock },
): Promise<T> {
  let cancel = (): void => {};
  const tick = (): void => {
    report({ state: "waiting", ask });
    cancel = clock.after(ASK_REPORT_MS, tick);
  };
  tick();
  try {
    return await question;
  } finally {
    cancel();
    report({ state: "working", ask });
  }
}

/** Beyond this number the oldest is forgotten. */
const LEFT_MAX = 100;

type SendAck = (ack: EventData<"push.ack">) => boolean;

/** Questions that are no longer waited for: withdrawn ones, and ones whose late answers are typed into the session. */
export class LeftQuestions {
  readonly #send: SendAck;
  readonly #left = new Map<string, "late" | "withdrawn">();

  constructor(send: SendAck) {
    this.#send = send;
  }

  /** Number of withdrawals that the relay has not confirmed. */
  get withdrawing(): number {
    return [...this.#left.values()].filter((how) => how === "withdrawn").length;
  }

  /** Leaves the question open: a late answer is typed into the session. */
  leave(id: string): void {
    this.#keep(id, "late");
  }

  /** Closes the question to answers. */
  withdraw(id: string): void {
    this.#keep(id, "withdrawn");
    this.#send({ id, outcome: "withdrawn", final: true });
  }

  /** Repeats unconfirmed withdrawals after a reconnect. */
  connected(): void {
    for (const id of this.#left.keys()) this.#repeat(id);
  }

  /** Repeats a withdrawal that the relay got before it had stored the question. */
  stored({ id }: Pick<Push, "id">): void {
    this.#repeat(id);
  }

  /** An answer that arrived just as the wait ended is returned at once, for the session. */
  updated({ id, receipt }: EventData<"push.updated">): void {
    if (!receipt.final || !this.#left.delete(id)) return;
    if (receipt.answer !== undefined) this.#send({ id: receipt.answer, outcome: "ignored", final: true });
  }

  #repeat(id: string): void {
    if (this.#left.get(id) === "withdrawn") this.#send({ id, outcome: "withdrawn", final: true });
  }

  #keep(id: string, how: "late" | "withdrawn"): void {
    setNewest(this.#left, [id, how], { max: LEFT_MAX });
  }
}

/** Sends the reports of each question one after the other: the end of a wait must not arrive before its last report. */
export class WaitingReports {
  readonly #send: (report: WaitingReport) => Promise<void>;
  /** The last report that is being sent, by question. */
  readonly #sending = new Map<string, Promise<void>>();

  constructor(send: (report: WaitingReport) => Promise<void>) {
    this.#send = send;
  }

  /** Sends the report; one that is repeated anyway is dropped while another is being sent. Never throws. */
  take(report: WaitingReport): void {
    const before = this.#sending.get(report.ask);
    if (before !== undefined && report.state === "waiting") return;
    const sent = this.#after(before, report).finally(() => {
      if (this.#sending.get(report.ask) === sent) this.#sending.delete(report.ask);
    });
    this.#sending.set(report.ask, sent);
  }

  async #after(before: Promise<void> | undefined, report: WaitingReport): Promise<void> {
    await before;
    await this.#send(report).catch(() => {});
  }

  /** Resolves when every report was sent. */
  async idle(): Promise<void> {
    await Promise.all(this.#sending.values());
  }
}
