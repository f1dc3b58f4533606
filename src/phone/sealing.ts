/** End-to-end encryption with paired hosts: seals what the phone sends, opens what it receives, checks receipts. */
import type { PairedHost } from "../client/claim_pairing.ts";
import { RelayError } from "../client/relay_error.ts";
import { receiptProof, RELAY_STATES } from "../crypto/paired_secret.ts";
import { SKEW_MS, TTL_MAX_SECONDS } from "../protocol/limits.ts";
import { DETAILS_TYPE, type DeviceSessions, type HostDetails, parseDetails } from "../protocol/session.ts";
import type { PushRecord, PushRequestInput } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { CheckedReceipt, OpenedRecord } from "./message.ts";
import type { PairingStorage, SentForm } from "./pairing_storage.ts";
import type { OutgoingMessage } from "./sealed_form.ts";

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

  /** Call this when the user has confirmed that the host shows the same words. */
  async confirmHost(deviceId: string): Promise<void> {
    const { unanswered: _words, ...host } = this.#hosts.get(deviceId) ?? {};
    if ("secret" in host) await this.keepHost(host);
  }

  async keepHost(host: PairedHost): Promise<void> {
    await this.#options.storage?.putHost(host);
    this.#hosts.set(host.deviceId, host);
  }

  /** Call this for a change of account: the new one has other hosts. */
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
   * Returns the records with the texts that this phone sealed, and those that hosts sealed for it. Texts sealed for
   * other phones are left out, and so is any plain text that the relay put in place of a sealed one.
   */
  async openRecords(records: readonly PushRecord[]): Promise<OpenedRecord[]> {
    const { storage } = this.#options;
    const sent = await storage?.readSent(records.map(({ push }) => push.id)) ?? [];
    const isSealed = sent.some(({ form }) => form !== "plain") || records.some(({ push }) => push.sealed);
    const read = isSealed
      ? await (await import("./sealed_form.ts")).withOwnTexts(records, { sent, storage })
      : records;
    const own = new Map(sent.map((one) => [one.id, one]));
    return await Promise.all(read.map(async (record) => {
      const opened = storage ? await this.#open(record, storage) : withoutText(record);
      return { ...opened, receipt: await this.#checked(opened.receipt, own.get(record.push.id)) };
    }));
  }

  /** The receipt, marked as unproven if only the host can report this state and its proof is missing or wrong. */
  async checkReceipt(id: string, receipt: Receipt): Promise<CheckedReceipt> {
    const [sent] = await this.#options.storage?.readSent([id]) ?? [];
    return await this.#checked(receipt, sent);
  }

  /** What the host reports in addition to its sessions; for a paired host, only what it sealed for this phone. */
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
    if (sent?.host === undefined) return receipt;
    const secret = this.#hosts.get(sent.host)?.secret;
    const isClaimed = receipt.proof === undefined || secret === undefined;
    if (isClaimed || receipt.proof !== await receiptProof(secret, { id: sent.id, ...receipt })) {
      if (!RELAY_STATES.has(receipt.state)) return { ...receipt, unproven: true };
      return this.#isDeliverable(sent, receipt) ? { ...receipt, deliverable: true } : receipt;
    }
    // If the storage is full or broken, only the stored end is lost, not the proven receipt.
    if (receipt.final) await this.#options.storage?.putSent({ ...sent, end: receipt }).catch(() => undefined);
    return receipt;
  }

  /** True if only the relay claims that the message has ended, or why, and could still deliver it. */
  #isDeliverable(
    { sentAt, notAfter = sentAt + TTL_MAX_SECONDS * 1_000 }: SentForm,
    receipt: Receipt,
  ): boolean {
    const isClaim = receipt.final && (receipt.state !== "unknown" || receipt.reason !== undefined);
    return isClaim && this.#options.now() <= notAfter + SKEW_MS;
  }

  async #open(record: OpenedRecord, storage: PairingStorage): Promise<OpenedRecord> {
    const host = this.#hosts.get(record.push.sealedFor?.host ?? "");
    if (host === undefined) return withoutText(record);
    const { phone, secret } = host;
    const { isOver, openHostPush } = await import("../crypto/host_push.ts");
    const opened = await openHostPush(record.push, { phone, secret, keyPair: await storage.ownKeys() });
    if (opened === undefined) return withoutText(record);
    // Its age is the host's: a relay must not show an old text as new, or a question past its time as open.
    const { sealedAt = Infinity, sealedUntil: _until, ...rest } = opened;
    const push = { ...rest, createdAt: Math.min(rest.createdAt, sealedAt + SKEW_MS) };
    const { receipt } = record;
    if (receipt.final || !isOver(opened, this.#options.now())) return { push, receipt };
    return { push, receipt: { ...receipt, state: "expired", final: true } };
  }

  async #firstForm(storage: PairingStorage, message: OutgoingMessage): Promise<SentForm> {
    const host = this.pairedHost(message.deviceId);
    const sentAt = this.#options.now();
    if (host === undefined) {
      await this.#checkPlain(storage, message);
      return await storage.addSent({ id: message.id, sentAt, form: "plain" });
    }
    const { sealedForm } = await import("./sealed_form.ts");
    return await storage.addSent(
      await sealedForm(host, { message, sentAt, counter: await storage.nextCounter() }),
    );
  }

  /** Throws RelayError for a text that was sealed before, or if the relay would choose among paired hosts. */
  async #checkPlain(storage: PairingStorage, { deviceId, again }: OutgoingMessage): Promise<void> {
    const [before] = again === undefined ? [] : await storage.readSent([again]);
    const wasSealed = before !== undefined && before.form !== "plain";
    if (!wasSealed && (deviceId !== "" || this.#hosts.size === 0)) return;
    throw new RelayError(`Cannot seal for "${deviceId}": it is not paired`, { code: "unsealable" });
  }
}

/** For a sealed push that cannot be opened: any plain text in it is not from the host. */
function withoutText(record: OpenedRecord): OpenedRecord {
  if (record.push.sealedFor === undefined) return record;
  const { title: _title, body: _body, data: _data, ...push } = record.push;
  return { ...record, push };
}
