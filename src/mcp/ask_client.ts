/**
 * The relay's client for an agent that asks its user: sends questions and notes, waits for answers over one reconnecting
 * link, and sends a question that no one has seen for some time to a second outlet.
 */
import { createRelayApi, type RelayApi } from "../client/api.ts";
import { RELAY_BACKOFF, RelayError } from "../client/relay_error.ts";
import { type Clock, delay } from "../async/clock.ts";
import { retry } from "../async/retry.ts";
import { type LinkState, RelayLink } from "../client/relay_link.ts";
import type { HostPush } from "../crypto/host_push.ts";
import type { SecondOutlet } from "../home/config.ts";
import type { HostSealing } from "../home/host_sealing.ts";
import { type Answer, answerFault, answerOf, type AskData, type SealedAskData } from "../protocol/ask.ts";
import type { Frame } from "../protocol/frames.ts";
import { ASK_TTL_SECONDS } from "../protocol/limits.ts";
import type { PushRequestInput } from "../protocol/push.ts";
import { Wakeup } from "../async/wakeup.ts";
import {
  type FollowParts,
  followQuestion,
  LeftQuestions,
  type Outcome,
  reportWhileWaiting,
  type WaitingReport,
} from "./follow_question.ts";
import { sha256Hex } from "../async/encodings.ts";
import { isSessionName, listenerDeviceId } from "../protocol/names.ts";
import { errorText } from "../async/error_text.ts";
import type { Receipt } from "../protocol/receipt.ts";

export interface RelaySettings {
  wsUrl: string;
  baseUrl: string;
  apiKey: string;
}

interface AskClientOptions {
  settings: RelaySettings;
  sealing: HostSealing;
  identity: Identity;
  version: string;
  /** For the waits; the link uses the system clock. */
  clock: Clock;
  random: () => number;
  /** Reports to the listener that the agent waits for its user, or no longer does. Must not throw. */
  reportWaiting(report: WaitingReport): void;
  /** Where an unseen question is also sent; undefined when the host has no such outlet. */
  secondOutlet(): Promise<SecondOutlet | undefined>;
}

type WithoutAsker<Data> = Data extends unknown ? Omit<Data, "replyTo" | "listener" | "run"> : never;

/** A question to the user. AskClient adds the asker. */
export interface Question {
  text: string;
  data: WithoutAsker<AskData>;
  /** Sent only when it can be sealed; its answer is never typed into a session. */
  secret?: boolean;
}

export interface Note {
  title: string;
  body?: string | undefined;
  data: Record<string, unknown>;
}

/** The first question waits this long for the link, so that the relay knows where its answer goes, in milliseconds. */
const LINK_LIMIT_MS = 3_000;
/** A relay that is unreachable or busy is retried for this long, in milliseconds. */
const POST_LIMIT_MS = 30_000;
/** Closing waits this long for withdrawals, in milliseconds. */
const CLOSE_LIMIT_MS = 1_000;

export class AskClient {
  readonly identity: Identity;
  readonly #options: AskClientOptions;
  readonly #api: RelayApi;
  readonly #link: RelayLink;
  readonly #left: LeftQuestions;
  /** The open questions' wakeups, by the ids of the questions and of answers that are being taken. */
  readonly #wakeups = new Map<string, Wakeup>();
  /** Woken by changes of the link. */
  readonly #linkEvent: Wakeup;
  readonly #asking = new Set<Promise<Outcome>>();

  constructor(options: AskClientOptions) {
    const { settings: { baseUrl, wsUrl, apiKey }, identity, version, clock } = options;
    this.identity = identity;
    this.#options = options;
    this.#linkEvent = new Wakeup(clock);
    this.#api = createRelayApi({ baseUrl, apiKey });
    this.#link = new RelayLink({
      wsUrl,
      apiKey,
      hello: () => ({
        role: "script",
        deviceId: identity.deviceId,
        name: identity.name,
        version,
        capabilities: [],
      }),
      onFrame: (frame) => this.#onFrame(frame),
      onState: (state) => this.#onState(state),
    });
    this.#left = new LeftQuestions((ack) => this.#link.send("push.ack", ack));
  }

  /**
   * Asks every phone, and waits. An abort withdraws the question; so does its timeout when no session could get a late
   * answer. Throws RelayError when the question could not be sent, and the signal's reason when that fires.
   */
  ask(question: Question, signal: AbortSignal): Promise<Outcome> {
    const { reportWaiting, clock } = this.#options;
    const id = crypto.randomUUID();
    const asking = reportWhileWaiting(this.#ask(id, question, signal), {
      ask: id,
      report: reportWaiting,
      clock,
    })
      .finally(() => this.#asking.delete(asking));
    this.#asking.add(asking);
    return asking;
  }

  /** Resolves once the relay has stored the note. */
  async note({ title, body, data }: Note, signal: AbortSignal): Promise<void> {
    const { session } = this.identity;
    const note = {
      id: crypto.randomUUID(),
      type: "note",
      title,
      data,
      ...(body === undefined ? {} : { body }),
      ...(session === undefined ? {} : { agentSessionName: session }),
    };
    await this.#api.sendPush(await this.#options.sealing.seal(note), { signal });
  }

  /** Call after aborting all questions. Resolves when the relay has confirmed the withdrawals, or after CLOSE_LIMIT_MS. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#asking);
    const end = this.#options.clock.elapsed() + CLOSE_LIMIT_MS;
    for (;;) {
      const left = end - this.#options.clock.elapsed();
      if (left <= 0 || !this.#link.connected || this.#left.withdrawing === 0) break;
      await this.#linkEvent.wait(left);
    }
    this.#link.close();
  }

  async #ask(id: string, question: Question, signal: AbortSignal): Promise<Outcome> {
    const push = await this.#pushOf(id, question);
    if (question.secret === true && push.sealedFor === undefined) return { kind: "unsealed" };
    const wakeup = new Wakeup(this.#options.clock);
    this.#wakeups.set(id, wakeup);
    const ended = new AbortController();
    let isStored = false;
    try {
      await this.#linked(signal);
      await this.#post(push, signal);
      isStored = true;
      void this.#notifyUnseen(push, ended.signal);
      const timeoutMs = question.data.timeoutSeconds * 1_000;
      const parts = this.#followParts(wakeup, { push, data: question.data });
      const outcome = await followQuestion(parts, { id, timeoutMs, signal });
      if (outcome.kind === "timed_out" || outcome.kind === "unconfirmed") this.#leave(push);
      return outcome;
    } catch (error) {
      const mayBeStored = isStored || !(error instanceof RelayError) || error.transient;
      if (mayBeStored) this.#left.withdraw(id);
      throw error;
    } finally {
      ended.abort();
      for (const [key, one] of this.#wakeups) if (one === wakeup) this.#wakeups.delete(key);
    }
  }

  /** Ignores failures, because the user still finds the question in the app. */
  async #notifyUnseen(push: HostPush, signal: AbortSignal): Promise<void> {
    const { clock, secondOutlet } = this.#options;
    const outlet = await secondOutlet().catch(() => undefined);
    if (outlet !== undefined) await notifyUnseen(push, { outlet, api: this.#api, clock, signal });
  }

  #followParts(
    wakeup: Wakeup,
    { push: asked, data }: Pick<Question, "data"> & { push: HostPush },
  ): FollowParts {
    const { sealing } = this.#options;
    const session = asked.agentSessionName;
    // The relay cannot see whether a sealed answer fits.
    const fits = (answer: Answer): boolean => answerFault(data, answer) === undefined;
    return {
      api: this.#api,
      clock: this.#options.clock,
      wakeup,
      // A plain answer to a sealed question could only come from the relay.
      read: async (push) =>
        asked.sealedFor === undefined
          ? answerOf(push)
          : await sealing.openAnswer(push, { question: asked.id, session, fits }),
      take: (id) => {
        this.#wakeups.set(id, wakeup);
        this.#link.send("push.ack", { id, outcome: "delivered", final: true });
      },
    };
  }

  #leave({ id, agentSessionName }: HostPush): void {
    if (agentSessionName === undefined) this.#left.withdraw(id);
    else this.#left.leave(id);
  }

  async #pushOf(id: string, { text, data, secret }: Question): Promise<HostPush> {
    const { deviceId, listener, run } = this.identity;
    // A late answer is typed into the session that a question names.
    const session = secret === true ? undefined : this.identity.session;
    const isTyped = session !== undefined && run !== undefined;
    const asker = { replyTo: deviceId, listener, ...(isTyped && { run }) };
    const asking = secret === true && this.identity.session !== undefined
      ? { session: this.identity.session }
      : {};
    const push = {
      id,
      type: "ask",
      body: text,
      data: { ...data, ...asker, ...asking },
      ttlSeconds: ASK_TTL_SECONDS,
      ...(session === undefined ? {} : { agentSessionName: session }),
    };
    const shown: SealedAskData = { kind: "sealed", timeoutSeconds: data.timeoutSeconds, ...asker };
    return await this.#options.sealing.seal(push, shown);
  }

  async #linked(signal: AbortSignal): Promise<void> {
    this.#link.start();
    const end = this.#options.clock.elapsed() + LINK_LIMIT_MS;
    while (!this.#link.connected) {
      const left = end - this.#options.clock.elapsed();
      if (left <= 0) return;
      await this.#linkEvent.wait(left, signal);
    }
  }

  /** Retrying is safe because the push has an id. */
  async #post(push: PushRequestInput, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const end = clock.elapsed() + POST_LIMIT_MS;
    const canWait = ({ retryAfterSeconds = 0 }: RelayError): boolean =>
      clock.elapsed() + retryAfterSeconds * 1_000 < end;
    await retry(() => this.#api.sendPush(push, { signal }), {
      isTransient: (error) => error instanceof RelayError && error.transient && canWait(error),
      backoff: { ...RELAY_BACKOFF, random },
      clock,
      signal,
    });
  }

  #onState(state: LinkState): void {
    this.#linkEvent.wake();
    if (state.state !== "connected") return;
    this.#left.connected();
    for (const wakeup of this.#wakeups.values()) wakeup.wake();
  }

  #onFrame(frame: Frame): void {
    if (frame.event === "push.new") this.#left.stored(frame.data);
    if (frame.event !== "push.updated") return;
    this.#left.updated(frame.data);
    this.#linkEvent.wake();
    this.#wakeups.get(frame.data.id)?.wake();
  }
}

/** The asker of a question. */
export interface Identity {
  /** The session that a late answer is typed into; undefined when svc did not start the agent's session. */
  session: string | undefined;
  /** The run of the agent in that session, for the listener; undefined if it is unknown. */
  run?: string | undefined;
  /** One of ASKERS_PER_HOST, always the same for the session and the key. */
  deviceId: string;
  /** The listener that has the session. */
  listener: string;
  /** Shown in lists of devices. */
  name: string;
}

/**
 * How many device ids the sessions of a host share. An account and a key keep a limited number of devices, and a host
 * may have any number of sessions over the years. The end of an asker is noticed later while another one uses its id.
 */
export const ASKERS_PER_HOST = 16;

/** `session` is `SVC_SESSION`, which the wrapper sets for the agent. */
export async function identify(
  { hostname, session, run, apiKey }: {
    hostname: string;
    session: string | undefined;
    run?: string | undefined;
    apiKey: string;
  },
): Promise<Identity> {
  const known = session !== undefined && isSessionName(session) ? session : undefined;
  const place = known === undefined
    ? ""
    : parseInt((await sha256Hex(known)).slice(0, 8), 16) % ASKERS_PER_HOST;
  // The first key that uses an id owns it.
  const digest = await sha256Hex(`${hostname}\n${place}\n${await sha256Hex(apiKey)}`);
  return {
    session: known,
    run: known === undefined ? undefined : run,
    deviceId: `dev_script_${digest.slice(0, 16)}`,
    listener: await listenerDeviceId(hostname),
    name: `svc mcp, ${hostname}`.slice(0, 200),
  };
}

const OUTLET_LIMIT_MS = 10_000;
const OUTLET_TRIES_MAX = 3;
const OUTLET_BACKOFF = { minMs: 1_000, maxMs: 10_000 };

const NTFY_TEXT = "A question waits for you";

interface OutletParts {
  outlet: SecondOutlet;
  api: Pick<RelayApi, "getPush" | "baseUrl">;
  clock: Clock;
  /** Fires when the question is no longer asked. */
  signal: AbortSignal;
  /** Defaults to the network. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** The result of `notifyUnseen`. */
export type OutletOutcome = "sent" | "unnecessary" | { failure: string };

/**
 * Sends a question that no one has seen on a phone for some time to a second outlet: an ntfy topic or a webhook of the
 * host's owner. Resolves when it was sent, was seen or closed before, or is no longer asked. Never throws.
 */
export async function notifyUnseen(push: HostPush, parts: OutletParts): Promise<OutletOutcome> {
  const { outlet, api, clock, signal } = parts;
  try {
    await delay(outlet.afterSeconds * 1_000, { clock, signal });
    const { receipt } = await api.getPush(push.id, { signal }).catch((error) => {
      // A relay that does not answer cannot have shown it either.
      if (error instanceof RelayError) return { receipt: undefined };
      throw error;
    });
    if (receipt !== undefined && isSettled(receipt, outlet)) return "unnecessary";
    const [url, init] = outletRequest(push, parts);
    let tries = 0;
    await retry(() => postTo(url, { init, parts }), {
      isTransient: () => ++tries < OUTLET_TRIES_MAX && !signal.aborted,
      backoff: OUTLET_BACKOFF,
      clock,
      signal,
    });
    return "sent";
  } catch (error) {
    return signal.aborted ? "unnecessary" : { failure: errorText(error) };
  }
}

/** True if the question is closed or was seen; with `unless: "shown"`, a notification shown on a phone is enough. */
function isSettled({ final, shown = {} }: Receipt, { unless }: SecondOutlet): boolean {
  return final ||
    Object.values(shown).some(({ seen, notified }) =>
      seen !== undefined || (unless === "shown" && notified !== undefined)
    );
}

/** Sends no plain text: the link leads to the question, and only a webhook gets the sealed text, if configured. */
function outletRequest(push: HostPush, { outlet, api }: OutletParts): [url: string, init: RequestInit] {
  const link = `${api.baseUrl.replace(/\/+$/, "")}/#/inbox/${push.id}`;
  if (outlet.ntfy !== undefined) {
    const headers = { title: "svc", tags: "speech_balloon", click: link };
    return [outlet.ntfy, { method: "POST", headers, body: NTFY_TEXT }];
  }
  const sealed = outlet.sealed === true && push.sealedFor !== undefined
    ? { type: push.type, agentSessionName: push.agentSessionName, sealedFor: push.sealedFor }
    : {};
  const body = JSON.stringify({ event: "unseen_question", id: push.id, link, ...sealed });
  return [outlet.webhook ?? "", { method: "POST", headers: { "content-type": "application/json" }, body }];
}

async function postTo(
  url: string,
  { init, parts: { signal, fetch: send = fetch } }: { init: RequestInit; parts: OutletParts },
): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(OUTLET_LIMIT_MS)]);
  const answer = await send(url, { ...init, signal: limit, redirect: "error" });
  await answer.body?.cancel();
  if (!answer.ok) {
    throw new Error(`Cannot use the second outlet: ${new URL(url).host} answered ${answer.status}`);
  }
}
