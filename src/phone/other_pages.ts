/**
 * Shows messages that one of the browser's pages has sent in its other pages, before there is a receipt; those that it
 * could not send before it was closed are sent by another page.
 */
import type { RelayApi } from "../client/api.ts";
import { RelayError } from "../client/relay_error.ts";
import type { Sealing } from "./sealing.ts";
import { outboxOf, type PhoneState, type Store } from "./state.ts";

/** Sent instead of a message's id by a page that is being closed: the ids of what it could not send. */
interface Closed {
  left: string[];
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
  channel.addEventListener("message", ({ data }: MessageEvent<string | Closed>) => {
    if (typeof data !== "string") return void takeOver(data.left);
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
  let { messages } = store.get();
  return () => {
    const before = messages;
    ({ messages } = store.get());
    for (const id of newlySent(before, messages)) channel.postMessage(id);
  };
}

/** The ids of the messages that have left the outbox: the relay has them, or may have them. */
function newlySent(before: PhoneState["messages"], now: PhoneState["messages"]): string[] {
  if (before === now) return [];
  const sent = [...now.values()].filter(({ id, progress }) =>
    progress.kind === "taken" && before.get(id)?.progress.kind === "outbox"
  );
  return sent.map(({ id }) => id);
}
