/** Seals messages and answers to paired hosts, opens what they tell, and reads this phone's own words back. */
import { receiptProof } from "../crypto/receipt_proof.ts";
import { sealMessage } from "../crypto/stored_message.ts";
import { openPush } from "../crypto/told_push.ts";
import { carriedAnswer } from "../protocol/ask.ts";
import type { PushRecord, PushRequestInput } from "../protocol/push.ts";
import type { PushState, Receipt } from "../protocol/receipt.ts";
import type { HeardReceipt } from "./message.ts";
import type { PairedHost } from "../client/claim_pairing.ts";
import type { PairingStorage, SentForm } from "./pairing_storage.ts";

/** Life of a sealed message: whoever keeps it back for longer, keeps it for good. */
export const SEALED_LIFE_MS = 86_400_000;

/** What a relay may say by itself: that it holds a push, or that nobody told it an end in time. */
const RELAYS_OWN: ReadonlySet<PushState> = new Set(["queued", "expired", "unknown"]);

/** A message, or an answer, as it goes out. */
export interface OutgoingMessage {
  id: string;
  type: "agent.command" | "ask.answer";
  deviceId: string;
  session: string;
  body: string;
  /** What is sealed, where that is not the body. */
  text?: string;
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

  /** The host, when it shares a secret with this phone; what the relay calls the phone now makes no difference. */
  pairedHost(deviceId: string): PairedHost | undefined {
    return this.#hosts.get(deviceId);
  }

  /** Device ids of the hosts that are paired with this phone; not those whose words nobody compared. */
  pairedWith(): ReadonlySet<string> {
    const hosts = [...this.#hosts.values()];
    return new Set(hosts.flatMap(({ deviceId, unanswered }) => unanswered ? [] : [deviceId]));
  }

  /** A host whose words wait for the person's answer. */
  unanswered(): PairedHost | undefined {
    return [...this.#hosts.values()].find((host) => host.unanswered);
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

  /** Another account has other hosts: what this phone shared with the old one's is forgotten. */
  async forgetHosts(): Promise<void> {
    for (const deviceId of this.#hosts.keys()) await this.#options.storage?.removeHost(deviceId);
    this.#hosts.clear();
  }

  async clear(): Promise<void> {
    await this.#options.storage?.clear();
    this.#hosts.clear();
  }

  /**
   * `sealed` or `body` of the push. What went out once goes out the same again: the relay takes the id for one content
   * only, and a message that was sealed is never sent plain.
   */
  async contentOf(message: OutgoingMessage): Promise<Pick<PushRequestInput, "body" | "sealed">> {
    const { storage } = this.#options;
    if (storage === undefined) return { body: message.body };
    const [before] = await storage.readSent([message.id]);
    const { form } = before ?? await this.#firstForm(storage, message);
    return form === "plain" ? { body: message.body } : { sealed: form };
  }

  /**
   * Records with the texts that this phone sealed, whatever the relay has in their place, and with those that hosts
   * sealed for it; those of others stay without, also where the relay put some beside the sealed ones.
   */
  async readable(records: readonly PushRecord[]): Promise<PushRecord[]> {
    const { storage } = this.#options;
    if (storage === undefined) return records.map(shut);
    const sent = await storage.readSent(records.map(sentId));
    const own = new Map(sent.map((one) => [one.id, one]));
    return await Promise.all(records.map(async (record) => {
      const form = own.get(sentId(record));
      const opened = await this.#opened(asSent(record, form), storage);
      return { ...opened, receipt: await this.#judged(record.receipt, form) };
    }));
  }

  /** The receipt of a push, marked where it says what only the host could say, and has not proven. */
  async heard(id: string, receipt: Receipt): Promise<HeardReceipt> {
    const [sent] = await this.#options.storage?.readSent([id]) ?? [];
    return await this.#judged(receipt, sent);
  }

  async #judged(receipt: Receipt, sent: SentForm | undefined): Promise<HeardReceipt> {
    if (sent?.end !== undefined) return sent.end;
    if (sent?.host === undefined || RELAYS_OWN.has(receipt.state)) return receipt;
    const secret = this.#hosts.get(sent.host)?.secret;
    const proof = secret && await receiptProof(secret, { id: sent.id, ...receipt });
    if (proof === undefined || proof !== receipt.proof) return { ...receipt, unproven: true };
    if (receipt.final) await this.#options.storage?.putSent({ ...sent, end: receipt });
    return receipt;
  }

  async #opened(record: PushRecord, storage: PairingStorage): Promise<PushRecord> {
    const host = this.#hosts.get(record.push.sealedFor?.host ?? "");
    if (host === undefined) return shut(record);
    const { phone, secret } = host;
    const push = await openPush(record.push, { phone, secret, keyPair: await storage.ownKeys() });
    return push === undefined ? shut(record) : { ...record, push };
  }

  async #firstForm(storage: PairingStorage, message: OutgoingMessage): Promise<SentForm> {
    const host = this.pairedHost(message.deviceId);
    const sentAt = this.#options.now();
    const { id, type, body } = message;
    const sent: SentForm = host === undefined ? { id, sentAt, form: "plain" } : {
      id,
      sentAt,
      form: await sealTo(host, { message, sentAt, counter: await storage.nextCounter() }),
      body,
      // An answer is taken by the program that asked, which shares no secret.
      ...(type === "agent.command" ? { host: host.deviceId } : {}),
    };
    await storage.putSent(sent);
    return sent;
  }
}

/** Only what is sealed counts, and that cannot be read. */
function shut(record: PushRecord): PushRecord {
  if (record.push.sealedFor === undefined) return record;
  const { title: _title, body: _body, data: _data, ...push } = record.push;
  return { ...record, push };
}

/** A late answer that is typed is known by the answer's id. */
function sentId({ push }: PushRecord): string {
  return carriedAnswer(push) ?? push.id;
}

function asSent(record: PushRecord, sent: SentForm | undefined): PushRecord {
  if (sent === undefined || sent.form === "plain") return record;
  return { ...record, push: { ...record.push, body: sent.body, sealed: sent.form } };
}

function sealTo(
  host: PairedHost,
  { message, sentAt, counter }: { message: OutgoingMessage; sentAt: number; counter: number },
): ReturnType<typeof sealMessage> {
  const { id, type, session, body, text = body, sendAnyway = false } = message;
  const place = {
    id,
    type,
    from: host.phone,
    targetDeviceId: host.deviceId,
    agentSessionName: session,
    sendAnyway,
  };
  const content = { body: text, notAfter: sentAt + SEALED_LIFE_MS, counter };
  return sealMessage(content, { place, publicKey: host.publicKey, secret: host.secret });
}
