/** Open dialogs, the inbox items of a session, the sessions that wait for the user, and unread items. */
import type { Clock } from "../async/clock.ts";
import { hostOf, type Push } from "../protocol/push.ts";
import type { DialogAction } from "../protocol/session.ts";
import { type InboxItem, newestAt, openQuestions, standingCards } from "./inbox.ts";
import type { Message } from "./message.ts";
import { allSessions, type HostSession, sessionKey, type SessionName } from "./sessions.ts";
import { type PhoneState, relayNow, type Store } from "./state.ts";
import type { PhoneStorage } from "./storage.ts";

/** The key in `seen` that applies to every session. */
export const ALL_SEEN = "all";

/** The session that a push concerns: on the host that it names, else on the only host that has a session of this name. */
export function sessionNameOf(
  push: Push,
  { devices = [] }: Pick<PhoneState, "devices">,
): SessionName | undefined {
  const session = sessionIn(push);
  if (session === undefined) return undefined;
  const deviceId = hostOf(push);
  if (deviceId !== undefined) return { deviceId, session };
  const [found, other] = allSessions(devices).filter(({ entry }) => entry.name === session);
  return found === undefined || other !== undefined ? undefined : { deviceId: found.deviceId, session };
}

/** The name of a push's session. A form that asks for a secret has it in its data, so that no late answer is typed there. */
export function sessionIn({ agentSessionName, type, data }: Push): string | undefined {
  const asking = type === "ask" ? data?.["session"] : undefined;
  return agentSessionName ?? (typeof asking === "string" ? asking : undefined);
}

/** The session's questions and notifications, oldest first, without the texts of open dialogs. */
export function itemsOf(state: PhoneState, name: SessionName): InboxItem[] {
  const key = sessionKey(name);
  const shown = new Set(openDialogs(state).map(({ id }) => id));
  return [...state.inbox.values()]
    .filter(({ push }) => {
      const of = sessionNameOf(push, state);
      return of !== undefined && sessionKey(of) === key && !shown.has(push.id);
    })
    .sort((one, other) => one.push.createdAt - other.push.createdAt);
}

/** The sessions with an open question or dialog, by `sessionKey`. */
export function waitingSessions(state: PhoneState, now: number): ReadonlySet<string> {
  const questions = openQuestions(state.inbox, now).flatMap(({ push }) => sessionNameOf(push, state) ?? []);
  const dialogs = openDialogs(state).map(({ session: { deviceId, entry } }) => ({
    deviceId,
    session: entry.name,
  }));
  return new Set([...questions, ...dialogs].map(sessionKey));
}

/** Counts the items that the user has not seen, by `sessionKey`. Items without a session are under the empty key. */
export function unreadItems(state: PhoneState): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { push } of state.inbox.values()) {
    const name = sessionNameOf(push, state);
    const key = name === undefined ? "" : sessionKey(name);
    if (isUnread(state, push)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** The number in the title and on the app's badge: open questions and dialogs, and other unread items. */
export function attentionCount(state: PhoneState, now = relayNow(state, Date.now())): number {
  const open = new Set([
    ...openQuestions(state.inbox, now).map(({ push }) => push.id),
    ...shownDialogs(state, now).map(({ id }) => id),
  ]);
  let unread = 0;
  for (const { push } of state.inbox.values()) {
    if (!open.has(push.id) && isUnread(state, push)) unread++;
  }
  return open.size + unread;
}

function isUnread(state: PhoneState, push: Push): boolean {
  const name = sessionNameOf(push, state);
  const seen = state.seen[name === undefined ? "" : sessionKey(name)] ?? 0;
  return push.createdAt > Math.max(seen, state.seen[ALL_SEEN] ?? Infinity);
}

/** A dialog that an agent shows, and this phone's answer to it. */
export interface DialogView {
  session: HostSession;
  id: string;
  /** Epoch milliseconds. */
  since: number;
  can: readonly string[];
  /** The push with the dialog's text; undefined until it has arrived. */
  push: Push | undefined;
  /** The latest answer from this phone. */
  answer: Message | undefined;
}

/** The open dialogs of hosts that are online, longest open first. */
export function openDialogs(state: PhoneState): DialogView[] {
  const answers = [...state.messages.values()].filter(({ dialog }) => dialog !== undefined);
  return allSessions(state.devices ?? []).flatMap((session): DialogView[] => {
    const { dialog } = session.entry;
    if (dialog === undefined || !session.online) return [];
    const answer = answers.findLast((message) => message.dialog === dialog.id);
    return [{ session, ...dialog, push: state.inbox.get(dialog.id)?.push, answer }];
  }).sort((one, other) => one.since - other.since);
}

/** Open dialogs, except those whose session has an open card: a dialog is shown once. */
export function shownDialogs(state: PhoneState, now: number): DialogView[] {
  const carded = new Set(
    standingCards(state, now).map(({ push }) =>
      sessionKey({ deviceId: push.sealedFor?.host ?? "", session: push.agentSessionName ?? "" })
    ),
  );
  return openDialogs(state).filter(({ session: { deviceId, entry } }) =>
    !carded.has(sessionKey({ deviceId, session: entry.name }))
  );
}

export function dialogOf(state: PhoneState, name: SessionName, now: number): DialogView | undefined {
  return shownDialogs(state, now).find(({ session }) =>
    session.deviceId === name.deviceId && session.entry.name === name.session
  );
}

/** The text of the push that answers a dialog. */
export function dialogAnswer(action: Exclude<DialogAction, "type">, id: string): string {
  return `${action} ${id}`;
}

interface ReadMarksOptions {
  store: Store;
  storage: Pick<PhoneStorage, "putSeen">;
  clock: Clock;
}

/** Records up to when the user has read, by the relay's clock: the phone's may be wrong. */
export class ReadMarks {
  readonly #options: ReadMarksOptions;

  constructor(options: ReadMarksOptions) {
    this.#options = options;
  }

  /** Call this once the relay's clock is known. Marks what came before this phone's first connection as read. */
  begin(): void {
    const { store, clock } = this.#options;
    const state = store.get();
    if (state.seen[ALL_SEEN] === undefined) this.#mark(ALL_SEEN, relayNow(state, clock.now()));
  }

  /** Call this while the user sees the items of `key`: marks all that has arrived as read. */
  read(key: string): void {
    const state = this.#options.store.get();
    const isBeforeBegin = key === ALL_SEEN && state.seen[key] === undefined;
    if (state.isRestored && !isBeforeBegin) this.#mark(key, newestAt(state.inbox));
  }

  #mark(key: string, at: number): void {
    const { store, storage } = this.#options;
    const before = store.get();
    store.dispatch({ type: "seen", key, at });
    // If the storage is full or broken, the mark is only lost on a reload.
    if (store.get() !== before) void storage.putSeen(key, at).catch(() => undefined);
  }
}
