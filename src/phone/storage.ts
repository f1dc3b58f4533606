/** What the phone keeps in IndexedDB: the account and the last list of sessions, encrypted; unsent messages; drafts. */
import * as z from "zod/mini";
import { AnswerData } from "../protocol/ask.ts";
import { PAIRING_TTL_SECONDS } from "../protocol/limits.ts";
import { DeviceId, Later, PushId } from "../protocol/push.ts";
import { DeviceSessions } from "../protocol/session.ts";
import {
  ACCOUNT_KEY,
  type Database,
  type FirstRead,
  type Kept,
  keptLink,
  LINK_KEY,
  openDatabase,
  type Opened,
  putKept,
  readKept,
  reopening,
  SESSIONS_KEY,
  STRICT,
  write,
} from "./database.ts";
import { HOST_REQUESTS } from "./message.ts";
import type { SignInLink } from "./route.ts";
import type { PhoneState, Store } from "./state.ts";
import type { Strings } from "./strings.ts";

const SNIPPETS_KEY = "snippets";
/** The prefix and 24 bits of the key. */
const KEY_SHOWN_CHARS = 8;

export const Account = z.object({
  apiKey: z.string(),
  /** Given by the relay, at pairing or with the first welcome. */
  deviceId: z.optional(DeviceId),
});
export type Account = z.infer<typeof Account>;

/** A link with which the phone is being signed in is kept for as long as it can be valid. */
const LINK_KEPT_MS = PAIRING_TTL_SECONDS * 1_000;
const KeptLink = z.object({
  at: z.number(),
  link: z.union([
    z.object({ kind: z.literal("pair"), code: z.string(), secret: z.optional(z.string()) }),
    z.object({ kind: z.literal("key"), key: z.string() }),
  ]),
});

/** A name to tell accounts apart, without revealing the key. `texts` is passed in: the service worker loads none. */
export function accountName({ apiKey, deviceId }: Account, texts: Pick<Strings["swap"], "key">): string {
  const key = texts.key(`${apiKey.slice(0, KEY_SHOWN_CHARS)}…`);
  return deviceId === undefined ? key : `${deviceId} (${key})`;
}

/** A message that the relay is not known to have, or whose text becomes the draft once it is cancelled. */
export const OutboxEntry = z.object({
  id: PushId,
  deviceId: z.string(),
  session: z.string(),
  body: z.string(),
  createdAt: z.number(),
  sendAnyway: z.optional(z.boolean()),
  later: z.optional(Later),
  /** The relay's default if omitted. */
  ttlSeconds: z.optional(z.number()),
  /** Set for an action on a dialog: the dialog's id. */
  dialog: z.optional(PushId),
  /** Set for a request to a host. */
  request: z.optional(z.enum(HOST_REQUESTS)),
  /** Set for a cancellation: the id of the message that it cancels. */
  cancels: z.optional(PushId),
  /** The id of the message whose text this one repeats. */
  again: z.optional(PushId),
  /** It is being cancelled, and no longer sent. */
  cancelled: z.optional(z.literal(true)),
  /** Once it is cancelled, its text becomes the draft. */
  editing: z.optional(z.literal(true)),
  /** Set once the relay has rejected it: it is only sent again by the user. */
  failure: z.optional(z.object({ code: z.string(), message: z.string() })),
  /** Set for an answer: the question, the answer if it is not text, and the host if it must be sealed. */
  answers: z.optional(z.object({
    question: PushId,
    data: z.optional(AnswerData),
    sealTo: z.optional(z.object({ deviceId: z.string(), session: z.string() })),
  })),
});
export type OutboxEntry = z.infer<typeof OutboxEntry>;

/** A text that the user saved for messages. */
export const Snippet = z.object({ id: z.string(), name: z.string(), text: z.string() });
export type Snippet = z.infer<typeof Snippet>;

export interface PhoneStorage {
  readAccount(): Promise<Account | undefined>;
  writeAccount(account: Account): Promise<void>;
  /** The link whose use was interrupted, for example by a reload or a lost network. */
  readLink(): Promise<SignInLink | undefined>;
  keepLink(link: SignInLink): Promise<void>;
  /** Call this when the link was used or is invalid. */
  forgetLink(): Promise<void>;
  /** The sessions as last seen; undefined if there are none, or no way to encrypt them. */
  readSessions(): Promise<DeviceSessions[] | undefined>;
  writeSessions(devices: readonly DeviceSessions[]): Promise<void>;
  readOutbox(): Promise<OutboxEntry[]>;
  /** Resolves once the entry survives a reload. */
  putOutbox(entry: OutboxEntry): Promise<void>;
  removeOutbox(id: string): Promise<void>;
  /** Texts that have not been sent yet, by their keys in the page's state. */
  readDrafts(): Promise<Record<string, string>>;
  /** An empty text removes the draft. */
  putDraft(key: string, text: string): Promise<void>;
  /** Up to when the user has read what agents sent, by the keys in the page's state. */
  readSeen(): Promise<Record<string, number>>;
  putSeen(key: string, at: number): Promise<void>;
  /** The user's own texts for messages. */
  readSnippets(): Promise<Snippet[]>;
  writeSnippets(snippets: readonly Snippet[]): Promise<void>;
  /** Erases everything. */
  clear(): Promise<void>;
}

/**
 * Without `cipher` (a page without WebCrypto), the account is stored in plain text. The first read of each value in
 * `first` is served from there.
 */
export function openStorage(cipher?: SubtleCrypto, first?: FirstRead): PhoneStorage {
  const database = first?.database ?? reopening(openDatabase);
  const early = new Map<string, Kept>();
  if (first) {
    early.set(ACCOUNT_KEY, first.account).set(SESSIONS_KEY, first.sessions).set(LINK_KEY, first.link);
  }
  const read = async (name: string): Promise<Kept> => {
    const found = early.get(name);
    early.delete(name);
    return found ?? await database((one) => readKept(one, { name, cipher }));
  };
  const put = async (name: string, value: unknown): Promise<void> => {
    early.delete(name);
    await database((one) => putKept(one, { name, value, cipher }));
  };
  return {
    readAccount: async () => {
      const { value, isPlain } = await read(ACCOUNT_KEY);
      const account = Account.safeParse(value).data;
      // Earlier versions stored it in plain text.
      if (account !== undefined && isPlain && cipher !== undefined) await put(ACCOUNT_KEY, account);
      return account;
    },
    writeAccount: (account) => put(ACCOUNT_KEY, account),
    readLink: async () => linkIn(await read(LINK_KEY)),
    keepLink: (link) => put(LINK_KEY, keptLink(link)),
    forgetLink: () => {
      early.delete(LINK_KEY);
      return database((one) => one.delete("account", LINK_KEY));
    },
    readSessions: async () => {
      const { value, isPlain } = await read(SESSIONS_KEY);
      return isPlain ? undefined : z.array(DeviceSessions).safeParse(value).data;
    },
    writeSessions: async (devices) => {
      if (cipher !== undefined) await put(SESSIONS_KEY, devices);
    },
    readSnippets: async () => {
      const { value } = await read(SNIPPETS_KEY);
      return z.array(Snippet).safeParse(value).data ?? [];
    },
    writeSnippets: (snippets) => put(SNIPPETS_KEY, snippets),
    ...keptOutbox(database),
    ...keptTexts(database),
    clear: () => {
      early.clear();
      return database(clearAll);
    },
  };
}

async function clearAll(database: Database): Promise<void> {
  const names = ["account", "outbox", "drafts", "seen"] as const;
  const all = database.transaction(names, "readwrite", STRICT);
  await Promise.all([...names.map((name) => all.objectStore(name).clear()), all.done]);
}

function linkIn({ value }: Kept): SignInLink | undefined {
  const { at = 0, link } = KeptLink.safeParse(value).data ?? {};
  return Date.now() - at < LINK_KEPT_MS ? link : undefined;
}

function keptOutbox(
  database: Opened<Database>,
): Pick<PhoneStorage, "readOutbox" | "putOutbox" | "removeOutbox"> {
  return {
    // An entry that an older page wrote in another form must not discard the others.
    readOutbox: async () =>
      (await database((one) => one.getAll("outbox"))).flatMap((entry) =>
        OutboxEntry.safeParse(entry).data ?? []
      ),
    putOutbox: (entry) => database((one) => write(one, "outbox", (store) => store.put(entry))),
    removeOutbox: (id) => database((one) => write(one, "outbox", (store) => store.delete(id))),
  };
}

async function allOf<V extends string | number>(
  database: Database,
  name: "drafts" | "seen",
): Promise<Record<string, V>> {
  const { store } = database.transaction(name);
  const [keys, values] = await Promise.all([store.getAllKeys(), store.getAll()]);
  return Object.fromEntries(keys.map((key, index) => [key, values[index] as V]));
}

type KeptTexts = Pick<PhoneStorage, "readDrafts" | "putDraft" | "readSeen" | "putSeen">;

function keptTexts(database: Opened<Database>): KeptTexts {
  return {
    readDrafts: () => database((one) => allOf<string>(one, "drafts")),
    putDraft: (key, text) =>
      database(async (one) => {
        const { store, done } = one.transaction("drafts", "readwrite");
        await Promise.all([text === "" ? store.delete(key) : store.put(text, key), done]);
      }),
    readSeen: () => database((one) => allOf<number>(one, "seen")),
    putSeen: (key, at) =>
      database(async (one) => {
        const { store, done } = one.transaction("seen", "readwrite");
        await Promise.all([store.put(at, key), done]);
      }),
  };
}

/** Stores the unsent texts of this page for the next one. */
export class KeptDrafts {
  readonly #storage: Pick<PhoneStorage, "putDraft" | "readDrafts">;
  #kept: PhoneState["drafts"] = {};
  #hasFailed = false;

  constructor(storage: Pick<PhoneStorage, "putDraft" | "readDrafts">) {
    this.#storage = storage;
  }

  /** Call this with the drafts that an earlier page stored. */
  restored(drafts: PhoneState["drafts"]): void {
    this.#kept = drafts;
  }

  /** Call this after every change of the state. */
  keep({ drafts, isRestored }: Pick<PhoneState, "drafts" | "isRestored">): void {
    const kept = this.#kept;
    if (drafts === kept || !isRestored) return;
    this.#kept = drafts;
    for (const key of new Set([...Object.keys(kept), ...Object.keys(drafts)])) {
      // If the storage is full or broken, the draft is only lost on a reload.
      if (drafts[key] !== kept[key]) {
        void this.#storage.putDraft(key, drafts[key] ?? "").catch(() => void (this.#hasFailed = true));
      }
    }
  }

  /** Shows what another page of this phone has written or sent meanwhile. Call this when the page becomes visible. */
  async renew({ get, dispatch }: Store): Promise<void> {
    const { drafts, isRestored } = get();
    const stored = isRestored && await this.#storage.readDrafts().catch(() => undefined);
    // A draft that could not be stored exists only here.
    if (!stored || this.#hasFailed || !get().isRestored) return;
    for (const key of new Set([...Object.keys(drafts), ...Object.keys(stored)])) {
      const text = stored[key] ?? "";
      const isUntouched = get().drafts[key] === drafts[key];
      if (isUntouched && text !== (drafts[key] ?? "")) dispatch({ type: "drafted", key, text });
    }
  }
}
