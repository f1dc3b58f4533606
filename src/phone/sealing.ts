/** End-to-end encryption with paired hosts: seals what the phone sends, opens what it receives, checks receipts. */
import type { PairedHost } from "../client/claim_pairing.ts";
import { receiptProof } from "../crypto/paired_secret.ts";
import { SKEW_MS } from "../protocol/limits.ts";
import { carriedAnswer } from "../protocol/late_answer.ts";
import { DETAILS_TYPE, type DeviceSessions, type HostDetails, parseDetails } from "../protocol/session.ts";
import type { Later } from "../protocol/later.ts";
import type { PushRecord, PushRequestInput, SealedBody } from "../protocol/push.ts";
import type { PushState, Receipt } from "../protocol/receipt.ts";
import type { CheckedReceipt, HostRequest } from "./message.ts";
import type { PairingStorage, SentForm } from "./pairing_storage.ts";

/** A sealed message expires after this time: a relay that withholds it for longer cannot deliver it any more. */
export const SEALED_LIFE_MS = 86_400_000;

/** States that the relay reports on its own, without a proof from the host. */
const RELAY_STATES: ReadonlySet<PushState> = new Set(["queued", "expired", "withdrawn", "unknown"]);

/** A message or an answer to be sent. */
export interface OutgoingMessage {
  id: string;
  type: "agent.command" | "agent.cancel" | "dialog.answer" | "ask.answer" | HostRequest;
  deviceId: string;
  session: string;
  body: string;
  /** The text to seal, if that is not the body. */
  text?: string;
  /** The host itself acknowledges it, and not a program that shares no secret with this phone. */
  byHost?: boolean;
  sendAnyway?: boolean | undefined;
  later?: Later | undefined;
  ttlSeconds?: number | undefined;
}

interface SealingOptions {
  /** Undefined on a page without WebCrypto: everything is sent plain. */
  storage: PairingStorage | undefined;
  /** Epoch milliseconds by this phone's clock, not the relay's. */
  now(): number;
}

export class Sealing {
  readonly #options: SealingOptions;
  #hosts = new Map<string, PairedHost>();

  constructor(options: SealingOptions) {
    this.#options = options;
  }

  /** False on a page without WebCrypto (plain http, except localhost). */
  get isAvailable(): boolean {
    return this.#options.storage !== undefined;
  }

  async load(): Promise<void> {
    const hosts = await this.#options.storage?.readHosts() ?? [];
    this.#hosts = new Map(hosts.map((host) => [host.deviceId, host]));
  }

  /** The host, if it shares a secret with this phone. */
  pairedHost(deviceId: string): PairedHost | undefined {
    return this.#hosts.get(deviceId);
  }

  pairedHosts(): { deviceId: string; host: string }[] {
    return [...this.#hosts.values()].map(({ deviceId, host }) => ({ deviceId, host }));
  }

  async forgetHost(deviceId: string): Promise<void> {
    await this.#options.storage?.removeHost(deviceId);
    this.#hosts.delete(deviceId);
  }

  /** Device ids of the paired hosts whose check words the user has confirmed. */
  confirmedHosts(): ReadonlySet<string> {
    const hosts = [...this.#hosts.values()];
    return new Set(hosts.flatMap(({ deviceId, unanswered }) => unanswered ? [] : [deviceId]));
  }

  /** A host whose check words the user has not compared yet. */
  unconfirmedHost(): PairedHost | undefined {
    return [...this.#hosts.values()].find((host) => host.unanswered);
  }

  /** The user has seen the same words on the host. */
  async confirmHost(deviceId: string): Promise<void> {
    const { unanswered: _words, ...host } = this.#hosts.get(deviceId) ?? {};
    if ("secret" in host) await this.keepHost(host);
  }

  async keepHost(host: PairedHost): Promise<void> {
    await this.#options.storage?.putHost(host);
    this.#hosts.set(host.deviceId, host);
  }

  /** For a change of account: the new one has other hosts. */
  async forgetHosts(): Promise<void> {
    for (const deviceId of [...this.#hosts.keys()]) await this.forgetHost(deviceId);
  }

  async clear(): Promise<void> {
    await this.#options.storage?.clear();
    this.#hosts.clear();
  }

  /**
   * The push's `sealed` or `body`. A message is always resent in its first form: the relay accepts one content per id,
   * and a message once sealed must never be sent plain.
   */
  async outgoingContent(message: OutgoingMessage): Promise<Pick<PushRequestInput, "body" | "sealed">> {
    const { storage } = this.#options;
    if (storage === undefined) return { body: message.body };
    const [before] = await storage.readSent([message.id]);
    const { form } = before ?? await this.#firstForm(storage, message);
    return form === "plain" ? { body: message.body } : { sealed: form };
  }

  /**
   * Records with the texts that this phone sealed itself, and with those that hosts sealed for it. Texts sealed for
   * other phones are left out, and so is any plain text that the relay put in place of a sealed one.
   */
  async openRecords(records: readonly PushRecord[]): Promise<PushRecord[]> {
    const { storage } = this.#options;
    if (storage === undefined) return records.map((record) => withoutText(asSent(record, undefined)));
    const sent = await storage.readSent(records.map(sentId));
    const own = new Map(sent.map((one) => [one.id, one]));
    return await Promise.all(records.map(async (record) => {
      const form = own.get(sentId(record));
      const opened = await this.#open(asSent(record, form), storage);
      return { ...opened, receipt: await this.#checked(opened.receipt, form) };
    }));
  }

  /** The receipt, marked as unproven if only the host can report this state and its proof is missing or wrong. */
  async checkReceipt(id: string, receipt: Receipt): Promise<CheckedReceipt> {
    const [sent] = await this.#options.storage?.readSent([id]) ?? [];
    return await this.#checked(receipt, sent);
  }

  /** What the host reports besides its sessions; of a paired one, only what it sealed for this phone. */
  async openDetails({ deviceId, details }: DeviceSessions): Promise<HostDetails | undefined> {
    const { storage } = this.#options;
    const host = this.#hosts.get(deviceId);
    if (host === undefined) return details?.plain;
    if (storage === undefined || details?.sealedFor?.host !== deviceId) return undefined;
    const { phone, secret } = host;
    const boundTo = { id: "", type: DETAILS_TYPE, agentSessionName: "", host: deviceId };
    const { openForPhone } = await import("../crypto/host_push.ts");
    const keys = { boundTo, phone, secret, keyPair: await storage.ownKeys() };
    return parseDetails(await openForPhone(details.sealedFor, keys) ?? "");
  }

  async #checked(receipt: Receipt, sent: SentForm | undefined): Promise<CheckedReceipt> {
    if (sent?.end !== undefined) return sent.end;
    if (sent?.host === undefined || RELAY_STATES.has(receipt.state)) return receipt;
    const secret = this.#hosts.get(sent.host)?.secret;
    const proof = secret && await receiptProof(secret, { id: sent.id, ...receipt });
    if (proof === undefined || proof !== receipt.proof) return { ...receipt, unproven: true };
    // A full or broken storage costs the remembered end, and not the receipt that was proven.
    if (receipt.final) await this.#options.storage?.putSent({ ...sent, end: receipt }).catch(() => undefined);
    return receipt;
  }

  async #open(record: PushRecord, storage: PairingStorage): Promise<PushRecord> {
    const host = this.#hosts.get(record.push.sealedFor?.host ?? "");
    if (host === undefined) return withoutText(record);
    const { phone, secret } = host;
    const { isOver, openHostPush } = await import("../crypto/host_push.ts");
    const opened = await openHostPush(record.push, { phone, secret, keyPair: await storage.ownKeys() });
    if (opened === undefined) return withoutText(record);
    // As old as its host says: a relay must not show an old text as new, nor a question whose time is over as open.
    const { sealedAt = Infinity, sealedUntil: _until, ...rest } = opened;
    const push = { ...rest, createdAt: Math.min(rest.createdAt, sealedAt + SKEW_MS) };
    const { receipt } = record;
    if (receipt.final || !isOver(opened, this.#options.now())) return { push, receipt };
    return { push, receipt: { ...receipt, state: "expired", final: true } };
  }

  async #firstForm(storage: PairingStorage, message: OutgoingMessage): Promise<SentForm> {
    const host = this.pairedHost(message.deviceId);
    const sentAt = this.#options.now();
    const { id, type, body, byHost = type !== "ask.answer" } = message;
    const sent: SentForm = host === undefined ? { id, sentAt, form: "plain" } : {
      id,
      sentAt,
      form: await sealTo(host, { message, sentAt, counter: await storage.nextCounter() }),
      body,
      ...(byHost ? { host: host.deviceId } : {}),
    };
    return await storage.addSent(sent);
  }
}

/** For a sealed push that cannot be opened. Plain text in it is not from the host. */
function withoutText(record: PushRecord): PushRecord {
  if (record.push.sealedFor === undefined) return record;
  const { title: _title, body: _body, data: _data, ...push } = record.push;
  return { ...record, push };
}

/** A late answer that is typed was stored under the answer's id. */
function sentId({ push }: PushRecord): string {
  return carriedAnswer(push) ?? push.id;
}

/** With the text that this phone sealed. What stands beside a text that another device sealed is not that device's. */
function asSent(record: PushRecord, sent: SentForm | undefined): PushRecord {
  const { body: _body, data, ...rest } = record.push;
  if (sent === undefined ? rest.sealed === undefined : sent.form === "plain") return record;
  const push = rest.type === "ask.answer" || data === undefined ? rest : { ...rest, data };
  if (sent === undefined || sent.form === "plain") return { ...record, push };
  return { ...record, push: { ...push, body: sent.body, sealed: sent.form } };
}

async function sealTo(
  host: PairedHost,
  { message, sentAt, counter }: { message: OutgoingMessage; sentAt: number; counter: number },
): Promise<SealedBody> {
  const { id, type, session, body, text = body, sendAnyway = false, later, ttlSeconds = 0 } = message;
  const context = {
    id,
    type,
    from: host.phone,
    targetDeviceId: host.deviceId,
    agentSessionName: session,
    sendAnyway,
    later,
  };
  const lifeMs = Math.max(SEALED_LIFE_MS, ttlSeconds * 1_000);
  const content = { body: text, notAfter: sentAt + lifeMs, counter };
  const { sealMessage } = await import("../crypto/stored_message.ts");
  return await sealMessage(content, { boundTo: context, publicKey: host.publicKey, secret: host.secret });
}
