/** Notifies the phones of hook events, in order: an agent's last message, or that it waits. */
import { errorText } from "../async/error_text.ts";
import { RELAY_BACKOFF } from "../client/backoff.ts";
import { type Clock, delay } from "../async/clock.ts";
import { retry } from "../async/retry.ts";
import { RelayError } from "../client/relay_error.ts";
import type { HostPush } from "../crypto/host_push.ts";
import type { HookNews, HookReport } from "../home/control_socket.ts";
import { isSessionName } from "../protocol/names.ts";
import type { PushRequestInput } from "../protocol/push.ts";
import type { RunningListener } from "./listener.ts";

/** Notifications that may wait; beyond this, the oldest are dropped. */
export const NOTIFICATIONS_MAX = 100;
/** Notifications older than this are dropped, in milliseconds. */
export const NOTIFICATION_LIFE_MS = 600_000;
/** An agent writes its last message into its transcript within this time, in milliseconds. */
export const TRANSCRIPT_LIMIT_MS = 3_000;
const TRANSCRIPT_POLL_MS = 100;
/** A longer path would not fit into a push's data. */
const DIRECTORY_MAX_CHARS = 1_000;

export interface HookNotifierOptions {
  clock: Clock;
  /** Throws RelayError. */
  send(push: PushRequestInput, options: { signal: AbortSignal }): Promise<unknown>;
  /** Encrypts the notification for the paired phones; `shown` is the data that the relay still sees. */
  seal(push: HostPush, shown: Record<string, unknown>): Promise<HostPush>;
  /** The id of this installation's hooks. */
  hookId(): Promise<string>;
  isMuted(directory: string): Promise<boolean>;
  /** The last message in an agent's transcript. Undefined until it is there. */
  lastWords(agent: string, transcript: string): Promise<string | undefined>;
  log(line: string): void;
}

interface Entry {
  /** Assigned here, so that a repeated send is one push. */
  id: string;
  at: number;
  report: HookReport;
  news: HookNews;
}

export class HookNotifier {
  #options: HookNotifierOptions;
  #queue: Entry[] = [];
  #working: Promise<void> | undefined;
  #end = new AbortController();

  constructor(options: HookNotifierOptions) {
    this.#options = options;
  }

  /** Queues the report's notification, if it has one. Never throws. */
  take(report: HookReport): void {
    if (report.news === undefined || this.#end.signal.aborted) return;
    if (this.#queue.length >= NOTIFICATIONS_MAX) this.#queue.shift();
    this.#queue.push({ id: crypto.randomUUID(), at: this.#options.clock.now(), report, news: report.news });
    this.#working ??= this.#work();
  }

  /** Drops what is still queued. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let entry = this.#queue.shift(); entry !== undefined; entry = this.#queue.shift()) {
      try {
        await this.#notify(entry);
      } catch (error) {
        if (this.#end.signal.aborted) break;
        const why = errorText(error);
        this.#options.log(`hook ${entry.report.event} ${entry.report.agent}: ${why}`);
      }
    }
    this.#working = undefined;
  }

  async #body({ at, news, report }: Entry): Promise<string | undefined> {
    const { clock, lastWords } = this.#options;
    const { body, transcript } = news;
    if (body !== undefined || transcript === undefined) return body;
    for (;;) {
      const message = await lastWords(report.agent, transcript);
      if (message !== undefined || clock.now() - at > TRANSCRIPT_LIMIT_MS) return message;
      await delay(TRANSCRIPT_POLL_MS, { clock, signal: this.#end.signal });
    }
  }

  async #notify(entry: Entry): Promise<void> {
    const { clock, isMuted, hookId } = this.#options;
    if (await isMuted(entry.report.cwd)) return;
    const plain = toPush(entry, { hookId: await hookId(), body: await this.#body(entry) });
    const { cwd: _place, ...shown } = plain.data ?? {};
    // Sealed once: a retry must send the same push.
    const push = await this.#options.seal(plain, shown);
    const { signal } = this.#end;
    const canWait = ({ retryAfterSeconds = 0 }: RelayError): boolean =>
      clock.now() - entry.at + retryAfterSeconds * 1_000 <= NOTIFICATION_LIFE_MS;
    await retry(() => this.#options.send(push, { signal }), {
      isTransient: (error) => error instanceof RelayError && error.transient && canWait(error),
      backoff: RELAY_BACKOFF,
      clock,
      signal,
    });
  }
}

function toPush(
  { id, report, news: { type, title } }: Entry,
  { hookId, body }: { hookId: string; body: string | undefined },
): HostPush {
  const { agent, event, cwd, session } = report;
  const place = cwd.length <= DIRECTORY_MAX_CHARS ? { cwd } : {};
  return {
    ...{ id, type, title },
    ...(body === undefined ? {} : { body }),
    ...(session !== undefined && isSessionName(session) ? { agentSessionName: session } : {}),
    data: { hookId, agent, event, ...place },
  };
}

/** A listener that also notifies the phones of hook events. */
export function withNotifications(listener: RunningListener, notifier: HookNotifier): RunningListener {
  return {
    status: () => listener.status(),
    readInventory: () => listener.readInventory(),
    gate: (report) => listener.gate(report),
    revokePhone: (phone) => listener.revokePhone(phone),
    hook(report) {
      listener.hook(report);
      notifier.take(report);
    },
    stop: async () => void await Promise.all([notifier.stop(), listener.stop()]),
  };
}
