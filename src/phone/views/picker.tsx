/** The home view: the sessions of all hosts, those that wait for the user first, with a search in long lists. */
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import type { Sealing } from "../../crypto/mode.ts";
import type { DeviceSessions } from "../../protocol/session.ts";
import { shownDialogs, unreadItems, waitingSessions } from "../attention.ts";
import { formatAgo } from "../format_time.ts";
import { openQuestions, questionLine } from "../inbox.ts";
import {
  type Grouping,
  GROUPINGS,
  type Preferences,
  readPreferences,
  writePreferences,
} from "../preferences.ts";
import { formatRoute } from "../route.ts";
import {
  allSessions,
  groupByHost,
  groupSessions,
  type HostSession,
  keptHosts,
  screenTitle,
  SEARCHED_FROM,
  searchSessions,
  sessionKey,
  withRemoved,
} from "../sessions.ts";
import { type PhoneState, relayNow } from "../state.ts";
import { STRINGS } from "../strings.ts";
import {
  Command,
  Icon,
  lazyView,
  LinkSign,
  SearchInput,
  SessionLabel,
  StateChip,
  Unread,
  useNow,
} from "./shared.tsx";
import type { StartActions } from "./start_agent.tsx";

const { picker: TEXT, list: LIST, card: CARD } = STRINGS;
const AGES_EVERY_MS = 15_000;
const StartSheet = lazyView(async () => (await import("./start_agent.tsx")).StartSheet, {
  waiting: () => null,
});

interface Props {
  state: PhoneState;
  /** The link's notice. */
  notice: JSX.Element | null;
  actions: PickerActions;
  /** The list is next to an open session, which is then the main part of the page. */
  isBeside?: boolean;
}

export interface PickerActions extends StartActions {
  /** `isOver`: the key works no longer, so nothing but unsent messages is asked about. */
  signOut(isOver?: boolean): void;
}

export function PickerView({ state, notice, actions, isBeside = false }: Props): JSX.Element {
  const now = relayNow(state, useNow(AGES_EVERY_MS));
  const [preferences, setPreferences] = usePreferences();
  const [query, setQuery] = useQuery(state, isBeside);
  const devices = state.devices && keptHosts(state.devices, preferences.removed);
  const shown = searchSessions(devices ?? [], query);
  const sessions = allSessions(devices ?? []).length;
  const Main = isBeside ? "div" : "main";
  return (
    <div class="page">
      <PickerHead state={state} devices={devices ?? []} actions={actions} />
      <InboxLink state={state} now={now} />
      <Main class="picker">
        {devices === undefined && <Loading />}
        {devices !== undefined && sessions === 0 && <Empty state={state} />}
        {(sessions >= SEARCHED_FROM || query !== "") && (
          <SearchField query={query} found={allSessions(shown).length} onQuery={setQuery} />
        )}
        {(devices?.length ?? 0) > 1 && (
          <GroupingChoice
            grouping={preferences.grouping}
            onChoose={(grouping) => setPreferences({ grouping })}
          />
        )}
        <Groups {...{ state, now }} devices={shown} grouping={preferences.grouping} isWhole={query === ""} />
        {devices?.filter(({ online }) => !online).map((device) => (
          <RemoveHost
            key={device.deviceId}
            host={device.host}
            onRemove={() => setPreferences({ removed: withRemoved(preferences.removed, device) })}
          />
        ))}
      </Main>
      {notice}
      <footer class="foot">
        <button type="button" class="quiet" onClick={() => actions.signOut()}>{TEXT.signOut}</button>
      </footer>
    </div>
  );
}

/** The query and scroll position with which the list was left, in the current sign-in. */
const left: { signIn?: PhoneState["signIn"]; query: string; top: number } = { query: "", top: 0 };

/** The search query. Restores query and scroll position when the user returns to the list. */
function useQuery({ signIn }: PhoneState, isBeside: boolean): [string, (query: string) => void] {
  const isSame = !isBeside && left.signIn === signIn;
  const [query, setQuery] = useState(isSame ? left.query : "");
  useLayoutEffect(() => {
    if (isSame) scrollTo(0, left.top);
    return () => isBeside || (left.top = scrollY);
  }, []);
  if (!isBeside) Object.assign(left, { signIn, query });
  return [query, setQuery];
}

/** The stored preferences, and a function that changes them. */
function usePreferences(): [Preferences, (change: Partial<Preferences>) => void] {
  const [preferences, setPreferences] = useState(readPreferences);
  return [preferences, (change) => {
    const next = { ...preferences, ...change };
    setPreferences(next);
    // Other views may have changed other fields since.
    writePreferences({ ...readPreferences(), ...change });
  }];
}

interface GroupsProps {
  state: PhoneState;
  devices: readonly DeviceSessions[];
  grouping: Grouping;
  /** No search filters the list. */
  isWhole: boolean;
  now: number;
}

function Groups({ state, devices, grouping, isWhole, now }: GroupsProps): JSX.Element {
  const unread = unreadItems(state);
  const waiting = waitingSessions(state, now);
  const cards = (sessions: readonly HostSession[]): JSX.Element => (
    <ul class="cards">
      {sessions.map((session) => {
        const key = sessionKey({ deviceId: session.deviceId, session: session.entry.name });
        const line = state.details.get(session.deviceId)?.lines?.[session.entry.name];
        const isOpen = state.route.view === "session" && sessionKey(state.route) === key;
        const mode = state.paired.has(session.deviceId) ? "psk" : "off";
        return (
          <SessionCard key={key} {...{ session, line, mode, isOpen, now }} unread={unread.get(key) ?? 0} />
        );
      })}
    </ul>
  );
  if (grouping === "host" && (state.devices?.length ?? 0) > 1) {
    const hosts = groupByHost(devices, waiting).filter(({ sessions }) => isWhole || sessions.length > 0);
    return (
      <>
        {hosts.map(({ device, sessions }) => (
          <HostGroup key={device.deviceId} device={device} count={sessions.length} now={now}>
            {cards(sessions)}
          </HostGroup>
        ))}
      </>
    );
  }
  return (
    <>
      {groupSessions(devices, waiting).map(({ group, sessions }) => (
        <section key={group} class="group" data-group={group} aria-labelledby={`group-${group}`}>
          <h2 id={`group-${group}`}>
            {TEXT.groups[group]}
            <span class="group-count">{sessions.length}</span>
          </h2>
          {cards(sessions)}
        </section>
      ))}
    </>
  );
}

interface HostGroupProps {
  device: DeviceSessions;
  count: number;
  now: number;
  /** The cards. */
  children: ComponentChildren;
}

function HostGroup({ device, count, now, children }: HostGroupProps): JSX.Element {
  const { deviceId, host, online, lastSeen } = device;
  const id = `group-${deviceId}`;
  return (
    <section class="group" data-group="host" data-online={online} aria-labelledby={id}>
      <h2 id={id}>
        {host}
        <span class="group-count">{online ? count : CARD.lastSeen(formatAgo(now - lastSeen))}</span>
      </h2>
      {count === 0 ? <p class="hint">{online ? LIST.noSessions : LIST.offline}</p> : children}
    </section>
  );
}

function SearchField(
  { query, found, onQuery }: { query: string; found: number; onQuery(query: string): void },
): JSX.Element {
  return (
    <search class="search">
      <SearchInput label={LIST.search} value={query} onInput={onQuery} />
      <p class="visually-hidden" role="status">{query.trim() === "" ? "" : LIST.found(found)}</p>
      {query.trim() !== "" && found === 0 && (
        <div class="empty">
          <p>{LIST.nothing}</p>
          <button type="button" class="secondary" onClick={() => onQuery("")}>{LIST.clear}</button>
        </div>
      )}
    </search>
  );
}

function GroupingChoice(
  { grouping, onChoose }: { grouping: Grouping; onChoose(grouping: Grouping): void },
): JSX.Element {
  return (
    <div class="segments" role="group" aria-label={LIST.grouping}>
      {GROUPINGS.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === grouping}
          onClick={() => onChoose(one)}
        >
          {LIST.groupings[one]}
        </button>
      ))}
    </div>
  );
}

/** Removes a host from this phone's list until it is back online. */
function RemoveHost({ host, onRemove }: { host: string; onRemove(): void }): JSX.Element {
  return (
    <button
      type="button"
      class="quiet remove-host"
      onClick={() => {
        if (confirm(LIST.removeAsk(host))) onRemove();
      }}
    >
      {LIST.remove(host)}
    </button>
  );
}

function PickerHead(
  { state, devices, actions }: Pick<Props, "state" | "actions"> & { devices: readonly DeviceSessions[] },
): JSX.Element {
  const sessions = allSessions(devices).length;
  return (
    <header class="picker-head">
      <div>
        <h1>{TEXT.heading}</h1>
        <p class="summary">{sessions > 0 && TEXT.summary(sessions, devices.length)}</p>
      </div>
      <div class="picker-side">
        <LinkSign link={state.link} />
        {state.devices === undefined && <span class="icon-link" />}
        {devices.some(({ online }) => online) && <StartButton state={state} actions={actions} />}
        <a class="icon-link" href={formatRoute({ view: "settings" })} aria-label={LIST.settings}>
          <Icon name="settings" />
        </a>
      </div>
    </header>
  );
}

function StartButton({ state, actions }: Pick<Props, "state" | "actions">): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="icon-link" aria-label={STRINGS.start.open} onClick={() => setOpen(true)}>
        <Icon name="plus" />
      </button>
      {isOpen && <StartSheet state={state} actions={actions} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Highlighted while a question is open. */
function InboxLink({ state, now }: { state: PhoneState; now: number }): JSX.Element {
  const questions = openQuestions(state.inbox, now);
  const dialogs = shownDialogs(state, now);
  const open = questions.length + dialogs.length;
  const [question] = questions;
  const [dialog] = dialogs;
  const first = question ? questionLine(question) : dialog && <SessionLabel session={dialog.session} />;
  return (
    <nav class="inbox-place">
      <a class="card inbox-link" href={formatRoute({ view: "inbox" })} data-open={open > 0}>
        <Icon name="inbox" />
        <span class="label">{open > 0 ? STRINGS.inbox.waiting(open) : STRINGS.inbox.link}</span>
        <Unread count={[...unreadItems(state).values()].reduce((sum, count) => sum + count, 0)} />
        {first && <span class="inbox-first">{first}</span>}
      </a>
    </nav>
  );
}

function Loading(): JSX.Element {
  return (
    <div class="cards" role="status">
      <span class="visually-hidden">{TEXT.loading}</span>
      {[1, 2, 3].map((index) => <div key={index} class="card skeleton" aria-hidden="true" />)}
    </div>
  );
}

function Empty({ state }: { state: PhoneState }): JSX.Element {
  const hasHost = state.devices?.some(({ online }) => online) === true;
  return (
    <div class="empty">
      <h2>{hasHost ? TEXT.emptyHeading : TEXT.noHostHeading}</h2>
      <p>{hasHost ? TEXT.emptyText : TEXT.noHostText}</p>
      <Command text={hasHost ? TEXT.emptyCommand : TEXT.noHostCommand} />
    </div>
  );
}

interface SessionCardProps {
  session: HostSession;
  /** The last line of the session's screen. */
  line: string | undefined;
  /** How messages to it are encrypted. */
  mode: Sealing;
  /** The number of items from its agent that the user has not read. */
  unread: number;
  /** The session is open next to the list. */
  isOpen: boolean;
  /** The relay's clock. */
  now: number;
}

function SessionCard({ session, line, mode, unread, isOpen, now }: SessionCardProps): JSX.Element {
  const { deviceId, entry, online } = session;
  const title = screenTitle(session);
  const href = formatRoute({ view: "session", deviceId, session: entry.name });
  return (
    <li>
      <a
        class="card"
        href={href}
        data-state={online ? entry.state : "offline"}
        {...(isOpen ? { "aria-current": "page" } : {})}
      >
        <div class="card-head">
          <SessionLabel session={session} />
          <Unread count={unread} />
        </div>
        <div class="card-state">
          <StateChip session={session} now={now} />
          <CardFacts {...{ session, mode, now }} />
        </div>
        {title !== "" && <p class="card-title">{title}</p>}
        {online && line !== undefined && <p class="card-line">{line}</p>}
      </a>
    </li>
  );
}

function CardFacts({ session, mode, now }: Pick<SessionCardProps, "session" | "mode" | "now">): JSX.Element {
  const { entry, host, online, lastSeen } = session;
  return (
    <p class="facts">
      <span class="fact-icon">
        <Icon name={mode === "off" ? "unlocked" : "locked"} />
        <span class="visually-hidden">{STRINGS.sealing.short[mode]}</span> {host}
      </span>
      <span>
        {!online ? CARD.lastSeen(formatAgo(now - lastSeen)) : entry.attached ? CARD.attached : CARD.detached}
      </span>
      {entry.muted && (
        <span class="fact-icon">
          <Icon name="mute" />
          {CARD.muted}
        </span>
      )}
      {online && !entry.addressable && <span>{CARD.notAddressable}</span>}
      {entry.measuredVersion !== undefined && (
        <span>{CARD.newerAgent(entry.agentVersion ?? "", entry.measuredVersion)}</span>
      )}
      {entry.widened !== undefined && <span>{CARD.widened(entry.widened.join(", "))}</span>}
    </p>
  );
}
