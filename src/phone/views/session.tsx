/** One session: what it is doing, what was sent to it, and the field for the next message. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Sealing } from "../../crypto/mode.ts";
import { isSessionName } from "../../protocol/names.ts";
import { agoWords } from "../ages.ts";
import type { Message } from "../message.ts";
import { draftKey, type SessionName } from "../names.ts";
import { type ReceiptWords, receiptWords } from "../receipt_words.ts";
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
import { TerminalPanel } from "./terminal.tsx";
import { useNow } from "./use_now.ts";
import type { OpenMirror } from "./use_terminal.ts";

const { session: WORDS, panels: PANELS } = STRINGS;
const AGES_EVERY_MS = 15_000;

export interface SessionActions {
  send(to: SessionName, body: string): void;
  resend(message: Message): void;
  discard(id: string): void;
  draft(to: SessionName, text: string): void;
  mirror: OpenMirror;
  readOlder(): void;
}

type Panel = "terminal" | "messages";

interface Props {
  state: PhoneState;
  name: SessionName;
  panel: Panel;
  /** What is to be said about the link. */
  notice: JSX.Element;
  actions: SessionActions;
}

export function SessionView({ state, name, panel, notice, actions }: Props): JSX.Element {
  const now = relayNow(state, useNow(AGES_EVERY_MS));
  const session = findSession(state.devices ?? [], name);
  const label = session?.entry.label || name.session;
  const shown = shownMessages(state, { name, hostOnline: session?.online ?? false, now });
  const composer = (
    <NotedComposer name={name} label={label} note={noteOf(state, session, now)} {...{ state, actions }} />
  );
  const mode = state.paired.has(name.deviceId) ? "psk" : "off";
  return (
    <div class="page session">
      <SessionHead name={name} session={session} now={now} mode={mode} panel={panel} />
      <div class="notice-anchor">{notice}</div>
      {panel === "terminal"
        ? (
          <TerminalPanel
            name={name}
            label={label}
            openMirror={actions.mirror}
            newest={shown.at(-1)?.words}
            composer={composer}
          />
        )
        : (
          <>
            <MessageList
              shown={shown}
              history={state.history}
              now={now}
              clockOffsetMs={state.clockOffsetMs}
              actions={actions}
            />
            <div class="session-foot">{composer}</div>
          </>
        )}
    </div>
  );
}

function shownMessages(
  state: PhoneState,
  { name, hostOnline, now }: { name: SessionName; hostOnline: boolean; now: number },
): { message: Message; words: ReceiptWords }[] {
  const circumstances = { live: state.link.kind === "live", hostOnline, now };
  const messages = messagesOf(state, name);
  return messages.map((message) => ({
    message,
    words: receiptWords(message, { ...circumstances, sentAgain: isSentAgain(message, messages) }),
  }));
}

interface NotedComposerProps extends Pick<Props, "state" | "name" | "actions"> {
  label: string;
  /** What stands in the way of a message. */
  note: string;
}

function NotedComposer({ state, name, label, note, actions }: NotedComposerProps): JSX.Element {
  return (
    <>
      {note !== "" && <p class="session-note">{note}</p>}
      <Composer
        label={label}
        draft={state.drafts[draftKey(name)] ?? ""}
        blocked={!isSessionName(name.session)}
        onDraft={(text) => actions.draft(name, text)}
        onSend={(text) => actions.send(name, text)}
      />
    </>
  );
}

/** Each panel has an address of its own: a reload, and the way back, lead to it. */
function Panels({ name, panel }: { name: SessionName; panel: Panel }): JSX.Element {
  const link = (shown: Panel): JSX.Element => {
    const { deviceId, session } = name;
    const route = {
      view: "session",
      deviceId,
      session,
      ...(shown === "messages" ? { panel: shown } : {}),
    } as const;
    return (
      <a href={formatRoute(route)} aria-current={panel === shown ? "page" : undefined}>{PANELS[shown]}</a>
    );
  };
  return (
    <nav class="switch panels" aria-label={PANELS.label}>
      {link("terminal")}
      {link("messages")}
    </nav>
  );
}

interface HeadProps {
  name: SessionName;
  session: PickedSession | undefined;
  now: number;
  /** How messages go out. */
  mode: Sealing;
  /** What is shown below. */
  panel: Panel;
}

function SessionHead({ name, session, now, mode, panel }: HeadProps): JSX.Element {
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
        <p class="facts">
          {session && <StateChip session={session} now={now} />}
          {session && <span>{session.host}</span>}
          {panel === "terminal" && <SealSign mode={mode} short />}
        </p>
        {panel === "messages" && (
          <p class="facts">
            <SealSign mode={mode} />
          </p>
        )}
      </div>
      <Panels name={name} panel={panel} />
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
