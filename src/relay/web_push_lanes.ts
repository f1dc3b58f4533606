/** Queues of Web Push messages: one is sent at a time to each phone, and the messages of a phone, an account and the relay are limited. */
import { type DeviceName, nameKey } from "../store/store.ts";

/** Messages of all accounts that wait or are being sent; more are dropped. */
export const MESSAGES_MAX = 1_000;
/** Messages of one account. */
export const MESSAGES_PER_ACCOUNT_MAX = 100;
/** Messages that wait for one phone behind the one that is being sent, which a busy vendor may hold up for an hour. */
export const MESSAGES_PER_PHONE_MAX = 10;

export interface LaneMessage {
  /** A later message with the same topic may replace it. */
  topic: string;
  send(): Promise<void>;
}

interface LanesOptions {
  /** Runs work in the background. */
  run(work: Promise<void>): void;
  /** Called when a message is dropped because there are too many. */
  dropped(): void;
}

interface Counted extends LaneMessage {
  /** Stops counting it. */
  leave(): void;
}

interface Lane {
  /** The topic of the message that is being sent. */
  sending: string;
  /** In order, so that a withdrawal follows its notification. */
  waiting: Counted[];
}

export class Lanes {
  readonly #options: LanesOptions;
  /** The lanes of phones to which a message is being sent. */
  readonly #lanes = new Map<string, Lane>();
  readonly #ofAccount = new Map<string, number>();
  #messages = 0;
  #ended = false;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** Sends the message after those that wait for the phone; if too many wait, one of them is dropped. */
  add(device: DeviceName, message: LaneMessage): void {
    if (this.#ended) return;
    const key = nameKey(device);
    const lane = this.#lanes.get(key);
    if (lane !== undefined && lane.waiting.length >= MESSAGES_PER_PHONE_MAX) this.#makeRoom(lane, message);
    const leave = this.enter(device.account);
    if (leave === undefined) return;
    if (lane === undefined) this.#send({ key, waiting: [] }, { ...message, leave });
    else lane.waiting.push({ ...message, leave });
  }

  /** True while a message of this topic waits or is being sent. */
  has(device: DeviceName, topic: string): boolean {
    const lane = this.#lanes.get(nameKey(device));
    return lane?.sending === topic || lane?.waiting.some((one) => one.topic === topic) === true;
  }

  /** Counts a message until the result is called. Undefined if there are too many. */
  enter(account: string): (() => void) | undefined {
    const ofAccount = this.#ofAccount.get(account) ?? 0;
    if (this.#messages >= MESSAGES_MAX || ofAccount >= MESSAGES_PER_ACCOUNT_MAX) {
      this.#options.dropped();
      return undefined;
    }
    this.#messages++;
    this.#ofAccount.set(account, ofAccount + 1);
    return () => {
      this.#messages--;
      const left = (this.#ofAccount.get(account) ?? 1) - 1;
      if (left === 0) this.#ofAccount.delete(account);
      else this.#ofAccount.set(account, left);
    };
  }

  /** Drops the waiting messages; nothing more is sent. */
  stop(): void {
    this.#ended = true;
    for (const { waiting } of this.#lanes.values()) waiting.length = 0;
  }

  /** Drops a waiting message: one of the same topic, which the new one replaces, or else the oldest. */
  #makeRoom({ waiting }: Lane, { topic }: LaneMessage): void {
    const same = waiting.findIndex((one) => one.topic === topic);
    const [dropped] = waiting.splice(Math.max(0, same), 1);
    dropped?.leave();
    this.#options.dropped();
  }

  #send({ key, waiting }: { key: string; waiting: Counted[] }, { topic, send, leave }: Counted): void {
    this.#lanes.set(key, { sending: topic, waiting });
    const sent = send().finally(() => {
      leave();
      const next = waiting.shift();
      if (next === undefined) this.#lanes.delete(key);
      else this.#send({ key, waiting }, next);
    });
    this.#options.run(sent);
  }
}
