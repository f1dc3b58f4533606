/** Pairing storage in memory. */
import type { PairedHost } from "../../../src/client/claim_pairing.ts";
import { generateKeyPair } from "../../../src/crypto/keys.ts";
import type { PairingStorage, SentForm } from "../../../src/phone/pairing_storage.ts";

export class FakePairingStorage implements PairingStorage {
  readonly hosts = new Map<string, PairedHost>();
  readonly sent = new Map<string, SentForm>();
  counter = 0;
  #keys: Promise<CryptoKeyPair> | undefined;

  ownKeys(): Promise<CryptoKeyPair> {
    return this.#keys ??= generateKeyPair();
  }

  nextCounter(): Promise<number> {
    this.counter += 1;
    return Promise.resolve(this.counter);
  }

  readHosts(): Promise<PairedHost[]> {
    return Promise.resolve([...this.hosts.values()]);
  }

  putHost(host: PairedHost): Promise<void> {
    this.hosts.set(host.deviceId, host);
    return Promise.resolve();
  }

  removeHost(deviceId: string): Promise<void> {
    this.hosts.delete(deviceId);
    return Promise.resolve();
  }

  readSent(ids: readonly string[]): Promise<SentForm[]> {
    return Promise.resolve(ids.map((id) => this.sent.get(id)).filter((one) => one !== undefined));
  }

  addSent(sent: SentForm): Promise<SentForm> {
    const first = this.sent.get(sent.id) ?? sent;
    this.sent.set(sent.id, first);
    return Promise.resolve(first);
  }

  putSent(sent: SentForm): Promise<void> {
    this.sent.set(sent.id, sent);
    return Promise.resolve();
  }

  clear(): Promise<void> {
    this.hosts.clear();
    this.sent.clear();
    this.counter = 0;
    this.#keys = undefined;
    return Promise.resolve();
  }
}
