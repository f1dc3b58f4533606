/** Phone storage in memory. */
import type { Account, OutboxEntry, PhoneStorage } from "../../../src/phone/storage.ts";
import type { DeviceSessions } from "../../../src/protocol/session.ts";

export class FakeStorage implements PhoneStorage {
  account: Account | undefined;
  sessions: readonly DeviceSessions[] | undefined;
  readonly outbox = new Map<string, OutboxEntry>();

  constructor(account?: Account) {
    this.account = account;
  }

  readAccount(): Promise<Account | undefined> {
    return Promise.resolve(this.account);
  }

  writeAccount(account: Account): Promise<void> {
    this.account = account;
    return Promise.resolve();
  }

  readSessions(): Promise<DeviceSessions[] | undefined> {
    return Promise.resolve(this.sessions && [...this.sessions]);
  }

  writeSessions(devices: readonly DeviceSessions[]): Promise<void> {
    this.sessions = devices;
    return Promise.resolve();
  }

  readOutbox(): Promise<OutboxEntry[]> {
    return Promise.resolve([...this.outbox.values()]);
  }

  putOutbox(entry: OutboxEntry): Promise<void> {
    this.outbox.set(entry.id, entry);
    return Promise.resolve();
  }

  removeOutbox(id: string): Promise<void> {
    this.outbox.delete(id);
    return Promise.resolve();
  }

  clear(): Promise<void> {
    this.account = undefined;
    this.sessions = undefined;
    this.outbox.clear();
    return Promise.resolve();
  }
}
