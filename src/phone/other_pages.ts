/**
 * Shows messages that one of the browser's pages has sent in its other pages, before there is a receipt; those that it
 * could not send before it was closed, or ended by the system, are sent by another page.
 */
import { randomUuid } from "../async/encodings.ts";
import type { RelayApi } from "../client/api.ts";
import { RelayError } from "../client/relay_error.ts";
import type { Sealing } from "./sealing.ts";
import { outboxOf, type PhoneState, type Store } from "./state.ts";

/** Sent instead of a message's id by a page that is being closed: the ids of what it could not send. */
interface Closed {
  left: string[];
}

/** Sent when messages wait to be sent: the lock that their page holds until it is gone, and their ids. */
interface Waits {
  lock: string;
  waiting: string[];
}

export interface OtherPagesOptions {
  store: Store;
  /** Sends these messages of a page that was closed. Never throws. */
  takeOver(ids: readonly string[]): Promise<void>;
  history(): Promise<{ api: Pick<RelayApi, "getPush">; sealing: Pick<Sealing, "openRecords"> }>;
}

/** Returns a function to call after every change of the state. */
export function followSent({ store, history, takeOver }: OtherPagesOptions): () => void {
  const channel = new BroadcastChannel("svc-sent");
  const show = async (id: string): Promise<void> => {
    const { signIn } = store.get();
    if (signIn.kind !== "in") return;
    const { api, sealing } = await history();
    const records = await sealing.openRecords([await api.getPush(id)]);
    // The user may have signed out meanwhile, or signed in to another account.
    if (store.get().signIn === signIn) store.dispatch({ type: "history", records });
  };
  const watch = watchPages(takeOver);
  channel.addEventListener("message", ({ data }: MessageEvent<string | Closed | Waits>) => {
    if (typeof data !== "string") return "left" in data ? void takeOver(data.left) : watch(data);
    void show(data).catch((error) => {
      // A message that cannot be read now arrives with its receipt, or after the next connect.
      if (!(error instanceof RelayError)) throw error;
    });
  });
  addEventListener("pagehide", ({ persisted }) => {
    const left = outboxOf(store.get()).map(({ id }) => id);
    // A page that the browser keeps, to show it again, sends its messages then.
    if (!persisted && left.length > 0) channel.postMessage({ left } satisfies Closed);
  });
  const announce = announcer((waits) => channel.postMessage(waits));
  let messages: PhoneState["messages"] = new Map();
  return () => {
    const before = messages;
    ({ messages } = store.get());
    if (messages === before) return;
    for (const id of newlySent(before, messages)) channel.postMessage(id);
    announce(outboxOf(store.get()).map(({ id }) => id));
  };
}

/** Undefined on pages that are not secure, which the type does not say. */
const LOCKS: LockManager | undefined = navigator.locks;

/** A browser that refuses locks refuses the storage too, so there is nothing to take over. */
function refused(): void {}

/** The browser releases the lock of a page that it has ended without an event: then takes over what is still unsent. */
function watchPages(takeOver: OtherPagesOptions["takeOver"]): (waits: Waits) => void {
  const waiting = new Map<string, Set<string>>();
  return ({ lock, waiting: ids }) => {
    const known = waiting.get(lock);
    if (known !== undefined) return ids.forEach((id) => known.add(id));
    const left = new Set(ids);
    waiting.set(lock, left);
    void LOCKS?.request(lock, async () => {
      waiting.delete(lock);
      await takeOver([...left]);
    }).catch(refused);
  };
}

/** Takes this page's lock with the first message that waits, and holds it from then on. */
function announcer(send: (waits: Waits) => void): (waiting: readonly string[]) => void {
  const lock = `svc-page-${randomUuid()}`;
  let locked: Promise<void> | undefined;
  const takeLock = (): Promise<void> =>
    new Promise((taken) => {
      const untilGone = (): Promise<void> => {
        taken();
        return new Promise(() => {});
      };
      void LOCKS?.request(lock, untilGone).catch(refused);
    });
  const announced = new Set<string>();
  return (ids) => {
    const waiting = ids.filter((id) => !announced.has(id));
    if (waiting.length === 0) return;
    for (const id of waiting) announced.add(id);
    locked ??= takeLock();
    void locked.then(() => send({ lock, waiting }));
  };
}

/** The ids of the messages that have left the outbox: the relay has them, or may have them. */
function newlySent(before: PhoneState["messages"], now: PhoneState["messages"]): string[] {
  const sent = [...now.values()].filter(({ id, progress }) =>
    progress.kind === "taken" && before.get(id)?.progress.kind === "outbox"
  );
  return sent.map(({ id }) => id);
}
