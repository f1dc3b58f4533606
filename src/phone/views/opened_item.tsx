/** The question or notification that a tapped notification leads to. */
import type { JSX } from "preact";
import { type PhoneState, relayNow } from "../state.ts";
import { type AskActions, AskCard } from "./ask_card.tsx";
import { NotificationCard } from "./inbox.tsx";
import { useNow } from "./shared.tsx";

const NOW_EVERY_MS = 5_000;

interface Props {
  state: PhoneState;
  item: string | undefined;
  actions: AskActions;
}

/** Above a session's messages. */
export function OpenedItem({ state, item: id, actions }: Props): JSX.Element | null {
  const now = relayNow(state, useNow(NOW_EVERY_MS));
  const item = id === undefined ? undefined : state.inbox.get(id);
  if (item === undefined) return null;
  return (
    <ul class="opened-item">
      {item.kind === "question"
        ? <AskCard {...{ state, item, now, actions }} />
        : <NotificationCard {...{ state, item, now }} />}
    </ul>
  );
}
