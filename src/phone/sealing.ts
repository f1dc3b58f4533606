/** Seals messages to paired hosts, and reads this phone's own sealed messages back. */
import { sealMessage } from "../crypto/stored_message.ts";
import type { PushRecord, PushRequestInput } from "../protocol/push.ts";
import type { PairedHost } from "./pairing.ts";
import type { PairingStorage, SentForm } from "./pairing_storage.ts";

/** Life of a sealed message: whoever keeps it back for longer, keeps it for good. */
export const SEALED_LIFE_MS = 86_400_000;

const COMMAND = "agent.command";

/** A message as it goes out, its text apart. */
export interface OutgoingMessage {
  id: string;
  deviceId: string;
  session: string;
  body: string;
  sendAnyway?: boolean | undefined;
}

export interface SealingOptions {
  /** Undefined on a page without cryptography: everything goes out plain. */
  storage: PairingStorage | undefined;
  /** Epoch milliseconds by this phone's own clock, not the relay's. */
  now(): number;
}

export class Sealing {
  readonly #options: SealingOptions;
  #hosts = new Map<string, PairedHost>();

  constructor(options: SealingOptions) {
    this.#options = options;
  }

  /** False on a page without cryptography (plain http, but for localhost). */
  get isPossible(): boolean {
    return this.#options.storage !== undefined;
  }

  async load(): Promise<void> {
    const hosts = await this.#options.storage?.readHosts() ?? [];
    this.#hosts = new Map(hosts.map((host) => [host.deviceId, host]));
  }

  /** The host, when it shares a secret with this phone under the name that the phone has now. */
  pairedHost(deviceId: string, phone: string | undefined): PairedHost | undefined {
    const host = this.#hosts.get(deviceId);
    return host !== undefined && host.phone === phone ? host : undefined;
  }

  /** Device ids of the hosts that are paired with this phone; not those whose words nobody compared. */
  pairedWith(phone: string | undefined): ReadonlySet<string> {
    const paired = [...this.#hosts.keys()].map((deviceId) => this.pairedHost(deviceId, phone));
    return new Set(paired.flatMap((host) => host && !host.unanswered ? [host.deviceId] : []));
  }

  /** A host whose words wait for the person's answer. */
  unanswered(phone: string | undefined): PairedHost | undefined {
    return [...this.#hosts.values()].find((host) => host.phone === phone && host.unanswered);
  }

  /** The person has seen the same words on the host. */
  async confirm(deviceId: string): Promise<void> {
    const { unanswered: _words, ...host } = this.#hosts.get(deviceId) ?? {};
    if ("secret" in host) await this.keep(host);
  }

  async keep(host: PairedHost): Promise<void> {
    await this.#options.storage?.putHost(host);
    this.#hosts.set(host.deviceId, host);
  }

  async clear(): Promise<void> {
    await this.#options.storage?.clear();
    this.#hosts.clear();
  }

  /**
   * `sealed` or `body` of the push. What went out once goes out the same again: the relay takes the id for one content
   * only, and a message that was sealed is never sent plain.
   */
  async contentOf(
    message: OutgoingMessage,
    phone: string | undefined,
  ): Promise<Pick<PushRequestInput, "body" | "sealed">> {
    const { storage } = this.#options;
    if (storage === undefined) return { body: message.body };
    const [before] = await storage.readSent([message.id]);
    const { form } = before ?? await this.#firstForm(storage, { message, phone });
    return form === "plain" ? { body: message.body } : { sealed: form };
  }

  /** Records with the texts that this phone sealed; those of other devices stay without. */
  async readable(records: readonly PushRecord[]): Promise<PushRecord[]> {
    const sealed = records.filter(({ push }) => push.sealed !== undefined).map(({ push }) => push.id);
    if (sealed.length === 0) return [...records];
    const sent = await this.#options.storage?.readSent(sealed) ?? [];
    const bodies = new Map(sent.map(({ id, body }) => [id, body]));
    return records.map((record) => {
      const body = bodies.get(record.push.id);
      return body === undefined ? record : { ...record, push: { ...record.push, body } };
    });
  }

  async #firstForm(
    storage: PairingStorage,
    { message, phone }: { message: OutgoingMessage; phone: string | undefined },
  ): Promise<SentForm> {
    const host = this.pairedHost(message.deviceId, phone);
    const sentAt = this.#options.now();
    const sent: SentForm = host === undefined
      ? { id: message.id, sentAt, form: "plain" }
      : { id: message.id, sentAt, form: await sealTo(host, { message, sentAt }), body: message.body };
    await storage.putSent(sent);
    return sent;
  }
}

function sealTo(
  host: PairedHost,
  { message, sentAt }: { message: OutgoingMessage; sentAt: number },
): ReturnType<typeof sealMessage> {
  const { id, session, body, sendAnyway = false } = message;
  const place = {
    id,
    type: COMMAND,
    from: host.phone,
    targetDeviceId: host.deviceId,
    agentSessionName: session,
    sendAnyway,
  };
  const content = { body, notAfter: sentAt + SEALED_LIFE_MS };
  return sealMessage(content, { place, publicKey: host.publicKey, secret: host.secret });
}
