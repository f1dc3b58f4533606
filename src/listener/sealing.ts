/**
 * Opens a push that a phone sealed for this host, checks that its sealing is strong enough, and records it before
 * anything is done with it.
 */
import {
  isSameSeal,
  type Journal,
  type JournalEntry,
  type PhoneSeal,
  type TakeVerdict,
} from "../home/journal.ts";
import type { HostKeys } from "../home/host_sealing.ts";
import { PairingsBusy } from "../home/pairing.ts";
import { isEnough, type Sealing } from "../crypto/mode.ts";
import { pairingId } from "../crypto/paired_secret.ts";
import { type MessageBinding, openMessage, type SealedContent } from "../crypto/stored_message.ts";
import { type Answer, answerText } from "../protocol/ask.ts";
import { carriedAnswer, lateAnswerId } from "../protocol/late_answer.ts";
import { SKEW_MS, TTL_MAX_SECONDS } from "../protocol/limits.ts";
import { Body, laterOf, type Push, rulesOf } from "../protocol/push.ts";
import type { Reason } from "../protocol/receipt.ts";
import { decodeAnswer } from "../protocol/sealed_text.ts";
import { type EarlierTyping, type Outcome, refused } from "./inject/context.ts";
import { errorText } from "../async/error_text.ts";

export interface OpenOptions {
  unseal(push: Push): Promise<Unsealed>;
  /** Called before a push is journalled, perhaps more than once, if it is authentic or needs no seal. Must not throw. */
  prepare(push: Push): void;
  journal: Pick<Journal, "state" | "record" | "take">;
  /** The weakest sealing that this host accepts now. */
  floor(): Promise<Sealing>;
  log(line: string): void;
}

export class PushOpener {
  readonly #options: OpenOptions;
  /** The last floor that was read allowed pushes without a seal. */
  #takesPlain = false;

  constructor(options: OpenOptions) {
    this.#options = options;
  }

  /**
   * Resolves to the push with its text, recorded in the journal; or to its outcome; or to undefined if the host's files
   * cannot be used, which only the first try logs.
   */
  async open(push: Push, { isFirst = true } = {}): Promise<OpenedPush | Outcome | undefined> {
    const { journal, log, prepare } = this.#options;
    try {
      // Only reading may come before the journal.
      if (push.sealed === undefined && this.#takesPlain) prepare(push);
      const floor = await this.#options.floor();
      this.#takesPlain = isEnough("off", floor);
      const fault = faultOf(push, floor);
      if (fault !== undefined) return refused(fault);
      const known = journal.state(push.id);
      const { found, seal } = await this.#opened(push, known?.step === "left" ? known.sealed : undefined);
      if (!("state" in found)) prepare(found);
      // Typing waits for a sync of its own, which covers this entry too.
      const sync = push.type !== "agent.command";
      if (seal === undefined) {
        const isNew = !("state" in found) && leftIn(journal, push) === undefined;
        if (isNew) await journal.record(push.id, { step: "accepted" }, { sync });
        return found;
      }
      const verdict = await journal.take(push.id, seal, { sync });
      return verdict === "taken" ? found : refused(NOT_TAKEN[verdict]);
    } catch (error) {
      if (isFirst) log(`push ${push.id}: not taken, the host's files cannot be used: ${errorText(error)}`);
      return undefined;
    }
  }

  /**
   * The push that an earlier listener was typing when it stopped; undefined unless it is certainly that one, because a
   * relay may send anything under its id. Throws if the host's files cannot be read.
   */
  async reopen(push: Push, { sealed }: Pick<JournalEntry, "sealed">): Promise<OpenedPush | undefined> {
    if (!isEnough(push.sealed?.mode ?? "off", await this.#options.floor())) return undefined;
    const { found, seal } = await this.#opened(push, sealed);
    if (sealed !== undefined && (seal === undefined || !isSameSeal(sealed, seal))) return undefined;
    return "state" in found ? undefined : found;
  }

  /** `typed`: how a message was sealed whose text an earlier listener typed: that one is opened even when it is old. */
  async #opened(push: Push, typed: JournalEntry["sealed"]): Promise<Unsealed> {
    if (push.sealed === undefined) return { found: push };
    const { found, seal, old } = await this.#options.unseal(push);
    const isTyped = typeof typed === "object" && seal !== undefined && isSameSeal(typed, seal);
    return { found: isTyped && old !== undefined ? old : found, seal };
  }
}

/** Refusal reasons for sealed messages that the journal does not accept. */
const NOT_TAKEN = {
  used: "counter_used",
  old: "counter_old",
  uncounted: "counter_missing",
} as const satisfies Record<Exclude<TakeVerdict, "taken">, Reason>;

/** Why a push cannot be taken as it is, before it is opened. `floor`: the weakest sealing that this host accepts. */
function faultOf(push: Push, floor: Sealing): Reason | undefined {
  if (!isEnough(push.sealed?.mode ?? "off", floor)) return "sealed_required";
  const { ifNoSession = "invalid_session_name", isTextOptional } = rulesOf(push.type);
  if (push.agentSessionName === undefined && ifNoSession !== null) return ifNoSession;
  if (push.sealed || isTextOptional) return undefined;
  return Body.safeParse(push.body).success ? undefined : "invalid_body";
}

/** The journal's record of a text that an earlier listener typed without pressing Enter; undefined without one. */
export function leftIn(journal: Pick<Journal, "state">, { id }: Pick<Push, "id">): EarlierTyping | undefined {
  const known = journal.state(id);
  return known?.step === "left" ? { emptyAt: known.emptyAt, shown: known.shown } : undefined;
}

export interface UnsealHost
  extends Pick<HostKeys, "deviceId" | "identity" | "secretOf" | "ownSecret" | "claimQuestion"> {
  now(): number;
  log(line: string): void;
}

/** A push with its text. */
export interface OpenedPush extends Push {
  /** The expiry that was sealed in, in this host's epoch milliseconds. The relay cannot extend it. */
  notAfter?: number;
}

export interface Unsealed {
  /** The push with its text, or its outcome. */
  found: OpenedPush | Outcome;
  /** Set for a message that a paired phone sealed. */
  seal?: PhoneSeal | undefined;
  /** The text of a message that is too old to be typed. */
  old?: OpenedPush | undefined;
}

/** Opens the sealed text; ignores an unsealed one beside it. Throws PairingsBusy, or if an answer cannot be claimed. */
export async function unseal(push: Push, host: UnsealHost): Promise<Unsealed> {
  const opened = await openSealed(push, host).catch((error) => {
    if (error instanceof PairingsBusy) throw error;
    host.log(`push ${push.id}: sealed, and this host's keys cannot be read: ${error}`);
  });
  if (typeof opened === "object") {
    const found = await judge(push, opened.content, host);
    const { body: text, notAfter } = opened.content;
    const isOld = "state" in found && found.state === "expired";
    const body = isOld ? await typedText(push, text) : undefined;
    return { found, seal: opened.seal, ...(body === undefined ? {} : { old: { ...push, body, notAfter } }) };
  }
  if (opened) host.log(`push ${push.id}: sealed by "${push.from}" and not opened: ${opened}`);
  return { found: refused("unsealable") };
}

interface Opened {
  content: SealedContent;
  seal: PhoneSeal | undefined;
}

/** The content, or why there is none. */
async function openSealed(push: Push, host: UnsealHost): Promise<Opened | string> {
  const { sealed, from } = push;
  const keyPair = await host.identity();
  if (sealed === undefined || keyPair === undefined) return "this host was never paired";
  const boundTo = bindingOf(push, host.deviceId);
  if (sealed.mode === "base") {
    const content = await openMessage(sealed, { boundTo, keyPair });
    return content ? { content, seal: undefined } : UNOPENED;
  }
  const orScript = boundTo.type === "agent.command";
  const [secret, own] = [await host.secretOf(from, { orScript }), await host.ownSecret()];
  if (secret === undefined && own === undefined) {
    return orScript ? "this host is not paired with it" : "this host is not paired with it as with a phone";
  }
  return await openPaired(sealed, { boundTo, keyPair, secret }) ??
    // This host's own `svc send` seals in the host's name, because it does not know the relay's name for its key.
    await openPaired(sealed, { boundTo: { ...boundTo, from: host.deviceId }, keyPair, secret: own }) ??
    UNOPENED;
}

const UNOPENED = "it is damaged, forged, or sealed for another place or another pairing";

async function openPaired(
  sealed: NonNullable<Push["sealed"]>,
  { boundTo, keyPair, secret }: {
    boundTo: MessageBinding;
    keyPair: CryptoKeyPair;
    secret: CryptoKey | undefined;
  },
): Promise<Opened | undefined> {
  if (secret === undefined) return undefined;
  const content = await openMessage(sealed, { boundTo, keyPair, secret });
  return content && { content, seal: { pairing: await pairingId(secret), counter: content.counter } };
}

async function judge(
  push: Push,
  { body: text, notAfter }: SealedContent,
  host: UnsealHost,
): Promise<OpenedPush | Outcome> {
  const age = ageOf(notAfter, host.now());
  if (age !== "fresh") return age === "old" ? { state: "expired" } : refused("unsealable");
  const answer = carriedAnswer(push);
  const body = await typedText(push, text);
  if (body === undefined) return refused("unsealable");
  const question = push.inReplyTo ?? "";
  if (answer !== undefined && !await host.claimQuestion(question, { answer, by: "listener" })) {
    return refused("answer_taken");
  }
  return Body.safeParse(body).success
    ? { ...push, body, notAfter: notAfter + SKEW_MS }
    : refused("invalid_body");
}

/** What the sealed text types. Undefined for an answer that types nothing. */
async function typedText(push: Push, text: string): Promise<string | undefined> {
  return carriedAnswer(push) === undefined ? text : await lateAnswer(push, text);
}

/** Answers to an agent's own dialog. */
const TO_CARDS: ReadonlySet<Answer["kind"]> = new Set(["answers", "decided"]);

/**
 * The text of a sealed answer that arrives as a message. Undefined if the relay attached it to another question, and for the
 * answer to a card, which is never typed.
 */
async function lateAnswer(push: Push, text: string): Promise<string | undefined> {
  const sealed = decodeAnswer(text);
  if (sealed === undefined || TO_CARDS.has(sealed.answer.kind)) return undefined;
  const id = await lateAnswerId(carriedAnswer(push) ?? "");
  return sealed.question === push.inReplyTo && push.id === id ? answerText(sealed.answer) : undefined;
}

/** The target is always this listener, whatever the relay wrote. */
function bindingOf(push: Push, deviceId: string): MessageBinding {
  const answer = carriedAnswer(push);
  const later = laterOf(push);
  return {
    id: answer ?? push.id,
    type: answer === undefined ? push.type : "ask.answer",
    from: push.from,
    targetDeviceId: deviceId,
    agentSessionName: push.agentSessionName ?? "",
    sendAnyway: push.data?.sendAnyway === true,
    later: later === "invalid" ? undefined : later,
  };
}

/** The journal keeps ids for longer than the longest TTL: an older message could be a second delivery. */
function ageOf(notAfter: number, now: number): "fresh" | "old" | "too far" {
  if (now > notAfter + SKEW_MS) return "old";
  return notAfter > now + TTL_MAX_SECONDS * 1_000 + SKEW_MS ? "too far" : "fresh";
}
