/** A session's state in colour and word, with how long it lasts; of a host that is away nobody knows it. */
import type { JSX } from "preact";
import { ageWords } from "../ages.ts";
import type { PickedSession } from "../sessions.ts";
import { STRINGS } from "../strings.ts";

export function StateChip({ session, now }: { session: PickedSession; now: number }): JSX.Element {
  const { state, stateSince } = session.entry;
  if (!session.online) return <span class="chip" data-state="offline">{STRINGS.offline}</span>;
  return (
    <span class="chip" data-state={state}>
      {STRINGS.states[state]}
      <span class="chip-age">{ageWords(now - stateSince)}</span>
    </span>
  );
}
