/** A client that stays within its budget: posts one message after another, and keeps a WebSocket open. */
import { Peer } from "../contract/relay_peer.ts";
import { until } from "./until.ts";

export interface Served {
  /** How long each POST took until its 202, in milliseconds, shortest first. */
  postMs: number[];
  /** The statuses that were not 202. */
  others: number[];
  /** Pushes received over the WebSocket. */
  received: number;
}

export class GoodClient {
  readonly #url: string;
  readonly #keys: readonly string[];
  readonly #phone: Peer;

  private constructor(url: string, { keys, phone }: { keys: readonly string[]; phone: Peer }) {
    this.#url = url;
    this.#keys = keys;
    this.#phone = phone;
  }

  /** Uses several keys, so that the limit on one key's requests does not affect the result. */
  static async connect(
    { url, wsUrl }: { url: string; wsUrl: string },
    { keys, reader }: { keys: readonly string[]; reader: string },
  ): Promise<GoodClient> {
    return new GoodClient(url, { keys, phone: await Peer.greeted(wsUrl, { key: reader, hello: {} }) });
  }

  /** Posts until the work is done and at least `least` messages were sent. */
  async post({ work, least }: { work: Promise<unknown>; least: number }): Promise<Served> {
    let isDone = false;
    const done = work.finally(() => isDone = true);
    const before = this.#phone.received("push.new").length;
    const served: Served = { postMs: [], others: [], received: 0 };
    for (let n = 0; !isDone || n < least; n++) {
      const began = performance.now();
      const status = await this.#send(n);
      if (status === 202) served.postMs.push(performance.now() - began);
      else served.others.push(status);
    }
    await done;
    const received = (): number => this.#phone.received("push.new").length - before;
    served.received = await until("every push", () => received() >= served.postMs.length && received());
    served.postMs.sort((one, other) => one - other);
    return served;
  }

  get isConnected(): boolean {
    return this.#phone.closed === undefined;
  }

  async close(): Promise<void> {
    await this.#phone.leave();
  }

  async #send(n: number): Promise<number> {
    const answer = await fetch(`${this.#url}/pushes/send`, {
      method: "POST",
      headers: { "x-api-key": this.#keys[n % this.#keys.length] ?? "", "content-type": "application/json" },
      body: JSON.stringify({ type: "note", body: `message ${n}` }),
    });
    await answer.body?.cancel();
    return answer.status;
  }
}

/** Formats `2.1 ms, 99 % within 9.8 ms, at most 12.0 ms (400 sent)`. */
export function servedLine({ postMs, others }: Served): string {
  const at = (share: number): string => (postMs[Math.ceil(postMs.length * share) - 1] ?? 0).toFixed(1);
  const refused = others.length === 0 ? "" : `, ${others.length} not accepted`;
  return `${at(0.5)} ms, 99 % within ${at(0.99)} ms, at most ${at(1)} ms (${postMs.length} sent${refused})`;
}
