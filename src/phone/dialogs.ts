/** The dialogs that agents show, as the hosts report them, with their texts and what was done about them from here. */
import type { Push } from "../protocol/push.ts";
import type { DialogAction } from "../protocol/session.ts";
import type { Message } from "./message.ts";
import { allSessions, type HostSession, type SessionName } from "./sessions.ts";
import type { PhoneState } from "./state.ts";

export interface DialogView {
  session: HostSession;
  id: string;
  /** Epoch milliseconds. */
  since: number;
  can: readonly string[];
  /** Has the text; undefined until it has arrived. */
  push: Push | undefined;
  /** What was last done about it from this phone. */
  answer: Message | undefined;
}

/** Longest open first. */
export function openDialogs(state: PhoneState): DialogView[] {
  const answers = [...state.messages.values()].filter(({ dialog }) => dialog !== undefined);
  return allSessions(state.devices ?? []).flatMap((session): DialogView[] => {
    const { dialog } = session.entry;
    if (dialog === undefined || !session.online) return [];
    const answer = answers.findLast((message) => message.dialog === dialog.id);
    return [{ session, ...dialog, push: state.inbox.get(dialog.id)?.push, answer }];
  }).sort((one, other) => one.since - other.since);
}

export function dialogOf(state: PhoneState, name: SessionName): DialogView | undefined {
  return openDialogs(state).find(({ session }) =>
    session.deviceId === name.deviceId && session.entry.name === name.session
  );
}

/** The text of the push that answers a dialog. */
export function dialogAnswer(action: Exclude<DialogAction, "type">, id: string): string {
  return `${action} ${id}`;
}
