/** Pushes, their receipts, and the hooks that send them in SQLite. */
import { delay, systemClock } from "../async/clock.ts";
import type { Push } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { Database } from "../runtime/sqlite.ts";
import { optional, type SqliteContext } from "./sqlite_context.ts";
import {
  type HookRecord,
  HOOKS_MAX,
  type HookStore,
  type NewPush,
  type Page,
  type PageRequest,
  type PushName,
  type PushStore,
  STORED_REGAINED_PER_MS,
  type StoredPush,
} from "./store.ts";
import type { HookState } from "../protocol/http.ts";

export interface PushRow {
  seq: number;
  account: string;
  target: string | null;
  digest: Uint8Array;
  push: string;
  receipt: string;
}

const toPush = (row: PushRow): StoredPush => ({
  seq: row.seq,
  account: row.account,
  target: optional(row.target),
  digest: row.digest,
  push: JSON.parse(row.push) as Push,
  receipt: JSON.parse(row.receipt) as Receipt,
});

export const toPushes = (rows: PushRow[]): StoredPush[] => rows.map(toPush);

const INSERT = `
  INSERT INTO pushes (account, id, target, digest, push, receipt, state, final, created_at, expires_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account, id) DO NOTHING
  RETURNING seq, octet_length(push) + octet_length(receipt) AS bytes`;

/** What a push costs in addition to its text: digest, indexes, and a longer receipt. */
const OVERHEAD_BYTES = 512;

const CHARGE = `
  INSERT INTO stored_bytes (account, sender, bytes, at) VALUES (?, ?, ?, ?)
  ON CONFLICT (account, sender) DO UPDATE SET at = excluded.at, bytes = excluded.bytes +
    max(0, bytes - ${STORED_REGAINED_PER_MS} * max(0, excluded.at - at))`;

/** Rows removed by one statement, so that no other write waits long. */
const REMOVED_AT_ONCE = 50;
/** The pause after each statement: in Deno, no socket is read while work continues without a timer. */
const REMOVED_EVERY_MS = 5;

const REMOVE_OLD = `
  DELETE FROM pushes WHERE seq IN (
    SELECT seq FROM pushes WHERE created_at < ? LIMIT ${REMOVED_AT_ONCE})`;
const REMOVE_EXPIRED = `
  DELETE FROM pushes WHERE seq IN (
    SELECT seq FROM pushes WHERE state = 'expired' AND expires_at < ? LIMIT ${REMOVED_AT_ONCE})`;

const DUE = `
  SELECT * FROM pushes WHERE final = 0 AND expires_at <= ?1 AND (expires_at, seq) > (?2, ?3)
  ORDER BY expires_at, seq LIMIT ?4`;

/** A question is for every phone. The index of open pushes finds it. */
const OPEN_QUESTION = "account = ? AND target IS NULL AND final = 0 AND json_extract(push, '$.type') = 'ask'";

export function sqlitePushes(context: SqliteContext): PushStore {
  const { database, read, write, writeUnsynced } = context;
  const insert = insertOf(database);
  const find = findOf(database);
  const change = changeOf(database, find);
  const due = database.prepare<PushRow>(DUE);
  const newest = database.prepare("SELECT coalesce(max(seq), 0) AS seq FROM pushes");
  const [removeOld, removeExpired] = [database.prepare(REMOVE_OLD), database.prepare(REMOVE_EXPIRED)];
  const forgetCharges = database.prepare("DELETE FROM stored_bytes WHERE at < ?");

  return {
    insertPush: (push) =>
      write(() => insert(push) ?? { stored: found(find(push.account, push.push.id)), duplicate: true }),
    insertAnswer: (answer, { id, close }) =>
      write(() => {
        const { account, push } = answer;
        const known = find(account, push.id);
        if (known !== undefined) return { kind: "duplicate", answer: known };
        const question = change({ account, id }, close);
        const inserted = question?.changed ? insert(answer) : undefined;
        if (question === undefined || inserted === undefined) return { kind: "closed" };
        return { kind: "stored", answer: inserted.stored, question: question.stored };
      }),
    findPush: ({ account, id }) => read(() => find(account, id)),
    newestPush: () => read(() => Number(newest.get()?.seq)),
    storedBytes: storedBytesOf(context),
    pagePushes: pageOf(context),
    changeReceipt: (name, decide) => writeUnsynced(() => change(name, decide)),
    openPushes: openOf(context),
    duePushes: ({ now, after, limit }) =>
      read(() => toPushes(due.all(now, after?.push.expiresAt ?? 0, after?.seq ?? 0, limit))),
    async removePushes({ madeBefore, expiredBefore, signal }) {
      let removed = 0;
      for (const [statement, bound] of [[removeOld, madeBefore], [removeExpired, expiredBefore]] as const) {
        for (let last = REMOVED_AT_ONCE; last === REMOVED_AT_ONCE && !signal?.aborted; removed += last) {
          // Rows that a crash brings back are removed by the next sweep.
          last = await writeUnsynced(() => statement.run(bound));
          if (last === REMOVED_AT_ONCE) await delay(REMOVED_EVERY_MS, { clock: systemClock });
        }
      }
      await writeUnsynced(() => void forgetCharges.run(madeBefore));
      return removed;
    },
  };
}

function storedBytesOf({ database, read }: SqliteContext): PushStore["storedBytes"] {
  const select = database.prepare("SELECT bytes, at FROM stored_bytes WHERE account = ? AND sender = ?");
  return ({ account, from }, now) =>
    read(() => {
      const { bytes = 0, at = now } = select.get(account, from) ?? {};
      return Math.max(0, Number(bytes) - STORED_REGAINED_PER_MS * Math.max(0, now - Number(at)));
    });
}

const OPEN = "SELECT * FROM pushes WHERE account = ? AND target = ? AND final = 0 AND seq > ?";
const OPEN_PAGE = `${OPEN} ORDER BY seq LIMIT ?`;
/** The type is a literal, as in the index that finds them: every connection of a listener reads them. */
export const OPEN_CANCELS = `${OPEN} AND json_extract(push, '$.type') = 'agent.cancel' ORDER BY seq LIMIT ?`;

function openOf({ database, read }: SqliteContext): PushStore["openPushes"] {
  const ofAny = database.prepare<PushRow>(OPEN_PAGE);
  const cancels = database.prepare<PushRow>(OPEN_CANCELS);
  return ({ account, id }, { afterSeq, limit, type }) =>
    read(() => toPushes((type === undefined ? ofAny : cancels).all(account, id, afterSeq, limit)));
}

/** Returns undefined when the account has already used the id. */
function insertOf(
  database: Database,
): (push: NewPush) => { stored: StoredPush; duplicate: boolean } | undefined {
  const statement = database.prepare(INSERT);
  const charge = database.prepare(CHARGE);
  return (entry) => {
    const { account, target, digest, push, receipt } = entry;
    const row = statement.get(
      account,
      push.id,
      target ?? null,
      digest,
      JSON.stringify(push),
      JSON.stringify(receipt),
      receipt.state,
      Number(receipt.final),
      push.createdAt,
      push.expiresAt,
    );
    if (row === undefined) return undefined;
    charge.run(account, push.from, Number(row.bytes) + OVERHEAD_BYTES, push.createdAt);
    return { stored: { ...entry, seq: row.seq as number }, duplicate: false };
  };
}

function findOf(database: Database): (account: string, id: string) => StoredPush | undefined {
  const statement = database.prepare<PushRow>("SELECT * FROM pushes WHERE account = ? AND id = ?");
  return (account, id) => {
    const row = statement.get(account, id);
    return row && toPush(row);
  };
}

type Changed = { stored: StoredPush; changed: boolean } | undefined;

function changeOf(
  database: Database,
  find: (account: string, id: string) => StoredPush | undefined,
): (name: PushName, decide: (stored: StoredPush) => Receipt | undefined) => Changed {
  const update = database.prepare(
    "UPDATE pushes SET receipt = ?, state = ?, final = ? WHERE account = ? AND id = ?",
  );
  return ({ account, id }, decide) => {
    const stored = find(account, id);
    if (stored === undefined) return undefined;
    const receipt = decide(stored);
    if (receipt === undefined) return { stored, changed: false };
    update.run(JSON.stringify(receipt), receipt.state, Number(receipt.final), account, id);
    return { stored: { ...stored, receipt }, changed: true };
  };
}

function found(stored: StoredPush | undefined): StoredPush {
  if (stored === undefined) {
    throw new Error("Cannot find the push that has this id: it was just removed");
  }
  return stored;
}

function pageOf({ database, read }: SqliteContext): (request: PageRequest) => Promise<Page | undefined> {
  const seqOf = database.prepare("SELECT seq FROM pushes WHERE account = ? AND id = ?");
  const statements = (where: string) => {
    const sizes =
      `SELECT seq, octet_length(push) + octet_length(receipt) AS bytes FROM pushes WHERE ${where}`;
    return {
      after: database.prepare<Size>(`${sizes} AND seq > ? ORDER BY seq LIMIT ?`),
      before: database.prepare<Size>(`${sizes} AND seq < ? ORDER BY seq DESC LIMIT ?`),
      between: database.prepare<PushRow>(
        `SELECT * FROM pushes WHERE ${where} AND seq BETWEEN ? AND ? ORDER BY seq`,
      ),
    };
  };
  const [all, open] = [statements("account = ?"), statements(OPEN_QUESTION)];
  const cursor = ({ account, id }: PushName): number | undefined =>
    seqOf.get(account, id)?.seq as number | undefined;
  const startOf = ({ account, after: first, before: last }: PageRequest): number | undefined => {
    if (last === "end") return Number.MAX_SAFE_INTEGER;
    if (last !== undefined) return cursor({ account, id: last });
    return first === undefined ? 0 : cursor({ account, id: first });
  };
  return (request) =>
    read(() => {
      const { account, limit } = request;
      const start = startOf(request);
      if (start === undefined) return undefined;
      const { after, before, between } = request.openQuestions === true ? open : all;
      const select = request.before === undefined ? after : before;
      // One row more than requested shows whether there are more.
      const rows = select.all(account, start, limit + 1);
      const { taken, bytes } = fitting(rows.slice(0, limit), request.bytes);
      const [first, last = first] = [taken[0]?.seq, taken.at(-1)?.seq];
      const pushes = first === undefined || last === undefined
        ? []
        : toPushes(between.all(account, Math.min(first, last), Math.max(first, last)));
      return { pushes, hasMore: rows.length > taken.length, bytes };
    });
}

interface Size {
  seq: number;
  bytes: number;
}

/** The first rows that fit, at least one. */
function fitting(rows: readonly Size[], most: number): { taken: Size[]; bytes: number } {
  const taken: Size[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (taken.length > 0 && bytes + row.bytes > most) break;
    taken.push(row);
    bytes += row.bytes;
  }
  return { taken, bytes };
}

export interface HookRow {
  account: string;
  id: string;
  state: HookState;
  pushes: number;
  first_seen: number;
  last_seen: number;
}

export const toHook = ({ account, id, state, pushes, first_seen, last_seen }: HookRow): HookRecord => ({
  account,
  id,
  state,
  pushes,
  firstSeen: first_seen,
  lastSeen: last_seen,
});

const COUNT = `
  INSERT INTO hooks (account, id, state, pushes, first_seen, last_seen)
  SELECT ?1, ?2, 'active', 1, ?3, ?3
    WHERE (SELECT count(*) FROM hooks WHERE account = ?1 AND id <> ?2) < ${HOOKS_MAX}
  ON CONFLICT (account, id) DO UPDATE SET pushes = pushes + 1, last_seen = excluded.last_seen
  RETURNING *`;

/**
 * Removes the active hook that was used longest ago. Muted and revoked ones stay: a client that invents ids must not be
 * able to activate one.
 */
const MAKE_ROOM = `
  DELETE FROM hooks WHERE account = ?1 AND id = (
    SELECT id FROM hooks WHERE account = ?1 AND state = 'active' ORDER BY last_seen, id LIMIT 1)`;

export function sqliteHooks({ database, read, write, writeUnsynced }: SqliteContext): HookStore {
  const count = database.prepare<HookRow>(COUNT);
  const makeRoom = database.prepare(MAKE_ROOM);
  const list = database.prepare<HookRow>("SELECT * FROM hooks WHERE account = ? ORDER BY first_seen, id");
  const set = database.prepare<HookRow>(
    "UPDATE hooks SET state = ? WHERE account = ? AND id = ? RETURNING *",
  );
  return {
    countHook: ({ account, id }, now) =>
      writeUnsynced(() => {
        const counted = (): HookRow | undefined => count.get(account, id, now);
        const row = counted() ?? (makeRoom.run(account) > 0 ? counted() : undefined);
        return row?.state ?? "active";
      }),
    listHooks: (account) => read(() => list.all(account).map(toHook)),
    setHookState: ({ account, id }, state) =>
      write(() => {
        const row = set.get(state, account, id);
        return row && toHook(row);
      }),
  };
}
