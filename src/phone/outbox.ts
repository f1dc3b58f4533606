/** Stores messages, turns them into pushes, and sends them over HTTP until the relay has them. */
import type { Clock } from "../async/clock.ts";
import { retryDelayMs } from "../async/retry.ts";
import { RELAY_BACKOFF, RelayError } from "../client/relay_error.ts";
import { answerOf } from "../protocol/ask.ts";
import { type PushAccepted, type PushRequestInput, startDataOf } from "../protocol/push.ts";
import { encodeAnswer } from "../protocol/sealed_text.ts";
import { isLost } from "./database.ts";
import {
  type HostRequest,
  isCardAnswer,
  isText,
  type Message,
  NOT_KNOWN,
  NOT_PREPARED,
  type Progress,
  type SendFailure,
} from "./message.ts";
import type { Sealing } from "./sealing.ts";
import { sessionKey } from "./sessions.ts";
import { draftKeyOf, type PhoneState } from "./state.ts";
import type { OutboxEntry, PhoneStorage } from "./storage.ts";

export interface OutboxOptions {
  /** True if the message was written since the page was opened. */
  isNew(id: string): boolean;
  /** True if an earlier page's message has yet to be sent: no other page has cancelled or sent it meanwhile. */
  isWaiting(id: string): Promise<boolean>;
  /** The next message to send, if there is one, for a session that is not `held`. */
  next(held: ReadonlyMap<string, unknown>): Message | undefined;
  send(message: Message, options: { signal: AbortSignal }): Promise<PushAccepted>;
  onAccepted(accepted: PushAccepted): Promise<void>;
  /** The relay will never accept this message as it is. */
  onFailed(id: string, failure: SendFailure): Promise<void>;
  /** It has failed several times and is still being retried. */
  onDelayed(id: string, failure: SendFailure): void;
  /** It no longer needs to be sent. */
  onGone(id: string): void;
  clock: Clock;
  random: () => number;
}

/** The user learns why a message waits after this many tries. */
const TRIES_SHOWN = 3;
/** The first attempt after this many counts as hanging after TRY_MS, the next one after twice that, and so on. */
const FREE_TRIES = 2;
const TRY_MS = 5_000;

/** Sends messages one at a time, in order, and retries for as long as it takes. Needs no live link, only HTTP. */
export class Outbox {
  readonly #options: OutboxOptions;
  #sending = false;
  #stopped = false;
  #attempt = new AbortController();
  #hangsAt = 0;
  #attempts = 0;
  #cancelRetry: () => void = () => {};
  /** How often each message was tried since the page was opened. */
  readonly #tries = new Map<string, number>();
  /** The sessions whose messages wait for the next try while others are sent, each with the error. */
  readonly #held = new Map<string, unknown>();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Sends all unsent messages. Call this when a message was written. */
  async pump(): Promise<void> {
    if (this.#sending || this.#stopped) return;
    this.#sending = true;
    this.#cancelRetry();
    this.#held.clear();
    try {
      while (!this.#stopped) {
        const message = this.#options.next(this.#held);
        const error = message ? await this.#sendOne(message) : [...this.#held.values()][0];
        if (error !== undefined) this.#retryLater(error);
        if (error !== undefined || message === undefined) return;
      }
    } finally {
      this.#sending = false;
    }
  }

  /**
   * Call this when the network is back: aborts an attempt that may hang and retries at once. The push id makes that
   * safe. Each try of a message gets more time than the one before, in case the uplink is slow.
   */
  async hurry(): Promise<void> {
    this.#attempts = 0;
    this.#held.clear();
    if (this.#options.clock.elapsed() >= this.#hangsAt) this.#attempt.abort();
    await this.pump();
  }

  /**
   * True if the relay may have the message, even without an answer. An earlier page may have tried to send its
   * messages.
   */
  mayHaveSent(id: string): boolean {
    return this.#tries.has(id) || !this.#options.isNew(id);
  }

  /** Aborts the running attempt, whose message is no longer wanted. */
  abort(): void {
    this.#attempt.abort();
  }

  stop(): void {
    this.#stopped = true;
    this.#attempt.abort();
    this.#cancelRetry();
  }

  /** Returns the error that makes all remaining messages wait, if there is one. */
  async #sendOne(message: Message): Promise<unknown> {
    this.#attempt = new AbortController();
    const { signal } = this.#attempt;
    const { id } = message;
    const { clock, isNew, isWaiting, send, onAccepted, onFailed, onDelayed, onGone } = this.#options;
    const tries = (this.#tries.get(id) ?? 0) + 1;
    this.#hangsAt = clock.elapsed() + (tries - FREE_TRIES) * TRY_MS;
    let accepted: PushAccepted;
    try {
      if (tries === 1 && !isNew(id) && !await isWaiting(id)) return void onGone(id);
      this.#tries.set(id, tries);
      accepted = await send(message, { signal });
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!mayPass(error)) return await onFailed(id, failureOf(error));
      const isHeld = isRefusedByProxy(error);
      if (tries >= TRIES_SHOWN) onDelayed(id, isHeld ? BY_PROXY : NOT_YET);
      if (!isHeld) return error;
      this.#held.set(draftKeyOf(message), error);
      return undefined;
    }
    this.#attempts = 0;
    await onAccepted(accepted);
    return undefined;
  }

  #retryLater(error: unknown): void {
    const { random } = this.#options;
    const waitMs = retryDelayMs(error, { ...RELAY_BACKOFF, random, attempt: this.#attempts });
    if (!(error instanceof RelayError && error.retryAfterSeconds !== undefined)) this.#attempts++;
    this.#cancelRetry = this.#options.clock.after(waitMs, () => void this.pump());
  }
}

/** An error that does not come from the relay comes from this phone's storage or encryption. */
function failureOf(error: unknown): SendFailure {
  if (error instanceof RelayError) return { code: error.code, message: error.message };
  return { code: NOT_PREPARED, message: `Cannot prepare the message: ${error}` };
}

/** True if sending the same message again may succeed. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof RelayError)) return isLost(error);
  return error.transient || error.code === "unauthenticated" || isRefusedByProxy(error);
}

/** True if a proxy refused the message in the relay's place, perhaps this one alone. 413 is certain to fail again. */
function isRefusedByProxy(error: unknown): boolean {
  if (!(error instanceof RelayError) || error.transient) return false;
  return error.code === "bad_answer" && error.status >= 400 && error.status !== TOO_LARGE;
}

const BY_PROXY: SendFailure = { code: "refused_by_proxy", message: "" };
const NOT_YET: SendFailure = { code: "not_yet", message: "" };
const TOO_LARGE = 413;

/** The stored copies of messages, each kept until the relay is known to have the message and its text is not needed here. */
export class OutboxStore {
  readonly #storage: PhoneStorage;
  readonly #ids = new Set<string>();
  readonly #restored = new Set<string>();
  /** The ids of messages whose text may become a draft. */
  readonly #editing = new Set<string>();

  constructor(storage: PhoneStorage) {
    this.#storage = storage;
  }

  /** The messages that earlier pages left here, or those of them that are `wanted`. */
  async restore(wanted: (id: string) => boolean = () => true): Promise<Message[]> {
    const entries = (await this.#storage.readOutbox()).filter(({ id }) => wanted(id));
    for (const entry of entries) {
      this.#note(entry);
      this.#restored.add(entry.id);
    }
    return entries.map(restoredMessage);
  }

  /** True if an earlier page stored the message. */
  isRestored(id: string): boolean {
    return this.#restored.has(id);
  }

  /** True if the message is stored and no page is cancelling it, or if the storage cannot be read. */
  async isWaiting(id: string): Promise<boolean> {
    const entries = await this.#storage.readOutbox().catch(() => undefined);
    const entry = entries?.find((one) => one.id === id);
    return entries === undefined || (entry !== undefined && !isCancelled(entry));
  }

  /** Returns whether the entry survives a reload. A full or broken storage does not keep a message from being sent. */
  async put(entry: OutboxEntry): Promise<boolean> {
    this.#note(entry);
    return await this.#storage.putOutbox(entry).then(() => true, () => false);
  }

  /** Updates the stored copy of a message, if there is one. Returns false if that failed. */
  async replace(message: Message): Promise<boolean> {
    return !this.#ids.has(message.id) || await this.put(entryOf(message));
  }

  /** Keeps a text that the relay has rejected; an answer or request is removed, as it is out of date after a reload. */
  async fail(message: Message): Promise<void> {
    if (isText(message) && message.answers === undefined) await this.replace(message);
    else await this.remove(message.id);
  }

  async remove(id: string): Promise<void> {
    if (this.#ids.has(id)) await this.#erase(id);
  }

  /**
   * Removes the messages that the relay has, according to its answer, a receipt or the history, and that are not being
   * edited. One that is being cancelled stays until the relay has the cancellation.
   */
  async sweep({ messages, drafts }: Pick<PhoneState, "messages" | "drafts">): Promise<void> {
    const known = [...this.#ids].map((id) => messages.get(id)).filter((message) => message !== undefined);
    const cancelled = [...messages.values()].flatMap(({ progress, cancels = "" }) =>
      progress.kind === "taken" ? cancels : []
    );
    const done = known.filter(({ id, progress, editing }) =>
      progress.kind === "taken" && !editing && (progress !== NOT_KNOWN || cancelled.includes(id))
    );
    await Promise.all(done.map(async (message) => {
      const key = sessionKey(message);
      const keepText = async (): Promise<void> => {
        if (this.#editing.has(message.id)) await this.#storage.putDraft(key, drafts[key] ?? "");
      };
      await this.#erase(message.id, keepText);
    }));
  }

  /** Removes the copy once `before` has resolved. The next sweep retries a removal that failed. */
  async #erase(id: string, before: () => Promise<void> = async () => {}): Promise<void> {
    this.#ids.delete(id);
    try {
      await before();
      await this.#storage.removeOutbox(id);
    } catch {
      this.#ids.add(id);
    }
  }

  #note({ id, editing }: OutboxEntry): void {
    this.#ids.add(id);
    if (editing) this.#editing.add(id);
  }
}

function restoredMessage({ failure, ...entry }: OutboxEntry): Message {
  const progress: Progress = isCancelled(entry) ? NOT_KNOWN : { kind: "outbox" };
  return {
    ...entry,
    fromHere: true,
    progress: failure === undefined ? progress : { kind: "failed", failure },
  };
}

/** Earlier versions stored only `editing`. */
function isCancelled({ cancelled, editing }: OutboxEntry): boolean {
  return cancelled === true || editing === true;
}

/** The stored form of a message. */
export function entryOf(
  { fromHere: _fromHere, sealed: _sealed, inReplyTo: _inReplyTo, progress, ...entry }: Message,
): OutboxEntry {
  return progress.kind === "failed" ? { ...entry, failure: progress.failure } : entry;
}

/** The push for a message to a session: sealed for a paired host, plain for others. */
export async function commandPush(message: Message, sealing: Sealing): Promise<PushRequestInput> {
  const type = "agent.command";
  const { id, deviceId, session, sendAnyway, later, ttlSeconds } = message;
  const content = await sealing.outgoingContent({ ...message, type });
  const target = deviceId === "" ? {} : { targetDeviceId: deviceId };
  const data = { ...(sendAnyway ? { sendAnyway } : {}), ...(later ? { later } : {}) };
  return {
    id,
    type,
    ...target,
    agentSessionName: session,
    ...content,
    ...(Object.keys(data).length > 0 ? { data } : {}),
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
  };
}

/** The push for a request to a host, or for an action on a dialog. */
export async function requestPush(
  message: Message,
  { type, sealing }: { type: HostRequest | "dialog.answer"; sealing: Sealing },
): Promise<PushRequestInput> {
  const { id, deviceId, session, ttlSeconds } = message;
  const { sealed, body } = await sealing.outgoingContent({ ...message, type });
  const content = sealed ? { sealed } : type === "agent.start" ? { data: startDataIn(body) } : { body };
  return {
    id,
    type,
    targetDeviceId: deviceId,
    ...content,
    ...(session === "" ? {} : { agentSessionName: session }),
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
  };
}

function startDataIn(body: string | undefined): Record<string, unknown> {
  return { ...startDataOf({ sealed: true, body }) };
}

/** The push that cancels a message: sealed for a paired host, so that nobody else can cancel it there. */
export async function cancelPush(
  { id, deviceId, session, cancels = "" }: Message,
  sealing: Sealing,
): Promise<PushRequestInput> {
  const type = "agent.cancel";
  const content = { id, type, deviceId, session, body: cancels, inReplyTo: cancels } as const;
  const { sealed } = await sealing.outgoingContent(content);
  const target = deviceId === "" ? {} : { targetDeviceId: deviceId };
  const seal = sealed === undefined ? {} : { sealed };
  return { id, type, ...target, agentSessionName: session, inReplyTo: cancels, ...seal };
}

/** The push for an answer, sealed if the question was. Throws RelayError if it can no longer be sealed. */
export async function answerPush(
  { id, body, answers }: Message,
  sealing: Sealing,
): Promise<PushRequestInput> {
  const type = "ask.answer";
  const { question = "", data, sealTo } = answers ?? {};
  const plain = data ? { data } : { body };
  const answer = answerOf(plain);
  if (sealTo === undefined || answer === undefined) return { id, type, inReplyTo: question, ...plain };
  const text = encodeAnswer(question, answer);
  const byHost = isCardAnswer(data);
  const content = { id, type, ...sealTo, body, text, byHost, inReplyTo: question } as const;
  const { sealed } = await sealing.outgoingContent(content);
  if (sealed !== undefined) return { id, type, inReplyTo: question, sealed };
  const message =
    `Cannot seal the answer for "${sealTo.deviceId}": it is no longer paired; pair this phone again`;
  throw new RelayError(message, { code: "unsealable" });
}
