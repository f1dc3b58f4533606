/** Phone storage in memory. */
import type { Account, OutboxEntry, PhoneStorage, Snippet } from "../../../src/phone/storage.ts";
import type { DeviceSessions } from "../../../src/protocol/session.ts";

export class FakeStorage implements PhoneStorage {
  account: Account | undefined;
  sessions: readonly DeviceSessions[] | undefined;
  snippets: readonly Snippet[] = [];
  readonly drafts = new Map<string, string>();
  readonly seen = new Map<string, number>();
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

  readDrafts(): Promise<Record<string, string>> {
    return Promise.resolve(Object.fromEntries(this.drafts));
  }

  putDraft(key: string, text: string): Promise<void> {
    if (text === "") this.drafts.delete(key);
    else this.drafts.set(key, text);
    return Promise.resolve();
  }

  readSeen(): Promise<Record<string, number>> {
    return Promise.resolve(Object.fromEntries(this.seen));
  }

  putSeen(key: string, at: number): Promise<void> {
    this.seen.set(key, at);
    return Promise.resolve();
  }

  readSnippets(): Promise<Snippet[]> {
    return Promise.resolve([...this.snippets]);
  }

  writeSnippets(snippets: readonly Snippet[]): Promise<void> {
    this.snippets = snippets;
    return Promise.resolve();
  }

  clear(): Promise<void> {
    this.snippets = [];
    this.seen.clear();
    this.drafts.clear();
    this.account = undefined;
    this.sessions = undefined;
    this.outbox.clear();
    return Promise.resolve();
  }
}
