/** What a person does, turned into events of the state: sign in and out, write, send again, take back. */
import { createRelayApi } from "../client/api.ts";
import { systemClock } from "../client/clock.ts";
import { RelayError } from "../client/relay_error.ts";
import type { Account } from "./account.ts";
import { KeptMessages } from "./kept_messages.ts";
import { LiveRelay, type PhoneParts } from "./live_relay.ts";
import type { Message } from "./message.ts";
import type { Handover } from "./route.ts";
import { draftKey, type SessionName } from "./names.ts";

export class Controller {
  readonly #parts: PhoneParts;
  #live: LiveRelay | undefined;
  #watched = false;

  constructor(parts: Omit<PhoneParts, "kept">) {
    this.#parts = { ...parts, kept: new KeptMessages(parts.storage) };
  }

  /** Takes what the address handed over, else what the phone kept. */
  async start(handover?: Handover): Promise<void> {
    if (handover?.kind === "key") return await this.signIn(handover.key);
    if (handover?.kind === "pair") return await this.claim(handover.code);
    const account = await this.#parts.storage.readAccount();
    if (account !== undefined) await this.#enter(account);
    else this.#parts.store.dispatch({ type: "signIn", signIn: { kind: "out" } });
  }

  async signIn(key: string): Promise<void> {
    const apiKey = key.trim();
    this.#parts.store.dispatch({ type: "signIn", signIn: { kind: "busy", how: "key" } });
    await this.#enterOrSayWhy(async () => {
      await createRelayApi({ ...this.#parts, apiKey }).sessions();
      return { apiKey };
    });
  }

  async claim(code: string): Promise<void> {
    this.#parts.store.dispatch({ type: "signIn", signIn: { kind: "busy", how: "pair" } });
    await this.#enterOrSayWhy(() =>
      createRelayApi(this.#parts).claimPairing(code, { name: this.#parts.name })
    );
  }

  /** The phone forgets the key, and what it has not sent. */
  async signOut(): Promise<void> {
    this.stop();
    await this.#parts.storage.clear();
    this.#parts.store.dispatch({ type: "signIn", signIn: { kind: "out" } });
  }

  stop(): void {
    this.#live?.stop();
    this.#live = undefined;
  }

  /** Shown at once, kept over a reload, sent as soon as there is a link. */
  async send(to: SessionName, body: string, options: { sendAnyway?: boolean } = {}): Promise<void> {
    const { store, kept, clock = systemClock } = this.#parts;
    const entry = {
      id: crypto.randomUUID(),
      deviceId: to.deviceId,
      session: to.session,
      body,
      ...(options.sendAnyway ? { sendAnyway: true } : {}),
      createdAt: clock.now() + store.get().clockOffsetMs,
    };
    const put = kept.put(entry);
    store.dispatch({ type: "composed", message: { ...entry, progress: { kind: "outbox" } } });
    await put;
    await this.#live?.pump();
  }

  /** The same text as a new message, after a busy desk whatever goes on there; what the relay never took keeps its id. */
  async resend(message: Message): Promise<void> {
    const { progress, body } = message;
    if (progress.kind === "taken") {
      return await this.send(message, body, { sendAnyway: progress.receipt.reason === "desk_busy" });
    }
    this.#parts.store.dispatch({ type: "retried", id: message.id });
    await this.#live?.pump();
  }

  async discard(id: string): Promise<void> {
    await this.#parts.kept.remove(id);
    this.#parts.store.dispatch({ type: "discarded", id });
  }

  draft(to: SessionName, text: string): void {
    this.#parts.store.dispatch({ type: "drafted", key: draftKey(to), text });
  }

  readOlder(): void {
    void this.#live?.readOlder();
  }

  /** While the page is looked at, a dead link shows within 2 s. */
  watch(watched: boolean): void {
    this.#watched = watched;
    this.#live?.watch(watched);
    if (watched) this.#live?.reconnectNow();
  }

  reconnectNow(): void {
    this.#live?.reconnectNow();
  }

  /** A link that does not work any more leaves a phone that is signed in as it is. */
  async #enterOrSayWhy(find: () => Promise<Account>): Promise<void> {
    try {
      const { apiKey, deviceId } = await find();
      const account = deviceId === undefined ? { apiKey } : { apiKey, deviceId };
      await this.#parts.storage.writeAccount(account);
      await this.#enter(account);
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      const kept = await this.#parts.storage.readAccount();
      if (kept !== undefined) return await this.#enter(kept);
      const problem = { code: error.code, message: error.message };
      this.#parts.store.dispatch({ type: "signIn", signIn: { kind: "out", problem } });
    }
  }

  async #enter(account: Account): Promise<void> {
    const { store, kept } = this.#parts;
    this.stop();
    store.dispatch({ type: "signIn", signIn: { kind: "in" } });
    store.dispatch({ type: "restored", messages: await kept.restore() });
    this.#live = new LiveRelay(account, this.#parts);
    this.#live.watch(this.#watched);
    this.#live.start();
  }
}
