/** The hooks of each installation in SQLite, keyed by the `hookId` of their pushes. */
import type { HookState } from "../protocol/http.ts";
import type { SqliteContext } from "./sqlite_context.ts";
import { type HookRecord, HOOKS_MAX, type HookStore } from "./store.ts";

interface HookRow {
  account: string;
  id: string;
  state: HookState;
  pushes: number;
  first_seen: number;
  last_seen: number;
}

const toHook = ({ account, id, state, pushes, first_seen, last_seen }: HookRow): HookRecord => ({
  ...{ account, id, state, pushes },
  firstSeen: first_seen,
  lastSeen: last_seen,
});

const COUNT = `
  INSERT INTO hooks (account, id, state, pushes, first_seen, last_seen)
  SELECT ?1, ?2, 'active', 1, ?3, ?3
    WHERE (SELECT count(*) FROM hooks WHERE account = ?1 AND id <> ?2) < ${HOOKS_MAX}
  ON CONFLICT (account, id) DO UPDATE SET pushes = pushes + 1, last_seen = excluded.last_seen
  RETURNING *`;

/** Muted and revoked hooks stay: whoever invents ids must not be able to activate one. */
const MAKE_ROOM = `
  DELETE FROM hooks WHERE account = ?1 AND id = (
    SELECT id FROM hooks WHERE account = ?1 AND state = 'active' ORDER BY last_seen, id LIMIT 1)`;

export function sqliteHooks({ database, read, write, writeUnsynced }: SqliteContext): HookStore {
  const count = database.prepare(COUNT);
  const makeRoom = database.prepare(MAKE_ROOM);
  const list = database.prepare("SELECT * FROM hooks WHERE account = ? ORDER BY first_seen, id");
  const set = database.prepare("UPDATE hooks SET state = ? WHERE account = ? AND id = ? RETURNING *");
  return {
    countHook: ({ account, id }, now) =>
      writeUnsynced(() => {
        const counted = (): HookRow | undefined =>
          count.get(account, id, now) as unknown as HookRow | undefined;
        const row = counted() ?? (makeRoom.run(account) > 0 ? counted() : undefined);
        return row?.state ?? "active";
      }),
    listHooks: (account) => read(() => (list.all(account) as unknown as HookRow[]).map(toHook)),
    setHookState: ({ account, id }, state) =>
      write(() => {
        const row = set.get(state, account, id) as unknown as HookRow | undefined;
        return row && toHook(row);
      }),
  };
}
