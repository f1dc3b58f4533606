/** Shows in the browser's other pages what this one has sent, before there is a receipt of it, and here what they have sent. */
import type { RelayApi } from "../client/api.ts";
import { RelayError } from "../client/relay_error.ts";
import type { Sealing } from "./sealing.ts";
import type { PhoneState, Store } from "./state.ts";

export interface OtherPagesOptions {
  store: Store;
  history(): Promise<{ api: Pick<RelayApi, "getPush">; sealing: Pick<Sealing, "openRecords"> }>;
}

/** Returns what is to be called after every change of the state. */
export function followSent({ store, history }: OtherPagesOptions): () => void {
  const channel = new BroadcastChannel("svc-sent");
  const show = async (id: string): Promise<void> => {
    const { signIn } = store.get();
    if (signIn.kind !== "in") return;
    const { api, sealing } = await history();
    const records = await sealing.openRecords([await api.getPush(id)]);
    // Signed out meanwhile, or in to another account.
    if (store.get().signIn === signIn) store.dispatch({ type: "history", records });
  };
  channel.addEventListener("message", ({ data }) =>
    void show(String(data)).catch((error) => {
      // What cannot be read now comes with its receipt, or after the next connect.
      if (!(error instanceof RelayError)) throw error;
    }));
  let { messages } = store.get();
  return () => {
    const before = messages;
    ({ messages } = store.get());
    for (const id of newlySent(before, messages)) channel.postMessage(id);
  };
}

/** The relay has them now, and had not before. */
function newlySent(before: PhoneState["messages"], now: PhoneState["messages"]): string[] {
  if (before === now) return [];
  const sent = [...now.values()].filter(({ id, progress }) =>
    progress.kind === "taken" && before.get(id)?.progress.kind === "outbox"
  );
  return sent.map(({ id }) => id);
}
