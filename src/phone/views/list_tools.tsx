/** Finding a session in a long list: the search, the grouping, a host's group, and removing a host that is gone. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { DeviceSessions } from "../../protocol/session.ts";
import { formatAgo } from "../format_time.ts";
import {
  type Grouping,
  GROUPINGS,
  type Preferences,
  readPreferences,
  writePreferences,
} from "../preferences.ts";
import { STRINGS } from "../strings.ts";
import { SearchInput } from "./shared.tsx";

const { list: TEXT, card: CARD, settings: SETTINGS } = STRINGS;

/** What is stored, with a function that changes it. */
export function usePreferences(): [Preferences, (change: Partial<Preferences>) => void] {
  const [preferences, setPreferences] = useState(readPreferences);
  return [preferences, (change) => {
    const next = { ...preferences, ...change };
    setPreferences(next);
    // Other views may have changed other fields since.
    writePreferences({ ...readPreferences(), ...change });
  }];
}

export function SearchField(
  { query, found, onQuery }: { query: string; found: number; onQuery(query: string): void },
): JSX.Element {
  return (
    <search class="search">
      <SearchInput label={TEXT.search} value={query} onInput={onQuery} />
      <p class="visually-hidden" role="status">{query.trim() === "" ? "" : TEXT.found(found)}</p>
      {query.trim() !== "" && found === 0 && (
        <div class="empty">
          <p>{TEXT.nothing}</p>
          <button type="button" class="secondary" onClick={() => onQuery("")}>{TEXT.clear}</button>
        </div>
      )}
    </search>
  );
}

export function GroupingChoice(
  { grouping, onChoose }: { grouping: Grouping; onChoose(grouping: Grouping): void },
): JSX.Element {
  return (
    <div class="segments" role="group" aria-label={TEXT.grouping}>
      {GROUPINGS.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === grouping}
          onClick={() => onChoose(one)}
        >
          {TEXT.groupings[one]}
        </button>
      ))}
    </div>
  );
}

interface HostGroupProps {
  device: DeviceSessions;
  count: number;
  now: number;
  /** The cards. */
  children: ComponentChildren;
}

export function HostGroup({ device, count, now, children }: HostGroupProps): JSX.Element {
  const { deviceId, host, online, lastSeen } = device;
  const id = `group-${deviceId}`;
  return (
    <section class="group" data-group="host" data-online={online} aria-labelledby={id}>
      <h2 id={id}>
        {host}
        <span class="group-count">{online ? count : CARD.lastSeen(formatAgo(now - lastSeen))}</span>
      </h2>
      {count === 0 ? <p class="hint">{online ? TEXT.noSessions : SETTINGS.offline}</p> : children}
    </section>
  );
}

/** Only on this phone: a host that comes back is shown again. */
export function RemoveHost({ host, onRemove }: { host: string; onRemove(): void }): JSX.Element {
  return (
    <button
      type="button"
      class="quiet remove-host"
      onClick={() => {
        if (confirm(TEXT.removeAsk(host))) onRemove();
      }}
    >
      {TEXT.remove(host)}
    </button>
  );
}
