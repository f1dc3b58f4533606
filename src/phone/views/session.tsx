/** One session: what it is doing, what was sent to it, and the field for the next message. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Sealing } from "../../crypto/mode.ts";
import { isSessionName } from "../../protocol/names.ts";
import { agoWords } from "../ages.ts";
import type { Message } from "../message.ts";
import { draftKey, type SessionName } from "../names.ts";
import { receiptWords } from "../receipt_words.ts";
import { formatRoute } from "../route.ts";
import { isSentAgain, messagesOf, relayNow } from "../selectors.ts";
import { findSession, type PickedSession } from "../sessions.ts";
import type { PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { Composer } from "./composer.tsx";
import { Icon } from "./icons.tsx";
import { MessageList } from "./message_list.tsx";
import { SealSign } from "./seal_sign.tsx";
import { SessionLabel } from "./session_card.tsx";
import { StateChip } from "./state_chip.tsx";
import { useNow } from "./use_now.ts";

const { session: WORDS } = STRINGS;
const AGES_EVERY_MS = 15_000;

export interface SessionActions {
  send(to: SessionName, body: string): void;
  resend(message: Message): void;
  discard(id: string): void;
  draft(to: SessionName, text: string): void;
  readOlder(): void;
}

interface Props {
  state: PhoneState;
  name: SessionName;
  /** What is to be said about the link. */
  notice: JSX.Element;
  actions: SessionActions;
}

export function SessionView({ state, name, notice, actions }: Props): JSX.Element {
  const now = relayNow(state, useNow(AGES_EVERY_MS));
  const session = findSession(state.devices ?? [], name);
  const circumstances = { live: state.link.kind === "live", hostOnline: session?.online ?? false, now };
  const messages = messagesOf(state, name);
  const shown = messages.map((message) => ({
    message,
    words: receiptWords(message, { ...circumstances, sentAgain: isSentAgain(message, messages) }),
  }));
  const note = noteOf(state, session, now);
  return (
    <div class="page session">
      <SessionHead
        name={name}
        session={session}
        now={now}
        mode={state.paired.has(name.deviceId) ? "psk" : "off"}
      />
      <div class="notice-anchor">{notice}</div>
      <MessageList
        shown={shown}
        history={state.history}
        now={now}
        clockOffsetMs={state.clockOffsetMs}
        actions={actions}
      />
      <div class="session-foot">
        {note !== "" && <p class="session-note">{note}</p>}
        <Composer
          label={session?.entry.label || name.session}
          draft={state.drafts[draftKey(name)] ?? ""}
          blocked={!isSessionName(name.session)}
          onDraft={(text) => actions.draft(name, text)}
          onSend={(text) => actions.send(name, text)}
        />
      </div>
    </div>
  );
}

interface HeadProps {
  name: SessionName;
  session: PickedSession | undefined;
  now: number;
  /** How messages go out. */
  mode: Sealing;
}

function SessionHead({ name, session, now, mode }: HeadProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [draftKey(name)]);
  return (
    <header class="session-head">
      <a class="back" href={formatRoute({ view: "picker" })} aria-label={WORDS.back}>
        <Icon name="back" />
      </a>
      <div class="session-title">
        <h1 ref={heading} tabIndex={-1}>
          {session ? <SessionLabel session={session} /> : name.session}
        </h1>
        {session && (
          <p class="facts">
            <StateChip session={session} now={now} />
            <span>{session.host}</span>
          </p>
        )}
        <p class="facts">
          <SealSign mode={mode} />
        </p>
      </div>
    </header>
  );
}

/** What stands in the way of a message; empty when nothing does. */
function noteOf(state: PhoneState, session: PickedSession | undefined, now: number): string {
  if (state.devices === undefined) return "";
  if (session === undefined) return WORDS.gone;
  if (!session.online) return WORDS.hostOffline(session.host, agoWords(now - session.lastSeen));
  return session.entry.addressable ? "" : WORDS.notAddressable;
}
