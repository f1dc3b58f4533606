/** The home view: every session of every host, those that wait for a person first. */
import type { JSX } from "preact";
import { type Inbox, openQuestions } from "../inbox.ts";
import { formatRoute } from "../route.ts";
import { relayNow } from "../selectors.ts";
import { groupSessions } from "../sessions.ts";
import type { PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { Icon } from "./icons.tsx";
import { LinkSign } from "./link_notice.tsx";
import { SessionCard } from "./session_card.tsx";
import { useNow } from "./use_now.ts";

const { picker: WORDS } = STRINGS;
const AGES_EVERY_MS = 15_000;

interface Props {
  state: PhoneState;
  /** What is to be said about the link. */
  notice: JSX.Element;
  onSignOut(): void;
}

export function PickerView({ state, notice, onSignOut }: Props): JSX.Element {
  const now = relayNow(state, useNow(AGES_EVERY_MS));
  const groups = groupSessions(state.devices ?? []);
  return (
    <div class="page">
      <PickerHead state={state} />
      <InboxLink inbox={state.inbox} />
      <main class="picker">
        {state.devices === undefined && <Loading />}
        {state.devices !== undefined && groups.length === 0 && <Empty state={state} />}
        {groups.map(({ group, sessions }) => (
          <section key={group} class="group" data-group={group} aria-labelledby={`group-${group}`}>
            <h2 id={`group-${group}`}>
              {WORDS.groups[group]}
              <span class="group-count">{sessions.length}</span>
            </h2>
            <ul class="cards">
              {sessions.map((session) => (
                <SessionCard key={`${session.deviceId}/${session.entry.name}`} session={session} now={now} />
              ))}
            </ul>
          </section>
        ))}
      </main>
      {notice}
      <footer class="foot">
        <button type="button" class="quiet" onClick={onSignOut}>{WORDS.signOut}</button>
      </footer>
    </div>
  );
}

function PickerHead({ state }: { state: PhoneState }): JSX.Element {
  const devices = state.devices ?? [];
  const sessions = devices.reduce((sum, device) => sum + device.sessions.length, 0);
  return (
    <header class="picker-head">
      <div>
        <h1>{WORDS.heading}</h1>
        {sessions > 0 && <p class="summary">{WORDS.summary(sessions, devices.length)}</p>}
      </div>
      <LinkSign link={state.link} />
    </header>
  );
}

/** Stands out while a question is open. */
function InboxLink({ inbox }: { inbox: Inbox }): JSX.Element {
  const open = openQuestions(inbox);
  return (
    <nav class="inbox-place">
      <a class="card inbox-link" href={formatRoute({ view: "inbox" })} data-open={open.length > 0}>
        <Icon name="inbox" />
        <span class="label">{open.length > 0 ? STRINGS.inbox.waiting(open.length) : STRINGS.inbox.link}</span>
        {open[0] && <span class="inbox-first">{open[0].push.body}</span>}
      </a>
    </nav>
  );
}

function Loading(): JSX.Element {
  return (
    <div class="cards" role="status">
      <span class="visually-hidden">{WORDS.loading}</span>
      {[1, 2, 3].map((place) => <div key={place} class="card skeleton" aria-hidden="true" />)}
    </div>
  );
}

function Empty({ state }: { state: PhoneState }): JSX.Element {
  const hasHost = state.devices?.some(({ online }) => online) === true;
  return (
    <div class="empty">
      <h2>{hasHost ? WORDS.emptyHeading : WORDS.noHostHeading}</h2>
      <p>{hasHost ? WORDS.emptyText : WORDS.noHostText}</p>
      <code class="command">{hasHost ? WORDS.emptyCommand : WORDS.noHostCommand}</code>
    </div>
  );
}
