/** Phone storage in memory. */
import type { Account, OutboxEntry, PhoneStorage, Snippet } from "../../../src/phone/storage.ts";
import type { SignInLink } from "../../../src/phone/route.ts";
import type { DeviceSessions } from "../../../src/protocol/session.ts";

export class FakeStorage implements PhoneStorage {
  account: Account | undefined;
  link: SignInLink | undefined;
  sessions: readonly DeviceSessions[] | undefined;
  snippets: readonly Snippet[] = [];
  readonly drafts = new Map<string, string>();
  readonly seen = new Map<string, number>();
  readonly outbox = new Map<string, OutboxEntry>();
  /** If set, the account and the sessions are written only when this resolves. */
  writing: Promise<void> | undefined;
  /** Whether no message can be stored or removed, as on a full disk. */
  isFull = false;
  /** Messages that are removed only when their promise resolves. */
  readonly removing = new Map<string, Promise<void>>();

  constructor(account?: Account) {
    this.account = account;
  }

  readAccount(): Promise<Account | undefined> {
    return Promise.resolve(this.account);
  }

  async writeAccount(account: Account): Promise<void> {
    await this.writing;
    this.account = account;
  }

  readLink(): Promise<SignInLink | undefined> {
    return Promise.resolve(this.link);
  }

  keepLink(link: SignInLink): Promise<void> {
    this.link = link;
    return Promise.resolve();
  }

  forgetLink(): Promise<void> {
    this.link = undefined;
    return Promise.resolve();
  }

  readSessions(): Promise<DeviceSessions[] | undefined> {
    return Promise.resolve(this.sessions && [...this.sessions]);
  }

  async writeSessions(devices: readonly DeviceSessions[]): Promise<void> {
    await this.writing;
    this.sessions = devices;
  }

  readOutbox(): Promise<OutboxEntry[]> {
    return Promise.resolve([...this.outbox.values()]);
  }

  putOutbox(entry: OutboxEntry): Promise<void> {
    if (this.isFull) return Promise.reject(new DOMException("full", "QuotaExceededError"));
    this.outbox.set(entry.id, entry);
    return Promise.resolve();
  }

  async removeOutbox(id: string): Promise<void> {
    await this.removing.get(id);
    if (this.isFull) throw new DOMException("full", "QuotaExceededError");
    this.outbox.delete(id);
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
    this.link = undefined;
    this.sessions = undefined;
    this.outbox.clear();
    return Promise.resolve();
  }
}
