/** A session's state in colour and word, with how long it lasts. */
import type { JSX } from "preact";
import { ageWords } from "../ages.ts";
import type { PickedSession } from "../sessions.ts";
import { STRINGS } from "../strings.ts";

export function StateChip({ session, now }: { session: PickedSession; now: number }): JSX.Element {
  const { state, stateSince } = session.entry;
  return (
    <span class="chip" data-state={session.online ? state : "offline"}>
      {STRINGS.states[state]}
      <span class="chip-age">{ageWords(now - stateSince)}</span>
    </span>
  );
}
